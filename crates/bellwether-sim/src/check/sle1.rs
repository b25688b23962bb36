//! SLE1 (Stoller, section 3): "At all times, for all operational nodes i and j, if status_i = Norm and status_j =
//! Norm, then ldr_i = ldr_j."

use bellwether_proto::opinion::Opinion;

use super::Facts;
use super::agreement::{self, Agreement, is_normal};
use super::opinions::Opinions;

pub(super) fn new(facts: &Facts) -> Agreement<()> {
    Agreement::new(facts, among, in_words)
}

pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    agreement::dispute(opinions, is_normal, among, in_words)
}

fn among(_: &Opinion) {}

fn in_words((): ()) -> String {
    String::new()
}
