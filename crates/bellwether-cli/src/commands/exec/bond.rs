//! What `exec` has of its warden: the process, and the line to it.

use std::collections::HashSet;
use std::io::{self, ErrorKind, stdin};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::prctl::set_child_subreaper;
use rustix::process::Pid;
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

use super::cgroup::Cgroup;
use super::link::Link;
use super::words::{Order, Report};
use super::{OURSELVES, kin};
use crate::client::Door;

/// How long a warden may take to come up.
const READY_MAX: Duration = Duration::from_secs(10);

/// A warden. What it watches over is killed when this goes, if anything is left.
pub(super) struct Bond {
    process: Child,
    /// `None` when it is over.
    link: Option<AsyncFd<Link>>,
    /// Children that this process had when it began, which are none of ours.
    inherited: HashSet<Pid>,
}

impl Bond {
    /// Starts a warden for that command, and waits until it is there.
    pub(super) async fn tie(command: &[std::ffi::OsString], door: &Door) -> io::Result<Self> {
        // If the warden is killed, what it watched over becomes ours.
        set_child_subreaper(true)?;
        let inherited = kin::children()?;
        let (link, theirs) = Link::pair()?;
        let mut warden = Command::new(OURSELVES);
        warden.arg0("bellwether").arg("exec-warden");
        if let Door::Socket(socket) = door {
            warden.arg("--socket").arg(socket);
        }
        // In a group of its own, so that no signal of a terminal meets it. The token of the agent is none of the command's.
        warden.arg("--").args(command).env_remove("BELLWETHER_TOKEN");
        let process = warden.stdin(Stdio::from(theirs)).process_group(0).spawn()?;
        // The line is closed by nobody else: the warden's end of it is the warden's alone now.
        drop(warden);
        #[expect(
            deprecated,
            reason = "an owned descriptor is what its successor asks for, as an unsafe call"
        )]
        let link = AsyncFd::new(link)?;
        let mut bond = Self { process, link: Some(link), inherited };
        bond.order(&Order::Begin);
        match timeout(READY_MAX, bond.report()).await {
            Ok(Some(Report::Ready)) => Ok(bond),
            Ok(_) => Err(io::Error::other("it ended at once")),
            Err(_) => Err(ErrorKind::TimedOut.into()),
        }
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Tells it. If it does not listen, [`Bond::report`] will say so, or nothing comes of what is expected of it.
    pub(super) fn order(&self, order: &Order) {
        let Some(link) = &self.link else { return };
        let input = stdin();
        let with = matches!(order, Order::Begin).then(|| input.as_fd());
        let _ = link.get_ref().send(order, with);
    }

    /// What it says next; `None` when it is gone. If the call is dropped, nothing is lost.
    pub(super) async fn report(&mut self) -> Option<Report> {
        let link = self.link.as_mut()?;
        loop {
            let mut ready = link.readable().await.ok()?;
            match ready.get_inner().try_receive() {
                Ok(report) => return report,
                Err(error) if error.kind() == ErrorKind::WouldBlock => ready.clear_ready(),
                Err(_) => return None,
            }
        }
    }

    /// Does the warden's work, because it does not: kills it, and whatever it watched over. Returns when all of that is dead.
    pub(super) fn seize(&mut self) {
        // It is our child, and has not been waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.link = None;
        let cgroup = Cgroup::left_by(self.pid());
        if let Some(cgroup) = &cgroup {
            cgroup.kill();
        }
        kin::end_all(&self.inherited);
        if let Some(cgroup) = &cgroup {
            cgroup.kill_to_the_end();
            cgroup.remove();
        }
    }

    /// Lets it go, when nothing is left to watch over.
    pub(super) fn untie(mut self) {
        self.link = None;
        let _ = self.process.wait();
    }
}

impl Drop for Bond {
    fn drop(&mut self) {
        if self.link.is_some() {
            self.seize();
        }
    }
}
