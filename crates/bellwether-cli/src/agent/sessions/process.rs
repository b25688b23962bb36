//! Processes, as the kernel knows them: who is at the other end of a socket, whether a process has ended, and whose child it is.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::UnixStream;

/// So many generations are looked at.
const GENERATIONS_MAX: usize = 64;

/// Who is at the other end of a Unix socket.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Its number, if it can be seen from here: one in another container may not be.
    pub(crate) pid: Option<u32>,
    pub(crate) uid: u32,
    /// Where the kernel tells when it has ended.
    process: Option<Process>,
}

impl Caller {
    /// Whoever connected.
    pub(crate) fn of(stream: &UnixStream) -> io::Result<Self> {
        let peer = stream.peer_cred()?;
        let pid = peer.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid > 0);
        // It is there as long as the connection is, unless it has left that to a child.
        let held = |pid| Some(Process { pid, life: Arc::new(kernel::open(pid).ok()?) });
        let process = pid.and_then(held).filter(|process| !kernel::has_ended(&process.life));
        Ok(Self { pid, uid: peer.uid(), process })
    }

    /// Its process, if the kernel tells when that has ended.
    pub(crate) fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    fn may_bind(&self, uid: u32) -> bool {
        self.uid == 0 || self.uid == uid
    }
}

/// A process whose end the kernel tells. No other is ever taken for it, even if it gets its number.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    life: Arc<OwnedFd>,
}

/// Why a process cannot be bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unbound {
    /// There is no such process, or none that can be seen from here.
    Gone,
    /// It is another user's.
    OtherUser,
    /// It does not descend from any of those that are bound.
    Stranger,
}

impl Process {
    /// The process of that number, if it descends from one of these, and is of the caller's user.
    pub(crate) fn descendant(pid: u32, caller: &Caller, ancestors: &[u32]) -> Result<Self, Unbound> {
        // First it is held, then looked at: if it has not ended by then, what was seen was its own.
        let life = kernel::open(pid).map_err(|_| Unbound::Gone)?;
        let uid = user(pid).ok_or(Unbound::Gone)?;
        let descends = descends(pid, ancestors);
        if kernel::has_ended(&life) {
            return Err(Unbound::Gone);
        }
        match (caller.may_bind(uid), descends) {
            (true, true) => Ok(Self { pid, life: Arc::new(life) }),
            (false, _) => Err(Unbound::OtherUser),
            (true, false) => Err(Unbound::Stranger),
        }
    }

    /// Whether they are the same, and not two of which the second got the number of the first.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.life, &other.life)
    }

    pub(super) fn has_ended(&self) -> bool {
        kernel::has_ended(&self.life)
    }

    /// Where it is told that it has ended.
    #[allow(
        deprecated,
        reason = "the other way is unsafe, for types that could change their descriptor: this one owns it"
    )]
    pub(super) fn watch(&self) -> io::Result<Ended> {
        // A copy: the system does not let one descriptor be waited for twice.
        AsyncFd::with_interest(self.life.try_clone()?, Interest::READABLE).map(Ended)
    }
}

/// The end of a process, which may be long to come.
#[derive(Debug)]
pub(super) struct Ended(AsyncFd<OwnedFd>);

impl Ended {
    /// Waits for it. An error means that it cannot be known.
    pub(super) async fn wait(self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }
}

/// Whether it is one of these, or a child of a child … of one.
fn descends(pid: u32, ancestors: &[u32]) -> bool {
    let line = std::iter::successors(Some(pid), |pid| parent(*pid));
    line.take(GENERATIONS_MAX).any(|pid| ancestors.contains(&pid))
}

fn parent(pid: u32) -> Option<u32> {
    parent_in(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name of the program stands in parentheses, and may have some of its own.
fn parent_in(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

/// Whose process it is.
fn user(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    ids.split_whitespace().next()?.parse().ok()
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    pub(super) fn open(pid: u32) -> io::Result<OwnedFd> {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
        Ok(pidfd_open(pid, PidfdFlags::empty())?)
    }

    /// An error is no proof of life.
    pub(super) fn has_ended(life: &OwnedFd) -> bool {
        let mut ends = [PollFd::new(life, PollFlags::IN)];
        poll(&mut ends, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).map_or(true, |ended| ended > 0)
    }
}

/// Elsewhere nobody tells: all deaths are presumed.
#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::io;
    use std::os::fd::OwnedFd;

    pub(super) fn open(_: u32) -> io::Result<OwnedFd> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn has_ended(_: &OwnedFd) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use nix::unistd::getuid;
    use tokio::time::timeout;

    use super::*;

    /// A process that does nothing until its input ends.
    fn child() -> Child {
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap()
    }

    fn caller(uid: u32) -> Caller {
        Caller { pid: Some(std::process::id()), uid, process: None }
    }

    #[tokio::test]
    async fn the_kernel_tells_who_connected_and_when_a_process_has_ended() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let peer = Caller::of(&ours).unwrap();
        assert_eq!((peer.pid, peer.uid), (Some(std::process::id()), getuid().as_raw()));
        assert_eq!(peer.process().map(|process| process.pid), peer.pid);
        let mut child = child();
        let bound = Process::descendant(child.id(), &peer, &[std::process::id()]).unwrap();
        let runs = timeout(Duration::from_millis(20), bound.watch().unwrap().wait()).await;
        assert!(runs.is_err(), "it has not ended");
        child.kill().unwrap();
        bound.watch().unwrap().wait().await.unwrap();
        assert_eq!(Process::descendant(child.id(), &peer, &[std::process::id()]).unwrap_err(), Unbound::Gone);
        child.wait().unwrap();
        bound.watch().unwrap().wait().await.unwrap();
    }

    #[test]
    fn only_descendants_of_the_same_user_are_bound() {
        let mut child = child();
        let bind = |uid, ancestors: &[u32]| {
            Process::descendant(child.id(), &caller(uid), ancestors).map(|process| process.pid)
        };
        let (us, it) = (std::process::id(), child.id());
        assert_eq!(bind(0, &[us]), Ok(it));
        assert_eq!(bind(getuid().as_raw(), &[1, us]), Ok(it));
        assert_eq!(bind(getuid().as_raw(), &[it]), Ok(it), "it is bound already");
        assert_eq!(bind(getuid().as_raw() + 1, &[us]), Err(Unbound::OtherUser));
        assert_eq!(bind(0, &[u32::MAX]), Err(Unbound::Stranger));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(Process::descendant(it, &caller(0), &[us]).unwrap_err(), Unbound::Gone);
    }

    #[test]
    fn a_program_may_be_called_anything() {
        assert_eq!(parent_in("12 (a) S 3 (b) S 7 1 1 0"), Some(7));
        assert_eq!(parent_in("12 (cat) R 345 1"), Some(345));
        assert_eq!(parent_in("nothing"), None);
    }
}
