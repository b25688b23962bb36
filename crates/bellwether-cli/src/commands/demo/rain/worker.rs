//! A worker's process: an agent, and the application beside it. It prints its reports, one JSON object per line.

use std::net::{SocketAddr, TcpListener as StdListener};
use std::time::Duration;

use bellwether::Member;
use bellwether_rain::notice::Notice;
use bellwether_rain::report::Report;
use bellwether_rain::worker::{self, Config};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::setup::JobFile;
use super::views;
use crate::Status;
use crate::agent::config::Overrides;
use crate::args::demo::RainWorkerArgs;
use crate::commands::agent;
use crate::output::Printer;

/// How many notices may wait for a worker: it takes them at once.
const NOTICES_MAX: usize = 16;
/// How long rows wait for a member that does not answer: longer than a busy member takes, shorter than a failure takes to be
/// noticed.
const GRACE: Duration = Duration::from_millis(100);

pub(in crate::commands::demo) fn run(args: &RainWorkerArgs, out: &Printer) -> Status {
    let agent = match agent::load(&args.config, &Overrides::default(), out) {
        Ok(agent) => agent,
        Err(status) => return status,
    };
    let job = match JobFile::read(&args.job) {
        Ok(job) => job,
        Err(error) => {
            out.error(error);
            return Status::BadInput;
        }
    };
    let config = Config {
        job: job.job,
        node: agent.member.id.0,
        peers: job.workers,
        secret: job.secret,
        dir: agent.member.data_dir.join("shards"),
        pace: job.pace,
        grace: GRACE,
    };
    // Before it is in any view: whoever leads one asks all members at once.
    let listener = match listen(&config) {
        Ok(listener) => listener,
        Err(error) => {
            out.error(error);
            return Status::Failed;
        }
    };
    let (notices, inbox) = mpsc::channel(NOTICES_MAX);
    let manager = views::manager(config.node, notices.clone());
    let beside = async move |member: Member, _: SocketAddr| {
        work(config, listener, &member, &notices, inbox, out).await
    };
    agent::play(agent, true, Some(manager), beside, out)
}

fn listen(config: &Config) -> Result<StdListener, String> {
    let address = config.peers.get(&config.node).ok_or("the job does not say where this worker listens")?;
    let listener = StdListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|error| format!("cannot listen for shards at {address}: {error}"))
}

/// Works until the agent ends.
async fn work(
    config: Config,
    listener: StdListener,
    member: &Member,
    notices: &mpsc::Sender<Notice>,
    inbox: mpsc::Receiver<Notice>,
    out: &Printer,
) -> Result<(), String> {
    let failed = |error| format!("the worker ended: {error}");
    let listener = TcpListener::from_std(listener).map_err(failed)?;
    let (tell, mut told) = mpsc::unbounded_channel();
    let worker = worker::run(config, listener, inbox, move |report: Report| {
        // If nobody prints it any more, nobody wants to know.
        let _ = tell.send(report);
    });
    let print = async {
        while let Some(report) = told.recv().await {
            out.line(serde_json::to_string(&report).unwrap_or_default());
        }
    };
    tokio::select! {
        ended = worker => ended.map_err(failed),
        () = views::follow(member, notices) => Ok(()),
        () = print => Ok(()),
    }
}
