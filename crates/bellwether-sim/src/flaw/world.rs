//! What all plans of a hunt have in common.

use bellwether_proto::time::{Span, Time};

use crate::run::slowest_bound;
use crate::scenario::{Fault, Latency, Scenario, defaults};

/// Settings that are not drawn. What is none is left as the plan has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fixed {
    /// Of every link.
    pub latency: Option<Latency>,
    /// Of every link.
    pub loss: Option<f64>,
    /// Of every link.
    pub duplicate: Option<f64>,
    /// Of every link.
    pub fifo: Option<bool>,
    /// δ, and the step of adaptive timeouts. By default what suits the latency, if that is fixed.
    pub delta: Option<Span>,
    /// τ.
    pub tau: Option<Span>,
    /// The detector's period.
    pub period: Option<Span>,
    /// When the run ends.
    pub until: Option<Time>,
    /// Whether no clock drifts.
    pub exact_clocks: bool,
}

impl Fixed {
    /// Puts them in the place of what was drawn. The run goes on for as long as that needs.
    pub(super) fn apply(&self, plan: &mut Scenario) {
        let base = &mut plan.network.base;
        base.latency = self.latency.unwrap_or(base.latency);
        base.loss = self.loss.unwrap_or(base.loss);
        base.duplicate = self.duplicate.unwrap_or(base.duplicate);
        base.fifo = self.fifo.unwrap_or(base.fifo);
        self.leave_alone(plan);
        if self.exact_clocks {
            plan.drift_ppm.clear();
        }
        if self.latency.is_some() || self.delta.is_some() {
            plan.timing.delta = self.delta.unwrap_or(defaults::delta(&plan.network));
            plan.timing.step = plan.timing.delta;
        }
        plan.timing.tau = self.tau.unwrap_or(plan.timing.tau);
        plan.detector.period = self.period.or(self.tau).unwrap_or(plan.detector.period);
        let last = plan.events.iter().map(|planned| planned.at).max().unwrap_or(Time::ZERO);
        let due = last + slowest_bound(plan) + Span::secs(1);
        plan.until = self.until.unwrap_or(plan.until.max(due));
        plan.events.retain(|planned| planned.at < plan.until);
    }

    /// No event changes what is fixed.
    fn leave_alone(&self, plan: &mut Scenario) {
        plan.events.retain_mut(|planned| {
            let Fault::Network { latency, loss, duplicate, fifo } = &mut planned.fault else { return true };
            *latency = latency.filter(|_| self.latency.is_none());
            *loss = loss.filter(|_| self.loss.is_none());
            *duplicate = duplicate.filter(|_| self.duplicate.is_none());
            *fifo = fifo.filter(|_| self.fifo.is_none());
            latency.is_some() || loss.is_some() || duplicate.is_some() || fifo.is_some()
        });
    }
}
