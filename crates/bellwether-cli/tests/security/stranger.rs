//! Whoever dials an agent, with whatever certificate, and says whatever it likes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use bellwether::tls::{Authority, Identity, Validity};
use bellwether_proto::ident::NodeId;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use super::records;
use crate::cluster::DEADLINE;

/// A connection to an agent, secured.
pub(crate) struct Stranger {
    pub(crate) stream: StreamOwned<ClientConnection, TcpStream>,
}

impl Stranger {
    /// TLS 1.3 lets the dialer believe that all is well before its certificate has been looked at.
    pub(crate) fn dial(to: SocketAddr, config: Arc<ClientConfig>) -> Self {
        Self { stream: StreamOwned::new(connection(config), connect(to)) }
    }

    /// As a member that has proved its id.
    pub(crate) fn welcomed(to: SocketAddr, authority: &Authority, id: u32, incarnation: u64) -> Self {
        let mut stranger = Self::dial(to, member(authority, id));
        stranger.say(&records::hello(id, incarnation, 7)).expect("it is listened to");
        let answer = stranger.hear().expect("an answer");
        assert_eq!(answer.first(), Some(&records::WELCOME), "{answer:?}");
        stranger
    }

    /// Until it believes that the connection is secure.
    pub(crate) fn shake_hands(&mut self) {
        let StreamOwned { conn, sock } = &mut self.stream;
        while conn.is_handshaking() {
            conn.complete_io(sock).expect("the agent shakes hands");
        }
    }

    pub(crate) fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)?;
        self.stream.flush()
    }

    /// The next record.
    pub(crate) fn hear(&mut self) -> io::Result<Vec<u8>> {
        let mut length = [0; 4];
        self.stream.read_exact(&mut length)?;
        let mut record = vec![0; u32::from_le_bytes(length) as usize];
        self.stream.read_exact(&mut record)?;
        Ok(record)
    }

    /// Waits until the agent has hung up.
    #[track_caller]
    pub(crate) fn until_closed(&mut self) {
        until_closed(&mut self.stream);
    }
}

/// A connection as TCP has it. Nothing on it takes longer than a test waits.
pub(crate) fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).expect("the agent listens");
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

#[track_caller]
pub(crate) fn until_closed(stream: &mut impl Read) {
    loop {
        match stream.read(&mut [0; 1024]) {
            Ok(1..) => {}
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                panic!("the agent does not hang up")
            }
            Ok(0) | Err(_) => return,
        }
    }
}

pub(crate) fn connection(config: Arc<ClientConfig>) -> ClientConnection {
    let name = ServerName::try_from("test.bellwether.internal").expect("a name");
    ClientConnection::new(config, name).expect("a configuration")
}

/// With the certificate that a member has.
pub(crate) fn member(authority: &Authority, id: u32) -> Arc<ClientConfig> {
    with(authority, &authority.issue(NodeId(id), Validity::days(1)).unwrap())
}

/// With that certificate, whoever issued it.
pub(crate) fn with(trusted: &Authority, identity: &Identity) -> Arc<ClientConfig> {
    let chain = vec![CertificateDer::from_pem_slice(identity.cert.as_bytes()).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    Arc::new(builder(trusted).with_client_auth_cert(chain, key).unwrap())
}

/// With none.
pub(crate) fn nobody(trusted: &Authority) -> Arc<ClientConfig> {
    Arc::new(builder(trusted).with_no_client_auth())
}

/// It trusts the cluster's authority, or it would hang up itself.
fn builder(trusted: &Authority) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(trusted.cert_pem().as_bytes()).unwrap()).unwrap();
    ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots)
}
