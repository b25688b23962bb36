//! Clients of the HTTP interface that are hostile, or just wrong.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

use super::records::Random;
use super::siege::Siege;
use super::stranger::connect;
use super::trickle::{keep_pace, trickle};
use crate::cluster::{Cluster, DEADLINE, Shape, TOKEN, Watch, http, wait_until};

const CROWD: usize = 2500;
const SLOW: usize = 50;
const WATCHERS: usize = 100;

#[test]
fn what_is_wrong_is_refused_and_changes_nothing() {
    let siege = Siege::begin();
    let api = siege.cluster.api(siege.leader);
    let ask = |text: &str| http::request(&api, text).unwrap_or_else(|| panic!("no answer to {:.80}", text));
    for (headers, status) in [(huge_header(), 431), (many_headers(), 431), (BAD_HEADER.to_owned(), 400)] {
        assert_eq!(ask(&format!("GET /v1/status HTTP/1.0\r\n{headers}\r\n")).status, status, "{headers:.80}");
    }
    for path in TRAVERSALS {
        let answer = ask(&format!("GET {path} HTTP/1.0\r\n\r\n"));
        assert!(matches!(answer.status, 400 | 404) && !answer.body.contains("root:"), "{path}: {answer:?}");
    }
    for (path, body) in CHANGES {
        for (token, status) in
            [(None, 401), (Some("wrong"), 401), (Some("\u{fffd}"), 401), (Some(TOKEN), 400)]
        {
            let answer = http::post(&api, path, token, body);
            assert_eq!(answer.status, status, "{path} {body} {token:?}: {}", answer.body);
            assert!(!answer.error().contains(TOKEN));
        }
    }
    siege.is_unmoved();
}

const BAD_HEADER: &str = "no colon\r\n";
const TRAVERSALS: [&str; 6] = [
    "/../../../../etc/passwd",
    "/v1/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/v1/..%2f..%2fetc%2fpasswd",
    "//etc/passwd",
    "/v1/status/../../token",
];
const CHANGES: [(&str, &str); 4] = [
    ("/v1/resign", "{"),
    ("/v1/resign", "[[[["),
    ("/v1/transfer", "{\"to\":-1}"),
    ("/v1/transfer", "\u{0}\u{1}"),
];

fn huge_header() -> String {
    format!("x: {}\r\n", "y".repeat(2 << 20))
}

fn many_headers() -> String {
    "x: y\r\n".repeat(10_000)
}

/// A web page can have a browser ask this address, under the page's own name.
#[test]
fn a_name_that_is_not_its_own_is_not_answered() {
    let siege = Siege::begin();
    let api = siege.cluster.api(siege.leader);
    let asked = |path: &str, host: &str| {
        http::request(&api, &format!("GET {path} HTTP/1.0\r\nhost: {host}\r\n\r\n")).expect("an answer")
    };
    for path in ["/v1/status", "/metrics", "/livez", "/nothing"] {
        let answer = asked(path, "evil.example");
        assert_eq!(answer.status, 421, "{path}: {}", answer.body);
        assert!(answer.error().contains("evil.example") && answer.error().contains("`api.hosts`"));
    }
    for ours in ["localhost:3171", "127.0.0.1", &api] {
        assert_eq!(asked("/v1/status", ours).status, 200, "{ours}");
    }
    let metrics = siege.cluster.get(siege.leader, "/metrics").body;
    assert!(metrics.contains("\nbellwether_requests_refused_total{why=\"host\"} 4\n"), "{metrics}");
    assert!(wait_until(DEADLINE, || siege.log().contains("why=\"host\"")), "{}", siege.log());
    siege.is_unmoved();
}

/// A name that the configuration has is one of its own.
#[test]
fn a_name_of_the_configuration_is_answered() {
    let mut cluster = Cluster::prepare(&Shape {
        tables: "[api]\nhosts = [\"node.example\"]\n",
        token: None,
        ..Shape::of(1)
    });
    cluster.start_all();
    cluster.wait_for_leader();
    let answer = http::request(&cluster.api(1), "GET /livez HTTP/1.0\r\nhost: Node.Example:3171\r\n\r\n");
    assert_eq!(answer.expect("an answer").status, 200);
}

