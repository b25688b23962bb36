//! A3 (Garcia-Molina, section IV): "At any instant in time, for any two nodes i and j in the distributed system, the following
//! must hold. a) If (S(i)·s = 'Reorganization' or S(i)·s = 'Normal') and (S(j)·s = 'Reorganization' or S(j)·s = 'Normal') and
//! S(i)·g = S(j)·g, then S(i)·c = S(j)·c. b) If S(i)·s = S(j)·s = 'Normal' and S(i)·g = S(j)·g, then S(i)·d = S(j)·d."

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::time::Time;
use bellwether_proto::trace::TraceEvent;
use bellwether_proto::view::{Status, View};

use super::agreement::{self, Agreement};
use super::known::Known;
use super::views::Views;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct A3 {
    coordinators: Agreement<Option<GroupId>>,
    /// Of part b).
    violation: Option<Violation>,
}

impl A3 {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { coordinators: Agreement::of(facts, has_coordinator, among, in_words), violation: None }
    }
}

impl Checker for A3 {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        self.coordinators.observe(known, event);
        if !self.violated() && known.view(event.node).status == Status::Normal {
            let what = two_tasks(known, event.node);
            self.violation = what.map(|what| Violation { at: event.at, what });
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some() || self.coordinators.violated()
    }

    fn finish(self: Box<Self>, known: &Known, end: Time) -> Verdict {
        match self.violation {
            Some(violation) => Verdict::Violated(violation),
            None => Box::new(self.coordinators).finish(known, end),
        }
    }
}

/// As [`A3`], for those who see states and no traces.
pub(super) fn dispute(views: &impl Views) -> Option<String> {
    let coordinators = agreement::dispute(views, has_coordinator, among, in_words);
    coordinators.or_else(|| normal(views).find_map(|(id, _)| two_tasks(views, id)))
}

/// Part b), as far as it is about that node, which is normal.
fn two_tasks(views: &impl Views, id: NodeId) -> Option<String> {
    let (group, task) = (views.view(id).group, views.task(id));
    let differs = |(other, view): &(NodeId, View)| view.group == group && views.task(*other) != task;
    let (other, _) = normal(views).find(differs)?;
    let works_on = |task: Option<TaskDigest>| {
        task.map_or_else(|| "has no task".to_owned(), |task| format!("works on {task}"))
    };
    let (its, mine) = (works_on(views.task(other)), works_on(task));
    let together = group.map_or_else(|| "no group".to_owned(), |group| format!("group {group}"));
    Some(format!("{other} and {id} are both normal in {together}, but {other} {its} and {id} {mine}"))
}

fn normal(views: &impl Views) -> impl Iterator<Item = (NodeId, View)> {
    views.up().filter(|(_, view)| view.status == Status::Normal)
}

fn has_coordinator(view: &View) -> bool {
    matches!(view.status, Status::Reorganizing | Status::Normal)
}

fn among(view: &View) -> Option<GroupId> {
    view.group
}

fn in_words(group: Option<GroupId>) -> String {
    group.map_or_else(
        || " or reorganizing in no group".to_owned(),
        |group| format!(" or reorganizing in group {group}"),
    )
}
