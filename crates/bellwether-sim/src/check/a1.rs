//! A1 (Garcia-Molina, section III): "At any instant in time, for any two nodes i and j in the distributed system, the
//! following must hold. a) If (S(i)·s = 'Reorganization' or S(i)·s = 'Normal') and if (S(j)·s = 'Reorganization' or S(j)·s =
//! 'Normal'), then S(i)·c = S(j)·c. b) If S(i)·s = 'Normal' and S(j)·s = 'Normal,' then S(i)·d = S(j)·d."
//!
//! Souto's Assertion 1 is part a) of an algorithm that knows no reorganization, and so no d.

use super::Facts;
use super::coordination::{self, Among, Coordination, OR_REORGANIZING};
use super::opinions::Opinions;

/// All.
const AMONG: Among<()> = Among { of: |_| (), in_words: |()| OR_REORGANIZING.to_owned() };

pub(super) fn new(facts: &Facts) -> Coordination<()> {
    Coordination::new(facts, AMONG)
}

pub(super) fn dispute(opinions: &impl Opinions) -> Option<String> {
    coordination::dispute(opinions, AMONG)
}
