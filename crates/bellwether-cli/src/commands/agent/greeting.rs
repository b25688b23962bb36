//! What an agent prints when it has come up: who it is, and what its cluster may rely on.

use std::fmt::Write;
use std::net::SocketAddr;

use bellwether::Member;

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
    let mode = status.protocol.spec().mode;
    let (mode, guarantee) = (mode.name(), mode.guarantee());
    entry("mode", &format!("{mode}. {guarantee}"));
    entry(
        "timing",
        &format!(
            "A leader whose process ends is noticed at once, by its connection. A silent one is noticed after {} \
             (it shows itself every {}), later on a network that proved slower.",
            rough(config.member.timeout),
            rough(config.member.heartbeat)
        ),
    );
    entry("peers", &format!("{}, over mutual TLS", member.local_addr()));
    let changes =
        if config.api.token.is_some() { "changes need the token" } else { "read only: no api.token" };
    entry("API", &format!("http://{api}, {changes}"));
    lines
}
