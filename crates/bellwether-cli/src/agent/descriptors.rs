//! File descriptors: how many the process may have, and who gets them. The member's come first, or a crowd of clients could
//! keep it from writing its state; clients of the API share what is left.

use bellwether::member::Descriptors;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What the process has open beside its member and its clients: standard streams, the runtime, signals, the log, the
/// listener of the API, and some for looking up names.
const PROCESS: usize = 16;
/// With fewer clients, one that watches keeps health checks waiting.
const CLIENTS_MIN: usize = 4;
/// How many clients of the port are served at once. Half of them may watch.
const REMOTE_MAX: usize = 2048;
/// How many clients of the Unix socket are. They hold what they campaign for over streams, so few questions are short.
const LOCAL_MAX: usize = 8192;
/// What a client of the Unix socket takes: its connection, its process, and the same again for a session that outlives the
/// connection.
const LOCAL_COST: usize = 3;
/// The share of the port, if there is a socket as well: one part of so many.
const PARTS: usize = 1 + LOCAL_COST;

/// How many clients there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clients {
    max: usize,
    watchers_max: usize,
}

/// Who comes through which door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// Through the port.
    pub(crate) remote: Clients,
    /// Through the Unix socket.
    pub(crate) local: Clients,
}

impl Clients {
    /// How many may be connected.
    pub(crate) fn max(self) -> usize {
        self.max
    }

    /// How many of them may watch: not all, so that there is room for short questions.
    pub(crate) fn watchers_max(self) -> usize {
        self.watchers_max
    }

    fn remote(room: usize) -> Self {
        let max = room.clamp(CLIENTS_MIN, REMOTE_MAX);
        Self { max, watchers_max: max / 2 }
    }

    fn local(room: usize) -> Self {
        let max = (room / LOCAL_COST).clamp(CLIENTS_MIN, LOCAL_MAX);
        Self { max, watchers_max: max - max.div_ceil(8) }
    }
}

/// Raises the limit as far as it may be raised, and leaves the member what it needs, and the hooks.
///
/// # Errors
/// If that is more than there may be.
pub(crate) fn share(member: Descriptors, hooks: usize, has_socket: bool) -> Result<Shares, String> {
    divide(raised(), member, hooks, has_socket)
}

/// The limit of this process, as high as it may be. An error leaves it as it is.
fn raised() -> usize {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return usize::MAX };
    let limit = match setrlimit(Resource::RLIMIT_NOFILE, hard, hard) {
        Ok(()) => hard,
        Err(_) => soft,
    };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

fn divide(limit: usize, member: Descriptors, hooks: usize, has_socket: bool) -> Result<Shares, String> {
    let clients = if has_socket { CLIENTS_MIN * PARTS } else { CLIENTS_MIN };
    let own = PROCESS + hooks;
    let wanted = own + member.most + clients;
    if limit < own + member.least + clients {
        return Err(format!(
            "found a limit of {limit} open files, expected at least {wanted} for so many members: ulimit -n {wanted}"
        ));
    }
    if limit < wanted {
        tracing::warn!(limit, wanted, "the limit of open files is low: a crowd may keep members waiting");
    }
    let rest = limit.saturating_sub(own + member.most);
    let remote = Clients::remote(if has_socket { rest / PARTS } else { rest });
    Ok(Shares { remote, local: Clients::local(rest.saturating_sub(remote.max)) })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bellwether::tls::{Authority, Validity};
    use bellwether::{Config, Member, Peers};
    use bellwether_proto::ident::NodeId;

    use super::*;

    /// What a member of three needs.
    fn of_three() -> Descriptors {
        let authority = Authority::create("demo", Validity::days(1)).unwrap();
        let identity = authority.issue(NodeId(1), Validity::days(1)).unwrap();
        let peers: BTreeMap<_, _> = (1..=3).map(|id| (NodeId(id), format!("10.0.0.{id}:3170"))).collect();
        let listen = ([127, 0, 0, 1], 0).into();
        Member::descriptors(&Config::new("demo", NodeId(1), listen, Peers::Listed(peers), identity, "data"))
    }

    #[test]
    fn the_member_comes_first_and_clients_have_the_rest() {
        let member = of_three();
        let clients = |limit| divide(limit, member, 0, false).map(|shares| shares.remote.max());
        assert_eq!(clients(usize::MAX), Ok(REMOTE_MAX));
        assert_eq!(clients(PROCESS + member.most + 100), Ok(100));
        assert_eq!(clients(64), Ok(CLIENTS_MIN));
        let beside_hooks = divide(PROCESS + 32 + member.most + 100, member, 32, false);
        assert_eq!(beside_hooks.map(|shares| shares.remote.max()), Ok(100));
        let watchers = divide(65_536, member, 0, false).map(|shares| shares.remote.watchers_max());
        assert_eq!(watchers, Ok(REMOTE_MAX / 2));
    }

    #[test]
    fn both_doors_have_room_however_low_the_limit_is() {
        let member = of_three();
        for more in [CLIENTS_MIN * PARTS, 100, 1000, 10_000, 1_000_000] {
            let Shares { remote, local } = divide(PROCESS + member.most + more, member, 0, true).unwrap();
            let taken = remote.max() + LOCAL_COST * local.max();
            assert!(
                taken <= more && remote.max() >= CLIENTS_MIN && local.max() >= CLIENTS_MIN,
                "{more}: {taken}"
            );
            assert!(
                local.watchers_max() > local.max() / 2 && local.watchers_max() < local.max(),
                "{local:?}"
            );
        }
        assert!(divide(PROCESS + member.least + CLIENTS_MIN, member, 0, true).is_err());
        assert_eq!(divide(1 << 20, member, 0, true).unwrap().local.max(), LOCAL_MAX);
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_with_the_one_that_is_needed() {
        let member = of_three();
        let error = divide(20, member, 0, false).unwrap_err();
        let wanted = PROCESS + member.most + CLIENTS_MIN;
        assert!(error.contains("limit of 20 ") && error.contains(&format!("ulimit -n {wanted}")), "{error}");
    }
}
