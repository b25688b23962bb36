//! Peers' connections. No peer can make a worker wait, and memory is bounded.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::Shared;
use crate::frames;
use crate::wire::Request;

/// At most this many connections at once. Each holds at most one frame.
const CONNECTIONS_MAX: usize = 64;
/// How long a peer may be silent between two requests.
const IDLE_MAX: Duration = Duration::from_secs(60);
/// How long a request may take to arrive, and an answer to be taken.
const FRAME_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait if the system has no more connections to give.
const PAUSE: Duration = Duration::from_millis(50);

/// Takes connections, for ever.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    // They end with this.
    let mut peers = JoinSet::new();
    while let Ok(place) = Arc::clone(&room).acquire_owned().await {
        while peers.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                let shared = Arc::clone(&shared);
                peers.spawn(async move {
                    let _place = place;
                    // However it ends, it is the peer's to begin again.
                    let _ = converse(stream, &shared).await;
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn converse(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut secret = [0; 16];
    timeout(FRAME_TIMEOUT, stream.read_exact(&mut secret)).await??;
    if secret != shared.config.secret.0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    loop {
        let head = timeout(IDLE_MAX, frames::head(&mut stream)).await??;
        let request: Request = timeout(FRAME_TIMEOUT, frames::body(&mut stream, head)).await??;
        timeout(FRAME_TIMEOUT, frames::send(&mut stream, &shared.answer(request))).await??;
    }
}
