//! The process that holds the deadline of a command: it is the command's parent, kills it when the deadline passes without being put off
//! or when `exec` dies, and says that the command has ended only when nothing of it is left.
//!
//! It does nothing else, so that there is little for which it could be late: no network, no runtime, one thread, and no signal but those
//! that cannot be blocked. `exec` may be killed or stopped at any instant; the order in which things are done is what keeps that safe:
//!
//! 1. A process is made that waits at a gate. Everything that it will ever start is below this process, and in its control group.
//! 2. `exec` has the agent bind it, so that the agent gives nothing back while it lives.
//! 3. The gate is opened, if there is time left. Until then the end of `exec`, of this process or of the time is the end of that process.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, ErrorKind, stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio, id};
use std::time::Duration;

use bellwether::client::{Client, SessionKey};
use nix::sys::prctl::set_child_subreaper;
use nix::sys::signal::{SigSet, Signal as Number};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitStatus, kill_process_group};
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::cgroup::Cgroup;
use super::link::Link;
use super::words::{Become, End, Order, Report, Times, Unstartable};
use super::{OURSELVES, kin, uptime};
use crate::Status;
use crate::args::exec::WardenArgs;

/// How long what a command leaves behind may take to end before it is killed.
const LINGER_MAX: Duration = Duration::from_secs(1);
/// When `exec` has not noted by then that its command was stopped, it is taken for frozen, and what it holds is given back.
const NOTED_MAX: Duration = Duration::from_secs(1);
/// How long that may take.
const GIVE_BACK_MAX: Duration = Duration::from_secs(5);

pub(super) fn run(args: &WardenArgs) -> Status {
    match Warden::start(args).and_then(Warden::watch) {
        Ok(()) => Status::Done,
        // Nobody is told: `exec` finds that this process is gone.
        Err(_) => Status::Failed,
    }
}

struct Warden {
    link: Link,
    command: Vec<OsString>,
    /// The standard input of the command.
    input: OwnedFd,
    children: SignalFd,
    timer: OwnedFd,
    work: Option<Work>,
    /// Where the election can be given back, if `exec` cannot.
    socket: Option<PathBuf>,
    /// Which, and its secret.
    session: Option<(String, String)>,
    /// `exec` has to note by then that its command has ended.
    noted_by: Option<Duration>,
}

/// A command, from the process that is to become it to the last that it has left behind.
struct Work {
    pid: Pid,
    cgroup: Option<Cgroup>,
    gate: Gate,
    times: Times,
    /// It is killed by then, whatever else is said.
    by: Option<Duration>,
    was_stopped: bool,
    end: Option<End>,
    /// When what it has left behind is killed.
    linger_by: Option<Duration>,
}

/// Where a process waits before it becomes the command.
enum Gate {
    Closed(Link),
    /// It has been told. What it says then is why it could not.
    Told(Link),
    Passed,
}

