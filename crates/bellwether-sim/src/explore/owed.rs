//! What the leadership layer owes, as far as a search can judge it.

use bellwether_proto::election::Spec;

use super::bounds::Bounds;
use crate::check::Standing;

use super::agents::needs_majority;
use super::program::Work;
use super::state::Host;
use bellwether_proto::election::Election;
use bellwether_proto::ident::NodeId;

/// A promise of the leadership layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owed {
    /// Every leadership that is announced has an epoch above all that its leader had seen, and nobody goes back.
    Epoch,
    /// And above all that anybody had seen who was there to be asked.
    EpochGrows,
    /// No epoch is announced of two leaders.
    EpochOnce,
    /// What befalls a settled group makes one node announce itself, once, or none.
    AnnouncedOnce,
    /// A node gives leadership back when its work has ended, or has had its time to.
    WorkEndsFirst,
    /// Whatever a program asks for is answered, and what was asked back is given back, or kept.
    Answered,
    /// In the end all who are up announce one leader, which is up and stands.
    Settled,
}

impl Owed {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Epoch,
        Self::EpochGrows,
        Self::EpochOnce,
        Self::AnnouncedOnce,
        Self::WorkEndsFirst,
        Self::Answered,
        Self::Settled,
    ];

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epoch => "EPOCH",
            Self::EpochGrows => "EPOCH-GROWS",
            Self::EpochOnce => "EPOCH-ONCE",
            Self::AnnouncedOnce => "ANNOUNCED-ONCE",
            Self::WorkEndsFirst => "WORK-ENDS-FIRST",
            Self::Answered => "ANSWERED",
            Self::Settled => "SETTLED",
        }
    }

    /// Whether it is owed within these bounds. Where any survivor may lead, one that comes back may be the only one to have
    /// seen an epoch.
    pub(super) fn is_owed(self, spec: &Spec, bounds: Bounds) -> bool {
        match self {
            Self::EpochOnce => needs_majority(spec) || bounds.recoveries == 0,
            _ => true,
        }
    }

    /// Whether it is judged by what becomes of a state.
    pub(super) fn is_goal(self) -> bool {
        matches!(self, Self::Answered | Self::Settled)
    }
}

/// How a state compares with what it must become, if so many must be able to speak with each other for one to lead.
pub(super) fn standing<E: Election>(owed: Owed, hosts: &[Host<E>], quorum: usize) -> Standing {
    let wrong = match owed {
        Owed::Answered => hosts.iter().find_map(unanswered),
        Owed::Settled => {
            if hosts.iter().filter(|host| stands(host)).count() < quorum {
                return Standing::Open;
            }
            disagreement(hosts)
        }
        _ => return Standing::Open,
    };
    wrong.map_or(Standing::Holds, Standing::Fails)
}

fn unanswered<E: Election>(host: &Host<E>) -> Option<String> {
    let (id, program) = (host.id, host.program?);
    match program.work {
        _ if program.unanswered > 0 => Some(format!("{id} has not answered what it was asked for")),
        Work::AskedBack { .. } => Some(format!("{id} neither gives leadership back nor keeps it")),
        Work::None | Work::Going | Work::Lost => None,
    }
}

fn disagreement<E: Election>(hosts: &[Host<E>]) -> Option<String> {
    let announced = |host: &Host<E>| host.program.and_then(|program| program.leader);
    let mut up = hosts.iter().filter(|host| host.node.is_some());
    let first = up.next()?;
    let Some(leader) = announced(first) else { return Some(format!("{} announces no leader", first.id)) };
    if let Some(other) = up.find(|host| announced(host) != Some(leader)) {
        let its = announced(other).map_or_else(|| "no leader".to_owned(), |its| its.to_string());
        return Some(format!("{} announces {leader}, and {} announces {its}", first.id, other.id));
    }
    let leads = |id: NodeId| hosts.iter().any(|host| host.id == id && stands(host));
    (!leads(leader)).then(|| format!("all announce {leader}, which does not stand"))
}

fn stands<E: Election>(host: &Host<E>) -> bool {
    host.node.as_ref().is_some_and(|node| !node.is_aside())
}
