//! The application's part in a reorganization: it says what a new group works on, before the group works.
//!
//! ```text
//!   a group is formed ──► its leader's [`Manager`]: who is in it, who failed, who is back ──► what the group is to do
//!                                                                                               │
//!   every member: [`Member::service`](crate::Member::service) ◄── in service, with that task ◄──┘
//! ```
//!
//! With `fb-omega` all members have agreed on who failed before anybody is asked: its manager is the fault manager.
//! `examples/fault_manager.rs` shares work among the members that are left.

use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bellwether_proto::group::{Content, Plan, PlanRequest};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinHandle};

use crate::pulse::Pulse;

type Answer = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;
type Ask = Box<dyn FnMut(PlanRequest) -> Answer + Send>;

/// Says what a group works on, when its member leads that group. The answer may be at most
/// [`TASK_MAX`](crate::proto::group::TASK_MAX) bytes long.
pub struct Manager {
    /// How long it may take; at least the time that a member may take to answer. After that the reorganization has
    /// failed.
    pub(crate) patience: Duration,
    ask: Arc<Mutex<Ask>>,
}

impl Manager {
    /// A manager that answers with `plan`, within that time. If it fails, panics or takes longer, that is logged, and
    /// another reorganization begins; with `fb-omega` another member leads that one. Work for a group that is over is
    /// dropped at its next `await`.
    pub fn new<F, Fut, E>(patience: Duration, mut plan: F) -> Self
    where
        F: FnMut(PlanRequest) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Vec<u8>, E>> + Send + 'static,
        E: Display,
    {
        let ask = move |request| -> Answer {
            let answer = plan(request);
            Box::pin(async move { answer.await.map_err(|error| error.to_string()) })
        };
        Self { patience, ask: Arc::new(Mutex::new(Box::new(ask))) }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// The application's work on the task of the group that this member leads.
pub(crate) struct Planning {
    manager: Option<Manager>,
    /// Where the application runs: it may block, and must not block the member.
    program: Handle,
    current: Option<Current>,
}

struct Current {
    no: ElectionId,
    since: Instant,
    task: JoinHandle<Result<Content, String>>,
}

impl Planning {
    pub(crate) fn new(manager: Option<Manager>, program: Handle) -> Self {
        Self { manager, program, current: None }
    }

    /// Asks the application. An earlier question is about a group that is over. The application runs in a task of its
    /// own from its first line on, and may panic there.
    pub(crate) fn begin(&mut self, request: PlanRequest) {
        self.keep_only(None);
        let Some(manager) = &self.manager else { return };
        let (no, ask) = (request.no, Arc::clone(&manager.ask));
        let task = self.program.spawn(async move {
            let answer = ask.lock().unwrap_or_else(PoisonError::into_inner)(request);
            Content::new(answer.await?).map_err(|error| error.to_string())
        });
        self.current = Some(Current { no, since: Instant::now(), task });
    }

    /// The next answer, if the application was asked. May be dropped and called again.
    pub(crate) async fn done(&mut self) -> (ElectionId, Plan) {
        let Some(Current { no, task, .. }) = &mut self.current else { return std::future::pending().await };
        let (no, outcome) = (*no, task.await);
        self.current = None;
        (no, outcome.unwrap_or_else(|error| Err(in_words(error))).inspect_err(|why| complain(why)).ok())
    }

    /// Stops the work on any other reorganization: nobody waits for it any more.
    pub(crate) fn keep_only(&mut self, awaited: Option<ElectionId>) {
        let Some(current) = self.current.take_if(|current| Some(current.no) != awaited) else { return };
        current.task.abort();
        if self.manager.as_ref().is_some_and(|manager| current.since.elapsed() >= manager.patience) {
            complain("there was no answer in time");
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        if let Some(current) = &self.current {
            current.task.abort();
        }
    }
}

fn complain(why: &str) {
    tracing::error!("the group's work could not be planned: {why}");
}

fn in_words(error: JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => {
            let said = panic.downcast_ref::<&str>().copied();
            let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            format!("it panicked: {}", said.unwrap_or("without a word"))
        }
        Err(error) => error.to_string(),
    }
}

/// A group that is in service, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The group.
    pub group: GroupId,
    /// Its leader.
    pub leader: NodeId,
    /// Its members, by id.
    pub members: Vec<NodeId>,
    /// Its task.
    pub task: Arc<[u8]>,
}

/// The group that a member works in, now and from now on.
#[derive(Clone, Debug)]
pub struct Services {
    service: watch::Receiver<Option<Service>>,
    pulse: Arc<Pulse>,
    /// The last answer was that there is none, because the member was not awake.
    overslept: bool,
}

impl Services {
    pub(crate) fn new(service: watch::Receiver<Option<Service>>, pulse: Arc<Pulse>) -> Self {
        Self { service, pulse, overslept: false }
    }

    /// The group that the member works in now; `None` while it is in none, in one that is being reorganized, or is catching up.
    pub fn current(&mut self) -> Option<Service> {
        let service = self.service.borrow_and_update().clone();
        self.overslept = !self.pulse.is_awake();
        service.filter(|_| !self.overslept)
    }

    /// Waits until it differs from the last answer of [`Services::current`]; it may say so once too often. False if the member has
    /// ended.
    pub async fn changed(&mut self) -> bool {
        tokio::select! {
            changed = self.service.changed() => changed.is_ok(),
            () = self.pulse.awake(), if self.overslept => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use bellwether_proto::ident::Incarnation;
    use bellwether_proto::time::Span;

    use super::*;
    use crate::uptime::Uptime;

    #[tokio::test]
    async fn who_was_stopped_works_in_no_group_until_it_has_caught_up() {
        let (leader, hour) = (NodeId(1), Duration::from_secs(3_600));
        let group = GroupId(ElectionId { node: leader, incarnation: Incarnation(1), seq: 1 });
        let service = Service { group, leader, members: vec![leader], task: Arc::from([]) };
        let (_sender, receiver) = watch::channel(Some(service.clone()));
        let pulse = Arc::new(Pulse::new(Uptime::Machine, Duration::ZERO, hour));
        let mut services = Services::new(receiver, Arc::clone(&pulse));
        assert_eq!(services.current(), Some(service.clone()));
        pulse.oversleep();
        assert_eq!(services.current(), None);
        let (changed, ()) = tokio::join!(services.changed(), async { pulse.beat(Span::secs(1)) });
        assert_eq!((changed, services.current()), (true, Some(service)));
    }
}