impl Warden {
    fn start(args: &WardenArgs) -> io::Result<Self> {
        // What is started from here is deaf, too, until it is about to become the command.
        SigSet::all().thread_block()?;
        set_child_subreaper(true)?;
        let ended: SigSet = [Number::SIGCHLD].into_iter().collect();
        let children = SignalFd::with_flags(&ended, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?;
        let (link, timer) = (Link::given(&stdin())?, uptime::timer()?);
        let begin = link.receive::<Order>()?;
        let input = begin.and_then(|(_, input)| input).ok_or(ErrorKind::UnexpectedEof)?;
        // What cannot be looked for cannot be stopped.
        kin::children()?;
        link.send(&Report::Ready, None)?;
        let (command, socket) = (args.command.clone(), args.socket.clone());
        let (work, session, noted_by) = (None, None, None);
        Ok(Self { link, command, input, children, timer, work, socket, session, noted_by })
    }

    /// Until `exec` is gone.
    fn watch(mut self) -> io::Result<()> {
        loop {
            self.wait()?;
            loop {
                match self.link.try_receive::<Order>() {
                    Ok(Some(order)) => self.obey(order),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Ok(None) | Err(_) => {
                        self.kill();
                        return Ok(());
                    }
                }
            }
            self.look();
        }
    }

    /// Until anything has happened, or is due.
    fn wait(&self) -> io::Result<()> {
        uptime::set(&self.timer, self.due())?;
        let gate = self.work.as_ref().and_then(|work| work.gate.link());
        let fds = [self.link.as_fd(), self.children.as_fd(), self.timer.as_fd()].into_iter();
        let fds = fds.chain(gate.map(AsFd::as_fd));
        let mut fds: Vec<_> = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        // A signal may stand for many.
        while self.children.read_signal()?.is_some() {}
        Ok(())
    }

    /// When something is to be done if nothing happens.
    fn due(&self) -> Option<Duration> {
        let work = self.work.as_ref();
        let stop_at = work.filter(|work| !work.was_stopped).and_then(|work| work.times.stop_at);
        let times = [stop_at, work.and_then(Work::kill_at), self.noted_by];
        times.into_iter().flatten().min()
    }

    fn obey(&mut self, order: Order) {
        match order {
            Order::Begin => {}
            Order::Prepare { election, token, node, times } => {
                let prepared = self.prepare(&election, token, node, times);
                self.report(&match prepared {
                    Ok(pid) => Report::Prepared { pid },
                    Err(error) => Report::Unprepared { why: error.to_string() },
                });
            }
            Order::Go => self.open_gate(),
            Order::Renewed { times, session } => {
                self.session = Some(session);
                if let Some(work) = &mut self.work {
                    work.times = times;
                }
            }
            Order::Signal(number) => {
                if let Some(work) = &self.work {
                    work.pass_on(number);
                }
            }
            Order::Stop { by } => {
                if let Some(work) = &mut self.work {
                    work.by = work.by.into_iter().chain(by).min();
                    work.stop();
                }
            }
            Order::Noted => self.noted_by = None,
        }
    }

    /// Makes the process that waits at the gate.
    fn prepare(&mut self, election: &str, token: u64, node: u32, times: Times) -> io::Result<u32> {
        if self.work.is_some() {
            return Err(io::Error::other("the command before has not ended"));
        }
        let (gate, theirs) = Link::pair()?;
        let mut child = Command::new(OURSELVES);
        child.arg0("bellwether").args(["exec-child", "--"]).args(&self.command);
        child.env("BELLWETHER_ELECTION", election).env("BELLWETHER_ELECTION_TOKEN", token.to_string());
        child.env("BELLWETHER_ELECTION_NODE", node.to_string());
        child.stdin(Stdio::from(theirs)).process_group(0);
        let number = child.spawn()?.id();
        let pid = i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(ErrorKind::InvalidData)?;
        let cgroup = Cgroup::create(id()).filter(|cgroup| {
            let is_in = cgroup.admit(pid);
            if !is_in {
                cgroup.remove();
            }
            is_in
        });
        let (gate, by, was_stopped, end, linger_by) = (Gate::Closed(gate), None, false, None, None);
        self.work = Some(Work { pid, cgroup, gate, times, by, was_stopped, end, linger_by });
        Ok(number)
    }

    fn open_gate(&mut self) {
        let Some(work) = &mut self.work else { return };
        let in_time = work.times.stop_at.is_none_or(|at| uptime::now() < at) && !work.was_stopped;
        let warden = i32::try_from(id()).expect("process ids are small");
        work.gate = match std::mem::replace(&mut work.gate, Gate::Passed) {
            Gate::Closed(gate) if in_time => {
                // If it is gone, its end is told elsewhere.
                let _ = gate.send(&Become { warden }, Some(self.input.as_fd()));
                Gate::Told(gate)
            }
            other => other,
        };
        if !in_time {
            work.stop();
        }
    }

    /// What has become of the command, and what is due.
    fn look(&mut self) {
        let now = uptime::now();
        if self.noted_by.is_some_and(|by| by <= now) {
            self.noted_by = None;
            self.give_back();
        }
        // If nobody listens, this process ends with the next look at the line.
        let link = &self.link;
        let Some(work) = &mut self.work else {
            kin::dead();
            return;
        };
        work.note(kin::dead());
        if work.pass_gate() {
            let _ = link.send(&Report::Started, None);
        }
        if work.end.is_some() {
            if kin::are_gone() && work.cgroup.as_ref().is_none_or(|cgroup| !cgroup.is_populated()) {
                self.finish();
                return;
            }
            work.linger(now);
        } else if work.times.stop_at.is_some_and(|at| at <= now) {
            work.stop();
        }
        if work.kill_at().is_some_and(|at| at <= now) {
            self.kill();
        }
    }

    /// Kills the command and everything that it has started, and waits until it is dead.
    fn kill(&mut self) {
        let Some(work) = &mut self.work else { return };
        work.was_stopped |= work.end.is_none();
        if let Some(cgroup) = &work.cgroup {
            cgroup.kill();
        }
        work.note(kin::end_all(&HashSet::new()));
        if let Some(cgroup) = &work.cgroup {
            cgroup.kill_to_the_end();
        }
        work.pass_gate();
        self.finish();
    }

    /// Nothing of the command is left.
    fn finish(&mut self) {
        let Some(Work { cgroup, end, was_stopped, .. }) = self.work.take() else { return };
        if let Some(cgroup) = cgroup {
            cgroup.remove();
        }
        // A process that was nobody's child any more is not told of. It was killed.
        let end = end.unwrap_or(End::Killed(Signal::KILL.as_raw()));
        self.report(&Report::Ended { end, was_stopped });
        self.noted_by = Some(uptime::now() + NOTED_MAX);
    }

    fn report(&self, report: &Report) {
        // If nobody listens, this process ends with the next look at the line.
        let _ = self.link.send(report, None);
    }

    /// In the place of `exec`, which is frozen. If it cannot be done, the agent waits for `exec`.
    fn give_back(&self) {
        let (Some(socket), Some((session, secret))) = (&self.socket, &self.session) else { return };
        let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return };
        let close = async {
            let client = Client::connect(socket).await?;
            client.close(&SessionKey::new(session, secret)).await
        };
        let _ = runtime.block_on(async { timeout(GIVE_BACK_MAX, close).await });
    }
}

