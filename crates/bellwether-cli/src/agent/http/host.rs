//! The names that the API answers to. A web page can have a browser ask any address under a name of its own, and then read
//! the answer (DNS rebinding). The browser says which name it was given, so only names that are known to be this agent's
//! are answered. An address is no name: nobody can make one mean another machine. Nor can a stranger have a name without a dot: that
//! is one of the local network, such as a service's. Programs that name nobody are no browsers.

use std::collections::BTreeSet;
use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::middleware::Next;
use axum::response::Response;

use super::Api;
use super::connection::Client;
use super::error::Problem;
use super::refusals::Why;

/// So much of a name is repeated.
const SHOWN_MAX: usize = 100;

/// The names of this agent, in lower case.
#[derive(Debug)]
pub(super) struct Hosts(BTreeSet<String>);

impl Hosts {
    pub(super) fn new(names: &[String]) -> Self {
        Self(names.iter().map(|name| plain(name)).collect())
    }

    /// The name that a request asks for, if it is not ours.
    fn other_in(&self, request: &Request) -> Option<String> {
        let headers = request.headers().get_all(HOST).iter().map(|host| host.as_bytes());
        let target = request.uri().authority().map(|authority| authority.as_str().as_bytes());
        let other = headers.chain(target).find(|host| !self.is_ours(host))?;
        Some(String::from_utf8_lossy(other).chars().take(SHOWN_MAX).collect())
    }

    /// Whatever the port: it may have been forwarded.
    fn is_ours(&self, host: &[u8]) -> bool {
        if host.is_empty() {
            return true;
        }
        let Ok(authority) = Authority::try_from(host) else { return false };
        let name = plain(authority.host());
        let address = name.trim_start_matches('[').trim_end_matches(']');
        address.parse::<IpAddr>().is_ok()
            || is_local(&name)
            || name.ends_with(".localhost")
            || self.0.contains(&name)
    }
}

/// Whether it is one word, as `localhost` is.
fn is_local(name: &str) -> bool {
    let is_of_a_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !name.is_empty() && name.bytes().all(is_of_a_word)
}

/// Names are the same in any case, and with the dot at the end that stands for the root.
fn plain(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// Answers only requests that are for this agent.
pub(super) async fn check(State(api): State<Api>, request: Request, next: Next) -> Result<Response, Problem> {
    // No web page can have a browser ask a Unix socket.
    let is_local = Client::of(request.extensions()).is_some_and(|client| client.caller().is_some());
    let Some(other) = api.hosts.other_in(&request).filter(|_| !is_local) else {
        return Ok(next.run(request).await);
    };
    let problem = format!(
        "this agent is not known as {other:?}: ask it by its address, or add the name to its `api.hosts`"
    );
    api.refusals.note(Why::Host, Client::of(request.extensions()), &problem);
    Err(Problem::misdirected(problem))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    #[test]
    fn addresses_localhost_and_its_own_names_are_its_own() {
        let hosts = Hosts::new(&["node-1.example".to_owned(), "Other.Example.".to_owned()]);
        for ours in [
            "",
            "127.0.0.1:3171",
            "10.1.2.3",
            "[::1]:3171",
            "[fe80::1]",
            "localhost",
            "LOCALHOST:1",
            "a.localhost:3171",
            "node-1:3171",
            "x",
            "node-1.example:80",
            "Node-1.Example.",
            "other.example",
        ] {
            assert!(hosts.is_ours(ours.as_bytes()), "{ours}");
        }
        for other in [
            "evil.example",
            "evil.example:3171",
            "localhost.evil.example",
            "node-1.example.evil.example",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "localhost, evil.example",
            "::1",
            "a b",
            "\u{fffd}",
        ] {
            assert!(!hosts.is_ours(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn every_name_in_a_request_must_be_its_own() {
        let hosts = Hosts::new(&[]);
        let asked = |uri: &str, names: &[&str]| {
            let mut request = Request::builder().uri(uri);
            for name in names {
                request = request.header(HOST, *name);
            }
            hosts.other_in(&request.body(Body::empty()).unwrap())
        };
        assert_eq!(asked("/", &[]), None);
        assert_eq!(asked("/", &["localhost"]), None);
        assert_eq!(asked("/", &["localhost", "evil.example"]).as_deref(), Some("evil.example"));
        assert_eq!(asked("http://evil.example/", &["localhost"]).as_deref(), Some("evil.example"));
        let long = format!("{}.example", "x".repeat(1000));
        assert_eq!(asked("/", &[long.as_str()]).map(|name| name.len()), Some(SHOWN_MAX));
    }
}
