//! The members as the transport sees them.

use std::collections::BTreeSet;
use std::time::Instant;

use bellwether_proto::ident::NodeId;

use super::refusal::Away;
use super::shared::Shared;
use super::table::{Dial, DialState, Peer, Table};
use crate::config::Peers;
use crate::status::{Connection, Participant};

/// This member, those that are known by their id, and the addresses where nobody has answered yet.
pub(super) fn list(shared: &Shared) -> Vec<Participant> {
    let (table, now) = (shared.table(), Instant::now());
    let ours = Participant {
        id: Some(shared.me),
        address: own_address(shared, &table),
        connection: Connection::Connected(shared.local),
        incarnation: Some(shared.incarnation()),
        heard: None,
        is_self: true,
    };
    let ids: BTreeSet<NodeId> = table.peers.keys().copied().collect();
    let known = ids.iter().map(|id| participant(&table, *id, &table.peers[id], now));
    let strangers = table.dials.values().filter(|dial| match dial.id {
        Some(id) => id != shared.me && !ids.contains(&id),
        None => dial.state != DialState::Ourselves,
    });
    let strangers = strangers.map(|dial| Participant {
        id: dial.id,
        address: dial.address.clone(),
        connection: connection(dial),
        incarnation: None,
        heard: None,
        is_self: false,
    });
    // Whoever is on no list is dialled at no address; that it was refused says where it came from.
    let away = table.turned_away.lately(now).filter(|(id, _)| !ids.contains(id));
    let away = away.map(|(id, away)| Participant {
        id: Some(id),
        address: away.address.to_string(),
        connection: refused_here(away),
        incarnation: None,
        heard: None,
        is_self: false,
    });
    [ours].into_iter().chain(known).chain(strangers).chain(away).collect()
}

/// This member's own address as others know it, if it is known: the list may have it, or a dialled name may
/// have led back here.
fn own_address(shared: &Shared, table: &Table) -> String {
    let listed = match &table.members {
        Peers::Listed(listed) => listed.get(&shared.me).cloned(),
        Peers::Named(_) => None,
    };
    let dialled = || {
        let own = table.dials.values().find(|dial| dial.state == DialState::Ourselves);
        own.map(|dial| dial.address.clone())
    };
    listed.or_else(dialled).unwrap_or_else(|| shared.local.to_string())
}

fn participant(table: &Table, id: NodeId, peer: &Peer, now: Instant) -> Participant {
    // A member may be at several addresses: the one that is connected says most.
    let its = || table.dials.values().filter(|dial| dial.id == Some(id));
    let dial = its().find(|dial| dial.state == DialState::Up).or_else(|| its().next());
    let came_from = peer.inward.as_ref().map(|inward| inward.process.address);
    let address = dial.map(|dial| dial.address.clone()).or_else(|| came_from.map(|from| from.to_string()));
    let away = table.turned_away.lately(now).find(|(who, _)| *who == id).map(|(_, away)| away);
    let connection = match (&peer.out, dial) {
        (Some(out), _) if peer.connected => Connection::Connected(out.process.address),
        (_, Some(Dial { state: DialState::Refused(why), .. })) => Connection::Refused(why.clone()),
        (Some(_), _) => {
            Connection::Down("it has been reached, but has not connected to this member".to_owned())
        }
        (None, Some(dial)) => connection(dial),
        (None, None) if came_from.is_none() => Connection::Connecting,
        (None, None) => Connection::Down("it connected, but no address to dial it at is known".to_owned()),
    };
    let connection = match (connection, away) {
        (Connection::Down(_) | Connection::Connecting, Some(away)) => refused_here(away),
        (connection, _) => connection,
    };
    Participant {
        id: Some(id),
        address: address.unwrap_or_default(),
        connection,
        incarnation: peer.incarnation,
        heard: peer.heard.map(|heard| now.saturating_duration_since(heard)),
        is_self: false,
    }
}

fn refused_here(away: &Away) -> Connection {
    Connection::Refused(format!("this member refuses it: {}", away.why))
}

fn connection(dial: &Dial) -> Connection {
    match &dial.state {
        DialState::Connecting | DialState::Up => Connection::Connecting,
        DialState::Down(reason) => Connection::Down(reason.clone()),
        DialState::Refused(reason) => Connection::Refused(reason.clone()),
        DialState::Ourselves => Connection::Down("this member itself is there".to_owned()),
        DialState::Spare => Connection::Down("it is connected through another address".to_owned()),
    }
}
