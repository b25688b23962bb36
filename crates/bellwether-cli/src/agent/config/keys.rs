//! The keys, and which of them a misspelled one meant.

use bellwether_toml::{Value, distance, nearest, one_of};

/// Every key, by its path. The variable of a key is its path in capitals.
pub(super) const KEYS: [&str; 41] = [
    "cluster",
    "node",
    "protocol",
    "variant",
    "mode",
    "data_dir",
    "priority",
    "preempt",
    "preempt_delay",
    "min_peers",
    "resign_hold",
    "release_timeout",
    "discovery.dns",
    "listen.peer",
    "listen.api",
    "listen.socket",
    "listen.socket_mode",
    "timing.heartbeat",
    "timing.timeout",
    "exclusive.ttl",
    "exclusive.drift",
    "exclusive.kind",
    "exclusive.voters",
    "exclusive.witnesses",
    "exclusive.on_lost",
    "hooks.became_leader",
    "hooks.lost_leader",
    "hooks.new_leader",
    "hooks.timeout",
    "hooks.election",
    "tls.ca",
    "tls.cert",
    "tls.key",
    "tls.crl",
    "api.token",
    "api.token_file",
    "api.hosts",
    "log.format",
    "log.level",
    "log.trace",
    "peer",
];

/// The list of peers.
pub(super) const PEER: &str = "peer";

/// The keys of a `[[peer]]`.
pub(super) const PEER_KEYS: [&str; 2] = ["id", "address"];

/// The list of elections that have hooks.
pub(super) const HOOKS_OF_ELECTIONS: &str = "hooks.election";

/// The keys of a `[[hooks.election]]`.
pub(super) const HOOK_KEYS: [&str; 5] = ["name", "became_leader", "lost_leader", "new_leader", "timeout"];

/// Those that say what to run.
pub(super) const HOOK_EVENTS: [&str; 3] = ["became_leader", "lost_leader", "new_leader"];

/// Keys that are too much for a variable.
const LISTS: [&str; 2] = [PEER, HOOKS_OF_ELECTIONS];

/// Whatever is found there is not repeated.
const SECRET: [&str; 2] = ["api", "api.token"];

/// Variables that are not for the agent: its clients, its hooks and the tests use them.
const FOREIGN: [&str; 10] = [
    "BELLWETHER_API",
    "BELLWETHER_SOCKET",
    "BELLWETHER_TOKEN",
    "BELLWETHER_EVENT",
    "BELLWETHER_ELECTION",
    "BELLWETHER_ELECTION_TOKEN",
    "BELLWETHER_ELECTION_EPOCH",
    "BELLWETHER_ELECTION_NODE",
    "BELLWETHER_REQUIRE_NET",
    "BELLWETHER_UP",
];

pub(super) const PREFIX: &str = "BELLWETHER_";

/// The key of that path.
pub(super) fn known(path: &str) -> Option<&'static str> {
    KEYS.into_iter().find(|key| *key == path)
}

/// What is said about a value of that key, or of that table, that was found.
pub(super) fn shown(path: &str, found: &Value) -> String {
    if SECRET.contains(&path) { "something else".to_owned() } else { found.to_string() }
}

/// Whether keys have paths that begin so.
pub(super) fn is_table(path: &str) -> bool {
    KEYS.iter().any(|key| key.split_once('.').is_some_and(|(table, _)| table == path))
}

/// The variable that stands for a key.
pub(super) fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "_").to_uppercase())
}

/// What a variable stands for.
pub(super) enum Variable {
    Key(&'static str),
    Foreign,
    Unknown,
}

impl Variable {
    pub(super) fn of(name: &str) -> Self {
        match KEYS.into_iter().find(|key| !LISTS.contains(key) && variable(key) == name) {
            Some(key) => Self::Key(key),
            None if FOREIGN.contains(&name) => Self::Foreign,
            None => Self::Unknown,
        }
    }
}

/// The error for an unknown key.
pub(super) fn unknown_key(path: &str) -> String {
    let last = path.rsplit('.').next().unwrap_or(path);
    // A key in the wrong table is a likelier slip than one with many letters wrong.
    let displaced = KEYS.into_iter().find(|key| key.rsplit('.').next() == Some(last));
    match displaced.or_else(|| nearest(path, &[&KEYS[..], &beside(path)].concat())) {
        Some(near) => format!("unknown key `{path}`, did you mean `{near}`?"),
        None => format!("unknown key `{path}`, expected {}", one_of(&beside(path))),
    }
}

/// The error for an unknown key of a row of a list, a peer for instance, which has these keys.
pub(super) fn unknown_key_of(row: &str, keys: &[&'static str], key: &str) -> String {
    match nearest(key, keys) {
        Some(near) => format!("unknown key `{key}` of {row}, did you mean `{near}`?"),
        None => format!("unknown key `{key}` of {row}, expected {}", one_of(keys)),
    }
}

/// The error for an unknown variable.
pub(super) fn unknown_variable(name: &str) -> String {
    let variables: Vec<_> = KEYS.iter().filter(|key| !LISTS.contains(key)).map(|key| variable(key)).collect();
    let names = variables.iter().map(String::as_str);
    // Its table left out is a likelier slip than many letters wrong.
    let displaced = names.clone().find(|known| known.ends_with(name.trim_start_matches("BELLWETHER")));
    let near = displaced.or_else(|| names.min_by_key(|known| distance(name, known))).unwrap_or_default();
    format!("environment variable {name}: there is no such setting; the nearest is {near}")
}

/// The keys that could stand where this one does.
fn beside(path: &str) -> Vec<&'static str> {
    match path.rsplit_once('.') {
        Some((table, _)) if is_table(table) => {
            KEYS.into_iter().filter_map(|key| key.strip_prefix(table)?.strip_prefix('.')).collect()
        }
        _ => {
            let mut keys: Vec<_> = KEYS.iter().filter_map(|key| key.split('.').next()).collect();
            keys.dedup();
            keys
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_from_everything_is_answered_with_all_there_is() {
        assert_eq!(
            unknown_key("timing.zzzzzz"),
            "unknown key `timing.zzzzzz`, expected `heartbeat` or `timeout`"
        );
        assert!(
            unknown_key("zzzzzz").ends_with("`tls`, `api`, `log` or `peer`"),
            "{}",
            unknown_key("zzzzzz")
        );
    }
}
