//! What the nodes of a cluster are given: certificates and a configuration each.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

use bellwether::tls::{Authority, Validity};
use bellwether_proto::ident::NodeId;

use super::TOKEN;

/// How a cluster is to be.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) nodes: u32,
    /// The files of the first so many list each other as members and voters. Those of the others list all before them as members, and
    /// these as voters.
    pub(crate) founders: u32,
    pub(crate) protocol: &'static str,
    /// Lines at the top of every configuration.
    pub(crate) more: &'static str,
    /// Tables at the end of every configuration.
    pub(crate) tables: &'static str,
    pub(crate) token: Option<&'static str>,
    /// Whether each has a Unix socket.
    pub(crate) socket: bool,
}

impl Shape {
    /// That many nodes, and everything else as it is by default.
    pub(crate) fn of(nodes: u32) -> Self {
        Self {
            nodes,
            founders: nodes,
            protocol: "fjr",
            more: "",
            tables: "",
            token: Some(TOKEN),
            socket: false,
        }
    }
}

/// Where a node is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Where it listens for its peers.
    pub(crate) listen: SocketAddr,
    /// Where they dial it: there, or at something in between.
    pub(crate) dialled: SocketAddr,
    pub(crate) api: SocketAddr,
}

impl Place {
    /// Ports on loopback that were free a moment ago, for the nodes from 1 on.
    pub(crate) fn on_loopback(nodes: u32) -> Vec<Self> {
        let loopback = own_loopback();
        let held: Vec<_> = (0..nodes * 2).map(|_| TcpListener::bind((loopback, 0)).unwrap()).collect();
        let addresses: Vec<_> = held.iter().map(|listener| listener.local_addr().unwrap()).collect();
        let place = |pair: &[SocketAddr]| Self { listen: pair[0], dialled: pair[0], api: pair[1] };
        addresses.chunks(2).map(place).collect()
    }
}

/// An address for the nodes of one cluster. What connects to it does so from 127.0.0.1, so that nobody takes the port of a
/// node that is down for a while.
fn own_loopback() -> Ipv4Addr {
    static CLUSTERS: AtomicU8 = AtomicU8::new(1);
    let cluster = CLUSTERS.fetch_add(1, Ordering::Relaxed);
    let [.., high, low] = std::process::id().to_be_bytes();
    if cfg!(target_os = "linux") { Ipv4Addr::new(127, high | 1, low, cluster) } else { Ipv4Addr::LOCALHOST }
}

/// Writes the files of one node into its home, which is made.
pub(super) fn write(home: &Path, id: u32, shape: &Shape, all: &BTreeMap<u32, Place>, authority: &Authority) {
    fs::create_dir(home).unwrap();
    let identity = authority.issue(NodeId(id), Validity::days(1)).unwrap();
    for (file, text) in [
        ("ca.pem", identity.ca),
        ("cert.pem", identity.cert),
        ("key.pem", identity.key),
        ("agent.toml", config(id, shape, all)),
    ] {
        fs::write(home.join(file), text).unwrap();
        // Two of them are secrets.
        fs::set_permissions(home.join(file), fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn config(id: u32, shape: &Shape, all: &BTreeMap<u32, Place>) -> String {
    let mut config =
        format!("cluster = \"test\"\nnode = {id}\nprotocol = \"{}\"\ndata_dir = \"data\"\n", shape.protocol);
    if !["fjr", "invitation"].contains(&shape.protocol) {
        config.push_str("preempt = true\n");
    }
    let Place { listen, api, .. } = all[&id];
    let _ = writeln!(config, "{}\n[listen]\npeer = \"{listen}\"\napi = \"{api}\"", shape.more);
    if shape.socket {
        config.push_str("socket = \"agent.sock\"\n");
    }
    config.push_str("[tls]\nca = \"ca.pem\"\ncert = \"cert.pem\"\nkey = \"key.pem\"\n");
    if let Some(token) = shape.token {
        let _ = writeln!(config, "[api]\ntoken = \"{token}\"");
    }
    for (peer, Place { dialled, .. }) in all.iter().filter(|(peer, _)| **peer <= shape.founders.max(id)) {
        let _ = writeln!(config, "[[peer]]\nid = {peer}\naddress = \"{dialled}\"");
    }
    if id <= shape.founders {
        config.push_str(shape.tables);
    } else {
        let voters: Vec<u32> = (1..=shape.founders).collect();
        let voters = format!("[exclusive]\nvoters = {voters:?}\n");
        config.push_str(&shape.tables.replace("[exclusive]\n", &voters));
    }
    config
}
