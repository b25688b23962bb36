//! A network of our own: a namespace for every node, and one with the switch that they are plugged into.
//!
//! ```text
//!   node 1  10.170.0.1 ──n1┐
//!   node 2  10.170.0.2 ──n2┤ switch, 10.170.0.254: the test's thread is here, and asks the nodes from here
//!   node 3  10.170.0.3 ──n3┘ what the switch forwards from port to port can be dropped
//! ```
//!
//! A namespace is a thread's: the thread of a test moves into the switch's, and a process begins where the thread that
//! starts it is. None has a name, so that the kernel removes them all when nobody is there any more, however the test
//! ended. Nothing outside of them is touched.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::marker::PhantomData;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::process::{Command, Output, Stdio, id};

use nix::sched::{CloneFlags, setns, unshare};

use crate::cluster::Place;

/// From one node to another.
pub(crate) type Way = (u32, u32);

/// What the switch does to what it forwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    /// Nothing passes there.
    pub(crate) cuts: BTreeSet<Way>,
    /// So many packets of a hundred are lost.
    pub(crate) loss: u32,
}

/// A network. It is gone when this is, and the processes that were started in it.
pub(crate) struct Network {
    /// Where the thread came from.
    home: Namespace,
    switch: Namespace,
    /// From 1 on.
    nodes: Vec<Namespace>,
    /// It is this thread that has moved.
    _thread: PhantomData<*const ()>,
}

impl Network {
    /// A network of that many nodes. The thread is at the switch from now on.
    ///
    /// # Errors
    /// If this process may not make one, or a tool is missing. The thread stays where it was.
    pub(crate) fn new(nodes: u32) -> Result<Self, String> {
        let home = Namespace::current()?;
        let switch = Namespace::new()?;
        let mut network = Self { home, switch, nodes: Vec::new(), _thread: PhantomData };
        run("ip", &["-batch", "-"], &switch_commands())?;
        for id in 1..=nodes {
            network.plug_in(id)?;
        }
        network.set(&Faults::default())?;
        Ok(network)
    }

    fn plug_in(&mut self, id: u32) -> Result<(), String> {
        let node = Namespace::new()?;
        self.switch.enter()?;
        let port = format!(
            "link add n{id} type veth peer name eth0 netns {}\nlink set n{id} master switch\nlink set n{id} up\n",
            node.path()
        );
        run("ip", &["-batch", "-"], &port)?;
        self.nodes.push(node);
        let own = format!("addr add {}/24 dev eth0\nlink set eth0 up\nlink set lo up\n", address(id));
        self.inside(id, || run("ip", &["-batch", "-"], &own))?
    }

    /// Does something at a node.
    pub(crate) fn inside<T>(&self, id: u32, act: impl FnOnce() -> T) -> Result<T, String> {
        self.nodes[id as usize - 1].enter()?;
        let done = act();
        self.switch.enter()?;
        Ok(done)
    }

    /// Where the nodes of a cluster are on it.
    pub(crate) fn places(&self) -> Vec<Place> {
        let at = |id, port| SocketAddr::from((address(id), port));
        let place = |id| Place { listen: at(id, 3170), dialled: at(id, 3170), api: at(id, 3171) };
        (1..).take(self.nodes.len()).map(place).collect()
    }

    /// From now on the switch does this, and nothing of what it did before.
    pub(crate) fn set(&self, faults: &Faults) -> Result<(), String> {
        let mut rules = String::from(
            "table bridge faults\ndelete table bridge faults\ntable bridge faults {\nchain forward {\n\
             type filter hook forward priority 0; policy accept;\n",
        );
        for (from, to) in &faults.cuts {
            let _ = writeln!(rules, "iifname \"n{from}\" oifname \"n{to}\" drop");
        }
        if faults.loss > 0 {
            let _ = writeln!(rules, "numgen random mod 100 < {} drop", faults.loss);
        }
        rules.push_str("}\n}\n");
        run("nft", &["-f", "-"], &rules)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // If that fails the thread stays, and ends there.
        let _ = self.home.enter();
    }
}

fn switch_commands() -> String {
    let address = address(254);
    format!(
        "link add switch type bridge\naddr add {address}/24 dev switch\nlink set switch up\nlink set lo up\n"
    )
}

fn address(id: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, 170, 0, u8::try_from(id).expect("networks are small"))
}

/// A network namespace; it lasts for as long as somebody has it or is in it.
struct Namespace(File);

impl Namespace {
    fn current() -> Result<Self, String> {
        File::open("/proc/thread-self/ns/net")
            .map(Self)
            .map_err(|error| format!("no network namespaces: {error}"))
    }

    /// The thread is in it.
    fn new() -> Result<Self, String> {
        unshare(CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("no network namespace can be made: {error}"))?;
        Self::current()
    }

    fn enter(&self) -> Result<(), String> {
        setns(&self.0, CloneFlags::CLONE_NEWNET)
            .map_err(|error| format!("cannot move between namespaces: {error}"))
    }

    /// As other processes see it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", id(), self.0.as_raw_fd())
    }
}

/// Runs a tool where the thread is.
fn run(tool: &str, args: &[&str], input: &str) -> Result<(), String> {
    let mut command = Command::new(tool);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{tool} cannot be run: {error}"))?;
    let written = child.stdin.take().expect("it is a pipe").write_all(input.as_bytes());
    let Output { status, stderr, .. } =
        child.wait_with_output().map_err(|error| format!("{tool} cannot be waited for: {error}"))?;
    match written {
        Ok(()) if status.success() => Ok(()),
        _ => Err(format!("{tool}: {}", String::from_utf8_lossy(&stderr).trim())),
    }
}
