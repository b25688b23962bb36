//! ALE1 (Stoller, section 5): as SLE1, but only nodes of one group must agree.
//!
//! That the leader is the one who formed the group is a lemma about one algorithm, not part of the property.

use bellwether_proto::ident::GroupId;
use bellwether_proto::view::View;

use super::Facts;
use super::agreement::{self, Agreement, is_normal};
use super::views::Views;

pub(super) fn new(facts: &Facts) -> Agreement<Option<GroupId>> {
    Agreement::new(facts, among, in_words)
}

pub(super) fn dispute(views: &impl Views) -> Option<String> {
    agreement::dispute(views, is_normal, among, in_words)
}

fn among(view: &View) -> Option<GroupId> {
    view.group
}

fn in_words(group: Option<GroupId>) -> String {
    group.map_or_else(|| " in no group".to_owned(), |group| format!(" in group {group}"))
}
