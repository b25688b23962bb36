//! `mode` and `[exclusive]`: on which terms at most one leads at a time.

use std::collections::BTreeSet;

use bellwether_proto::exclusive::configuration::Configuration;
use bellwether_proto::exclusive::grant::GrantKind;
use bellwether_proto::exclusive::terms::Drift;
use bellwether_proto::ident::NodeId;
use bellwether_toml::{Spanned, Wrong};

use super::cluster::{Cluster, named, positive, within};
use super::raw::{RawExclusive, RawScenario};
use super::values::{List, Whole};
use crate::scenario::Exclusive;

/// The only mode that a scenario names: which of the others it is depends on the algorithm.
const MODE: &str = "exclusive";

/// Half of a second in a second: no lease can be relied on.
const DRIFT_MAX: u32 = 499_999;

impl Cluster {
    pub(super) fn exclusive(&self, raw: &RawScenario) -> Result<Option<Exclusive>, Wrong> {
        let Some(mode) = &raw.mode else { return self.without_mode(&raw.exclusive.0) };
        named("mode", mode, |name| (name == MODE).then_some(()), &[MODE])?;
        self.of_agents("mode", mode.span())?;
        let RawExclusive { ttl, drift_ppm, kind, voters, witnesses } = &raw.exclusive.0;
        let default = Exclusive::of(self.nodes);
        let kinds = GrantKind::ALL.map(GrantKind::name);
        let terms = Exclusive {
            ttl: ttl.as_ref().map_or(Ok(default.ttl), |ttl| positive("ttl", ttl))?,
            drift: match drift_ppm {
                Some(drift) => Drift(within("drift_ppm", drift, 0..=DRIFT_MAX)?),
                None => default.drift,
            },
            kind: match kind {
                Some(kind) => named("kind", kind, GrantKind::by_name, &kinds)?,
                None => default.kind,
            },
            voters: self.members(voters.as_ref())?.unwrap_or(default.voters),
            witnesses: self.members(witnesses.as_ref())?.unwrap_or_default(),
        };
        let (count, span) = (terms.voters.len(), voters.as_ref().map_or(mode.span(), Spanned::span));
        if count % 2 == 0 || count > Configuration::VOTERS_MAX {
            let most = Configuration::VOTERS_MAX;
            let message = format!(
                "{count} nodes vote, expected an odd number of at most {most}: name them in `voters`"
            );
            return Err(Wrong::at(span, message));
        }
        Ok(Some(terms))
    }

    fn without_mode(&self, raw: &RawExclusive) -> Result<Option<Exclusive>, Wrong> {
        let RawExclusive { ttl, drift_ppm, kind, voters, witnesses } = raw;
        let spans = [
            ttl.as_ref().map(Spanned::span),
            drift_ppm.as_ref().map(Spanned::span),
            kind.as_ref().map(Spanned::span),
            voters.as_ref().map(Spanned::span),
            witnesses.as_ref().map(Spanned::span),
        ];
        match spans.into_iter().flatten().next() {
            Some(span) => {
                Err(Wrong::at(span, "`[exclusive]` needs `mode = \"exclusive\"` at the top".to_owned()))
            }
            None => Ok(None),
        }
    }

    fn members(&self, given: Option<&Spanned<List<Whole>>>) -> Result<Option<BTreeSet<NodeId>>, Wrong> {
        given.map(|given| self.nodes(given).map(|nodes| nodes.into_iter().collect())).transpose()
    }
}