/// The answer comes before all has been read.
#[test]
fn a_body_without_end_is_not_read() {
    let siege = Siege::begin();
    let api: SocketAddr = siege.cluster.api(siege.leader).parse().unwrap();
    let body = Random(4).bytes(4 << 20);
    for (token, status) in [("wrong", "401"), (TOKEN, "413")] {
        for length in [format!("content-length: {}", body.len()), "transfer-encoding: chunked".to_owned()] {
            let mut stream = connect(api);
            let head = format!(
                "POST /v1/resign HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n{length}\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).unwrap();
            let mut reading = stream.try_clone().unwrap();
            let chunk = [&b"100000\r\n"[..], &body[..0x10_0000], b"\r\n"].concat();
            let piece = if length.contains("chunked") { &chunk } else { &body };
            // It may hang up before all has been said.
            let _ = stream.write_all(piece);
            let mut answer = [0; 12];
            reading.read_exact(&mut answer).unwrap();
            assert_eq!(std::str::from_utf8(&answer).unwrap(), format!("HTTP/1.1 {status}"));
        }
    }
    siege.is_unmoved();
}

/// More clients than are served at once. Who asks is answered; who says nothing makes room for who does.
#[test]
fn a_crowd_keeps_nobody_out() {
    let siege = Siege::begin();
    let api: SocketAddr = siege.cluster.api(siege.leader).parse().unwrap();
    let crowd = (0..CROWD).map(|_| {
        let mut client = connect(api);
        client.write_all(b"GET /v1/status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        client
    });
    for mut client in crowd.collect::<Vec<_>>() {
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let silent: Vec<TcpStream> = (0..CROWD).map(|_| connect(api)).collect();
    for path in ["/livez", "/readyz", "/leader", "/metrics"] {
        assert_eq!(http::get(&api.to_string(), path).status, 200, "{path}");
    }
    siege.is_unmoved();
    drop(silent);
}

/// More silent clients than are served at once, all of them newer than what a watcher heard last.
#[test]
fn a_crowd_throws_no_watcher_out() {
    let siege = Siege::begin();
    let api: SocketAddr = siege.cluster.api(siege.leader).parse().unwrap();
    let mut watchers: Vec<Watch> = (0..WATCHERS).map(|_| siege.cluster.watch(siege.leader, None)).collect();
    assert!(watchers.iter_mut().all(|watch| watch.next().name == "status"));
    let silent: Vec<TcpStream> = (0..CROWD).map(|_| connect(api)).collect();
    // It came after all of them, so all have been taken when it is answered.
    assert_eq!(http::get(&api.to_string(), "/livez").status, 200);
    siege.is_unmoved();
    assert_eq!(siege.cluster.post(siege.leader, "/v1/resign", "").status, 200);
    for watch in &mut watchers {
        assert_eq!(watch.next().name, "change");
    }
    drop(silent);
}

/// They are sent away in the end; until then they cost a connection each, and nothing else.
#[test]
fn who_asks_in_trickles_is_sent_away() {
    let siege = Siege::begin();
    let api: SocketAddr = siege.cluster.api(siege.leader).parse().unwrap();
    let headers = "GET /v1/status HTTP/1.1\r\nhost: localhost\r\nx: ".to_owned();
    let body = format!(
        "POST /v1/resign HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 999\r\n\r\n"
    );
    thread::scope(|scope| {
        for begin in [&headers, &body].into_iter().cycle().take(2 * SLOW) {
            scope.spawn(|| {
                let mut stream = connect(api);
                stream.write_all(begin.as_bytes()).unwrap();
                keep_pace(&stream);
                trickle(&mut stream, &[b'1'; 300]);
            });
        }
        siege.is_unmoved();
    });
    siege.is_unmoved();
}
