//! A process at a member's address that has its certificate: the agents dial it, and it may answer what it likes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use bellwether::tls::Validity;
use bellwether_proto::ident::NodeId;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::records::{self, RECORD_MAX, Random};
use super::siege::Siege;
use super::stranger::until_closed;
use crate::cluster::{DEADLINE, wait_until};

/// In the time that this takes, a line in a second is not many.
const WARNINGS: usize = 100_000;

#[test]
fn answers_that_are_none_end_the_connection() {
    let siege = Siege::without_one();
    let impostor = Impostor::of(&siege);
    let (before, mut random) = (refused_frames(&siege), Random(5));
    let answers = [
        records::frame(b"frames go the other way"),
        records::hello(siege.other, 1, 7),
        records::record(&random.bytes(100)),
        (RECORD_MAX + 1).to_le_bytes().to_vec(),
        random.bytes(1 << 20),
    ];
    for answer in &answers {
        let mut dialer = impostor.next();
        dialer.write_all(&records::welcome(siege.other, 1, 7)).unwrap();
        // It may hang up before all has been said.
        let _ = dialer.write_all(answer).and_then(|()| dialer.flush());
        until_closed(&mut dialer);
    }
    let refused = || refused_frames(&siege) - before == answers.len() as u64;
    assert!(wait_until(DEADLINE, refused), "{before} then {}: {}", refused_frames(&siege), siege.log());
    siege.is_unmoved();
}

/// Who answers in another's name, or not at all, has not been reached.
#[test]
fn who_does_not_welcome_is_not_spoken_to() {
    let siege = Siege::without_one();
    let impostor = Impostor::of(&siege);
    for answer in [
        records::welcome(siege.leader, 1, 7),
        records::welcome(4, 1, 7),
        records::welcome(siege.other, u64::MAX, 7),
        records::pong(1),
        u32::MAX.to_le_bytes().to_vec(),
        Vec::new(),
    ] {
        let mut dialer = impostor.next();
        let _ = dialer.write_all(&answer).and_then(|()| dialer.flush());
        until_closed(&mut dialer);
    }
    siege.is_unmoved();
}

/// "Somebody claims your id": it is counted as often as it is said, but not logged as often.
#[test]
fn warnings_do_not_flood_the_log() {
    let siege = Siege::without_one();
    let impostor = Impostor::of(&siege);
    let mut dialer = impostor.next();
    dialer.write_all(&records::welcome(siege.other, 1, 7)).unwrap();
    dialer.write_all(&records::duplicate("10.1.2.3:4").repeat(WARNINGS)).unwrap();
    // What is wrong in the end shows that all has been read.
    let _ = dialer.write_all(&records::record(&[])).and_then(|()| dialer.flush());
    until_closed(&mut dialer);
    let warned = || siege.running().map(|id| siege.metric(id, "duplicate_ids_total")).sum::<u64>();
    assert!(wait_until(DEADLINE, || warned() == WARNINGS as u64), "{} warnings", warned());
    let lines = siege.running().map(|id| siege.cluster.log(id).matches("10.1.2.3:4").count());
    let lines: usize = lines.sum();
    assert!((1..100).contains(&lines), "{lines} lines");
    siege.is_unmoved();
}

fn refused_frames(siege: &Siege) -> u64 {
    siege.running().map(|id| siege.metric(id, "refused_frames_total")).sum()
}

struct Impostor {
    listener: TcpListener,
    config: Arc<ServerConfig>,
}

impl Impostor {
    /// In the place of the member that is not there.
    fn of(siege: &Siege) -> Self {
        let listener = TcpListener::bind(siege.cluster.place(siege.other).listen).expect("nobody is there");
        listener.set_nonblocking(true).unwrap();
        let identity = siege.cluster.authority().issue(NodeId(siege.other), Validity::days(1)).unwrap();
        let chain = vec![CertificateDer::from_pem_slice(identity.cert.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[&TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        Self { listener, config: Arc::new(config) }
    }

    /// The next agent that dials, after its greeting.
    fn next(&self) -> StreamOwned<ServerConnection, TcpStream> {
        let mut dialer = None;
        assert!(wait_until(DEADLINE, || {
            dialer = self.listener.accept().ok();
            dialer.is_some()
        }));
        let (stream, _) = dialer.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::clone(&self.config)).unwrap(), stream);
        let mut length = [0; 4];
        stream.read_exact(&mut length).unwrap();
        let mut hello = vec![0; u32::from_le_bytes(length) as usize];
        stream.read_exact(&mut hello).unwrap();
        assert_eq!(hello[0], records::HELLO, "{hello:?}");
        stream
    }
}
