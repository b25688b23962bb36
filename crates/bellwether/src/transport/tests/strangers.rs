use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::NodeId;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::super::NetEvent;
use super::super::record::{Hello, RECORD_MAX, Reason, Record, VERSION};
use super::harness::{
    CLUSTER, Node, Stranger, authority, cluster, encoded, eventually, frame, hello, listed, listener,
    settings,
};
use crate::links::Links;
use crate::status::Connection;
use crate::tls::{Authority, Identity, TlsConfigs, Validity};

/// Two members that a stranger must not disturb.
struct Undisturbed {
    nodes: Vec<Node>,
}

impl Undisturbed {
    async fn new() -> Self {
        Self { nodes: cluster(2).await }
    }

    fn target(&self) -> std::net::SocketAddr {
        self.nodes[0].address()
    }

    /// The first member has refused that much, and its link is as it was.
    async fn have_refused(mut self, connections: u64, frames: u64) {
        let counters = self.nodes[0].transport.counters();
        assert_eq!((counters.refused_connections, counters.refused_frames), (connections, frames));
        let [one, two] = &mut self.nodes[..] else { unreachable!() };
        one.reaches(two, 9).await;
        two.reaches(one, 9).await;
        let counters = one.transport.counters();
        assert_eq!((counters.gone, counters.dropped), (0, 0));
    }
}

fn client(identity: &Identity, id: u32) -> Arc<ClientConfig> {
    TlsConfigs::new(identity, CLUSTER, NodeId(id)).unwrap().client
}

#[tokio::test]
async fn who_speaks_no_tls_is_refused() {
    let members = Undisturbed::new().await;
    let mut stream = TcpStream::connect(members.target()).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    members.have_refused(1, 0).await;
}

#[tokio::test]
async fn who_shows_no_certificate_is_refused() {
    let members = Undisturbed::new().await;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority().cert_pem().as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Stranger::dial(members.target(), Arc::new(config)).await.until_closed().await;
    members.have_refused(1, 0).await;
}

#[tokio::test]
async fn a_certificate_of_another_authority_is_refused() {
    let members = Undisturbed::new().await;
    // One of another name, and one that has taken the name of ours.
    let others = [Authority::create(CLUSTER, Validity::days(1)).unwrap(), authority().impostor()];
    for other in &others {
        let other = other.issue(NodeId(2), Validity::days(1)).unwrap();
        // It trusts our authority, or it would hang up itself.
        let stranger = Identity { ca: authority().cert_pem().to_owned(), ..other };
        Stranger::dial(members.target(), client(&stranger, 2)).await.until_closed().await;
    }
    members.have_refused(2, 0).await;
}

#[tokio::test]
async fn an_expired_certificate_is_refused() {
    let members = Undisturbed::new().await;
    let hour = Duration::from_secs(3600);
    let past = Validity { from: SystemTime::now() - 2 * hour, until: SystemTime::now() - hour };
    let expired = authority().issue(NodeId(2), past).unwrap();
    Stranger::dial(members.target(), client(&expired, 2)).await.until_closed().await;
    members.have_refused(1, 0).await;
}

/// Whoever holds such a certificate could pass for anybody.
#[tokio::test]
async fn a_certificate_for_every_id_is_refused() {
    let members = Undisturbed::new().await;
    let names = [format!("{CLUSTER}.bellwether.internal"), format!("*.{CLUSTER}.bellwether.internal")];
    let wildcard = authority().issue_for(&names.each_ref().map(String::as_str), Validity::days(1));
    let mut stranger = Stranger::dial(members.target(), holding(&wildcard)).await;
    stranger.say(&Record::Hello(hello(2))).await;
    assert_eq!(stranger.refusal().await, Reason::Certificate);
    members.have_refused(1, 0).await;
}

/// A dialer that shows this certificate, whatever it proves.
fn holding(identity: &Identity) -> Arc<ClientConfig> {
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(certificate(&identity.ca)).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(
            vec![certificate(&identity.cert)],
            PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap(),
        );
    Arc::new(config.unwrap())
}

