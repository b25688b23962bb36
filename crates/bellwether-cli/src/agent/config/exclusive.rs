//! The table `[exclusive]`: the terms on which at most one member leads at a time.

use std::time::Duration;

use bellwether::{Drift, Exclusive, GrantKind, NodeId, Percent};
use bellwether_proto::election;
use bellwether_toml::one_of;

use super::OnLost;
use super::given::{self, Given};
use super::layers::Settings;

/// The mode that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// That of an algorithm.
    OfAlgorithm(election::Mode),
    Exclusive,
}

impl Asked {
    /// All that there are.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        election::Mode::ALL.into_iter().map(Self::OfAlgorithm).chain([Self::Exclusive])
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::OfAlgorithm(mode) => mode.name(),
            Self::Exclusive => bellwether::Mode::EXCLUSIVE,
        }
    }
}

/// What was given, with defaults.
#[derive(Debug)]
pub(super) struct Terms {
    ttl: Duration,
    drift: Drift,
    kind: GrantKind,
    voters: Option<Vec<NodeId>>,
    witnesses: Vec<NodeId>,
    pub(super) on_lost: OnLost,
}

impl Terms {
    pub(super) fn read(settings: &mut Settings) -> Self {
        Self {
            ttl: settings.or("exclusive.ttl", Exclusive::TTL, Given::duration),
            drift: settings.or("exclusive.drift", Exclusive::DRIFT, drift),
            kind: settings.or("exclusive.kind", GrantKind::default(), kind),
            voters: settings.get("exclusive.voters", given::ids),
            witnesses: settings.or("exclusive.witnesses", Vec::new(), given::ids),
            on_lost: settings.or("exclusive.on_lost", OnLost::Restart, on_lost),
        }
    }

    /// As the library takes them. The agent does no work of its own that could go on too long.
    pub(super) fn of_member(&self) -> Exclusive {
        let mut terms = Exclusive::default();
        (terms.ttl, terms.drift, terms.kind) = (self.ttl, self.drift, self.kind);
        (terms.voters, terms.witnesses) = (self.voters.clone(), self.witnesses.clone());
        terms
    }
}

fn drift(given: &Given) -> Result<Drift, String> {
    let text = given.text(Percent::EXPECTED)?;
    Percent::parse(text).ok_or_else(|| format!("found {text:?}, expected {}", Percent::EXPECTED))
}

fn kind(given: &Given) -> Result<GrantKind, String> {
    let expected = one_of(&GrantKind::ALL.map(GrantKind::name));
    let name = given.text(&expected)?;
    GrantKind::by_name(name).ok_or_else(|| format!("found {name:?}, expected {expected}"))
}

fn on_lost(given: &Given) -> Result<OnLost, String> {
    match given.text("`restart` or `exit`")? {
        "restart" => Ok(OnLost::Restart),
        "exit" => Ok(OnLost::Exit),
        other => Err(format!("found {other:?}, expected `restart` or `exit`")),
    }
}
