//! What a supervisor is told, if there is one that asks as systemd does: when the agent takes part, what it is doing, and that it is alive.
//!
//! The words are those of `sd_notify(3)`: datagrams to the socket that `NOTIFY_SOCKET` names.

use std::convert::Infallible;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process;
use std::time::Duration;

use bellwether::Member;
use bellwether::status::Standing;
use tokio::time::sleep;

use super::http::IDLE_MAX;

/// Without a watchdog, the state is told so often, if it has changed.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Whom to tell.
#[derive(Debug)]
pub(crate) struct Supervisor {
    socket: UnixDatagram,
    /// How often it wants to hear that the agent is alive.
    watchdog: Option<Duration>,
}

impl Supervisor {
    /// If there is one.
    ///
    /// # Errors
    /// If it cannot be reached.
    pub(crate) fn of_process() -> io::Result<Option<Self>> {
        let Some(name) = std::env::var_os("NOTIFY_SOCKET").filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        let socket = UnixDatagram::unbound()?;
        match name.to_str().and_then(|name| name.strip_prefix('@')) {
            Some(name) => connect_to_abstract(&socket, name)?,
            None => socket.connect(Path::new(&name))?,
        }
        // It is told what it has room for. Nobody waits for it.
        socket.set_nonblocking(true)?;
        let variable = |name| std::env::var(name).ok();
        let watchdog = watchdog(variable("WATCHDOG_USEC").as_deref(), variable("WATCHDOG_PID").as_deref());
        Ok(Some(Self { socket, watchdog }))
    }

    /// The agent is about to end.
    pub(crate) fn ending(&self) {
        self.tell("STOPPING=1\nSTATUS=leaving");
    }

    /// Tells how things are, for as long as the agent runs.
    pub(crate) async fn follow(&self, member: &Member) -> Infallible {
        let every = self.watchdog.map_or(LOOK_EVERY, |limit| (limit / 3).min(LOOK_EVERY));
        let mut told = String::new();
        self.tell("READY=1");
        loop {
            let now = words(member);
            if now != told {
                self.tell(&format!("STATUS={now}"));
                told = now;
            }
            // A member that hangs is not alive, even if this is.
            if self.watchdog.is_some() && member.idle() < IDLE_MAX {
                self.tell("WATCHDOG=1");
            }
            sleep(every).await;
        }
    }

    fn tell(&self, what: &str) {
        // A supervisor that does not listen misses it.
        let _ = self.socket.send(what.as_bytes());
    }
}

/// Where the member stands, in a line.
fn words(member: &Member) -> String {
    let now = member.status();
    match (now.standing, now.leader) {
        (Standing::Leading, Some(leader)) => format!("leads, epoch {}", leader.epoch),
        (Standing::Aside, _) => "stands aside".to_owned(),
        (Standing::CatchingUp, _) => "catching up".to_owned(),
        (_, Some(leader)) => format!("follows node {}, epoch {}", leader.id, leader.epoch),
        (_, None) => "no leader is known".to_owned(),
    }
}

/// The time after which a supervisor takes the agent for dead, if it does and means this process.
fn watchdog(micros: Option<&str>, pid: Option<&str>) -> Option<Duration> {
    let ours = pid.is_none_or(|pid| pid == process::id().to_string());
    let limit = micros?.parse().ok().map(Duration::from_micros).filter(|limit| !limit.is_zero());
    limit.filter(|_| ours)
}

#[cfg(target_os = "linux")]
fn connect_to_abstract(socket: &UnixDatagram, name: &str) -> io::Result<()> {
    use std::os::linux::net::SocketAddrExt;
    socket.connect_addr(&std::os::unix::net::SocketAddr::from_abstract_name(name)?)
}

/// There are no such names elsewhere.
#[cfg(not(target_os = "linux"))]
fn connect_to_abstract(_: &UnixDatagram, _: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watchdog_counts_if_it_is_for_this_process() {
        let own = process::id().to_string();
        assert_eq!(watchdog(Some("15000000"), Some(&own)), Some(Duration::from_secs(15)));
        assert_eq!(watchdog(Some("15000000"), None), Some(Duration::from_secs(15)));
        for (micros, pid) in
            [(None, None), (Some("0"), None), (Some("soon"), None), (Some("15000000"), Some("1"))]
        {
            assert_eq!(watchdog(micros, pid), None, "{micros:?} {pid:?}");
        }
    }
}
