//! The same seed gives the same run, and another another.

use std::time::{Duration, SystemTime};

use bellwether::status::Change;
use bellwether::testing::Cluster;
use tokio::time::{Instant, sleep};

/// What all members saw of a run with some faults, and how long it took.
async fn run(seed: u64) -> (Vec<Vec<Change>>, Duration) {
    let began = Instant::now();
    let mut cluster = super::exclusive(5).seed(seed).start().unwrap();
    let first = cluster.leader().await.id.0;
    cluster.kill(first);
    let second = cluster.leader().await.id.0;
    cluster.isolate(second);
    sleep(Duration::from_secs(3)).await;
    cluster.heal();
    cluster.restart(first);
    cluster.leader().await;
    ((1..=5).map(|id| cluster.member(id).history()).collect(), began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn the_same_seed_gives_the_same_run_to_the_microsecond() {
    let first = run(7).await;
    assert!(first.0.iter().all(|history| history.len() >= 3), "{first:?}");
    assert_eq!(first, run(7).await);
    assert_ne!(first, run(8).await);
}

#[tokio::test(start_paused = true)]
async fn people_read_the_time_of_a_certain_day() {
    let cluster = Cluster::of(1).start().unwrap();
    let leader = cluster.leader().await;
    let up_since = cluster.member(1).status().up_since;
    assert_eq!(up_since.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs(), 1_767_225_600);
    assert!(leader.since >= up_since && leader.since < up_since + Duration::from_secs(10));
}

/// Without `start_paused` it is slower, and otherwise the same.
#[tokio::test]
async fn time_may_be_real() {
    let mut cluster = Cluster::of(3).latency(Duration::ZERO..=Duration::from_millis(1)).start().unwrap();
    let first = cluster.leader().await;
    cluster.kill(first.id.0);
    let second = cluster.leader().await;
    assert!(second.id != first.id && second.epoch > first.epoch);
}
