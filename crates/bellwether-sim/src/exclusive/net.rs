//! Messages under way, in no order.

use std::sync::Arc;

use bellwether_proto::exclusive::message::ExclusiveMsg;
use bellwether_proto::ident::NodeId;

use super::shared::Bytes;

/// A message, from whom and to whom.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// From whom.
    pub from: NodeId,
    /// To whom.
    pub to: NodeId,
    /// What.
    pub msg: ExclusiveMsg,
}

#[derive(Debug)]
struct Parcel {
    envelope: Envelope,
    print: u64,
}

/// Messages under way. Those that were sent twice are in it once.
#[derive(Clone, Debug, Default)]
pub(super) struct Net {
    parcels: Vec<Arc<Parcel>>,
    /// Of all fingerprints: no order has a part in it.
    sum: u64,
}

/// No more are under way: the oldest is lost. Searches do not come to it.
const PARCELS_MAX: usize = 128;

impl Net {
    pub(super) fn len(&self) -> usize {
        self.parcels.len()
    }

    pub(super) fn get(&self, at: usize) -> &Envelope {
        &self.parcels[at].envelope
    }

    pub(super) fn send(&mut self, envelope: Envelope, scratch: &mut Bytes) {
        let print = scratch.fingerprint(&envelope);
        if self.parcels.iter().any(|parcel| parcel.print == print) {
            return;
        }
        if self.parcels.len() == PARCELS_MAX {
            self.take(0);
        }
        self.sum = self.sum.wrapping_add(print);
        self.parcels.push(Arc::new(Parcel { envelope, print }));
    }

    /// Out of the network. Another takes its place: there is no order.
    pub(super) fn take(&mut self, at: usize) -> Envelope {
        let parcel = self.parcels.swap_remove(at);
        self.sum = self.sum.wrapping_sub(parcel.print);
        Arc::try_unwrap(parcel).map_or_else(|shared| shared.envelope.clone(), |parcel| parcel.envelope)
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Envelope) -> bool) {
        let sum = &mut self.sum;
        self.parcels.retain(|parcel| {
            let keeps = keep(&parcel.envelope);
            if !keeps {
                *sum = sum.wrapping_sub(parcel.print);
            }
            keeps
        });
    }

    pub(super) fn fingerprint(&self) -> u64 {
        self.sum
    }
}
