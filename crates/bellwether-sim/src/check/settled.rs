//! SETTLED: as OMEGA, of the leaders that were announced to the application.

use super::Facts;
use super::known::Known;
use super::omega::Omega;

pub(super) fn new(facts: &Facts) -> Omega {
    Omega::on(facts, Known::announced)
}
