//! `bellwether agent`: a member of a cluster as a process.
//!
//! It joins, answers over HTTP, and leaves when it is told to end. A leader hands over first.

mod greeting;
mod stop;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use bellwether::reorganization::Manager;
use bellwether::status::Cause;
use bellwether::{Config, Ended, JoinError as NotJoined, Member};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Builder;
use tokio::task::{JoinError, JoinSet};
use tokio::time::timeout;

use crate::Status;
use crate::agent::config::{AgentConfig, Environment, OnLost, Overrides};
use crate::agent::descriptors::{self, Shares};
use crate::agent::hooks::{self, Hooks};
use crate::agent::http;
use crate::agent::log::Log;
use crate::agent::reload::{self, Reloads};
use crate::agent::sessions::{SealError, Sessions, Terms};
use crate::agent::socket::{self, SocketError};
use crate::agent::supervisor::Supervisor;
use crate::args::agent::AgentArgs;
use crate::output::{Printer, print_if_possible};
use crate::work::spawn;
use stop::Stop;

/// How long leaving may take: longer than the leader's work may take to stop, shorter than supervisors wait.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &AgentArgs, out: &Printer) -> Status {
    let config = match load(&args.config, &args.overrides, out) {
        Ok(config) => config,
        Err(status) => return status,
    };
    if args.check_config {
        return check(&config, out);
    }
    let greet = config.clone();
    let beside = async move |member: Member, api| {
        let text = greeting::text(&greet, &member, api);
        // Nobody may ever read it, and the member must not wait for that.
        spawn("greeting", move || print_if_possible(&text))?;
        std::future::pending::<Result<(), String>>().await
    };
    play(config, args.end_with_stdin, None, beside, out)
}

/// Says what would run; nothing is started, and nothing is written.
fn check(config: &AgentConfig, out: &Printer) -> Status {
    let Config { cluster, id, identity, .. } = &config.member;
    let problems: Vec<_> = config.member.problems().iter().map(ToString::to_string).collect();
    let until = identity.good_until(cluster, *id);
    let problems: Vec<_> =
        problems.into_iter().chain(until.as_ref().err().map(ToString::to_string)).collect();
    problems.iter().for_each(|problem| out.error(problem));
    config.cautions.iter().for_each(|caution| out.note(caution));
    match until {
        Ok(until) if problems.is_empty() => {
            out.draw(greeting::plan(config, until));
            Status::Done
        }
        Ok(_) | Err(_) => Status::BadInput,
    }
}

/// Reads a configuration, or says what is wrong with it.
pub(in crate::commands) fn load(
    file: &Path,
    flags: &Overrides,
    out: &Printer,
) -> Result<AgentConfig, Status> {
    AgentConfig::load(file, flags, &Environment::of_process()).map_err(|error| {
        error.problems().iter().for_each(|problem| out.error(problem));
        error.status()
    })
}

/// Runs an agent until it is told to end, and `beside` next to it. If `beside` ends, so does the agent.
pub(in crate::commands) fn play(
    config: AgentConfig,
    end_with_stdin: bool,
    manager: Option<Manager>,
    beside: impl AsyncFnOnce(Member, SocketAddr) -> Result<(), String>,
    out: &Printer,
) -> Status {
    let log = match Log::start(&config.log) {
        Ok(log) => log,
        Err(error) => {
            out.error(error);
            return Status::Failed;
        }
    };
    let status = match begin(config, end_with_stdin, manager, beside, &log) {
        Ok(()) => Status::Done,
        Err(Failure(status, what)) => {
            // Not past the log: whoever does not read it must not keep the process from ending.
            log.line(&format!("error: {what}"));
            status
        }
    };
    log.finish();
    status
}

fn begin(
    config: AgentConfig,
    end_with_stdin: bool,
    manager: Option<Manager>,
    beside: impl AsyncFnOnce(Member, SocketAddr) -> Result<(), String>,
    log: &Log,
) -> Result<(), Failure> {
    config.cautions.iter().for_each(|caution| tracing::warn!("{caution}"));
    let has_socket = config.api.socket.is_some();
    let hooks = Hooks::descriptors(&config.hooks);
    let clients = descriptors::share(Member::descriptors(&config.member), hooks, has_socket)?;
    // One thread for the API. The member has its own.
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
    runtime.block_on(live(config, Around { clients, log: log.clone(), end_with_stdin }, manager, beside))
}

/// Why the agent ended, and what its exit code says of it.
struct Failure(Status, String);

impl From<String> for Failure {
    fn from(what: String) -> Self {
        Self(Status::Failed, what)
    }
}

impl From<NotJoined> for Failure {
    fn from(error: NotJoined) -> Self {
        let status = if error.is_bad_input() { Status::BadInput } else { Status::Failed };
        Self(status, error.to_string())
    }
}

impl From<SocketError> for Failure {
    fn from(SocketError { status, what }: SocketError) -> Self {
        Self(status, what)
    }
}

impl From<SealError> for Failure {
    fn from(SealError { status, what }: SealError) -> Self {
        Self(status, what)
    }
}

/// What an agent has around its member.
struct Around {
    clients: Shares,
    log: Log,
    end_with_stdin: bool,
}

