//! Agents that are none: they speak the HTTP of named elections, and decide who holds what in this process. With them a test can have an
//! agent that goes silent, crashes or comes back when the test says so. What they say and when is what agents say.

#![allow(dead_code, reason = "every binary that includes it uses a part of it")]

mod http;
mod process;
mod state;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::time::interval;

use state::State;

/// What changes need over TCP.
pub(crate) const TOKEN: &str = "the-token-of-the-tests";
/// How often is looked what has become due.
const TICK: Duration = Duration::from_millis(5);
/// What takes longer does not happen.
const DEADLINE: Duration = Duration::from_secs(20);

/// All agents of a cluster, and what their voters know.
pub(crate) struct World {
    state: Arc<Mutex<State>>,
    dir: TempDir,
    runtime: Handle,
    /// The runtime ends when this goes.
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// An agent of it.
pub(crate) struct Agent<'w> {
    world: &'w World,
    pub(crate) node: u32,
    pub(crate) socket: PathBuf,
    pub(crate) api: SocketAddr,
    serves: Vec<tokio::task::JoinHandle<()>>,
}

impl World {
    /// One whose leases last for so long.
    pub(crate) fn new(ttl: Duration) -> Self {
        let state = Arc::new(Mutex::new(State::new(ttl)));
        let (end, ended) = oneshot::channel();
        let (tell, told) = std::sync::mpsc::channel();
        let due = Arc::clone(&state);
        let thread = thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
            tell.send(runtime.handle().clone()).expect("somebody waits for it");
            runtime.block_on(async {
                let mut ticks = interval(TICK);
                let tick = async {
                    loop {
                        ticks.tick().await;
                        due.lock().expect("no test panics in here").settle();
                    }
                };
                tokio::select! {
                    () = tick => {}
                    _ = ended => {}
                }
            });
        });
        let runtime = told.recv().expect("it starts");
        let dir = tempfile::Builder::new().prefix("bellwether-").tempdir().expect("there is room for a test");
        Self { state, dir, runtime, end: Some(end), thread: Some(thread) }
    }

    /// Starts an agent.
    pub(crate) fn agent(&self, node: u32) -> Agent<'_> {
        let socket = self.dir.path().join(format!("{node}.sock"));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let api = listener.local_addr().expect("it is bound");
        drop(listener);
        let mut agent = Agent { world: self, node, socket, api, serves: Vec::new() };
        agent.start();
        agent
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics in here")
    }

    /// Who holds a name, with which token.
    pub(crate) fn holder(&self, name: &str) -> Option<(u32, u64)> {
        self.state().holder(name)
    }

    /// Waits for that.
    #[track_caller]
    pub(crate) fn wait_for<T>(&self, what: &str, mut found: impl FnMut(&State) -> Option<T>) -> T {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(found) = found(&self.state()) {
                return found;
            }
            assert!(Instant::now() < deadline, "{what} did not happen in time");
            thread::park_timeout(TICK);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Agent<'_> {
    /// It comes up, as it was or anew.
    pub(crate) fn start(&mut self) {
        self.world.state().start(self.node);
        let router = http::router(Arc::clone(&self.world.state), self.node);
        let _runtime = self.world.runtime.enter();
        let unix = tokio::net::UnixListener::bind(&self.socket).expect("the socket is free");
        let tcp = std::net::TcpListener::bind(self.api).expect("the port is free");
        tcp.set_nonblocking(true).expect("it can be");
        let tcp = tokio::net::TcpListener::from_std(tcp).expect("it listens");
        self.serves = vec![
            self.world.runtime.spawn(http::serve_unix(unix, router.clone())),
            self.world.runtime.spawn(http::serve_tcp(tcp, router)),
        ];
    }

    /// Its process ends without a word. Its lease runs out.
    pub(crate) fn crash(&mut self) {
        let serves = std::mem::take(&mut self.serves);
        let (tell, told) = std::sync::mpsc::channel();
        self.world.runtime.spawn(async move {
            for serves in serves {
                serves.abort();
                let _ = serves.await;
            }
            let _ = tell.send(());
        });
        told.recv().expect("the world is there");
        std::fs::remove_file(&self.socket).expect("it was there");
        self.world.state().crash(self.node);
    }

    /// It cannot renew its lease any more, until it can.
    pub(crate) fn cut(&self, is_cut: bool) {
        self.world.state().cut(self.node, is_cut);
    }

    /// Its streams break, and nothing else.
    pub(crate) fn break_streams(&self) {
        self.world.state().break_streams(self.node);
    }
}
