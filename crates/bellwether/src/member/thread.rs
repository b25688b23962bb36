//! The thread of a member, with a runtime of its own. Whatever a program does on its own runtime, it does not keep the member from
//! its clock and its peers.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

use super::{Member, join};
use crate::config::Config;
use crate::driver::{Driver, LAST_WRITE};
use crate::error::{Ended, JoinError};
use crate::reorganization::Manager;
use crate::shared::Shared;

/// Starts a member on a thread of its own. It ends at once if the present runtime does, and nobody is told: a program that has
/// gone must not seem to lead.
pub(super) async fn start(config: Config, manager: Option<Manager>) -> Result<Member, JoinError> {
    let (joined, member) = oneshot::channel();
    let (tie, cut) = oneshot::channel();
    let (name, program) = (format!("bellwether-{}", config.id), Handle::current());
    let live = move || live(&config, manager, program, joined, cut);
    let thread = thread::Builder::new().name(name).spawn(live).map_err(JoinError::Thread)?;
    let tether = Tether { tie: Some(tie), thread: Some(thread) };
    let member = member.await.unwrap_or_else(|_| Err(JoinError::Thread(io::Error::other("it panicked"))))?;
    let shared = Arc::clone(&member.shared);
    tokio::spawn(async move {
        let _tether = tether;
        shared.end().await;
    });
    Ok(member)
}

/// All that the thread does.
fn live(
    config: &Config,
    manager: Option<Manager>,
    program: Handle,
    joined: oneshot::Sender<Result<Member, JoinError>>,
    cut: oneshot::Receiver<Infallible>,
) {
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(joined, JoinError::Thread(error)),
    };
    let set_up = runtime.block_on(async { join::set_up(config, manager, program) });
    let (member, driver, closed) = match set_up {
        Ok(set_up) => set_up,
        Err(error) => return refuse(joined, error),
    };
    let shared = Arc::clone(&member.shared);
    // Whoever waits no longer does not want the member either.
    if joined.send(Ok(member)).is_ok() {
        let ended = runtime.block_on(drive(driver, &shared, cut));
        shared.leads_no_more();
        // All connections end at once, and the driver with them. The disk is given a moment, so that whoever comes next finds the
        // directory free. Then those who wait for the end are told.
        runtime.shutdown_background();
        closed.wait(LAST_WRITE);
        shared.finish(ended);
    }
}

fn refuse(joined: oneshot::Sender<Result<Member, JoinError>>, error: JoinError) {
    let _ = joined.send(Err(error));
}

/// Runs the driver until it ends, or the program's runtime does.
async fn drive(driver: Driver, shared: &Shared, cut: oneshot::Receiver<Infallible>) -> Ended {
    let driving = tokio::spawn(driver.run());
    tokio::select! {
        ended = driving => match ended {
            Ok(ended) => ended,
            Err(panicked) => {
                // A member whose driver has failed must not look alive, least of all to those who act as its leader.
                shared.leads_no_more();
                shared.links.close().await;
                Ended::Fault(panicked.to_string())
            }
        },
        _ = cut => Ended::Runtime,
    }
}

/// Ties a member to the runtime on which this is.
struct Tether {
    tie: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Tether {
    fn drop(&mut self) {
        drop(self.tie.take());
        // It waits for nobody but the disk, and not for long. Then its address and its directory can be used again.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
