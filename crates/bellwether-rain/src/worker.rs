//! A worker: it computes rows, has its peers keep them, keeps theirs, and recovers the work of failed nodes when it
//! leads.
//!
//! | file | what |
//! |---|---|
//! | `keeper.rs` | the store with its disk, and the answers to what peers ask |
//! | `serve.rs` | peers' connections |
//! | `work.rs` | computing rows and making them safe |
//! | `recover.rs` | what the leader of a new view does before that is in service |

mod keeper;
mod recover;
mod serve;
mod work;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{Mutex as AsyncMutex, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::connection::Connection;
use crate::job::Job;
use crate::notice::{Notice, View};
use crate::report::Report;
use crate::shard::Shard;
use crate::task::{Plan, Task};
use crate::wire::{Answer, Request, Secret};
use keeper::{Keeper, Kept};

/// A worker, as its process sees it.
#[derive(Clone, Debug)]
pub struct Config {
    /// The job.
    pub job: Job,
    /// The number of this node.
    pub node: u32,
    /// The addresses of all workers, perhaps including this one.
    pub peers: BTreeMap<u32, SocketAddr>,
    /// The job's secret.
    pub secret: Secret,
    /// Where shards are kept.
    pub dir: PathBuf,
    /// How many rows it computes per second.
    pub pace: f64,
    /// How long a row that enough members keep waits for the others. A row that not all members keep may be lost with the
    /// next failures. A failed member holds up the others for this long, until there is another view.
    pub grace: Duration,
}

/// What the parts of a worker share.
struct Shared {
    config: Config,
    keeper: Mutex<Keeper>,
    connections: BTreeMap<u32, Arc<AsyncMutex<Connection>>>,
    /// The plan of the latest view in service that had work to do.
    plan: Mutex<Option<Plan>>,
    report: Box<dyn Fn(Report) + Send + Sync>,
}

/// Works until there are no more notices.
///
/// # Errors
/// If its disk cannot be read.
pub async fn run(
    config: Config,
    listener: TcpListener,
    mut notices: mpsc::Receiver<Notice>,
    report: impl Fn(Report) + Send + Sync + 'static,
) -> io::Result<()> {
    let (keeper, damaged) = Keeper::open(&config)?;
    let held = keeper.held();
    let connection = |(node, address): (&u32, &SocketAddr)| {
        (*node, Arc::new(AsyncMutex::new(Connection::new(*address, config.secret))))
    };
    let connections = config.peers.iter().filter(|(node, _)| **node != config.node).map(connection).collect();
    let (keeper, plan, report) = (Mutex::new(keeper), Mutex::new(None), Box::new(report));
    let shared = Arc::new(Shared { config, keeper, connections, plan, report });
    shared.tell(Report::Up { held });
    shared.rejected(damaged, 0);
    let _server = Running::start(serve::serve(listener, Arc::clone(&shared)));
    let mut doing = Doing::default();
    while let Some(notice) = notices.recv().await {
        heed(&shared, notice, &mut doing);
    }
    Ok(())
}

/// What a worker is doing.
#[derive(Debug, Default)]
struct Doing {
    /// Its share, in a view that is in service.
    work: Option<Running>,
    /// Its work as the leader of a view that is not in service. It goes on until nobody waits for it.
    recovery: Option<Running>,
    /// Whether it has been in a view in service, and has not been dead since.
    is_alive: bool,
}

fn heed(shared: &Arc<Shared>, notice: Notice, doing: &mut Doing) {
    // Whatever is told, the view in which it worked is over.
    doing.work = None;
    match notice {
        Notice::Recover { view, failed, readmitted, reply } => {
            let recovery = recover::Recovery { shared: Arc::clone(shared), view, failed, readmitted };
            doing.recovery = Some(Running::start(answer(recovery, reply)));
        }
        Notice::InService { view, task } => match Task::decode(&shared.config.job, &task) {
            Ok(Task { readmitted, plan }) => {
                // It may have been dead too short to hear of it in any other way.
                if doing.is_alive && readmitted.contains(&shared.config.node) {
                    die(shared, doing);
                }
                doing.is_alive = true;
                shared.tell(in_service(shared, &view, &plan));
                // Whoever waits for others stays with the tile that it was at.
                if matches!(plan, Plan::Work(_)) {
                    *lock(&shared.plan) = Some(plan.clone());
                    doing.work = Some(Running::start(work::work(Arc::clone(shared), view, plan)));
                }
            }
            Err(error) => shared.trouble(format!("view {}: {error}", view.number)),
        },
        Notice::OutOfService => shared.tell(Report::OutOfService),
        Notice::Dead => die(shared, doing),
    }
}

fn die(shared: &Shared, doing: &mut Doing) {
    doing.is_alive = false;
    // The others go on with it.
    shared.keeper().at_work = None;
    shared.tell(Report::Dead);
}

async fn answer(recovery: recover::Recovery, mut reply: oneshot::Sender<Result<Vec<u8>, String>>) {
    let (shared, view) = (Arc::clone(&recovery.shared), recovery.view.number);
    let task = tokio::select! {
        task = recovery.run() => task,
        // There is another view, and another notice.
        () = reply.closed() => return,
    };
    if let Err(why) = &task {
        shared.tell(Report::RecoveryFailed { view, why: why.clone() });
    }
    let _ = reply.send(task.map(|task| task.encode()));
}

fn in_service(shared: &Shared, view: &View, plan: &Plan) -> Report {
    let tiles = shared.config.job.picture.tiles();
    let (owners, waits_for) = match plan {
        Plan::Work(_) => (tiles.map(|tile| plan.owner(tile).unwrap_or(0)).collect(), None),
        Plan::Wait { need, .. } => (Vec::new(), Some(*need)),
    };
    let View { number, leader, ref members } = *view;
    Report::InService { view: number, leader, members: members.clone(), owners, waits_for }
}

impl Shared {
    fn tell(&self, report: Report) {
        (self.report)(report);
    }

    fn trouble(&self, what: String) {
        self.tell(Report::Trouble { what });
    }

    fn rejected(&self, damaged: u32, old: u32) {
        if damaged + old > 0 {
            self.tell(Report::Rejected { damaged, old });
        }
    }

    /// Answers a worker, which may be this one.
    fn answer(&self, request: Request) -> Answer {
        let (answer, kept) = self.keeper().answer(request);
        self.rejected(kept.damaged, kept.old);
        self.tell_of_disk();
        answer
    }

    /// Keeps a shard of its own.
    fn keep(&self, shard: Shard) -> io::Result<Kept> {
        let kept = self.keeper().keep(vec![shard]);
        self.tell_of_disk();
        kept
    }

    fn tell_of_disk(&self) {
        let news = self.keeper().disk_news();
        if let Some(trouble) = news {
            self.tell(Report::Disk { trouble });
        }
    }

    fn keeper(&self) -> std::sync::MutexGuard<'_, Keeper> {
        lock(&self.keeper)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A panic while the lock was held left nothing half-done that matters: shards have checksums.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A task that ends with this.
#[derive(Debug)]
struct Running(JoinHandle<()>);

impl Running {
    fn start(work: impl Future<Output = ()> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}