/// From joining to leaving. Whatever cannot be had is found out before anything is promised to peers.
async fn live(
    config: AgentConfig,
    Around { clients, log, end_with_stdin }: Around,
    manager: Option<Manager>,
    beside: impl AsyncFnOnce(Member, SocketAddr) -> Result<(), String>,
) -> Result<(), Failure> {
    let deaf = |error| format!("cannot listen for signals: {error}");
    let (mut stop, told) = (Stop::listen(end_with_stdin).map_err(deaf)?, reload::listen().map_err(deaf)?);
    let supervisor = Supervisor::of_process()
        .map_err(|error| format!("cannot reach the supervisor at NOTIFY_SOCKET: {error}"))?;
    let (listener, api) = bind(config.api.listen)
        .await
        .map_err(|error| format!("cannot listen for clients of the API at {}: {error}", config.api.listen))?;
    let socket = config.api.socket.as_ref().map(socket::listen).transpose()?;
    let (dir, terms) = (config.member.data_dir.clone(), terms(&config));
    let member = match manager {
        Some(manager) => Member::join_as_manager(config.member.clone(), manager).await?,
        None => Member::join(config.member.clone()).await?,
    };
    let sessions = terms.map(|terms| Sessions::start(member.clone(), &dir, terms)).transpose()?;
    let hooks = Hooks::new(config.hooks.clone(), member.status().id);
    tokio::spawn(hooks::follow(member.clone(), hooks.clone()));
    let (reloads, on_lost) = (Reloads::new(&config), config.on_lost);
    let app = http::app(member.clone(), &config.api, sessions.clone(), hooks.clone(), reloads.clone(), log);
    tokio::spawn(reload::follow(member.clone(), reloads, config, told));
    let (socket, _place) = socket.unzip();
    let mut served = serve(listener, socket, app, clients);
    let ended = tokio::select! {
        ended = member.ended() => end(ended),
        served = served.join_next() => Err(no_longer(served).into()),
        lost = lost(&member, on_lost) => Err(lost.into()),
        done = beside(member.clone(), api) => done.map_err(Failure::from),
        never = tell(supervisor.as_ref(), &member) => match never {},
        why = stop.next() => {
            tracing::info!("{why}: leaving");
            supervisor.iter().for_each(Supervisor::ending);
            leave(&member, sessions.as_ref(), &mut stop).await
        }
    };
    if let Some(sessions) = sessions {
        sessions.end().await;
    }
    tokio::select! {
        () = hooks.end() => {}
        _ = stop.next() => hooks.kill().await,
    }
    ended
}

/// Tells the supervisor, if there is one, how the agent does.
async fn tell(supervisor: Option<&Supervisor>, member: &Member) -> Infallible {
    match supervisor {
        Some(supervisor) => supervisor.follow(member).await,
        None => std::future::pending().await,
    }
}

/// The terms of sessions, if leadership is exclusive.
fn terms(config: &AgentConfig) -> Option<Terms> {
    let exclusive = config.member.exclusive.as_ref()?;
    Some(Terms { ttl: exclusive.ttl, release: config.member.release_timeout })
}

/// Answers at all doors, also while the agent leaves.
fn serve(
    listener: TcpListener,
    socket: Option<UnixListener>,
    app: Router,
    clients: Shares,
) -> JoinSet<io::Result<()>> {
    let mut doors = JoinSet::new();
    if let Some(socket) = socket {
        doors.spawn(http::serve_local(socket, app.clone(), clients.local));
    }
    doors.spawn(http::serve(listener, app, clients.remote));
    doors
}

fn no_longer(served: Option<Result<io::Result<()>, JoinError>>) -> String {
    match served {
        Some(Ok(Err(error))) => format!("the API ended: {error}"),
        Some(Err(error)) => format!("the API ended: {error}"),
        Some(Ok(Ok(()))) | None => "the API ended".to_owned(),
    }
}

/// Waits until the member has lost exclusive leadership without giving it back, if that is a reason to end.
async fn lost(member: &Member, on_lost: OnLost) -> String {
    let (me, mut changes, mut led) = (member.status().id, member.observe_after(0), None);
    while let Some(change) = changes.next().await.filter(|_| on_lost == OnLost::Exit) {
        let given_back =
            matches!(change.cause, Cause::Resigned(who) | Cause::HandedOver(who, _) if who == me);
        match led.filter(|_| change.leader != Some(me) && !given_back) {
            Some(token) => {
                return format!(
                    "this member lost leadership with token {token}; `on_lost` says that it ends then"
                );
            }
            None => led = change.leader.filter(|leader| *leader == me).map(|_| change.epoch),
        }
    }
    std::future::pending().await
}

async fn bind(listen: SocketAddr) -> io::Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Programs first: they give back what they hold, or have their time for it.
async fn leave(member: &Member, sessions: Option<&Sessions>, stop: &mut Stop) -> Result<(), Failure> {
    let leave = async {
        if let Some(sessions) = sessions {
            sessions.leave().await;
        }
        timeout(LEAVE_TIMEOUT, member.leave()).await
    };
    tokio::select! {
        left = leave => match left {
            Ok(()) => Ok(()),
            Err(_) => Err(format!("could not leave within {} s; ended without a goodbye", LEAVE_TIMEOUT.as_secs()).into()),
        },
        why = stop.next() => Err(format!("{why} again: ended without a goodbye").into()),
    }
}

fn end(ended: Ended) -> Result<(), Failure> {
    match ended {
        Ended::Left => Ok(()),
        ended => Err(ended.to_string().into()),
    }
}
