//! What an agent prints when it has come up: who it is, and what its cluster may rely on. And what it would be, if it were started.

use std::fmt::Write;
use std::net::SocketAddr;
use std::time::SystemTime;

use bellwether::{Config, GrantKind, Member, Peers};

use crate::agent::config::AgentConfig;
use crate::duration::rough;
use crate::layout::hanging;
use crate::words::counted;

pub(super) fn text(config: &AgentConfig, member: &Member, api: SocketAddr) -> String {
    let status = member.status();
    let mut lines = Lines::default();
    lines.entry("node", &format!("{}, incarnation {}", status.id, status.incarnation));
    lines.promises(&config.member);
    lines.entry("peers", &format!("{}, over mutual TLS", member.local_addr()));
    lines.doors(config, api);
    lines.0
}

/// What an agent would be that is not started, with a certificate that is good until then.
pub(super) fn plan(config: &AgentConfig, until: Option<SystemTime>) -> String {
    let member = &config.member;
    let mut lines = Lines::default();
    lines.entry("node", &member.id.to_string());
    lines.promises(member);
    lines.entry("peers", &format!("{}, over mutual TLS", member.listen));
    match &member.peers {
        Peers::Listed(peers) => {
            for (id, address) in peers.iter().filter(|(id, _)| **id != member.id) {
                lines.entry("", &format!("node {id} at {address}"));
            }
        }
        Peers::Named(names) => lines.entry("", &format!("found by {}", names.join(", "))),
    }
    let days = until.and_then(|until| until.duration_since(SystemTime::now()).ok());
    let days = days.map_or(0, |left| left.as_secs() / (24 * 60 * 60));
    lines.entry("TLS", &format!("the certificate is good for {} more", counted(days, "day")));
    lines.doors(config, config.api.listen);
    lines.entry("data", &member.data_dir.display().to_string());
    lines.0
}

/// An entry for each, with its label.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn entry(&mut self, label: &str, text: &str) {
        let _ = writeln!(self.0, "{}", hanging(&format!("{label:<10}"), text));
    }

    /// What the cluster may rely on.
    fn promises(&mut self, config: &Config) {
        self.entry("cluster", &config.cluster);
        self.entry("protocol", config.protocol.name());
        let mode = config.mode();
        self.entry("mode", &format!("{}. {}", mode.name(), mode.guarantee()));
        self.entry("timing", &timing(config));
    }

    /// Where clients come in.
    fn doors(&mut self, config: &AgentConfig, api: SocketAddr) {
        let changes =
            if config.api.token.is_some() { "changes need the token" } else { "read only: no api.token" };
        self.entry("API", &format!("http://{api}, {changes}"));
        if let Some(socket) = &config.api.socket {
            let (path, mode) = (socket.path.display(), socket.mode);
            self.entry(
                "socket",
                &format!("{path}, for whoever its permissions ({mode:04o}) let in: no token is asked for"),
            );
        }
    }
}

fn timing(config: &Config) -> String {
    let (timeout, heartbeat) = (rough(config.timeout), rough(config.heartbeat));
    match &config.exclusive {
        Some(exclusive) if exclusive.kind == GrantKind::Lease => format!(
            "A leader whose process ends, or that is silent, is replaced when its lease of {} is over. One that gives \
             leadership back is replaced at once.",
            rough(exclusive.ttl)
        ),
        Some(_) | None => format!(
            "A leader whose process ends is noticed at once, by its connection. A silent one is noticed after {timeout} \
             (it shows itself every {heartbeat}), later on a network that proved slower."
        ),
    }
}
