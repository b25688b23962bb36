//! SETTLED: as OMEGA, of the leaders that were announced to the application.

use super::Facts;
use super::elected::Judgement;
use super::known::Known;
use super::omega::{Omega, agreement};
use super::opinions::Opinions;

pub(super) fn new(facts: &Facts) -> Omega {
    Omega::on(facts, Known::announced)
}

/// Whether in this one state all nodes that are up announce one leader, which is up, if so many are up as must agree.
pub(super) fn judgement(opinions: &impl Opinions, quorum: usize) -> Judgement {
    if opinions.up().take(quorum).count() < quorum {
        return Judgement::Open;
    }
    agreement(opinions, |node| opinions.announced(node))
}
