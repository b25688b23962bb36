//! Disks that are slow. `strace` holds up every fsync of an agent; it takes leave to trace.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::judged::{assert_kept, recorded_as};
use super::skip;
use crate::cluster::{Cluster, Process, Shape, wait_until};

const DEADLINE: Duration = Duration::from_secs(10);

/// Longer than an agent is waited for with the default timing. A state takes two of them.
const FSYNC_MICROS: u32 = 150_000;

/// Holds up every fsync of a process, while this lives.
struct Brake {
    _strace: Process,
}

impl Brake {
    /// `Err` says why it cannot be.
    fn put_on(cluster: &Cluster, id: u32) -> Result<Self, String> {
        let said = cluster.home(id).join("strace.log");
        let file = File::create(&said).unwrap();
        let mut strace = Command::new("strace");
        strace.args(["-f", "-o", "/dev/null", "-e", "trace=fsync,fdatasync"]);
        strace.arg("-e").arg(format!("inject=fsync,fdatasync:delay_exit={FSYNC_MICROS}"));
        strace.arg("-p").arg(cluster.pid(id).to_string());
        match strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file).spawn() {
            Ok(child) => Self::attached(Process::of(child), &said),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err("there is no strace".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn attached(mut strace: Process, said: &PathBuf) -> Result<Self, String> {
        let text = || fs::read_to_string(said).unwrap();
        let settled = wait_until(DEADLINE, || {
            text().contains("attached") || matches!(strace.child().try_wait(), Ok(Some(_)))
        });
        assert!(settled, "strace neither traces nor ends");
        if text().contains("attached") { Ok(Self { _strace: strace }) } else { Err(text()) }
    }
}

/// Every agent's disk is slow, and one leader after another goes.
fn one_leads_all_the_same(protocol: &'static str, promises: &[&str]) {
    let (mut cluster, mut leader) = recorded_as(&Shape { protocol, ..Shape::of(3) });
    let mut brakes = Vec::new();
    for id in cluster.ids() {
        match Brake::put_on(&cluster, id) {
            Ok(brake) => brakes.push(brake),
            Err(why) => return skip("a slow disk", &why),
        }
    }
    for _ in 0..2 {
        cluster.kill(leader);
        let next = cluster.wait_for_leader();
        assert_ne!(next, leader);
        cluster.start_node(leader);
        brakes.extend(Brake::put_on(&cluster, leader));
        cluster.wait_for_agreement();
        leader = next;
    }
    let records = assert_kept(&cluster, promises);
    let announced = |id: u32| {
        let all = records.events(id, "announce");
        all.into_iter().filter(move |event| event["leader"] == id).map(move |event| event["epoch"].as_u64())
    };
    let mut epochs: Vec<_> = cluster.ids().into_iter().flat_map(announced).collect();
    let all = epochs.len();
    epochs.sort_unstable();
    epochs.dedup();
    assert_eq!(epochs.len(), all, "an epoch was used twice: {epochs:?}");
}

#[test]
fn fjr_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("fjr", &["OMEGA", "SETTLED", "EPOCH"]);
}

#[test]
fn async_bully_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("async-bully", &["EPOCH"]);
}

#[test]
fn invitation_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("invitation", &["EPOCH"]);
}

#[test]
fn fb_omega_has_one_leader_on_slow_disks() {
    one_leads_all_the_same("fb-omega", &["EPOCH"]);
}
