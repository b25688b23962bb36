//! The processes that are ours: our children, and what they leave behind when they end, which becomes our child because this process is
//! a subreaper. Nobody else can have the number of a child that has not been waited for, so no other process is ever hit.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait, waitpid};

/// How often is looked whether those that were killed are dead.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A process that has ended, and how.
pub(super) type Dead = (Pid, WaitStatus);

/// All children of this process. One that is dead and not waited for is one.
pub(super) fn children() -> io::Result<HashSet<Pid>> {
    let mut found = HashSet::new();
    for thread in fs::read_dir("/proc/self/task")? {
        match fs::read_to_string(thread?.path().join("children")) {
            Ok(list) => found.extend(list.split_whitespace().filter_map(pid)),
            // Not every kernel has such lists.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return by_parent(),
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// The same, from what every process says of its parent.
fn by_parent() -> io::Result<HashSet<Pid>> {
    let parent = std::process::id().to_string();
    let is_ours = |stat: &str| {
        let after_name = stat.rsplit_once(')').map(|(_, rest)| rest);
        after_name.and_then(|rest| rest.split_whitespace().nth(1)) == Some(parent.as_str())
    };
    let mut found = HashSet::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(pid) else { continue };
        // One that has just gone is none of ours.
        if fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| is_ours(&stat)) {
            found.insert(pid);
        }
    }
    Ok(found)
}

fn pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Children that have ended since this was asked last.
pub(super) fn dead() -> Vec<Dead> {
    std::iter::from_fn(|| reap(|| wait(WaitOptions::NOHANG))).collect()
}

/// Whether there is no child at all, alive or dead. The kernel says so.
pub(super) fn are_gone() -> bool {
    use rustix::process::{WaitId, WaitIdOptions, waitid};

    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::All, look).is_err_and(|error| error == Errno::CHILD)
}

fn reap(wait: impl Fn() -> rustix::io::Result<Option<Dead>>) -> Option<Dead> {
    loop {
        match wait() {
            Err(Errno::INTR) => {}
            ended => return ended.ok().flatten(),
        }
    }
}

/// Sends a signal to a child that has not been waited for.
pub(super) fn signal(pid: Pid, signal: Signal) {
    // It may be dead already, or not be ours to signal, if it has become another user's.
    let _ = kill_process(pid, signal);
}

/// Kills all children but these, and whatever they leave behind, until there is nothing left: what was killed is waited for. It takes as
/// long as it takes.
pub(super) fn end_all(but: &HashSet<Pid>) -> Vec<Dead> {
    let mut dead = Vec::new();
    loop {
        // What cannot be looked for is not known to be gone.
        let ours = children().map(|all| &all - but);
        if let Ok(ours) = &ours {
            for pid in ours {
                signal(*pid, Signal::KILL);
                dead.extend(reap(|| waitpid(Some(*pid), WaitOptions::NOHANG)));
            }
            if ours.is_empty() && nothing_is_left(but) {
                return dead;
            }
        }
        thread::sleep(LOOK_EVERY);
    }
}

/// A list of children that is read while some end may leave others out.
fn nothing_is_left(but: &HashSet<Pid>) -> bool {
    are_gone() || (!but.is_empty() && by_parent().is_ok_and(|all| all.is_subset(but)))
}
