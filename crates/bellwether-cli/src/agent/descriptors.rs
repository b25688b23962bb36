//! File descriptors: how many the process may have, and who gets them. The member's come first, or a crowd of clients could
//! keep it from writing its state; clients of the API share what is left.

use bellwether::member::Descriptors;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// What the process has open beside its member and its clients: standard streams, the runtime, signals, the log, the
/// listener of the API, and some for looking up names.
const PROCESS: usize = 16;
/// With fewer clients, one that watches keeps health checks waiting.
const CLIENTS_MIN: usize = 4;
/// How many clients are served at once.
const CLIENTS_MAX: usize = 512;

/// How many clients of the API there is room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clients(usize);

impl Clients {
    /// How many may be connected.
    pub(crate) fn max(self) -> usize {
        self.0
    }

    /// How many of them may watch: half, so that there is room for short questions.
    pub(crate) fn watchers_max(self) -> usize {
        self.0 / 2
    }
}

/// Raises the limit as far as it may be raised, and leaves the member what it needs.
///
/// # Errors
/// If that is more than there may be.
pub(crate) fn share(member: Descriptors) -> Result<Clients, String> {
    divide(raised(), member)
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

fn divide(limit: usize, member: Descriptors) -> Result<Clients, String> {
    let wanted = PROCESS + member.most + CLIENTS_MIN;
    if limit < PROCESS + member.least + CLIENTS_MIN {
        return Err(format!(
            "found a limit of {limit} open files, expected at least {wanted} for so many members: ulimit -n {wanted}"
        ));
    }
    if limit < wanted {
        tracing::warn!(limit, wanted, "the limit of open files is low: a crowd may keep members waiting");
    }
    let rest = limit.saturating_sub(PROCESS + member.most);
    Ok(Clients(rest.clamp(CLIENTS_MIN, CLIENTS_MAX)))
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
        let clients = |limit| divide(limit, member).map(Clients::max);
        assert_eq!(clients(usize::MAX), Ok(CLIENTS_MAX));
        assert_eq!(clients(PROCESS + member.most + 100), Ok(100));
        assert_eq!(clients(64), Ok(CLIENTS_MIN));
        assert_eq!(divide(1024, member).map(Clients::watchers_max), Ok(CLIENTS_MAX / 2));
    }

    #[test]
    fn a_limit_that_is_too_low_is_named_with_the_one_that_is_needed() {
        let member = of_three();
        let error = divide(20, member).unwrap_err();
        let wanted = PROCESS + member.most + CLIENTS_MIN;
        assert!(error.contains("limit of 20 ") && error.contains(&format!("ulimit -n {wanted}")), "{error}");
    }
}
