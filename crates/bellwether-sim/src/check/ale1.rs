//! ALE1 (Stoller, section 5): as SLE1, but only nodes of one group must agree.
//!
//! That the leader is the one who formed the group is a lemma about one algorithm, not part of the property.

use bellwether_proto::ident::GroupId;
use bellwether_proto::opinion::Opinion;

use super::Facts;
use super::agreement::{self, Agreement, is_normal};
use super::opinions::Opinions;

pub(super) fn new(facts: &Facts) -> Agreement<Option<GroupId>> {
    Agreement::new(facts, among, in_words)
}

pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    agreement::dispute(opinions, is_normal, among, in_words)
}

fn among(opinion: &Opinion) -> Option<GroupId> {
    opinion.group
}

fn in_words(group: Option<GroupId>) -> String {
    group.map_or_else(|| " in no group".to_owned(), |group| format!(" in group {group}"))
}