impl Work {
    /// When it is killed, whatever it does.
    fn kill_at(&self) -> Option<Duration> {
        [self.times.kill_at, self.by, self.linger_by].into_iter().flatten().min()
    }

    /// Tells it to end. One that has been stopped like a job runs on, so that it can.
    fn stop(&mut self) {
        if self.end.is_some() || std::mem::replace(&mut self.was_stopped, true) {
            return;
        }
        kin::signal(self.pid, Signal::TERM);
        kin::signal(self.pid, Signal::CONT);
    }

    /// Signals that a terminal sends go to all that the command has started, as they would from there.
    fn pass_on(&self, number: i32) {
        let Some(signal) = Signal::from_named_raw(number).filter(|_| self.end.is_none()) else { return };
        match signal {
            Signal::HUP | Signal::INT | Signal::QUIT => {
                // It has not been waited for, so its group is its own.
                let _ = kill_process_group(self.pid, signal);
            }
            signal => kin::signal(self.pid, signal),
        }
    }

    /// Takes note of processes that have ended.
    fn note(&mut self, dead: Vec<kin::Dead>) {
        for (_, status) in dead.into_iter().filter(|(pid, _)| *pid == self.pid) {
            self.end.get_or_insert_with(|| end(status));
        }
    }

    /// True when it has just become the command.
    fn pass_gate(&mut self) -> bool {
        let Gate::Told(gate) = &self.gate else { return false };
        match gate.try_receive::<Unstartable>() {
            Ok(Some(why)) => {
                (self.gate, self.end) = (Gate::Passed, Some(End::Unstartable(why)));
                false
            }
            Ok(None) => {
                self.gate = Gate::Passed;
                true
            }
            Err(_) => false,
        }
    }

    /// What the command has left behind is told to end, once, and killed when its time is over.
    fn linger(&mut self, now: Duration) {
        if self.linger_by.is_none() {
            self.linger_by = Some(now + LINGER_MAX);
            for pid in kin::children().unwrap_or_default() {
                kin::signal(pid, Signal::TERM);
                kin::signal(pid, Signal::CONT);
            }
        }
    }
}

impl Gate {
    /// Whoever may say something there.
    fn link(&self) -> Option<&Link> {
        match self {
            Self::Told(link) => Some(link),
            Self::Closed(_) | Self::Passed => None,
        }
    }
}

fn end(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exited(code),
        (None, signal) => End::Killed(signal.unwrap_or(Signal::KILL.as_raw())),
    }
}
