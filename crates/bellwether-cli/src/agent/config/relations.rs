//! Relations between two keys. Each error names both, and their values.
//!
//! What a member takes is for the library to say, and is the same for all programs ([`Config::problems`]). Here it is said in the
//! words of the file. The rest is about what only an agent has.

use std::net::SocketAddr;

use bellwether::{BadConfig, Config, Exclusive, Identity, Peers};
use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{self, GivesWay, Protocol, Spec};
use bellwether_proto::time::Span;

use super::Draft;
use super::exclusive::Asked;
use super::keys::{HOOKS_OF_ELECTIONS, KEYS};
use super::layers::Settings;

/// Notes every relation that does not hold.
pub(super) fn check(draft: &Draft, settings: &mut Settings) {
    mode(draft, settings);
    exclusive(draft, settings);
    // The certificates are in other files, and are read last.
    let unknown = Identity { ca: String::new(), cert: String::new(), key: String::new(), revoked: None };
    for problem in draft.member(unknown).problems() {
        let (key, words) = in_the_words_of_the_file(&problem, settings);
        settings.wrong(key, words);
    }
    preference(draft, settings);
    own_id(draft, settings);
    listening(draft, settings);
}

/// The key at which a problem is, and what to say there.
fn in_the_words_of_the_file(problem: &BadConfig, settings: &Settings) -> (&'static str, String) {
    match problem {
        BadConfig::Heartbeat { found } => {
            let (found, least) = (Span::from(*found), Span::from(Config::HEARTBEAT_MIN));
            ("timing.heartbeat", format!("timing.heartbeat ({found}) must be at least {least}"))
        }
        BadConfig::Timeout { found, heartbeat } => {
            let (timeout, heartbeat) = (Span::from(*found), Span::from(*heartbeat));
            let words = format!(
                "timing.timeout ({timeout}) must be at least three times timing.heartbeat ({heartbeat}): otherwise one \
                 late heartbeat unseats a leader that works"
            );
            (first_given(settings, "timing.timeout", "timing.heartbeat"), words)
        }
        BadConfig::Priority { found, protocol } => {
            let (choosing, name) = (those(|spec| spec.hands_over), protocol.name());
            let words = format!(
                "priority ({found}) needs protocol = {choosing}: with \"{name}\" only the ids say who is preferred"
            );
            ("priority", words)
        }
        BadConfig::NeedsList { protocol } => {
            let (meeting, name) = (those(|spec| spec.peers == election::Peers::Met), protocol.name());
            let words = format!(
                "[discovery] needs protocol = {meeting}: with \"{name}\" every node must know all members beforehand, \
                 list them as [[peer]]"
            );
            ("discovery.dns", words)
        }
        BadConfig::TooMany { protocol, found, most } => {
            let name = protocol.name();
            ("protocol", format!("found {found} [[peer]]s, {name} takes at most {most}"))
        }
        BadConfig::MinPeers { found, most } => {
            let words = format!("min_peers ({found}) must be at most {most}, the number of other [[peer]]s");
            ("min_peers", words)
        }
        BadConfig::Ttl { found, heartbeat } => {
            let (ttl, heartbeat) = (Span::from(*found), Span::from(*heartbeat));
            let words = format!(
                "exclusive.ttl ({ttl}) must be at least {} times timing.heartbeat ({heartbeat}): otherwise a leader that is \
                 merely slow is replaced",
                Exclusive::HEARTBEATS_IN_TTL
            );
            (first_given(settings, "exclusive.ttl", "timing.heartbeat"), words)
        }
        BadConfig::LongTtl { .. } => ("exclusive.ttl", problem.to_string()),
        BadConfig::Drift { .. } => ("exclusive.drift", problem.to_string()),
        BadConfig::EvenVoters { .. } | BadConfig::TooManyVoters { .. } => {
            (first_given(settings, "exclusive.voters", "mode"), problem.to_string())
        }
        BadConfig::NoMember { list, .. } | BadConfig::ListedTwice { list, .. } => {
            let key = if *list == "voters" { "exclusive.voters" } else { "exclusive.witnesses" };
            (key, problem.to_string())
        }
        BadConfig::NobodyLeads => ("exclusive.witnesses", problem.to_string()),
        BadConfig::ExclusiveProtocol { found } => {
            let words = format!(
                "mode = \"exclusive\" needs protocol = \"{}\", and this one is \"{}\"",
                NOMINATES.name(),
                found.name()
            );
            (first_given(settings, "protocol", "mode"), words)
        }
        BadConfig::ExclusiveNeedsList => {
            let words = "mode = \"exclusive\" needs a list of all members, of which a majority votes: [[peer]] instead of [discovery]";
            ("discovery.dns", words.to_owned())
        }
        BadConfig::ExclusivePreempt { .. } => {
            let words = "preempt = true does not fit mode = \"exclusive\": there, priorities order those who wait, and move nobody \
                         who leads";
            ("preempt", words.to_owned())
        }
        // What is wrong by itself was found when it was read. If not, the library's words are good enough.
        other => ("cluster", other.to_string()),
    }
}

fn first_given(settings: &Settings, key: &'static str, otherwise: &'static str) -> &'static str {
    if settings.given(key).is_some() { key } else { otherwise }
}

fn mode(draft: &Draft, settings: &mut Settings) {
    let (has, name) = (draft.protocol.spec().mode, draft.protocol.name());
    let fits = |asked: &Asked| [Asked::OfAlgorithm(has), Asked::Exclusive].contains(asked);
    if let Some(asked) = draft.mode.filter(|asked| !fits(asked)) {
        let problem = format!(
            "mode = \"{}\" does not fit protocol = \"{name}\", whose mode is \"{}\"",
            asked.name(),
            has.name()
        );
        settings.wrong("mode", problem);
    }
}

/// What is said of exclusive leadership is meant. A file that forgets the mode would promise less than its author thinks.
fn exclusive(draft: &Draft, settings: &mut Settings) {
    if draft.mode == Some(Asked::Exclusive) {
        if draft.min_peers.is_some() {
            let problem = "min_peers has no meaning with mode = \"exclusive\": nobody leads without a majority of the voters";
            settings.wrong("min_peers", problem);
        }
        return;
    }
    let needs_it = |key: &&str| key.starts_with("exclusive.") || *key == HOOKS_OF_ELECTIONS;
    for key in KEYS.into_iter().filter(needs_it) {
        if settings.given(key).is_some() {
            settings.wrong(key, format!("`{key}` needs mode = \"exclusive\""));
        }
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
            let key = first_given(settings, "preempt", "protocol");
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

fn own_id(draft: &Draft, settings: &mut Settings) {
    if let Peers::Listed(peers) = &draft.peers
        && !peers.contains_key(&draft.id)
    {
        let ids: Vec<_> = peers.keys().map(ToString::to_string).collect();
        let problem = format!("node ({}) must be one of the ids of [[peer]]: {}", draft.id, ids.join(", "));
        settings.wrong("node", problem);
    }
}

fn listening(draft: &Draft, settings: &mut Settings) {
    if collide(draft.listen, draft.api) {
        let problem = format!("listen.peer ({}) and listen.api ({}) must differ", draft.listen, draft.api);
        let key = first_given(settings, "listen.api", "listen.peer");
        settings.wrong(key, problem);
    }
}

/// Whether one process cannot listen at both. The system finds free ports for those that ask for port 0.
fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let overlap = one.ip() == other.ip() || one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && one.port() != 0 && overlap
}
