//! What an agent says of itself, and what the kernel says of its process.

use std::fs;

use super::cluster::Cluster;

/// The sum over all labels.
pub(crate) fn metric(cluster: &Cluster, id: u32, name: &str) -> f64 {
    let text = cluster.get(id, "/metrics").body;
    let values =
        text.lines().filter(|line| line.starts_with(name)).filter_map(|line| line.rsplit(' ').next());
    values.filter_map(|value| value.parse::<f64>().ok()).sum()
}

/// What the scheduler has counted, to the nanosecond, for all threads. (The ticks in `stat` are far too coarse here.)
pub(crate) fn cpu_seconds(pid: i32) -> f64 {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("the process is there").flatten();
    let counts = threads.filter_map(|thread| fs::read_to_string(thread.path().join("schedstat")).ok());
    let nanos = counts.filter_map(|count| count.split(' ').next()?.parse::<f64>().ok());
    nanos.sum::<f64>() / 1e9
}

/// What is in memory now.
pub(crate) fn memory_mib(pid: i32) -> f64 {
    of_status(pid, "VmRSS:")
}

/// The most that was at once.
pub(crate) fn peak_memory_mib(pid: i32) -> f64 {
    of_status(pid, "VmHWM:")
}

fn of_status(pid: i32, what: &str) -> f64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
    let kib = status.lines().find_map(|line| line.strip_prefix(what)?.trim().strip_suffix(" kB"));
    kib.and_then(|kib| kib.parse::<f64>().ok()).expect("Linux says so") / 1024.0
}
