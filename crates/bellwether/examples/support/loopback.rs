//! What the examples share: members of one cluster in one process, on loopback, with certificates made on the spot. In
//! earnest every member is a process of its own, and `bellwether tls init` makes the certificates.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{SocketAddr, TcpListener};

use bellwether::tls::{Authority, Validity};
use bellwether::{Config, NodeId, Peers};
use tempfile::TempDir;

/// Configurations for that many members, with ids from 1 on. They keep their state in the directory, which goes with it.
pub(crate) fn configs(nodes: u32) -> Result<(TempDir, Vec<Config>), Box<dyn Error>> {
    let (dir, authority) = (tempfile::tempdir()?, Authority::create("example", Validity::days(1))?);
    let ids: Vec<NodeId> = (1..=nodes).map(NodeId).collect();
    let addresses = free_addresses(ids.len())?;
    let listed: BTreeMap<NodeId, String> =
        ids.iter().copied().zip(addresses.iter().map(SocketAddr::to_string)).collect();
    let mut configs = Vec::new();
    for (id, address) in ids.into_iter().zip(addresses) {
        let identity = authority.issue(id, Validity::days(1))?;
        let (peers, state) = (Peers::Listed(listed.clone()), dir.path().join(id.to_string()));
        configs.push(Config::new("example", id, address, peers, identity, state));
    }
    Ok((dir, configs))
}

/// The kernel chooses ports that are free; they are given back and taken again by the members.
fn free_addresses(count: usize) -> Result<Vec<SocketAddr>, Box<dyn Error>> {
    let listeners = (0..count).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    Ok(listeners.iter().map(TcpListener::local_addr).collect::<Result<Vec<_>, _>>()?)
}
