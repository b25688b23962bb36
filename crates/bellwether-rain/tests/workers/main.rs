//! Several workers in one process, on real sockets; who is in which view, the test says.

mod crew;
mod disks;

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use bellwether_rain::report::Report;
use bellwether_rain::shard::Shard;
use bellwether_rain::wire::Answer;
use bellwether_rain::{fractal, wire};

use crew::{Crew, place};

#[tokio::test]
async fn a_picture_is_computed_once_and_put_together() {
    let mut crew = Crew::start(4, 2, (128, 64)).await;
    crew.view(1, &[1, 2, 3, 4], &[], &[]).await;
    crew.wait_until_safe(4 * 32).await;
    assert_eq!(crew.recomputed(), 0);
    let picture = crew.collect().await.unwrap();
    assert_eq!(picture.png(), crew.expected().png());
}

#[tokio::test]
async fn what_the_failed_had_done_is_not_done_again() {
    let mut crew = Crew::start(6, 4, (256, 128)).await;
    let all = 4 * 4 * 32;
    crew.view(1, &[1, 2, 3, 4, 5, 6], &[], &[]).await;
    crew.wait_until_safe(100).await;
    crew.kill(1);
    crew.kill(4);
    crew.view(2, &[2, 3, 5, 6], &[1, 4], &[]).await;
    let recovered = crew.recovered(2);
    assert!(recovered.rows > 0, "{recovered:?}");
    assert_eq!(recovered.lost, 0);
    crew.wait_until_safe(all).await;
    // A row that a worker had in its hands when it was killed; no more than that.
    assert!(crew.recomputed() <= 2, "{}", crew.recomputed());
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn a_row_in_hand_is_handed_out_before_another_is_computed() {
    let mut crew = Crew::start(4, 3, (256, 64)).await;
    crew.view(1, &[1, 2, 3, 4], &[], &[]).await;
    crew.wait_until_safe(20).await;
    crew.kill(1);
    crew.kill(2);
    // Too few are left to keep what these compute.
    crew.wait_until_in_hand(&[3, 4]).await;
    crew.view(2, &[3, 4], &[1, 2], &[]).await;
    crew.revive(1).await;
    crew.view(3, &[1, 3, 4], &[], &[1]).await;
    crew.wait_until_safe(8 * 32).await;
    assert_eq!(crew.computed_twice_by_one(), []);
}

#[tokio::test]
async fn after_a_restart_of_all_everything_comes_from_shards() {
    let mut crew = Crew::start(3, 2, (128, 32)).await;
    crew.view(1, &[1, 2, 3], &[], &[1, 2, 3]).await;
    crew.wait_until_safe(20).await;
    for node in 1..=3 {
        crew.kill(node);
    }
    for node in 1..=3 {
        crew.revive(node).await;
    }
    crew.view(2, &[1, 2, 3], &[], &[1, 2, 3]).await;
    assert!(crew.recovered(2).rows >= 20, "{:?}", crew.recovered(2));
    crew.kill(1);
    crew.revive(1).await;
    crew.view(3, &[1, 2, 3], &[], &[1]).await;
    assert_eq!(
        crew.recovered(3).rows,
        0,
        "the others did not lose theirs, and it does not know who did what"
    );
    crew.wait_until_safe(64).await;
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn a_member_that_is_slow_gets_its_shards_all_the_same() {
    let mut crew = Crew::start_with_grace(Duration::from_millis(1), 4, 2, (128, 32)).await;
    crew.kill(4);
    crew.view_without_telling(1, &[1, 2, 3, 4], &[4]).await;
    crew.wait_until_safe(10).await;
    crew.revive(4).await;
    crew.wait_until_holding(4, 10).await;
    assert_eq!(crew.trouble(), BTreeSet::new());
}

#[tokio::test]
async fn whoever_returns_brings_its_shards_and_gets_the_others() {
    let mut crew = Crew::start(4, 3, (128, 64)).await;
    crew.view(1, &[1, 2, 3, 4], &[], &[]).await;
    crew.wait_until_safe(30).await;
    crew.kill(4);
    crew.view(2, &[1, 2, 3], &[4], &[]).await;
    crew.wait_until_safe(60).await;
    crew.revive(4).await;
    assert!(crew.held_at_start(4) >= 30, "{}", crew.held_at_start(4));
    crew.view(3, &[1, 2, 3, 4], &[], &[4]).await;
    let (replaced, held) = (crew.recovered(3).replaced, crew.held_at_start(4));
    assert!(replaced > 0 && replaced + held >= 60, "{replaced} replaced, {held} held");
    crew.kill(1);
    crew.view(4, &[2, 3, 4], &[1], &[]).await;
    crew.wait_until_safe(128).await;
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn too_few_wait_and_go_on_when_enough_are_back() {
    let mut crew = Crew::start(4, 3, (128, 64)).await;
    crew.view(1, &[1, 2, 3, 4], &[], &[]).await;
    crew.wait_until_safe(20).await;
    crew.kill(1);
    crew.kill(2);
    crew.view(2, &[3, 4], &[1, 2], &[]).await;
    crew.wait_for(|_, report| matches!(report, Report::InService { view: 2, waits_for: Some(3), .. })).await;
    let incomplete = crew.collect().await.unwrap_err();
    assert_eq!((incomplete.reached, incomplete.needed), (2, 3));
    crew.revive(1).await;
    crew.view(3, &[1, 3, 4], &[], &[1]).await;
    crew.wait_until_safe(128).await;
    // Those that waited had a row in their hands as well, and have it still.
    assert!(crew.recomputed() <= 2, "{}", crew.recomputed());
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn a_recovery_waits_for_every_member_whatever_else_is_told() {
    let mut crew = Crew::start(3, 2, (64, 32)).await;
    crew.kill(3);
    let mut task = crew.recover(1, &[1, 2, 3], &[], &[]).await;
    crew.out_of_service(1).await;
    crew.wait_for(|node, report| node == 1 && *report == Report::OutOfService).await;
    assert!(task.try_recv().is_err(), "one has not answered");
    crew.revive(3).await;
    assert!(task.await.unwrap().is_ok());
    crew.view(2, &[1, 2, 3], &[], &[]).await;
    crew.wait_until_safe(32).await;
}

#[tokio::test]
async fn a_worker_that_was_given_up_adds_nothing() {
    let mut crew = Crew::start(3, 2, (192, 32)).await;
    crew.view(1, &[1, 2, 3], &[], &[]).await;
    crew.wait_until_safe(3).await;
    // Node 3 hears nothing of the new view, and works on in the old one.
    crew.view(2, &[1, 2], &[3], &[]).await;
    let rejects = |node: u32, report: &Report| node != 3 && matches!(report, Report::Rejected { old: 1, .. });
    crew.wait_for(rejects).await;
    crew.wait_until_safe(96).await;
    crew.dead(3).await;
    crew.wait_for(|node, report| node == 3 && *report == Report::Dead).await;
    assert_eq!(crew.collect().await.unwrap().png(), crew.expected().png());
}

#[tokio::test]
async fn a_worker_that_is_admitted_again_learns_that_it_was_dead() {
    let mut crew = Crew::start(3, 2, (192, 32)).await;
    crew.view(1, &[1, 2, 3], &[], &[1, 2, 3]).await;
    crew.wait_until_safe(3).await;
    crew.view(2, &[1, 2], &[3], &[]).await;
    crew.view(3, &[1, 2, 3], &[], &[3]).await;
    crew.wait_for(|node, report| node == 3 && matches!(report, Report::InService { view: 3, .. })).await;
    assert_eq!(crew.deaths(), [3], "and nobody dies who is in its first view");
}

#[tokio::test]
async fn damaged_shards_are_rejected_and_counted_on_the_wire_and_on_the_disk() {
    let mut crew = Crew::start(3, 2, (64, 32)).await;
    crew.view(1, &[1, 2, 3], &[], &[]).await;
    crew.wait_until_safe(32).await;
    let row = fractal::row(&crew.job().picture, place(0).tile, 0);
    let mut shard = Shard::all(&crew.job(), place(0), 9, &row).remove(1);
    shard.bytes[0] ^= 1;
    let answer = crew.ask(2, &wire::Request::Put(vec![shard])).await;
    assert_eq!(answer.unwrap(), Answer::Kept { kept: 0, damaged: 1, old: 0 });
    crew.wait_for(|node, report| node == 2 && *report == Report::Rejected { damaged: 1, old: 0 }).await;
    crew.kill(3);
    let path = crew.dir(3).join("tile-0");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    crew.revive(3).await;
    crew.wait_for(|node, report| node == 3 && *report == Report::Rejected { damaged: 1, old: 0 }).await;
    assert_eq!(crew.held_at_start(3), 31);
    crew.view(2, &[1, 2, 3], &[3], &[3]).await;
    assert_eq!(crew.recovered(2).replaced, 1, "the damaged one is replaced");
}

#[tokio::test]
async fn strangers_and_nonsense_end_their_own_connection_and_nothing_else() {
    let mut crew = Crew::start(3, 2, (64, 32)).await;
    for bytes in [
        vec![0; 40],
        [&crew.secret(), &[255; 8][..]].concat(),
        [&crew.secret(), &[2, 0, 0, 0, 9, 9][..]].concat(),
    ] {
        assert_eq!(crew.send_raw(1, &bytes).await, Vec::<u8>::new(), "it is told nothing");
    }
    let tiles: Vec<_> =
        (0..17).map(|tile| (bellwether_rain::picture::Tile(tile), Default::default())).collect();
    assert_eq!(crew.ask(1, &wire::Request::Get(tiles)).await.unwrap(), Answer::Failed);
    crew.view(1, &[1, 2, 3], &[], &[]).await;
    crew.wait_until_safe(32).await;
    let seen: BTreeSet<_> = crew.trouble();
    assert!(seen.is_empty(), "{seen:?}");
}
