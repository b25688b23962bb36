//! GROUP-ONCE (Garcia-Molina, section IV.A): "the only property needed by group numbers is uniqueness." Theorem A3 rests on it:
//! over a whole run, whoever is in the group of a number names the same coordinator and, once normal, has the same task; and a
//! coordinator that has left a group, or has crashed, does not form one of that number again.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::TaskDigest;
use bellwether_proto::ident::{GroupId, NodeId};
use bellwether_proto::io::Event;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;
use super::{Checker, Verdict, Violation};

#[derive(Default)]
pub(super) struct GroupOnce {
    groups: BTreeMap<GroupId, Group>,
    /// By coordinator: the group that it is forming or leads.
    led: BTreeMap<NodeId, GroupId>,
    /// What their coordinators have left.
    over: BTreeSet<GroupId>,
    violation: Option<Violation>,
}

#[derive(Clone, Copy)]
struct Group {
    coordinator: NodeId,
    /// None in place yet, or the one that is, which may be none.
    task: Option<Option<TaskDigest>>,
}

impl GroupOnce {
    /// What is wrong with what that node shows.
    fn judge(&mut self, id: NodeId, opinion: &Opinion, task: Option<TaskDigest>) -> Option<String> {
        let leads = opinion.leader == Some(id);
        let leaves = self.led.get(&id).copied().filter(|led| !leads || opinion.group != Some(*led));
        self.leave(id, leaves);
        let (Some(group), Some(coordinator)) = (opinion.group, opinion.leader) else { return None };
        if leads && self.over.contains(&group) {
            return Some(format!("{id} forms group {group} a second time"));
        }
        if leads {
            self.led.insert(id, group);
        }
        let known = *self.groups.entry(group).or_insert(Group { coordinator, task: None });
        if known.coordinator != coordinator {
            let first = known.coordinator;
            return Some(format!("group {group} was {first}'s, and {id} takes it for {coordinator}'s"));
        }
        if opinion.status == Status::Normal {
            let first = *self.groups.get_mut(&group)?.task.get_or_insert(task);
            return (first != task).then(|| format!("group {group} has two tasks, the second at {id}"));
        }
        None
    }

    fn leave(&mut self, id: NodeId, group: Option<GroupId>) {
        if let Some(group) = group {
            self.led.remove(&id);
            self.over.insert(group);
        }
    }
}

impl Checker for GroupOnce {
    fn observe(&mut self, known: &Known, event: &TraceEvent) {
        match event.what {
            What::Node(Event::Opinion(opinion)) if self.violation.is_none() => {
                let what = self.judge(event.node, &opinion, known.task(event.node));
                self.violation = what.map(|what| Violation { at: event.at, what });
            }
            What::Crash => {
                let led = self.led.get(&event.node).copied();
                self.leave(event.node, led);
            }
            _ => {}
        }
    }

    fn violated(&self) -> bool {
        self.violation.is_some()
    }

    fn finish(self: Box<Self>, _known: &Known, _end: Time) -> Verdict {
        Verdict::new(!self.groups.is_empty(), self.violation)
    }
}
