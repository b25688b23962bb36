//! A3 (Garcia-Molina, section IV): "At any instant in time, for any two nodes i and j in the distributed system, the following
//! must hold. a) If (S(i)·s = 'Reorganization' or S(i)·s = 'Normal') and (S(j)·s = 'Reorganization' or S(j)·s = 'Normal') and
//! S(i)·g = S(j)·g, then S(i)·c = S(j)·c. b) If S(i)·s = S(j)·s = 'Normal' and S(i)·g = S(j)·g, then S(i)·d = S(j)·d."

use bellwether_proto::ident::GroupId;

use super::Facts;
use super::coordination::{self, Among, Coordination, OR_REORGANIZING};
use super::opinions::Opinions;

/// Those of one group.
const AMONG: Among<Option<GroupId>> = Among { of: |opinion| opinion.group, in_words };

pub(super) fn new(facts: &Facts) -> Coordination<Option<GroupId>> {
    Coordination::new(facts, AMONG)
}

pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    coordination::dispute(opinions, AMONG)
}

fn in_words(group: Option<GroupId>) -> String {
    let group = group.map_or_else(|| "no group".to_owned(), |group| format!("group {group}"));
    format!("{OR_REORGANIZING} in {group}")
}
