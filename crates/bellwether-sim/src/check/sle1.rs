//! SLE1 (Stoller, section 3): "At all times, for all operational nodes i and j, if status_i = Norm and status_j =
//! Norm, then ldr_i = ldr_j."

use bellwether_proto::view::View;

use super::Facts;
use super::agreement::{self, Agreement, is_normal};
use super::views::Views;

pub(super) fn new(facts: &Facts) -> Agreement<()> {
    Agreement::new(facts, among, in_words)
}

pub(super) fn dispute(views: &impl Views) -> Option<String> {
    agreement::dispute(views, is_normal, among, in_words)
}

fn among(_: &View) {}

fn in_words((): ()) -> String {
    String::new()
}
