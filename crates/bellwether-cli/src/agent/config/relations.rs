//! What must be so between two keys. Each relation names both, and what they are.

use std::net::SocketAddr;
use std::time::Duration;

use bellwether::config::Peers;
use bellwether_proto::election::Protocol;
use bellwether_proto::time::Span;

use super::Draft;
use super::layers::Settings;
use crate::agent::mode::Mode;

/// Fewer signs of life than this within the timeout, and a single late one would unseat a leader.
const HEARTBEATS_IN_TIMEOUT: u32 = 3;

const HEARTBEAT_MIN: Duration = Duration::from_millis(1);

/// Whether a leader of that algorithm can make way for another that it chooses. The others know one order, that of the
/// ids.
pub(super) fn hands_over(protocol: Protocol) -> bool {
    protocol == Protocol::Fjr
}

/// Whether a leader of that algorithm that is well gives way to a preferred node that is back, whoever likes that or not.
pub(crate) fn gives_way(protocol: Protocol) -> bool {
    !matches!(protocol, Protocol::Fjr | Protocol::Invitation)
}

/// When it does.
fn when(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::FbOmega => "when its view changes next",
        _ => "at once",
    }
}

/// Notes every relation that does not hold.
pub(super) fn check(draft: &Draft, settings: &mut Settings) {
    mode(draft, settings);
    timing(draft, settings);
    preference(draft, settings);
    members(draft, settings);
    listening(draft, settings);
}

fn mode(draft: &Draft, settings: &mut Settings) {
    let (has, name) = (Mode::of(draft.protocol), draft.protocol.name());
    if let Some(asked) = draft.mode.filter(|asked| *asked != has) {
        let problem = format!(
            "mode = \"{}\" cannot be had with protocol = \"{name}\", whose mode is \"{}\"",
            asked.name(),
            has.name()
        );
        settings.wrong("mode", problem);
    }
}

fn timing(draft: &Draft, settings: &mut Settings) {
    let (heartbeat, timeout) = (draft.heartbeat, draft.timeout);
    if heartbeat < HEARTBEAT_MIN {
        let problem = format!(
            "timing.heartbeat ({}) must be at least {}",
            Span::from(heartbeat),
            Span::from(HEARTBEAT_MIN)
        );
        settings.wrong("timing.heartbeat", problem);
    }
    if timeout < heartbeat * HEARTBEATS_IN_TIMEOUT {
        let problem = format!(
            "timing.timeout ({}) must be at least three times timing.heartbeat ({}): otherwise one sign of life that \
             comes late unseats a leader that is well",
            Span::from(timeout),
            Span::from(heartbeat)
        );
        let key =
            if settings.given("timing.timeout").is_some() { "timing.timeout" } else { "timing.heartbeat" };
        settings.wrong(key, problem);
    }
}

fn preference(draft: &Draft, settings: &mut Settings) {
    let name = draft.protocol.name();
    if !draft.preempt && draft.preempt_delay.is_some() {
        settings
            .wrong("preempt_delay", "preempt_delay has no meaning with preempt = false: say preempt = true");
    }
    if hands_over(draft.protocol) {
        return;
    }
    if draft.preempt && !gives_way(draft.protocol) {
        let problem = format!(
            "preempt = true cannot be had with protocol = \"{name}\", whose leader does not give way: say preempt = false, \
             or take \"fjr\""
        );
        settings.wrong("preempt", problem);
    }
    if !draft.preempt && gives_way(draft.protocol) {
        let key = if settings.given("preempt").is_some() { "preempt" } else { "protocol" };
        let problem = format!(
            "preempt = false cannot be had with protocol = \"{name}\", whose leader gives way to the preferred node {}: \
             say preempt = true, or take \"fjr\"",
            when(draft.protocol)
        );
        settings.wrong(key, problem);
    }
    if draft.preempt && gives_way(draft.protocol) && draft.preempt_delay.is_some_and(|delay| !delay.is_zero())
    {
        let problem = format!(
            "preempt_delay needs protocol = \"fjr\": with \"{name}\" a leader gives way to the preferred node {}",
            when(draft.protocol)
        );
        settings.wrong("preempt_delay", problem);
    }
    if draft.priority != 0 {
        let problem = format!(
            "priority ({}) needs protocol = \"fjr\": with \"{name}\" the ids alone say who is preferred",
            draft.priority
        );
        settings.wrong("priority", problem);
    }
}

fn members(draft: &Draft, settings: &mut Settings) {
    match &draft.peers {
        Peers::Named(_) if !hands_over(draft.protocol) => {
            let problem = format!(
                "[discovery] needs protocol = \"fjr\": with \"{}\" every node must know all members beforehand, list \
                 them as [[peer]]",
                draft.protocol.name()
            );
            settings.wrong("discovery.dns", problem);
        }
        Peers::Listed(peers) if !peers.contains_key(&draft.id) => {
            let ids: Vec<_> = peers.keys().map(ToString::to_string).collect();
            let problem =
                format!("node ({}) must be one of the ids of [[peer]]: {}", draft.id, ids.join(", "));
            settings.wrong("node", problem);
        }
        Peers::Listed(peers) => {
            if let Some(most) = draft.protocol.spec().nodes_max().filter(|most| peers.len() > *most) {
                let (name, found) = (draft.protocol.name(), peers.len());
                settings.wrong("protocol", format!("found {found} [[peer]]s, {name} takes at most {most}"));
            }
        }
        Peers::Named(_) => {}
    }
}

fn listening(draft: &Draft, settings: &mut Settings) {
    if collide(draft.listen, draft.api) {
        let problem = format!("listen.peer ({}) and listen.api ({}) must differ", draft.listen, draft.api);
        let key = if settings.given("listen.api").is_some() { "listen.api" } else { "listen.peer" };
        settings.wrong(key, problem);
    }
}

/// Whether one process cannot listen at both. The system finds free ports for those that ask for port 0.
fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let overlap = one.ip() == other.ip() || one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && one.port() != 0 && overlap
}
