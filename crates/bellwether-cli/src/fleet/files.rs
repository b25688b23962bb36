//! What the agents of a cluster need before they can start: ports, certificates, a token, configurations.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use bellwether::Mode;
use bellwether::tls::{Authority, Validity};
use bellwether_proto::election::Protocol;
use bellwether_proto::ident::NodeId;

use super::Launch;
use super::place::Place;
use crate::agent::config::SocketConfig;

/// Nobody looks at a cluster for longer.
const DAYS: u32 = 365;

/// A cluster that could be started.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) cluster: &'static str,
    pub(crate) protocol: Protocol,
    pub(crate) mode: Mode,
    pub(crate) dir: PathBuf,
    /// The token for requests that change something.
    pub(crate) token: PathBuf,
    pub(crate) nodes: Vec<NodePlan>,
}

/// A node that could be started.
#[derive(Clone, Debug)]
pub(crate) struct NodePlan {
    pub(crate) id: u32,
    pub(crate) peer: SocketAddr,
    pub(crate) api: SocketAddr,
    /// Where programs reach it without a token; `None` if every path would be too long.
    pub(crate) socket: Option<PathBuf>,
    pub(crate) config: PathBuf,
    pub(crate) log: PathBuf,
}

impl NodePlan {
    /// The arguments with which it is an agent.
    pub(crate) fn agent(&self) -> Launch {
        let mut arguments: Vec<OsString> = ["agent", "--end-with-stdin", "--config"].map(Into::into).into();
        arguments.push(self.config.clone().into());
        Launch { id: self.id, arguments, log: self.log.clone() }
    }
}

impl Plan {
    /// The nodes on which it depends whether anybody can lead: an odd number, if leadership is exclusive.
    pub(crate) fn voters(&self) -> BTreeSet<u32> {
        let odd = self.nodes.len() - usize::from(self.nodes.len().is_multiple_of(2));
        let count = if let Mode::Exclusive(_) = self.mode { odd } else { self.nodes.len() };
        self.nodes.iter().take(count).map(|node| node.id).collect()
    }
}

/// Writes all of it.
pub(crate) fn write(
    place: &Place,
    cluster: &'static str,
    nodes: u32,
    protocol: Protocol,
    mode: Mode,
) -> Result<Plan, String> {
    let dir = &place.dir;
    let addresses =
        free_addresses(nodes as usize * 2).map_err(|error| format!("cannot find free ports: {error}"))?;
    let node = |(id, pair): (u32, &[SocketAddr])| {
        let home = dir.join(format!("node-{id}"));
        let places = [home.join("agent.sock"), place.agent(id)];
        let socket = places.into_iter().find(|path| path.as_os_str().len() <= SocketConfig::PATH_MAX);
        let (config, log) = (home.join("agent.toml"), home.join("log"));
        NodePlan { id, peer: pair[0], api: pair[1], socket, config, log }
    };
    let plan = Plan {
        cluster,
        protocol,
        mode,
        dir: dir.clone(),
        token: dir.join("token"),
        nodes: (1..).zip(addresses.chunks(2)).map(node).collect(),
    };
    write_all(&plan)?;
    Ok(plan)
}

/// Ports outside of the range that systems use for outgoing connections. A port in that range could be taken while the
/// node that it is meant for is down.
const PORTS: Range<u16> = 20_000..32_000;

/// Addresses that were free a moment ago. All are held until the last is known, so that none occurs twice.
pub(crate) fn free_addresses(count: usize) -> io::Result<Vec<SocketAddr>> {
    let bind = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
    // From anywhere on, so that several who look at once do not find the same.
    let start = usize::try_from(chance()).unwrap_or(0) % PORTS.len();
    let ports = PORTS.cycle().skip(start).take(PORTS.len());
    let mut listeners: Vec<_> = ports.filter_map(|port| bind(port).ok()).take(count).collect();
    while listeners.len() < count {
        listeners.push(bind(0)?);
    }
    listeners.iter().map(TcpListener::local_addr).collect()
}

fn write_all(plan: &Plan) -> Result<(), String> {
    let authority =
        Authority::create(plan.cluster, Validity::days(DAYS)).map_err(|error| error.to_string())?;
    put(&plan.dir.join("ca.pem"), authority.cert_pem())?;
    put(&plan.token, &token())?;
    for node in &plan.nodes {
        let home = plan.dir.join(format!("node-{}", node.id));
        fs::create_dir(&home).map_err(|error| format!("cannot make {}: {error}", home.display()))?;
        let identity =
            authority.issue(NodeId(node.id), Validity::days(DAYS)).map_err(|error| error.to_string())?;
        put(&home.join("cert.pem"), &identity.cert)?;
        put(&home.join("key.pem"), &identity.key)?;
        put(&node.config, &config(plan, node))?;
    }
    Ok(())
}

/// Writes a file that only the user may read: most of them are secrets.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), String> {
    let file = File::options().write(true).create_new(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// The configuration, as a person would write it; paths in it are relative to the file.
fn config(plan: &Plan, node: &NodePlan) -> String {
    // Only the user may look into the directory.
    let socket = node.socket.as_ref().map_or_else(String::new, |path| {
        format!("\nsocket = {:?}\nsocket_mode = \"0600\"", path.display().to_string())
    });
    let mut text = format!(
        "cluster  = \"{}\"\nnode     = {}\nprotocol = \"{}\"\nmode     = \"{}\"\npreempt  = {}\ndata_dir = \"data\"\n\n\
         [listen]\npeer = \"{}\"\napi  = \"{}\"{socket}\n\n\
         [tls]\nca   = \"../ca.pem\"\ncert = \"cert.pem\"\nkey  = \"key.pem\"\n\n\
         [api]\ntoken_file = \"../token\"\n",
        plan.cluster,
        node.id,
        plan.protocol.name(),
        plan.mode.name(),
        // Some follow the order of the ids at once, and want to be told so.
        plan.protocol.spec().preempts(),
        node.peer,
        node.api,
    );
    if let Mode::Exclusive(kind) = plan.mode {
        let voters: Vec<String> = plan.voters().iter().map(ToString::to_string).collect();
        let (kind, voters) = (kind.name(), voters.join(", "));
        let _ = write!(text, "\n[exclusive]\nkind   = \"{kind}\"\nvoters = [{voters}]\n");
    }
    for peer in &plan.nodes {
        let _ = write!(text, "\n[[peer]]\nid      = {}\naddress = \"{}\"\n", peer.id, peer.peer);
    }
    text
}

/// A token that nobody guesses.
pub(crate) fn token() -> String {
    format!("{:016x}{:016x}", chance(), chance())
}

/// The keys of the standard library's hashes come from the system's randomness.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}
