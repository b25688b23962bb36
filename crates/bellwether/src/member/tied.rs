//! Work that is not stopped at an `await`: threads that block, and processes. What is started through the guard holds the guard
//! until it has ended, so that leadership is not handed over before.

use std::io;
use std::process::ExitStatus;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::Leadership;

impl Leadership {
    /// Runs work that blocks, on a thread for that. Nobody can stop it from outside: it should look at [`Leadership::is_held`] of the
    /// guard that it gets, and return when that is false. Until it has returned, leadership is handed to nobody, for
    /// `release_timeout` at most.
    pub fn spawn_blocking<F, T>(&self, work: F) -> JoinHandle<T>
    where
        F: FnOnce(&Self) -> T + Send + 'static,
        T: Send + 'static,
    {
        let guard = self.clone();
        tokio::task::spawn_blocking(move || work(&guard))
    }

    /// Runs a process to its end. It is killed when leadership ends, or when this call is dropped. Until it has ended, leadership is
    /// handed to nobody, for `release_timeout` at most. Processes that it started itself are not known here.
    ///
    /// # Errors
    /// If it cannot be started or waited for, or leadership has ended: then it is not started.
    pub async fn child(&self, command: &mut Command) -> io::Result<ExitStatus> {
        if !self.is_held() {
            return Err(io::Error::other("leadership has ended"));
        }
        let (child, guard) = (command.kill_on_drop(true).spawn()?, self.clone());
        let (mut told, exit) = oneshot::channel();
        // In a task of its own: whoever waits for it may be stopped before the process has ended.
        tokio::spawn(async move {
            let exit = end_of(child, &guard, &mut told).await;
            drop(guard);
            let _ = told.send(exit);
        });
        exit.await.unwrap_or_else(|_| Err(io::Error::other("the runtime has ended")))
    }
}

async fn end_of(
    mut child: Child,
    guard: &Leadership,
    told: &mut oneshot::Sender<io::Result<ExitStatus>>,
) -> io::Result<ExitStatus> {
    tokio::select! {
        exit = child.wait() => return exit,
        () = guard.ended() => {}
        () = told.closed() => {}
    }
    // If it has ended meanwhile, there is nobody to kill.
    let _ = child.start_kill();
    child.wait().await
}
