//! Work that is tied to a guard of leadership, whoever gave it out: threads that block and processes, which are not stopped at an
//! `await`, and those who listen to a token. What is started through the guard holds the guard until it has ended, so that
//! leadership is not handed over before.

use std::future::Future;
use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A guard of leadership. Leadership is handed to nobody as long as there is one, if that can be helped.
pub(crate) trait Guarding: Clone + Send + Sync + 'static {
    /// Whether what only a leader may do may go on.
    fn is_held(&self) -> bool;

    /// Until it may not. This holds no guard.
    fn watch(&self) -> impl Future<Output = ()> + Send + 'static;
}

/// Runs work that blocks, on a thread for that, which gets a guard of its own.
pub(crate) fn spawn_blocking<G, F, T>(guard: &G, work: F) -> JoinHandle<T>
where
    G: Guarding,
    F: FnOnce(&G) -> T + Send + 'static,
    T: Send + 'static,
{
    let guard = guard.clone();
    tokio::task::spawn_blocking(move || work(&guard))
}

/// Runs a process to its end. It is killed when leadership ends, or when this call is dropped.
pub(crate) async fn child<G: Guarding>(guard: &G, command: &mut Command) -> io::Result<ExitStatus> {
    if !guard.is_held() {
        return Err(io::Error::other("leadership has ended"));
    }
    let (child, guard) = (command.kill_on_drop(true).spawn()?, guard.clone());
    let (mut told, exit) = oneshot::channel();
    // In a task of its own: whoever waits for it may be stopped before the process has ended.
    tokio::spawn(async move {
        let exit = end_of(child, &guard, &mut told).await;
        drop(guard);
        let _ = told.send(exit);
    });
    exit.await.unwrap_or_else(|_| Err(io::Error::other("the runtime has ended")))
}

async fn end_of<G: Guarding>(
    mut child: Child,
    guard: &G,
    told: &mut oneshot::Sender<io::Result<ExitStatus>>,
) -> io::Result<ExitStatus> {
    tokio::select! {
        exit = child.wait() => return exit,
        () = guard.watch() => {}
        () = told.closed() => {}
    }
    // If it has ended meanwhile, there is nobody to kill.
    let _ = child.start_kill();
    child.wait().await
}

/// A token that is cancelled when leadership ends, or the runtime does.
pub(crate) fn cancellation<G: Guarding>(guard: &G) -> CancellationToken {
    let (token, ended) = (CancellationToken::new(), guard.watch());
    let cancels = token.clone().drop_guard();
    tokio::spawn(async move {
        ended.await;
        drop(cancels);
    });
    token
}
