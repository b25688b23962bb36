//! Relations between two keys. Each error names both, and their values.

use std::net::SocketAddr;
use std::time::Duration;

use bellwether::Peers;
use bellwether_proto::election::{self, GivesWay, Protocol, Spec};
use bellwether_proto::time::Span;

use super::Draft;
use super::layers::Settings;

/// With fewer heartbeats than this within the timeout, a single late one would unseat a leader.
const HEARTBEATS_IN_TIMEOUT: u32 = 3;

const HEARTBEAT_MIN: Duration = Duration::from_millis(1);

/// Notes every relation that does not hold.
pub(super) fn check(draft: &Draft, settings: &mut Settings) {
    mode(draft, settings);
    timing(draft, settings);
    preference(draft, settings);
    members(draft, settings);
    listening(draft, settings);
}

fn mode(draft: &Draft, settings: &mut Settings) {
    let (has, name) = (draft.protocol.spec().mode, draft.protocol.name());
    if let Some(asked) = draft.mode.filter(|asked| *asked != has) {
        let problem = format!(
            "mode = \"{}\" does not fit protocol = \"{name}\", whose mode is \"{}\"",
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
            "timing.timeout ({}) must be at least three times timing.heartbeat ({}): otherwise one \
             late heartbeat unseats a leader that works",
            Span::from(timeout),
            Span::from(heartbeat)
        );
        let key =
            if settings.given("timing.timeout").is_some() { "timing.timeout" } else { "timing.heartbeat" };
        settings.wrong(key, problem);
    }
}

fn preference(draft: &Draft, settings: &mut Settings) {
    let (spec, name) = (draft.protocol.spec(), draft.protocol.name());
    if !draft.preempt && draft.preempt_delay.is_some() {
        settings
            .wrong("preempt_delay", "preempt_delay has no meaning with preempt = false: say preempt = true");
    }
    if spec.hands_over {
        return;
    }
    let choosing = those(|spec| spec.hands_over);
    match (draft.preempt, when(spec)) {
        (true, None) => {
            let problem = format!(
                "preempt = true does not fit protocol = \"{name}\", whose leader does not give way: say preempt = \
                 false, or take {choosing}"
            );
            settings.wrong("preempt", problem);
        }
        (false, Some(when)) => {
            let key = if settings.given("preempt").is_some() { "preempt" } else { "protocol" };
            let problem = format!(
                "preempt = false does not fit protocol = \"{name}\", whose leader gives way to the preferred node \
                 {when}: say preempt = true, or take {choosing}"
            );
            settings.wrong(key, problem);
        }
        (true, Some(when)) if draft.preempt_delay.is_some_and(|delay| !delay.is_zero()) => {
            let problem = format!(
                "preempt_delay needs protocol = {choosing}: with \"{name}\" a leader gives way to the preferred node \
                 {when}"
            );
            settings.wrong("preempt_delay", problem);
        }
        (true, Some(_)) | (false, None) => {}
    }
    if draft.priority != 0 {
        let problem = format!(
            "priority ({}) needs protocol = {choosing}: with \"{name}\" only the ids say who is preferred",
            draft.priority
        );
        settings.wrong("priority", problem);
    }
}

/// When a leader of that algorithm that is well gives way to a preferred node that is back, if it does.
fn when(spec: &Spec) -> Option<&'static str> {
    match spec.gives_way {
        GivesWay::Never => None,
        GivesWay::AtOnce => Some("at once"),
        GivesWay::WithNextView => Some("when its view changes next"),
    }
}

/// The algorithms of agents of which that is true.
fn those(fit: impl Fn(&Spec) -> bool) -> String {
    let all = Protocol::ALL.into_iter().map(Protocol::spec);
    let names = all.filter(|spec| spec.runs_in_agent() && fit(spec)).map(|spec| format!("\"{}\"", spec.name));
    names.collect::<Vec<_>>().join(" or ")
}

fn members(draft: &Draft, settings: &mut Settings) {
    let (spec, name) = (draft.protocol.spec(), draft.protocol.name());
    match (&draft.peers, spec.peers) {
        (Peers::Named(_), election::Peers::Listed) => {
            let problem = format!(
                "[discovery] needs protocol = {}: with \"{name}\" every node must know all members beforehand, list \
                 them as [[peer]]",
                those(|spec| spec.peers == election::Peers::Met)
            );
            settings.wrong("discovery.dns", problem);
        }
        (Peers::Listed(peers), _) if !peers.contains_key(&draft.id) => {
            let ids: Vec<_> = peers.keys().map(ToString::to_string).collect();
            let problem =
                format!("node ({}) must be one of the ids of [[peer]]: {}", draft.id, ids.join(", "));
            settings.wrong("node", problem);
        }
        (Peers::Listed(peers), _) => {
            if let Some(most) = spec.nodes_max().filter(|most| peers.len() > *most) {
                let found = peers.len();
                settings.wrong("protocol", format!("found {found} [[peer]]s, {name} takes at most {most}"));
            }
        }
        (Peers::Named(_), election::Peers::Met) => {}
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
