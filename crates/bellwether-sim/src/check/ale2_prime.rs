//! ALE2' (Stoller, section 5): "there exists a constant c such that if the system is stable for a period of at least
//! c, then by the end of that period, the system reaches a state satisfying ldrsElected. Furthermore, the system
//! remains in that state as long as the system remains stable."
//!
//! The constant is in `while_stable.rs`.

use super::Facts;
use super::elected::leaders_elected;
use super::while_stable::WhileStable;

pub(super) fn new(facts: &Facts) -> WhileStable {
    WhileStable::new(facts, leaders_elected)
}
