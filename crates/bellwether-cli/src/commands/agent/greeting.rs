//! What an agent prints when it has come up: who it is, and what its cluster may rely on.

use std::fmt::Write;
use std::net::SocketAddr;

use bellwether::{Config, GrantKind, Member};

use crate::agent::config::AgentConfig;
use crate::duration::rough;
use crate::layout::hanging;

pub(super) fn text(config: &AgentConfig, member: &Member, api: SocketAddr) -> String {
    let mut lines = String::new();
    let mut entry = |label: &str, text: &str| {
        let _ = writeln!(lines, "{}", hanging(&format!("{label:<10}"), text));
    };
    let status = member.status();
    entry("node", &format!("{}, incarnation {}", status.id, status.incarnation));
    entry("cluster", &status.cluster);
    entry("protocol", status.protocol.name());
    let (mode, guarantee) = (status.mode.name(), status.mode.guarantee());
    entry("mode", &format!("{mode}. {guarantee}"));
    entry("timing", &timing(&config.member));
    entry("peers", &format!("{}, over mutual TLS", member.local_addr()));
    let changes =
        if config.api.token.is_some() { "changes need the token" } else { "read only: no api.token" };
    entry("API", &format!("http://{api}, {changes}"));
    if let Some(socket) = &config.api.socket {
        let (path, mode) = (socket.path.display(), socket.mode);
        entry(
            "socket",
            &format!("{path}, for whoever its permissions ({mode:04o}) let in: no token is asked for"),
        );
    }
    lines
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