#[tokio::test]
async fn greetings_that_are_not_for_us_are_refused_with_the_reason() {
    let honest = hello(2);
    let cases = [
        (3, honest, Reason::Certificate),
        (2, Hello { id: NodeId(1), ..honest }, Reason::Certificate),
        (2, Hello { version: VERSION + 1, ..honest }, Reason::Version),
        (2, Hello { cluster: 0, ..honest }, Reason::Cluster),
        (2, Hello { protocol: "fjr", ..honest }, Reason::Protocol),
        (3, Hello { id: NodeId(3), ..honest }, Reason::NotListed),
    ];
    let members = Undisturbed::new().await;
    let count = cases.len() as u64;
    for (id, hello, reason) in cases {
        let mut stranger = Stranger::with_id(members.target(), id).await;
        stranger.say(&Record::Hello(hello)).await;
        assert_eq!(stranger.refusal().await, reason);
    }
    members.have_refused(count, 0).await;
}

#[tokio::test]
async fn greetings_that_are_none_are_refused() {
    let members = Undisturbed::new().await;
    let long = (RECORD_MAX as u32 + 1).to_le_bytes();
    let cases: [&[u8]; 4] = [b"\x03\0\0\0abc", &long, b"\xff\xff\xff\xff", b"\x02\0\0\0\x04\x01"];
    for bytes in cases {
        let mut stranger = Stranger::with_id(members.target(), 2).await;
        stranger.stream.write_all(bytes).await.unwrap();
        stranger.until_closed().await;
    }
    members.have_refused(4, 0).await;
}

/// A member of the cluster that sends something it must not, while the others go on.
async fn misbehaves(bytes: &[u8], refused_connections: u64) {
    let mut nodes = cluster(3).await;
    nodes.pop().unwrap().transport.close().await;
    nodes[0].until_ended(3).await;
    let members = Undisturbed { nodes };
    let mut stranger = Stranger::welcomed(members.target(), 3).await;
    stranger.stream.write_all(bytes).await.unwrap();
    stranger.until_closed().await;
    members.have_refused(refused_connections, 1).await;
}

fn record(record: &Record<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    super::super::record::append(record, &mut bytes);
    bytes
}

#[tokio::test]
async fn a_frame_in_anothers_name_ends_the_connection() {
    misbehaves(&record(&Record::Frame(&encoded(&frame(2, 1)))), 1).await;
}

#[tokio::test]
async fn a_frame_that_is_none_ends_the_connection() {
    misbehaves(&record(&Record::Frame(b"garbage")), 0).await;
}

/// A later version adds kinds of messages, and words to those that there are.
#[tokio::test]
async fn messages_that_a_later_version_knows_are_skipped_and_counted() {
    let mut nodes = cluster(3).await;
    nodes.pop().unwrap().transport.close().await;
    nodes[0].until_ended(3).await;
    let mut stranger = Stranger::welcomed(nodes[0].address(), 3).await;
    let known = encoded(&frame(3, 1));
    // The tag, and which of the algorithm's messages it is.
    let [header @ .., tag, msg] = &known[..] else { panic!("a frame has both") };
    let of_no_layer = [header, &[77, *msg]].concat();
    let of_no_kind = [header, &[*tag, 77]].concat();
    let longer = [&known[..], b"more"].concat();
    for bytes in [&of_no_layer, &of_no_kind, &longer, &known.to_vec()] {
        stranger.say(&Record::Frame(bytes)).await;
    }
    // What comes after them is taken.
    nodes[0].until(|event| matches!(event, NetEvent::Frame(found) if *found == frame(3, 1))).await;
    assert_eq!(nodes[0].transport.counters().refused_frames, 3);
}

#[tokio::test]
async fn a_record_that_is_none_ends_the_connection() {
    misbehaves(b"\x07\0\0\0garbage", 0).await;
}

#[tokio::test]
async fn a_record_out_of_turn_ends_the_connection() {
    misbehaves(&record(&Record::Hello(hello(3))), 0).await;
}

#[tokio::test]
async fn a_record_that_is_too_long_ends_the_connection() {
    misbehaves(&(RECORD_MAX as u32 + 1).to_le_bytes(), 0).await;
}

#[tokio::test]
async fn a_member_at_anothers_address_is_not_greeted() {
    let (first, third) = (listener(), listener());
    let (one, three) = (first.local_addr().unwrap(), third.local_addr().unwrap());
    let everybody = listed([(1, &one), (2, &three), (3, &three)]);
    let mut one = Node::on(first, settings(1, everybody.clone()));
    let mut three = Node::on(third, settings(3, everybody));
    one.until_connected(3).await;
    three.until_connected(1).await;
    let told = |connection: &Connection| matches!(connection, Connection::Refused(reason) if reason.contains("is not node 2"));
    eventually("the mistake is known", || told(&one.connection_with(2))).await;
    one.reaches(&mut three, 1).await;
    assert_eq!(three.transport.counters().refused_connections, 0);
}
