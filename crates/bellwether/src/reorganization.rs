//! The application's part in a reorganization: what a new group is to do, before it does anything.
//!
//! ```text
//!   a group is formed ──► its leader's [`Manager`]: who is in it, who failed, who is back ──► what the group is to do
//!                                                                                               │
//!   every member: [`Member::service`](crate::Member::service) ◄── in service, with that task ◄──┘
//! ```
//!
//! With `fb-omega` all members have agreed on who failed before anybody is asked: its manager is the fault manager.

use std::fmt::{self, Display};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::group::{Content, Plan, PlanRequest};
use bellwether_proto::ident::{ElectionId, GroupId, NodeId};
use tokio::sync::watch;
use tokio::task::JoinHandle;

type Answer = Pin<Box<dyn Future<Output = Result<Vec<u8>, String>> + Send>>;

/// Says what groups are to do, when its member leads one. What it says may be at most
/// [`TASK_MAX`](crate::group::TASK_MAX) bytes long.
pub struct Manager {
    /// How long it may take, at least the time that a member may take to answer. Then the reorganization has failed.
    pub(crate) patience: Duration,
    plan: Box<dyn FnMut(PlanRequest) -> Answer + Send>,
}

impl Manager {
    /// One that answers like that, within that time. If it fails, panics or takes longer, another reorganization begins.
    pub fn new<F, Fut, E>(patience: Duration, mut plan: F) -> Self
    where
        F: FnMut(PlanRequest) -> Fut + Send + 'static,
        Fut: Future<Output = Result<Vec<u8>, E>> + Send + 'static,
        E: Display,
    {
        let plan = move |request| -> Answer {
            let answer = plan(request);
            Box::pin(async move { answer.await.map_err(|error| error.to_string()) })
        };
        Self { patience, plan: Box::new(plan) }
    }
}

impl fmt::Debug for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Manager").field("patience", &self.patience).finish_non_exhaustive()
    }
}

/// What is being worked out for the group that this member leads.
#[derive(Default)]
pub(crate) struct Planning {
    manager: Option<Manager>,
    current: Option<(ElectionId, JoinHandle<Plan>)>,
}

impl Planning {
    pub(crate) fn new(manager: Option<Manager>) -> Self {
        Self { manager, current: None }
    }

    /// Begins to work out that; what was asked before is about a group that is no more.
    pub(crate) fn begin(&mut self, request: PlanRequest) {
        self.stop();
        let Some(manager) = &mut self.manager else { return };
        let (no, answer) = (request.no, (manager.plan)(request));
        let content = async move {
            let content =
                answer.await.and_then(|bytes| Content::new(bytes).map_err(|error| error.to_string()));
            content
                .inspect_err(|error| tracing::error!("the group's work could not be planned: {error}"))
                .ok()
        };
        self.current = Some((no, tokio::spawn(content)));
    }

    /// The next answer, if anything is being worked out. May be dropped and called again.
    pub(crate) async fn done(&mut self) -> (ElectionId, Plan) {
        let Some((no, task)) = &mut self.current else { return std::future::pending().await };
        let (no, plan) = (*no, task.await.unwrap_or(None));
        self.current = None;
        (no, plan)
    }

    fn stop(&mut self) {
        if let Some((_, task)) = self.current.take() {
            task.abort();
        }
    }
}

impl Drop for Planning {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A group that is in service, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The group.
    pub group: GroupId,
    /// Who leads it.
    pub leader: NodeId,
    /// Who is in it, by id.
    pub members: Vec<NodeId>,
    /// What it is to do.
    pub task: Arc<[u8]>,
}

/// The group that a member works in, and each that follows.
#[derive(Clone, Debug)]
pub struct Services(pub(crate) watch::Receiver<Option<Service>>);

impl Services {
    /// The group that the member works in now; `None` while it is in none, or in one that is being reorganized.
    pub fn current(&mut self) -> Option<Service> {
        self.0.borrow_and_update().clone()
    }

    /// Waits until that is not what it was when [`Services::current`] was last called. False if the member has ended.
    pub async fn changed(&mut self) -> bool {
        self.0.changed().await.is_ok()
    }
}
