//! Addresses: where peers are, and where to listen for them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The port of the peers.
pub(super) const PEER_PORT: u16 = 3170;

/// The default address of the API: reachable only from this machine.
pub(crate) const API: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 3171);

/// What an error says was expected where an address should be.
pub(crate) const EXPECTED: &str = "a host and a port such as \"10.0.0.1:3170\"";

/// The `host:port` of a peer, the port filled in if it was left out.
pub(crate) fn host_and_port(text: &str) -> Option<String> {
    host_and(text, PEER_PORT)
}

/// A `host:port`, where this is the port if it was left out.
pub(crate) fn host_and(text: &str, default: u16) -> Option<String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            host.parse::<Ipv6Addr>().ok()?;
            (format!("[{host}]"), rest.strip_prefix(':').or(rest.is_empty().then_some("")))
        }
        None => match text.split_once(':') {
            Some((host, port)) if is_host(host) => (host.to_owned(), Some(port)),
            None if is_host(text) => (text.to_owned(), Some("")),
            Some(_) | None => return None,
        },
    };
    let port = match (port?, text.ends_with(':')) {
        ("", false) => default,
        (port, _) => port.parse().ok().filter(|port| *port > 0)?,
    };
    Some(format!("{host}:{port}"))
}

/// The default address to listen on, for a node that peers reach at that `host:port`: every interface, the
/// same port.
pub(super) fn listen_by(own: Option<&str>) -> SocketAddr {
    let port = own.and_then(|own| own.rsplit_once(':')?.1.parse().ok()).unwrap_or(PEER_PORT);
    let any: IpAddr = match own {
        Some(own) if own.starts_with('[') => Ipv6Addr::UNSPECIFIED.into(),
        Some(_) | None => Ipv4Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(any, port)
}

/// Whether this is a name, or an address of version 4.
pub(super) fn is_host(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_left_out_is_filled_in() {
        for (text, meant) in [
            ("10.0.0.1:4000", Some("10.0.0.1:4000")),
            ("10.0.0.1", Some("10.0.0.1:3170")),
            ("node-1.example", Some("node-1.example:3170")),
            ("[::1]:4000", Some("[::1]:4000")),
            ("[::1]", Some("[::1]:3170")),
            ("::1", None),
            ("[::g]", None),
            ("[::1]4000", None),
            ("host:", None),
            ("host:0", None),
            ("host:65536", None),
            (":3170", None),
            ("two words", None),
            ("", None),
        ] {
            assert_eq!(host_and_port(text).as_deref(), meant, "{text}");
        }
    }

    #[test]
    fn a_node_listens_where_its_peers_reach_it() {
        let listen = |own| listen_by(own).to_string();
        assert_eq!(listen(None), "0.0.0.0:3170");
        assert_eq!(listen(Some("10.0.0.1:4000")), "0.0.0.0:4000");
        assert_eq!(listen(Some("[::1]:4000")), "[::]:4000");
    }
}
