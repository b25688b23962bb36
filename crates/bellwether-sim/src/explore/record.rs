//! What has been announced on the way to a state, as far as anything can still be compared with it.

use std::sync::Arc;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::promise::Property;

use super::broken::Breach;
use super::state::Host;
use crate::check::{self, Leadership};

#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The leaderships that their leaders announced, in order, but for those whose epochs are below all that are on disks.
    led: Vec<Leadership>,
    aftermath: Aftermath,
}

/// What the group has done since something befell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aftermath {
    /// It is settled, and nothing has befallen it.
    Settled,
    /// It was settled when something befell it, and since then one node has announced itself, or none.
    Of { announced: Option<(NodeId, u64)> },
    /// It was not.
    Unjudged,
}

impl Record {
    /// All nodes start at once, which befalls the group.
    pub(super) fn of_start() -> Self {
        Self { led: Vec::new(), aftermath: Aftermath::Of { announced: None } }
    }

    /// Of a group that is settled, and in which these have been seen last.
    pub(super) fn of_settled(mut led: Vec<Leadership>) -> Self {
        led.sort_unstable();
        led.dedup();
        Self { led, aftermath: Aftermath::Settled }
    }

    /// Whether nothing has befallen the group yet.
    pub(super) fn is_settled(&self) -> bool {
        self.aftermath == Aftermath::Settled
    }

    /// Something befalls the group.
    pub(super) fn disturb(&mut self) {
        self.aftermath = match self.aftermath {
            Aftermath::Settled => Aftermath::Of { announced: None },
            Aftermath::Of { .. } | Aftermath::Unjudged => Aftermath::Unjudged,
        };
    }

    /// A node announces something, in a group of these, and this is broken by it.
    pub(super) fn announce<E: Election>(
        &mut self,
        hosts: &[Arc<Host<E>>],
        node: NodeId,
        announced: Announcement,
    ) -> Vec<Breach> {
        let Announcement { leader, epoch, .. } = announced;
        if leader != Some(node) {
            return Vec::new();
        }
        let first = self.led.iter().find(|(other, of)| *other == epoch && *of != node);
        let repeated = first.map(|(_, first)| check::repeated(node, epoch, *first));
        let giver = check::giver(node, &announced);
        let giver = giver.and_then(|giver| hosts.iter().find(|host| host.id == giver));
        let breaches = [
            repeated.map(|what| Breach::of(Property::EpochOnce, what)),
            used_by_another(hosts, node, epoch),
            giver.and_then(|giver| giver.breach_by_giving_back(node)),
            self.aftermath.announce(node, epoch),
        ];
        if let Err(place) = self.led.binary_search(&(epoch, node)) {
            self.led.insert(place, (epoch, node));
        }
        breaches.into_iter().flatten().collect()
    }

    /// Forgets what nobody can announce again without going back.
    pub(super) fn forget_below(&mut self, epoch: u64) {
        self.led.retain(|led| led.0 >= epoch);
    }

    pub(super) fn begins_below(&self, epoch: u64) -> bool {
        self.led.first().is_some_and(|led| led.0 < epoch)
    }

    pub(super) fn canonical(&self, form: &mut Form) {
        form.number(match self.aftermath {
            Aftermath::Settled => 0,
            Aftermath::Of { announced } => 1 + u64::from(announced.is_some()),
            Aftermath::Unjudged => 3,
        });
        form.number(self.led.len() as u64);
        for (epoch, leader) in &self.led {
            form.epoch(*epoch);
            form.node(*leader);
        }
    }
}

impl Aftermath {
    fn announce(&mut self, node: NodeId, epoch: u64) -> Option<Breach> {
        let what = match self {
            Self::Unjudged => return None,
            Self::Of { announced } => {
                let (first, before) = announced.replace((node, epoch))?;
                check::again((node, epoch), (first, before))
            }
            Self::Settled => {
                format!("{node} announces that it leads with epoch {epoch}, and nothing befell the group")
            }
        };
        Some(Breach::of(Property::AnnouncedOnce, format!("{what}: one announcement was due")))
    }
}

/// Whether a node that could be asked has seen that epoch of another, or a larger one.
fn used_by_another<E: Election>(hosts: &[Arc<Host<E>>], node: NodeId, epoch: u64) -> Option<Breach> {
    let could_be_asked = |host: &&Arc<Host<E>>| {
        host.id != node && host.program.is_some_and(|program| program.is_met(host.clock))
    };
    let what =
        hosts.iter().filter(could_be_asked).find_map(|host| check::used(node, epoch, host.id, host.seen));
    what.map(|what| Breach::of(Property::EpochGrows, what))
}
