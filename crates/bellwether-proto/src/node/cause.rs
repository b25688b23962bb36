//! Why a node names another leader.

use super::Node;
use crate::election::{self, Election};
use crate::ident::NodeId;
use crate::leadership::Cause;
use crate::link::history::Histories;
use crate::message::Letter;

impl<E: Election> Node<E> {
    /// Why the node may name another leader after this.
    pub(super) fn cause(&self, input: &election::Input<E::Msg>) -> Cause {
        match (input, self.shown.normal_leader()) {
            (_, None) => Cause::Started,
            // It begins another incarnation because it did not run for too long.
            (election::Input::Recovery, Some(led)) => Cause::Silent(led),
            (election::Input::Resigned { who, .. }, Some(_)) => Cause::Resigned(*who),
            (election::Input::HandOver(to), Some(led)) => Cause::HandedOver(led, *to),
            // A view changes when all have agreed to that. Why they do is some time ago.
            (_, Some(led)) if let Some(history) = &self.history => match self.missed(history, led) {
                Some(peer) if self.link.is_parted(peer) => Cause::Gone(peer),
                Some(peer) => Cause::Silent(peer),
                None => Cause::Merged,
            },
            (election::Input::Gone(peer) | election::Input::NewLife(peer), Some(_)) => Cause::Gone(*peer),
            (election::Input::Deadline, Some(led)) if self.group.is_some() && led == self.id() => {
                Cause::Merged
            }
            (election::Input::Deadline | election::Input::DownSig(_), Some(led)) => Cause::Silent(led),
            (election::Input::ReorganizationFailed(peer), Some(_)) => Cause::Silent(*peer),
            // Where groups merge, a message is an invitation, and a leader's own deadline its turn to invite.
            (
                election::Input::Message { .. } | election::Input::Reorganized | election::Input::Link { .. },
                Some(led),
            ) => match self.group {
                Some(_) => Cause::Merged,
                None => Cause::Outranked(led),
            },
        }
    }

    /// A member of the last reported view that is not linked any more; its leader, if that is one of them.
    fn missed(&self, history: &Histories<Letter<E::Msg>>, led: NodeId) -> Option<NodeId> {
        let members = self.shown.group.and_then(|group| self.history()?.record(group));
        let members = members.into_iter().flat_map(|record| &record.members).copied();
        let missing = |peer: &NodeId| *peer != self.id() && !history.is_up(*peer);
        [led].into_iter().chain(members).find(missing)
    }
}
