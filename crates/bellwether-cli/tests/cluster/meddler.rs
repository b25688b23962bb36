//! Somebody between an agent and the kernel: `strace`, which holds system calls up or makes them fail. It takes leave to trace.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Cluster, DEADLINE, Process, wait_until};

/// Meddles with a process while this lives.
pub(crate) struct Meddler {
    _strace: Process,
}

impl Meddler {
    /// Every sync of a node's files takes so many microseconds longer. `Err` says why it cannot be.
    pub(crate) fn slows_the_disk(cluster: &Cluster, id: u32, micros: u32) -> Result<Self, String> {
        Self::attach(cluster, id, &format!("delay_exit={micros}"))
    }

    /// Every sync of a node's files says that the disk is full.
    pub(crate) fn fills_the_disk(cluster: &Cluster, id: u32) -> Result<Self, String> {
        Self::attach(cluster, id, "error=ENOSPC")
    }

    fn attach(cluster: &Cluster, id: u32, what: &str) -> Result<Self, String> {
        let said = cluster.home(id).join("strace.log");
        let file = File::create(&said).unwrap();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
        strace.arg("-e").arg(format!("inject=fsync,fdatasync:{what}"));
        strace.arg("-p").arg(cluster.pid(id).to_string());
        match strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn() {
            Ok(child) => Self::attached(Process::of(child), &said),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err("there is no strace".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn attached(mut strace: Process, said: &Path) -> Result<Self, String> {
        let text = || fs::read_to_string(said).unwrap();
        let settled = wait_until(DEADLINE, || {
            text().contains("attached") || matches!(strace.child().try_wait(), Ok(Some(_)))
        });
        assert!(settled, "strace neither traces nor ends");
        if text().contains("attached") { Ok(Self { _strace: strace }) } else { Err(text()) }
    }
}
