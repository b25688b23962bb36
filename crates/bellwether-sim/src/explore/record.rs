//! What has been announced on the way to a state, as far as anything can still be compared with it.

use std::sync::Arc;

use bellwether_proto::canonical::Form;
use bellwether_proto::election::Election;
use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::{Announcement, Cause};

use super::broken::Breach;
use super::owed::Owed;
use super::state::Host;

/// A leadership that was announced: its epoch, and who leads.
pub(super) type Led = (u64, NodeId);

#[derive(Clone, Debug)]
pub(super) struct Record {
    /// The leaderships that were announced by anybody, in order, but for those whose epochs are below all that are on disks.
    led: Vec<Led>,
    aftermath: Aftermath,
}

/// What the group has done since something befell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aftermath {
    /// It is settled, and nothing has befallen it.
    Settled,
    /// It was settled when something befell it, and since then one node has announced itself, or none.
    Of { announced: bool },
    /// It was not.
    Unjudged,
}

impl Record {
    /// All nodes start at once, which befalls the group.
    pub(super) fn of_start() -> Self {
        Self { led: Vec::new(), aftermath: Aftermath::Of { announced: false } }
    }

    /// Of a group that is settled, and in which these have been seen last.
    pub(super) fn of_settled(mut led: Vec<Led>) -> Self {
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
            Aftermath::Settled => Aftermath::Of { announced: false },
            Aftermath::Of { .. } | Aftermath::Unjudged => Aftermath::Unjudged,
        };
    }

    /// A node announces something, in a group of these.
    pub(super) fn announce<E: Election>(
        &mut self,
        hosts: &[Arc<Host<E>>],
        node: NodeId,
        announced: Announcement,
    ) -> Option<Breach> {
        let Announcement { leader: Some(leader), epoch, cause } = announced else { return None };
        let other = self.led.iter().find(|led| led.0 == epoch && led.1 != leader).copied();
        if let Err(place) = self.led.binary_search(&(epoch, leader)) {
            self.led.insert(place, (epoch, leader));
        }
        let twice = other.map(|(_, other)| {
            let what =
                format!("{node} announces {leader} with epoch {epoch}, which was announced of {other}");
            Breach::of(Owed::EpochOnce, what)
        });
        if leader != node {
            return twice;
        }
        let grows = || seen_by_another(hosts, node, epoch);
        let once = || self.aftermath.announce(node, epoch);
        let work = || work_goes_on(hosts, node, cause);
        twice.or_else(grows).or_else(work).or_else(once)
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
            Aftermath::Of { announced } => 1 + u64::from(announced),
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
            Self::Of { announced } if !*announced => {
                *announced = true;
                return None;
            }
            Self::Of { .. } => "one announcement was due",
            Self::Settled => "nothing befell the group",
        };
        let what = format!("{node} announces that it leads with epoch {epoch}: {what}");
        Some(Breach::of(Owed::AnnouncedOnce, what))
    }
}

fn seen_by_another<E: Election>(hosts: &[Arc<Host<E>>], node: NodeId, epoch: u64) -> Option<Breach> {
    let askable = |host: &&Arc<Host<E>>| {
        host.id != node && host.program.is_some_and(|program| program.is_met(host.clock))
    };
    hosts.iter().filter(askable).find_map(|host| {
        let (seen, of) = host.seen.filter(|(seen, of)| *seen > epoch || *seen == epoch && *of != node)?;
        let what = format!(
            "{node} announces that it leads with epoch {epoch}, and {} had announced {of} with {seen}",
            host.id
        );
        Some(Breach::of(Owed::EpochGrows, what))
    })
}

fn work_goes_on<E: Election>(hosts: &[Arc<Host<E>>], node: NodeId, cause: Cause) -> Option<Breach> {
    let (Cause::Resigned(giver) | Cause::HandedOver(giver, _)) = cause else { return None };
    let works = |host: &&Arc<Host<E>>| {
        host.id == giver && host.program.is_some_and(|program| program.is_protected(host.clock))
    };
    hosts.iter().find(works)?;
    let what = format!("{node} announces that {giver} has given leadership back, whose work goes on");
    Some(Breach::of(Owed::WorkEndsFirst, what))
}
