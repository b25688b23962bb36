//! How a test plants a bug between the machines: it meddles with messages, disks and clocks. The machines are the ones that ship.

use bellwether_proto::exclusive::ident::StoreId;
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::time::Time;

use super::model::Model;
use super::net::Envelope;

/// What is done wrong.
pub trait Meddle: Sync {
    /// What is sent instead of a message.
    fn sends(&self, _: &Model, envelope: Envelope) -> Vec<Envelope> {
        vec![envelope]
    }

    /// What is answered instead of handing a message to its receiver; `None` if it is handed over.
    fn answers(&self, _: &mut Model, _: &Envelope) -> Option<Vec<Envelope>> {
        None
    }

    /// What the receiver takes the time to be.
    fn hears_at(&self, _: &Envelope, now: Time) -> Time {
        now
    }

    /// What a voter that restarts finds on its disk.
    fn finds(&self, _: &mut VoterKept) {}

    /// What a voter that restarts takes the time to be.
    fn restarts_at(&self, now: Time) -> Time {
        now
    }

    /// The id of the store that replaces a lost one.
    fn store_after(&self, _: StoreId, next: StoreId) -> StoreId {
        next
    }

    /// Whether voters speak of what is not on disk.
    fn is_early(&self) -> bool {
        false
    }
}

/// Nothing is done wrong.
#[derive(Clone, Copy, Debug)]
pub struct Honest;

impl Meddle for Honest {}
