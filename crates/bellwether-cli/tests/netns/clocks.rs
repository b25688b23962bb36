//! Wall clocks that are wrong: agents see them through libfaketime.

use std::fs;
use std::path::Path;

use crate::cluster::{Cluster, Views};

const LIBRARY: &str = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/// A member whose disk is lost takes its incarnation from the clock. If the others know a later one it finds that out, and follows. If its
/// clock is so wrong that it refuses their certificates it does not lead, and comes back when the clock is right.
pub(crate) fn a_wrong_clock_and_a_lost_disk() {
    if !Path::new(LIBRARY).exists() {
        return assert_ne!(std::env::var("BELLWETHER_REQUIRE_NET").as_deref(), Ok("1"), "no libfaketime");
    }
    let mut cluster = Cluster::start(3);
    let led = cluster.wait_for_agreement();
    let other = if led.0 == 3 { 2 } else { 3 };
    let restart = |cluster: &mut Cluster, clock: &str| {
        cluster.kill(other);
        cluster.start_node_with(other, &seeing(("FAKETIME", clock.to_owned())));
    };
    for clock in ["-30m", "-2d", "+100y"] {
        fs::remove_file(cluster.state_file(other)).unwrap();
        restart(&mut cluster, clock);
        let knows = |views: &Views| {
            let view = views[&other].as_ref();
            view.is_some_and(|view| view["leader"] == led.0 || view["barred"]["kind"] == "refused")
        };
        cluster.wait_for(&format!("node {other} follows or is refused, with its clock at {clock}"), knows);
        restart(&mut cluster, "+0");
        assert_eq!(cluster.wait_for_agreement(), led, "after its clock was at {clock}");
    }
}

/// The variables under which an agent sees the time that this file says. Without the library it sees the machine's.
pub(crate) fn that_can_be_set(clock: &Path) -> Vec<(&'static str, String)> {
    seeing(("FAKETIME_TIMESTAMP_FILE", clock.to_str().expect("paths of tests are text").to_owned()))
}

fn seeing(time: (&'static str, String)) -> Vec<(&'static str, String)> {
    if !Path::new(LIBRARY).exists() {
        return Vec::new();
    }
    forget();
    vec![
        time,
        ("LD_PRELOAD", LIBRARY.to_owned()),
        ("FAKETIME_CACHE_DURATION", "1".to_owned()),
        ("DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
}

/// The library leaves shared memory of processes that were killed, by their number. One that comes to have the same number would
/// see the clock of the dead.
fn forget() {
    for entry in fs::read_dir("/dev/shm").into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.rsplit('_').next().filter(|_| name.contains("faketime_"));
        if process.is_some_and(|number| !Path::new("/proc").join(number).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
