//! What befalls a group of members, as far as who leads goes.

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::trace::{Program, TraceEvent, What};

use super::known::Known;
use super::opinions::Opinions;

/// A few words for what befalls the group, if this does.
pub(super) fn disturbance(known: &Known, event: &TraceEvent) -> Option<String> {
    befalls(event.node, event.what, known.is_aside(event.node))
}

/// The same of what happens at a node that stands aside, or does not. That something is asked of a member, or that a leader
/// makes way for another, is meant to change who leads; that messages are lost or late is a matter of the assumptions.
pub(crate) fn befalls(node: NodeId, what: What, is_aside: bool) -> Option<String> {
    Some(match what {
        What::Crash => format!("{node} crashed"),
        What::Recover => format!("{node} came up"),
        What::Pause => format!("{node} was paused"),
        What::Resume => format!("{node} went on"),
        What::HeldUp(by) => format!("{node} was held up for {by}"),
        What::Cut(peer) => format!("{node} was cut off from {peer}"),
        What::Mend(peer) => format!("{node} could reach {peer} again"),
        What::Unlinked(peer) => format!("the connection of {node} with {peer} ended"),
        What::Slow(peer) => format!("the delay from {node} to {peer} changed"),
        What::Program(Program::Asked { command, .. }) => format!("{node} was asked to {}", command.name()),
        What::Program(Program::AskedBack { .. }) => format!("{node} was to give leadership back"),
        // Whoever began another incarnation for another reason has no say in it.
        What::Node(Event::Reborn(_)) if is_aside => format!("{node} stood again"),
        _ => return None,
    })
}

/// Whether all who are up announce one leader, which is up.
pub(super) fn is_settled(known: &Known) -> bool {
    let mut announced = known.up().map(|(node, _)| known.announced(node));
    let Some(Some(leader)) = announced.next() else { return false };
    known.is_up(leader) && announced.all(|other| other == Some(leader))
}
