//! A1 (Garcia-Molina, section III): "At any instant in time, for any two nodes i and j in the distributed system, the
//! following must hold. a) If (S(i)·s = 'Reorganization' or S(i)·s = 'Normal') and if (S(j)·s = 'Reorganization' or S(j)·s =
//! 'Normal'), then S(i)·c = S(j)·c. b) If S(i)·s = 'Normal' and S(j)·s = 'Normal,' then S(i)·d = S(j)·d."
//!
//! Souto's Assertion 1 is part a) of an algorithm that knows no reorganization, and so no d.

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Time;
use bellwether_proto::trace::TraceEvent;
use bellwether_proto::view::{Status, View};

use super::agreement::{self, Agreement};
use super::known::Known;
use super::views::Views;
use super::{Checker, Facts, Verdict, Violation};

pub(super) struct A1 {
    coordinators: Agreement<()>,
    /// Of part b).
    violation: Option<Violation>,
}

impl A1 {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { coordinators: Agreement::of(facts, has_coordinator, |_| (), in_words), violation: None }
    }
}

impl Checker for A1 {
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

/// As [`A1`], for those who see states and no traces.
pub(super) fn dispute(views: &impl Views) -> Option<String> {
    let coordinators = agreement::dispute(views, has_coordinator, |_| (), in_words);
    coordinators.or_else(|| normal(views).find_map(|id| two_tasks(views, id)))
}

/// Part b), as far as it is about that node, which is normal.
fn two_tasks(views: &impl Views, id: NodeId) -> Option<String> {
    let task = views.task(id);
    let other = normal(views).find(|other| views.task(*other) != task)?;
    let works_on = |task: Option<TaskDigest>| {
        task.map_or_else(|| "has no task".to_owned(), |task| format!("works on {task}"))
    };
    let (its, mine) = (works_on(views.task(other)), works_on(task));
    Some(format!("{other} and {id} are both normal, but {other} {its} and {id} {mine}"))
}

fn normal(views: &impl Views) -> impl Iterator<Item = NodeId> {
    views.up().filter(|(_, view)| view.status == Status::Normal).map(|(id, _)| id)
}

fn has_coordinator(view: &View) -> bool {
    matches!(view.status, Status::Reorganizing | Status::Normal)
}

fn in_words((): ()) -> String {
    " or reorganizing".to_owned()
}
