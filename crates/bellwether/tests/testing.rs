//! The test kit, as a program's own tests use it: `worker.rs` is such a program, and what follows are its tests. Below are those of the
//! kit itself.

#[path = "testing/faults.rs"]
mod faults;
#[path = "testing/replay.rs"]
mod replay;
#[path = "testing/worker.rs"]
mod worker;

use std::time::Duration;

use bellwether::testing::{Builder, Cluster};
use bellwether::{Exclusive, Leadership, Member};
use tokio::time::{Instant, sleep};

use worker::{Ledger, Worker};

/// A cluster in which at most one leads.
fn exclusive(size: u32) -> Builder {
    Cluster::of(size).configure(|config| config.exclusive = Some(Exclusive::default()))
}

/// A worker for every member, and the ledger in which they all write.
fn workers(cluster: &Cluster, size: u32) -> (Vec<Worker>, Ledger) {
    let ledger = Ledger::default();
    let worker = |id| Worker::start(cluster.member(id), ledger.clone());
    ((1..=size).map(worker).collect(), ledger)
}

async fn lead(member: &Member) -> Leadership {
    member.campaign().await.expect("the member lives")
}

/// When this member loses leadership, its worker stops, and the one of the next leader begins.
#[tokio::test(start_paused = true)]
async fn the_work_stops_where_leadership_is_lost_and_begins_where_it_is_gained() {
    let mut cluster = exclusive(3).start().unwrap();
    let (workers, ledger) = workers(&cluster, 3);
    let first = cluster.leader().await.id.0;
    ledger.grows().await;
    assert_eq!(ledger.last().node, first);

    cluster.isolate(first);
    let rest: Vec<u32> = (1..=3).filter(|id| *id != first).collect();
    let second = cluster.leader_among(&rest).await.id.0;
    ledger.grows().await;
    assert!(!workers[first as usize - 1].is_at_work(), "nobody told it, and it has stopped");
    assert_eq!(ledger.last().node, second);
    cluster.heal();
    sleep(Duration::from_secs(5)).await;
    assert_eq!(ledger.last().node, second, "who was cut off follows");
    ledger.is_in_order();
}

/// The second replica takes over when the first is killed, and the first comes back to wait.
#[tokio::test(start_paused = true)]
async fn the_next_replica_takes_over() {
    let mut cluster = exclusive(3).start().unwrap();
    let (_workers, ledger) = workers(&cluster, 3);
    let first = cluster.leader().await.id.0;
    ledger.grows().await;
    cluster.kill(first);
    let second = cluster.leader().await;
    ledger.grows().await;
    assert_eq!(ledger.last().node, second.id.0);
    let back = cluster.restart(first);
    let _worker = Worker::start(back.clone(), ledger.clone());
    assert_eq!(cluster.leader().await.id, second.id, "who leads goes on");
    second_resigns(&cluster, second.id.0).await;
    ledger.grows().await;
    assert_ne!(ledger.last().node, second.id.0);
    ledger.is_in_order();
}

async fn second_resigns(cluster: &Cluster, id: u32) {
    cluster.member(id).resign(bellwether::member::Hold::UntilTold).await.expect("another leads");
}

/// A process that was stopped for longer than its leadership is valid does not write when it goes on.
#[tokio::test(start_paused = true)]
async fn who_was_paused_for_too_long_does_not_go_on() {
    let mut cluster = exclusive(3).start().unwrap();
    let first = cluster.leader().await.id.0;
    let leadership = lead(&cluster.member(first)).await;
    leadership.check().expect("it is valid");
    let until = leadership.valid_until().expect("a deadline decides");
    cluster.pause(first);
    sleep(2 * Exclusive::TTL).await;
    assert!(leadership.check().is_err() && !leadership.is_held() && Instant::now().into_std() > until);
    let second = cluster.leader().await;
    assert_ne!(second.id.0, first);
    cluster.resume(first);
    assert_eq!(cluster.leader().await.id, second.id);
    assert!(leadership.check().is_err(), "what is over stays over");
    leadership.ended().await;
}

/// A machine that was suspended, with the whole cluster on it.
#[tokio::test(start_paused = true)]
async fn what_was_valid_before_the_machine_was_suspended_is_not_after() {
    let cluster = exclusive(3).start().unwrap();
    let leader = cluster.leader().await;
    let leadership = lead(&cluster.member(leader.id.0)).await;
    let deadline = leadership.deadline().expect("a deadline decides");
    tokio::time::advance(Duration::from_secs(10)).await;
    assert!(leadership.check().is_err(), "nobody has run since");
    let next = cluster.leader().await;
    let again = lead(&cluster.member(next.id.0)).await;
    assert!(next.epoch > leader.epoch && again.deadline().is_some_and(|next| next > deadline));
}

/// Work that blocks looks at the same clock, on the runtime's own threads.
#[tokio::test(start_paused = true)]
async fn work_that_blocks_sees_the_same_time() {
    let mut cluster = exclusive(3).start().unwrap();
    let id = cluster.leader().await.id.0;
    let leadership = lead(&cluster.member(id)).await;
    let look = |leadership: &Leadership| leadership.spawn_blocking(|guard| guard.check().is_ok());
    assert!(look(&leadership).await.unwrap());
    cluster.pause(id);
    sleep(2 * Exclusive::TTL).await;
    assert!(!look(&leadership).await.unwrap());
}
