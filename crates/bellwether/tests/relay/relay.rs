//! Something between a client and a server, which can be cut.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bellwether::arbiter::conformance::Link;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// A relay on loopback. It ends, and its connections with it, when this goes.
#[derive(Debug)]
pub(crate) struct Relay {
    address: SocketAddr,
    is_whole: Arc<watch::Sender<bool>>,
    _serves: JoinSet<()>,
}

impl Relay {
    /// Forwards to that address.
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let is_whole = Arc::new(watch::Sender::new(true));
        let mut serves = JoinSet::new();
        serves.spawn(serve(listener, target, Arc::clone(&is_whole)));
        Self { address, is_whole, _serves: serves }
    }

    /// Where to dial it.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Link for Relay {
    fn cut(&self) {
        self.is_whole.send_replace(false);
    }

    fn heal(&self) {
        self.is_whole.send_replace(true);
    }
}

async fn serve(listener: TcpListener, target: SocketAddr, is_whole: Arc<watch::Sender<bool>>) {
    // They go with the set, and so with the relay.
    let mut connections = JoinSet::new();
    while let Ok((dialer, _)) = listener.accept().await {
        connections.spawn(forward(dialer, target, is_whole.subscribe()));
    }
}

/// Until either side has ended what it says.
async fn forward(dialer: TcpStream, target: SocketAddr, mut is_whole: watch::Receiver<bool>) {
    let _ = is_whole.wait_for(|whole| *whole).await;
    let Ok(node) = TcpStream::connect(target).await else { return };
    let _ = (dialer.set_nodelay(true), node.set_nodelay(true));
    let (from_dialer, to_dialer) = dialer.into_split();
    let (from_node, to_node) = node.into_split();
    tokio::select! {
        () = pump(from_dialer, to_node, is_whole.clone()) => {}
        () = pump(from_node, to_dialer, is_whole) => {}
    }
}

async fn pump(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    mut is_whole: watch::Receiver<bool>,
) {
    let mut piece = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut piece).await {
        if is_whole.wait_for(|whole| *whole).await.is_err() || to.write_all(&piece[..read]).await.is_err() {
            return;
        }
    }
}
