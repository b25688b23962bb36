//! A disk that is full when something must be written. It takes a file system of its own, and so root.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

use super::skip;
use crate::cluster::{Cluster, Shape};

/// A small disk; unmounted when this goes.
struct Disk(TempDir);

impl Disk {
    /// `Err` says why there is none.
    fn mount() -> Result<Self, String> {
        let dir = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "bellwether-test"]).arg(dir.path());
        match mount.output() {
            Ok(output) if output.status.success() => Ok(Self(dir)),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr)
                .lines()
                .next()
                .unwrap_or("mount failed")
                .to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn filler(&self) -> PathBuf {
        self.0.path().join("filler")
    }

    fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        let error = loop {
            if let Err(error) = file.write_all(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{error}");
    }

    fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Even while somebody looks at it.
        let _ = Command::new("umount").arg("--lazy").arg(self.0.path()).status();
    }
}

#[test]
fn who_cannot_write_its_state_ends_and_loses_nothing() {
    let disk = match Disk::mount() {
        Ok(disk) => disk,
        Err(why) => return skip("a full disk", &why),
    };
    // After the disk, so that it goes before: who has files there must not run any more.
    let mut cluster = Cluster::prepare(&Shape::of(3));
    symlink(disk.0.path(), cluster.home(2).join("data")).unwrap();
    cluster.start_all();
    if cluster.wait_for_leader() == 2 {
        assert_eq!(cluster.post(2, "/v1/transfer", "{\"to\":1}").status, 200);
    }
    let (leader, _) = cluster.wait_for_agreement();
    let kept = fs::read(cluster.state_file(2)).unwrap();
    disk.fill();

    let answer = cluster.post(leader, "/v1/transfer", "{\"to\":2}");
    assert_eq!((answer.status, answer.error().as_str()), (409, "node 2 did not take over in time"));
    let (code, log) = cluster.wait_for_end(2);
    assert_eq!(code, Some(3), "{log}");
    let state = cluster.state_file(2);
    let error = log.lines().last().expect("it says why");
    assert!(
        error.starts_with(&format!("error: cannot write the new state of {}: ", state.display())),
        "{log}"
    );
    assert!(
        error.contains("No space left on device") && error.contains("the old state is still there"),
        "{log}"
    );
    assert_eq!(fs::read(&state).unwrap(), kept);
    assert!(!state.with_extension("new").exists(), "nothing is left of the attempt");
    let agreed = cluster.wait_for_agreement();

    disk.free();
    cluster.start_node(2);
    assert_eq!(cluster.wait_for_agreement(), agreed, "it comes back where it was");
}
