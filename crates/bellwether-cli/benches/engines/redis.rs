//! One Redis server on loopback, which writes nothing to a disk, and the usual lock recipe.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::cluster::{Process, wait_until};
use super::program::Program;
use super::role::Role;

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Redis {
    port: u16,
    _server: Process,
}

/// Whether there is such a server here.
pub(crate) fn is_there() -> bool {
    let version = Command::new("redis-server").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

impl Redis {
    pub(crate) fn start() -> Self {
        let held = TcpListener::bind(("127.0.0.1", 0)).expect("there is a port");
        let port = held.local_addr().expect("it is bound").port();
        drop(held);
        let mut server = Command::new("redis-server");
        server.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]);
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let server = Process::start(&mut server);
        let listens = || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok();
        assert!(wait_until(PATIENCE, listens), "redis-server does not listen");
        Self { port, _server: server }
    }

    /// Kills whoever holds the lock, that many times, and says how long the next one waited for it.
    pub(crate) fn failovers(&self, trials: usize, ttl: Duration, again: Duration) -> Vec<Duration> {
        let role = Role::Redis { port: self.port.to_string(), ttl, again };
        let mut holder = Program::start(&mut role.command());
        holder.until("held");
        let mut times = Vec::new();
        while times.len() < trials {
            let mut next = Program::start(&mut role.command());
            next.until("waits");
            let began = Instant::now();
            drop(holder);
            times.push(next.until("held").1.saturating_duration_since(began));
            holder = next;
        }
        // The next ones are others.
        drop(holder);
        times
    }
}
