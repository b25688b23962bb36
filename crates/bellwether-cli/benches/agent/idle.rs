//! What a cluster costs when nothing happens, and whether it stays calm when the machine is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::cluster::{Cluster, wait_until};
use super::figure::{Better, keep};
use super::gauge::{cpu_seconds, memory_mib, metric};
use super::{NODES, PAUSE, shape};

pub(crate) fn measure(time: Duration, kind: Option<&'static str>) {
    let mut cluster = Cluster::prepare(&shape(NODES, "fjr", kind));
    cluster.start_all();
    let leader = cluster.wait_for_leader();
    let agents = kind.map_or_else(|| "agents".to_owned(), |kind| format!("agents, exclusive of kind {kind}"));
    let sample = |cluster: &Cluster| -> Vec<(f64, f64)> {
        (1..=NODES).map(|id| (cpu_seconds(cluster.pid(id)), sent(cluster, id))).collect()
    };
    let (before, began) = (sample(&cluster), Instant::now());
    wait_until(time * 2, || began.elapsed() >= time);
    let (after, took) = (sample(&cluster), began.elapsed().as_secs_f64());
    println!("\n{agents}: idle for {took:.0} s, node {leader} leads");
    let mut followers = Vec::new();
    println!("{:<8}{:>14}{:>12}{:>14}", "node", "% of a core", "memory", "messages/s");
    for (id, (before, after)) in (1..).zip(before.iter().zip(&after)) {
        let (cpu, sent) = ((after.0 - before.0) / took * 100.0, (after.1 - before.1) / took);
        let memory = memory_mib(cluster.pid(id));
        println!("{id:<8}{cpu:>14.2}{memory:>9.1} MiB{sent:>14.1}");
        if id == leader {
            keep(&format!("{agents}, idle leader"), cpu, "% of a core", Better::Lower);
            keep(&format!("{agents}, idle leader: memory"), memory, "MiB", Better::Lower);
        } else {
            followers.push(cpu);
        }
    }
    let mean = followers.iter().sum::<f64>() / followers.len() as f64;
    keep(&format!("{agents}, idle followers: mean"), mean, "% of a core", Better::Lower);
}

/// A process that does nothing else keeps a core busy.
pub(crate) fn under_load(time: Duration) {
    let cluster = Cluster::start(NODES);
    cluster.wait_for_leader();
    let changes = |cluster: &Cluster| -> u64 {
        (1..=NODES).map(|id| metric(cluster, id, "bellwether_leader_changes_total") as u64).sum()
    };
    let (before, stop) = (changes(&cluster), Arc::new(AtomicBool::new(false)));
    let busy = Arc::clone(&stop);
    let work = thread::spawn(move || while !busy.load(Ordering::Relaxed) {});
    let began = Instant::now();
    wait_until(time * 2, || began.elapsed() >= time);
    stop.store(true, Ordering::Relaxed);
    work.join().expect("it only spins");
    let changed = changes(&cluster) - before;
    println!("\none core busy for {} s: {changed} changes of leader, summed over all nodes", time.as_secs());
    // The interface still answers.
    assert!(wait_until(PAUSE, || cluster.views().values().flatten().count() == NODES as usize));
}

fn sent(cluster: &Cluster, id: u32) -> f64 {
    metric(cluster, id, "bellwether_frames_sent_total")
}
