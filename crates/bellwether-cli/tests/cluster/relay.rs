//! Something between two nodes: it forwards what they say, late, and remembers how a dialer began.

use std::future::pending;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

/// So much of what a dialer says is remembered.
const TAPE_MAX: usize = 64 * 1024;

/// What dialers said, by connection.
type Tapes = Arc<Mutex<Vec<Vec<u8>>>>;

/// A relay on loopback. It ends, and its connections with it, when this goes.
pub(crate) struct Relay {
    address: SocketAddr,
    tapes: Tapes,
    _stop: oneshot::Sender<()>,
}

impl Relay {
    /// Forwards to that address; everything that is said takes between so long and so long, each way.
    pub(crate) fn start(target: SocketAddr, delay: Range<Duration>) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let address = listener.local_addr().unwrap();
        let tapes = Tapes::default();
        let (stop, stopped) = oneshot::channel();
        let serve = serve(listener, target, delay, Arc::clone(&tapes));
        thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = serve => {}
                }
            });
        });
        Self { address, tapes, _stop: stop }
    }

    /// Where to dial it.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// What dialers said, by connection.
    pub(crate) fn tapes(&self) -> Vec<Vec<u8>> {
        self.tapes.lock().unwrap().clone()
    }
}

async fn serve(listener: TcpListener, target: SocketAddr, delay: Range<Duration>, tapes: Tapes) {
    // They go with the set, and so with the relay.
    let mut connections = JoinSet::new();
    while let Ok((dialer, _)) = listener.accept().await {
        connections.spawn(forward(dialer, target, delay.clone(), Arc::clone(&tapes)));
    }
    pending().await
}

/// Until both sides have ended what they say.
async fn forward(dialer: TcpStream, target: SocketAddr, delay: Range<Duration>, tapes: Tapes) {
    let Ok(node) = TcpStream::connect(target).await else { return };
    for stream in [&dialer, &node] {
        let _ = stream.set_nodelay(true);
    }
    let tape = {
        let mut tapes = tapes.lock().unwrap();
        tapes.push(Vec::new());
        tapes.len() - 1
    };
    let record = |piece: &[u8]| {
        let tape = &mut tapes.lock().unwrap()[tape];
        let room = TAPE_MAX - tape.len();
        tape.extend(piece.iter().take(room));
    };
    let (from_dialer, to_dialer) = dialer.into_split();
    let (from_node, to_node) = node.into_split();
    tokio::join!(pump(from_dialer, to_node, &delay, record), pump(from_node, to_dialer, &delay, |_| {}));
}

/// One way. Pieces keep their order, as they do on a connection.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    delay: &Range<Duration>,
    mut record: impl FnMut(&[u8]),
) {
    let (sender, mut late) = mpsc::unbounded_channel();
    let read = async move {
        for no in 0.. {
            let mut piece = vec![0; 16 * 1024];
            let Ok(read @ 1..) = from.read(&mut piece).await else { return };
            piece.truncate(read);
            record(&piece);
            if sender.send((Instant::now() + uneven(delay, no), piece)).is_err() {
                return;
            }
        }
    };
    let write = async move {
        while let Some((at, piece)) = late.recv().await {
            sleep_until(at).await;
            if to.write_all(&piece).await.is_err() {
                return;
            }
        }
        let _ = to.shutdown().await;
    };
    tokio::join!(read, write);
}

/// Somewhere in the range: here and there, and the same in every run.
fn uneven(range: &Range<Duration>, no: u32) -> Duration {
    range.start + (range.end - range.start) * (no.wrapping_mul(37) % 100) / 100
}
