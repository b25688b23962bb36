//! What members are told about leading: keys at the top of a file, and only of nodes that are run as an agent runs them.

use std::collections::BTreeMap;
use std::ops::Range;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;
use bellwether_toml::{Spanned, Wrong};

use super::cluster::{Cluster, positive, within};
use super::raw::{RawDisk, RawScenario};
use super::values::{Duration, Entries, Whole};
use crate::scenario::{Disk, Policy};

/// As agents have it.
const PRIORITY_MAX: u32 = 1_000;

impl Cluster {
    pub(super) fn policy(&self, raw: &RawScenario) -> Result<Policy, Wrong> {
        let RawScenario { priority, preempt, min_peers, release_timeout, resign_hold, .. } = raw;
        let given = [
            ("priority", priority.as_ref().map(Spanned::span)),
            ("preempt", preempt.as_ref().map(Spanned::span)),
            ("min_peers", min_peers.as_ref().map(Spanned::span)),
            ("release_timeout", release_timeout.as_ref().map(Spanned::span)),
            ("resign_hold", resign_hold.as_ref().map(Spanned::span)),
        ];
        for (key, span) in given {
            span.map_or(Ok(()), |span| self.of_agents(key, span))?;
        }
        let default = Policy::default();
        let or = |given: &Option<_>, key, default| {
            given.as_ref().map_or(Ok(default), |given| positive(key, given))
        };
        Ok(Policy {
            priority: self.priorities(priority.as_ref())?,
            preempt: self.by_node(preempt.as_ref())?,
            min_peers: self.min_peers(min_peers.as_ref())?,
            release_timeout: or(release_timeout, "release_timeout", default.release_timeout)?,
            resign_hold: or(resign_hold, "resign_hold", default.resign_hold)?,
        })
    }

    pub(super) fn disk(&self, RawDisk { latency, slow }: &RawDisk) -> Result<Disk, Wrong> {
        let given = [
            ("disk.latency", latency.as_ref().map(Spanned::span)),
            ("disk.slow", slow.as_ref().map(Spanned::span)),
        ];
        for (key, span) in given {
            span.map_or(Ok(()), |span| self.of_agents(key, span))?;
        }
        Ok(Disk {
            latency: latency.as_ref().map_or(Span::ZERO, |latency| latency.get_ref().0),
            slow: self.by_node(slow.as_ref())?,
        })
    }

    /// Nodes that are not run as an agent runs them have no program that could ask anything, and no leadership to give back.
    pub(super) fn of_agents(&self, key: &str, span: Range<usize>) -> Result<(), Wrong> {
        if self.agent {
            return Ok(());
        }
        let message = format!("`{key}` needs `agent = true` beside it");
        Err(Wrong::at(span, message))
    }

    fn priorities(&self, given: Option<&Spanned<Entries<Whole>>>) -> Result<BTreeMap<NodeId, u32>, Wrong> {
        let entries = given.into_iter().flat_map(|given| &given.get_ref().0);
        let priority = |(node, priority): &(Spanned<String>, Spanned<Whole>)| {
            Ok((self.node_key(node)?, within("priority", priority, 0..=PRIORITY_MAX)?))
        };
        entries.map(priority).collect()
    }

    fn min_peers(&self, given: Option<&Spanned<Whole>>) -> Result<u32, Wrong> {
        given.map_or(Ok(0), |given| within("min_peers", given, 0..=self.nodes - 1))
    }

    fn by_node(&self, given: Option<&Spanned<Entries<Duration>>>) -> Result<BTreeMap<NodeId, Span>, Wrong> {
        let entries = given.into_iter().flat_map(|given| &given.get_ref().0);
        entries.map(|(node, delay)| Ok((self.node_key(node)?, delay.get_ref().0))).collect()
    }
}
