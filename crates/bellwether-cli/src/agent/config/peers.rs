//! The other members and their addresses: `[[peer]]` or `[discovery]`.

use std::collections::BTreeMap;

use bellwether::Peers;
use bellwether_proto::ident::NodeId;
use bellwether_toml::{Entry, Spanned, Value};

use super::address::{self, host_and_port};
use super::given::{self, Given, Place};
use super::keys::{self, PEER, PEER_KEYS};
use super::layers::Settings;

/// The peers, and the node's own address if it is listed.
pub(super) fn read(settings: &mut Settings, id: Option<NodeId>) -> (Option<Peers>, Option<String>) {
    let listed = settings.given(PEER).is_some();
    let named = settings.given("discovery.dns").is_some();
    match (listed, named) {
        (true, false) => {
            let peers = listed_peers(settings);
            let own = id.and_then(|id| peers.get(&id).cloned());
            (Some(Peers::Listed(peers)), own)
        }
        (false, true) => (settings.get("discovery.dns", names).map(Peers::Named), None),
        (true, true) => {
            settings.wrong("discovery.dns", "[discovery] and [[peer]] are both given, expected one of them");
            (None, None)
        }
        (false, false) => {
            settings.wrong(PEER, "neither [[peer]] nor [discovery] is given, expected one of them");
            (None, None)
        }
    }
}

fn names(given: &Given) -> Result<Vec<String>, String> {
    let expected = "a list of names and ports such as [\"bellwether.default.svc:3170\"]";
    let texts = given.texts(expected)?;
    if texts.is_empty() {
        return Err(format!("found an empty list, expected {expected}"));
    }
    let name = |text: &String| {
        host_and_port(text).ok_or_else(|| format!("found {text:?} in the list, expected {expected}"))
    };
    texts.iter().map(name).collect()
}

/// Every valid peer. Problems with the others are noted.
fn listed_peers(settings: &mut Settings) -> BTreeMap<NodeId, String> {
    let Some(rows) = settings.get(PEER, rows) else { return BTreeMap::new() };
    let mut peers: BTreeMap<NodeId, String> = BTreeMap::new();
    for row in rows {
        let Some(Peer { id, id_at, address, address_at }) = peer(settings, row) else { continue };
        if let Some((other, _)) = peers.iter().find(|(_, taken)| **taken == address) {
            let problem = format!("`peer.address`: {address:?} is the address of peer {other}, too");
            settings.problem(&address_at, format!("{problem}, expected one for each"));
        }
        if peers.insert(id, address).is_some() {
            settings.problem(&id_at, format!("`peer.id`: there is a peer {id} already, expected each once"));
        }
    }
    peers
}

fn rows(given: &Given) -> Result<Vec<Spanned<Value>>, String> {
    match &given.value {
        Value::List(rows) if !rows.is_empty() => Ok(rows.clone()),
        found => Err(format!("found {found}, expected a table [[peer]] for each member")),
    }
}

struct Peer {
    id: NodeId,
    id_at: Place,
    address: String,
    address_at: Place,
}

fn peer(settings: &mut Settings, row: Spanned<Value>) -> Option<Peer> {
    let place = Place::File(row.span());
    let entries = match row.into_inner() {
        Value::Table(entries) => entries,
        found => {
            settings.problem(&place, format!("`peer`: found {found}, expected a table [[peer]]"));
            return None;
        }
    };
    let (mut id, mut address) = (None, None);
    for Entry { key, value } in entries {
        match key.get_ref().as_str() {
            "id" => id = Some(settings.entry("peer.id", value, given::id)),
            "address" => address = Some(settings.entry("peer.address", value, peer_address)),
            unknown => settings
                .problem(&Place::File(key.span()), keys::unknown_key_of("a peer", &PEER_KEYS, unknown)),
        }
    }
    for (key, missing) in [("id", id.is_none()), ("address", address.is_none())] {
        if missing {
            settings.problem(&place, format!("a [[peer]] without `{key}`, expected `id` and `address`"));
        }
    }
    let ((id, id_at), (address, address_at)) = (id??, address??);
    Some(Peer { id, id_at, address, address_at })
}

fn peer_address(given: &Given) -> Result<String, String> {
    let text = given.text(address::EXPECTED)?;
    host_and_port(text).ok_or_else(|| format!("found {text:?}, expected {}", address::EXPECTED))
}
