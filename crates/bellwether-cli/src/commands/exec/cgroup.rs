//! A control group for a command, so that everything that it starts can be killed at once, wherever it has gone. Where the system does
//! not let us have one, there is none.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::Pid;

/// How often is looked whether those that were killed are gone.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How our groups are called; the number of the warden follows.
const PREFIX: &str = "bellwether-exec-";

/// A group of version 2, below the one in which this process is.
#[derive(Debug)]
pub(super) struct Cgroup(PathBuf);

impl Cgroup {
    /// A new one, for the commands of that warden.
    pub(super) fn create(warden: u32) -> Option<Self> {
        let group = Self(path(warden)?);
        sweep(&group.0);
        fs::create_dir(&group.0).ok()?;
        if group.0.join("cgroup.kill").exists() {
            return Some(group);
        }
        group.remove();
        None
    }

    /// The one that a warden has left behind, if it has.
    pub(super) fn left_by(warden: u32) -> Option<Self> {
        path(warden).filter(|path| path.exists()).map(Self)
    }

    /// Takes a process in. What it starts from then on is in there, too.
    pub(super) fn admit(&self, pid: Pid) -> bool {
        fs::write(self.0.join("cgroup.procs"), pid.as_raw_nonzero().to_string()).is_ok()
    }

    /// Kills all that is in it. What is just being started is met, too.
    pub(super) fn kill(&self) {
        // If it cannot be, the processes that are known are killed one by one.
        let _ = fs::write(self.0.join("cgroup.kill"), "1");
    }

    /// Kills all that is in it until the kernel says that it is empty.
    pub(super) fn kill_to_the_end(&self) {
        while self.is_populated() {
            self.kill();
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether a process is in it.
    pub(super) fn is_populated(&self) -> bool {
        let events = fs::read_to_string(self.0.join("cgroup.events"));
        events.is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
    }

    /// It must be empty.
    pub(super) fn remove(&self) {
        // An empty directory that stays is no harm.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Removes what wardens have left behind that were killed: groups that are empty.
fn sweep(own: &Path) {
    let beside = own.parent().and_then(|parent| fs::read_dir(parent).ok());
    for entry in beside.into_iter().flatten().flatten() {
        let name = entry.file_name();
        let warden = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if warden.is_some_and(|warden| !Path::new("/proc").join(warden).exists()) || entry.path() == own {
            // One that is not empty stays.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn path(warden: u32) -> Option<PathBuf> {
    let own = own(
        &fs::read_to_string("/proc/self/cgroup").ok()?,
        &fs::read_to_string("/proc/self/mountinfo").ok()?,
    )?;
    Some(own.join(format!("{PREFIX}{warden}")))
}

/// The directory of the group in which a process is, from what the kernel tells of its groups and of what is mounted.
fn own(groups: &str, mounts: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let fields: Vec<_> = before.split(' ').collect();
        after.starts_with("cgroup2 ").then_some((*fields.get(3)?, *fields.get(4)?))
    });
    let (root, at) = mount?;
    Some(Path::new(at).join(Path::new(group).strip_prefix(root).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_where_it_is_mounted() {
        let mounts = "24 1 0:22 / /proc rw - proc proc rw\n\
                      31 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";
        let own_of = |groups: &str| own(groups, mounts);
        assert_eq!(own_of("0::/a.slice/b\n"), Some("/sys/fs/cgroup/a.slice/b".into()));
        assert_eq!(own_of("9:cpu:/x\n0::/\n"), Some("/sys/fs/cgroup/".into()));
        assert_eq!(own_of("9:cpu:/x\n"), None, "only the first version");
        let bound = mounts.replace("0:26 / ", "0:26 /a.slice ");
        assert_eq!(own("0::/a.slice/b\n", &bound), Some("/sys/fs/cgroup/b".into()));
        assert_eq!(own("0::/c\n", &bound), None, "it cannot be seen from here");
    }
}
