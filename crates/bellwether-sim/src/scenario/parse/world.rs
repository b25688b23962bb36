//! `[network]`, `[timing]`, `[detector]`, `[parameters]` and `[clock]`.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Primary, Timing};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;
use bellwether_toml::{Spanned, Wrong};

use super::cluster::{Cluster, named, positive, within};
use super::raw::{RawClock, RawDetector, RawLink, RawNetwork, RawParameters, RawTiming};
use super::values::{Delay, Duration, List, Probability, Table, Whole};
use crate::scenario::{Detector, LinkRule, NODES_MAX, Network, Parameters, defaults};

/// A clock that gains or loses a tenth is broken, not drifting.
const DRIFT_PPM_MAX: i32 = 100_000;

impl Cluster {
    pub(super) fn network(&self, raw: RawNetwork, parameters: &Parameters) -> Result<Network, Wrong> {
        let base = changed(LinkRule::default(), raw.latency, raw.loss, raw.duplicate, raw.fifo);
        let mut seen = BTreeSet::new();
        let mut links = Vec::new();
        for link in raw.link.0 {
            let (from, to, rule) = self.link_rule(&link.get_ref().0, base)?;
            if !seen.insert((from, to)) {
                let message = format!(
                    "a second rule for the link from {from} to {to}, expected one for each direction"
                );
                return Err(Wrong::at(link.span(), message));
            }
            links.push((from, to, rule));
        }
        let model = raw.model.map(|Table(model)| self.model(&model, &base, parameters)).transpose()?;
        let resend = raw.resend.as_ref().map(|resend| positive("resend", resend)).transpose()?;
        Ok(Network { base, links, resend, model })
    }

    fn link_rule(&self, raw: &RawLink, base: LinkRule) -> Result<(NodeId, NodeId, LinkRule), Wrong> {
        let (from, to) = self.link(&raw.from, &raw.to)?;
        Ok((from, to, changed(base, raw.latency, raw.loss, raw.duplicate, raw.fifo)))
    }

    pub(super) fn timing(&self, raw: &RawTiming, network: &Network) -> Result<Timing, Wrong> {
        let delta = positive_or("delta", raw.delta.as_ref(), defaults::delta(network))?;
        Ok(Timing {
            delta,
            tau: positive_or("tau", raw.tau.as_ref(), defaults::TAU)?,
            step: positive_or("step", raw.step.as_ref(), delta)?,
        })
    }

    pub(super) fn detector(&self, raw: &RawDetector, tau: Span) -> Result<Detector, Wrong> {
        let kind = match &raw.kind {
            None => defaults::detector(self.protocol, self.agent),
            Some(kind) => {
                named("detector", kind, DetectorKind::by_name, &DetectorKind::ALL.map(DetectorKind::name))?
            }
        };
        Ok(Detector {
            kind,
            period: positive_or("period", raw.period.as_ref(), tau)?,
            reporters: match &raw.k {
                None => defaults::reporters(self.nodes),
                Some(k) => self.reporters(kind, k)? as usize,
            },
        })
    }

    /// Only the cooperative detector asks that many; the others leave the number alone.
    fn reporters(&self, kind: DetectorKind, k: &Spanned<Whole>) -> Result<u32, Wrong> {
        match kind {
            DetectorKind::Cooperative if self.nodes == 1 => {
                Err(Wrong::at(k.span(), "a cluster of one node has no reporters, expected no `k`"))
            }
            DetectorKind::Cooperative => within("k", k, 1..=self.nodes - 1),
            DetectorKind::Ping
            | DetectorKind::Heartbeat
            | DetectorKind::Ring
            | DetectorKind::Adaptive
            | DetectorKind::Perfect => within("k", k, 1..=NODES_MAX),
        }
    }

    pub(super) fn parameters(&self, raw: &RawParameters) -> Result<Parameters, Wrong> {
        Ok(Parameters {
            t: raw.t.as_ref().map(|t| within("t", t, 0..=self.nodes - 1)).transpose()?,
            candidates: raw.candidates.as_ref().map(|given| self.candidates(given)).transpose()?,
            primary: raw.primary.as_ref().map(primary).transpose()?,
        })
    }

    fn candidates(&self, given: &Spanned<List<Whole>>) -> Result<Vec<NodeId>, Wrong> {
        let candidates = self.nodes(given)?;
        let mut seen = BTreeSet::new();
        for (node, item) in candidates.iter().zip(&given.get_ref().0) {
            if !seen.insert(node) {
                return Err(Wrong::at(
                    item.span(),
                    format!("node {node} is a candidate twice, expected it once"),
                ));
            }
        }
        Ok(candidates)
    }

    pub(super) fn drift_ppm(&self, raw: &RawClock) -> Result<BTreeMap<NodeId, i32>, Wrong> {
        let drift = |(node, ppm): &(Spanned<String>, Spanned<Whole>)| {
            Ok((self.node_key(node)?, within("drift_ppm", ppm, -DRIFT_PPM_MAX..=DRIFT_PPM_MAX)?))
        };
        raw.drift_ppm.0.iter().map(drift).collect()
    }
}

fn primary(given: &Spanned<String>) -> Result<Primary, Wrong> {
    named("rule", given, Primary::by_name, &Primary::ALL.map(Primary::name))
}

fn changed(
    base: LinkRule,
    latency: Option<Delay>,
    loss: Option<Probability>,
    duplicate: Option<Probability>,
    fifo: Option<bool>,
) -> LinkRule {
    LinkRule {
        latency: latency.map_or(base.latency, |Delay(latency)| latency),
        loss: loss.map_or(base.loss, |Probability(loss)| loss),
        duplicate: duplicate.map_or(base.duplicate, |Probability(duplicate)| duplicate),
        fifo: fifo.unwrap_or(base.fifo),
    }
}

fn positive_or(key: &str, given: Option<&Spanned<Duration>>, default: Span) -> Result<Span, Wrong> {
    given.map_or(Ok(default), |given| positive(key, given))
}
