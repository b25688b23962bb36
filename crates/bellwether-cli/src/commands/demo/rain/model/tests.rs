//! Reports in, a story out.

use bellwether_rain::code::Code;
use bellwether_rain::picture::{Picture, Tile};

use super::super::watch::STALL_AFTER;
use super::*;

const MS: Duration = Duration::from_millis(1);

fn model() -> (Model, Instant) {
    let job = Job { picture: Picture::new(128, 32).unwrap(), code: Code::new(4, 2).unwrap() };
    let now = Instant::now();
    let mut model = Model::new(job, 10.0, now);
    for id in 1..=4 {
        model.process(id, Process::Up(100 + id), now);
        model.report(id, Report::Up { held: 0 }, now);
    }
    view(&mut model, 1, &[1, 2, 3, 4], None, now);
    model.news();
    (model, now)
}

fn view(model: &mut Model, number: u64, members: &[u32], waits_for: Option<u32>, now: Instant) {
    members.iter().for_each(|id| in_service(model, *id, number, members, waits_for, now));
}

/// One of the members tells of its view.
fn in_service(
    model: &mut Model,
    id: u32,
    number: u64,
    members: &[u32],
    waits_for: Option<u32>,
    now: Instant,
) {
    let report = Report::InService {
        view: number,
        leader: members[0],
        members: members.to_vec(),
        owners: vec![1, 2],
        waits_for,
    };
    model.report(id, report, now);
}

fn safe(model: &mut Model, id: u32, rows: std::ops::Range<u32>, now: Instant) {
    for row in rows {
        let place = Place { tile: Tile(0), row };
        model.report(id, Report::Computed { place }, now);
        model.report(id, Report::Safe { place, held: row + 1 }, now);
    }
}

fn told(model: &mut Model) -> Vec<String> {
    model.news().iter().map(ToString::to_string).collect()
}

#[test]
fn a_view_is_told_once_and_progress_in_steps() {
    let (mut model, now) = model();
    view(&mut model, 2, &[2, 3], None, now);
    assert_eq!(told(&mut model), ["view 2 in service: nodes 2 and 3; fault manager: node 2"]);
    safe(&mut model, 2, 0..7, now);
    assert_eq!(told(&mut model), ["10 % done, 7 rows safe"]);
    assert_eq!((model.nodes[&2].rows, model.nodes[&2].held), (7, 7));
}

#[test]
fn what_is_computed_again_is_counted() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..3, now);
    safe(&mut model, 2, 2..4, now);
    assert_eq!((model.counts.computed, model.counts.recomputed, model.rows()), (5, 1, 4));
}

#[test]
fn the_fault_manager_knows_better() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..3, now);
    model.report(2, found(2, vec![Rows::first(2), Rows::first(32)]), now);
    assert_eq!(model.rows(), 34);
    assert_eq!(told(&mut model)[0], "view 2: fault manager 2 was done in 12 ms; rebuilt 2 rows of node 1");
}

fn recovered(view: u64, known: Rows) -> Report {
    found(view, vec![known, Rows::NONE])
}

/// What a fault manager found, and what it did for node 1, which failed.
fn found(view: u64, known: Vec<Rows>) -> Report {
    Report::Recovered {
        view,
        members: 3,
        waits_for: None,
        failed: vec![1],
        readmitted: Vec::new(),
        known,
        rows: 2,
        lost: 0,
        replaced: 0,
        ms: 12,
    }
}

#[test]
fn where_nothing_was_done_nothing_is_recovered() {
    let (mut model, now) = model();
    model.report(2, recovered(2, Rows::NONE), now);
    assert_eq!(told(&mut model), ["view 2: node 2 deals out 64 rows to 3 workers"]);
}

#[test]
fn too_few_recover_nothing_and_say_so() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..3, now);
    let report = Report::Recovered {
        view: 2,
        members: 1,
        waits_for: Some(2),
        failed: vec![1, 3, 4],
        readmitted: Vec::new(),
        known: Vec::new(),
        rows: 0,
        lost: 0,
        replaced: 0,
        ms: 1,
    };
    model.report(2, report, now);
    assert_eq!(told(&mut model), ["view 2: 1 of the 2 workers needed; nothing can be rebuilt yet"]);
    assert_eq!(model.rows(), 3, "nothing is lost meanwhile");
}

#[test]
fn a_fault_manager_of_an_older_view_is_not_heard_any_more() {
    let (mut model, now) = model();
    model.report(2, recovered(3, Rows::first(5)), now);
    model.report(1, recovered(2, Rows::first(2)), now);
    assert_eq!((model.rows(), model.counts.recovered, model.recoveries.len()), (5, 2, 1));
    view(&mut model, 5, &[2, 3, 4], None, now);
    model.report(3, recovered(4, Rows::first(2)), now);
    assert_eq!((model.rows(), model.counts.recovered), (5, 2), "a later one is in service");
}

#[test]
fn rows_of_a_view_stay_safe_when_its_fault_manager_is_heard_late() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..6, now);
    view(&mut model, 2, &[2, 3, 4], None, now);
    safe(&mut model, 2, 8..9, now);
    model.report(2, recovered(2, Rows::first(4)), now);
    assert_eq!(model.rows(), 5, "four that it knows, and the one since");
    // It has not heard of view 2 yet.
    safe(&mut model, 1, 10..11, now);
    assert_eq!(model.rows(), 5, "and what became safe before it, it would know");
}

fn kill(model: &mut Model, ids: &[u32], now: Instant) {
    for id in ids {
        model.process(*id, Process::Down("killed".to_owned()), now);
    }
}

fn start(model: &mut Model, ids: &[u32], now: Instant) {
    for id in ids {
        model.process(*id, Process::Up(200 + id), now);
    }
}

#[test]
fn no_view_is_a_stall_after_a_while_and_told_once() {
    let (mut model, now) = model();
    kill(&mut model, &[1, 2, 3], now);
    model.report(4, Report::OutOfService, now);
    assert_eq!(told(&mut model), Vec::<String>::new());
    model.weigh(now + STALL_AFTER);
    assert_eq!(told(&mut model), ["stalled: 1 worker left, 3 needed"]);
    assert!(model.is_stalled());
    model.weigh(now + 2 * STALL_AFTER);
    assert_eq!(told(&mut model), Vec::<String>::new(), "it is told once");
}

#[test]
fn too_few_that_know_it_are_a_stall_at_once() {
    let (mut model, now) = model();
    kill(&mut model, &[3, 4], now);
    view(&mut model, 2, &[1, 2], Some(3), now);
    model.weigh(now);
    assert_eq!(
        told(&mut model),
        ["view 2 in service: nodes 1 and 2; fault manager: node 1", "stalled: 2 workers left, 3 needed"]
    );
}

#[test]
fn it_goes_on_when_all_of_a_view_are_at_work() {
    let (mut model, now) = model();
    kill(&mut model, &[3, 4], now);
    view(&mut model, 2, &[1, 2], Some(3), now);
    model.weigh(now);
    start(&mut model, &[4], now);
    model.news();
    let later = now + 3_000 * MS;
    in_service(&mut model, 1, 3, &[1, 2, 4], None, later);
    in_service(&mut model, 2, 3, &[1, 2, 4], None, later);
    assert_eq!(
        told(&mut model),
        ["view 3 in service: nodes 1, 2 and 4; fault manager: node 1"],
        "4 is not in it yet"
    );
    in_service(&mut model, 4, 3, &[1, 2, 4], None, later);
    assert_eq!(told(&mut model), ["it goes on, with 3 workers"]);
    assert!(!model.is_stalled());
}

#[test]
fn it_goes_on_with_the_first_row_however_many_have_told_that_they_work() {
    let (mut model, now) = model();
    kill(&mut model, &[3, 4], now);
    view(&mut model, 2, &[1, 2], Some(3), now);
    model.weigh(now);
    start(&mut model, &[4], now);
    in_service(&mut model, 1, 3, &[1, 2, 4], None, now + MS);
    model.news();
    safe(&mut model, 1, 0..1, now + 2 * MS);
    assert_eq!(told(&mut model), ["it goes on, with 3 workers"], "all that are in the view");
}

/// What is told when no row has become safe for five seconds.
fn after_five_seconds(model: &mut Model, now: Instant) -> Vec<String> {
    model.weigh(now + 4_999 * MS);
    assert_eq!(told(model), Vec::<String>::new());
    model.weigh(now + 5_000 * MS);
    told(model)
}

#[test]
fn if_no_row_becomes_safe_that_is_a_stall_whatever_the_workers_say() {
    let (mut model, now) = model();
    assert_eq!(
        after_five_seconds(&mut model, now),
        ["stalled: 4 workers at work, but no row became safe for 5 s"]
    );
    view(&mut model, 2, &[1, 2, 3, 4], None, now + 6_000 * MS);
    assert_eq!(
        told(&mut model),
        ["view 2 in service: nodes 1, 2, 3 and 4; fault manager: node 1"],
        "which changes nothing"
    );
    safe(&mut model, 1, 0..1, now + 7_000 * MS);
    assert_eq!(told(&mut model), ["it goes on, with 4 workers"]);
}

#[test]
fn too_few_disks_are_the_reason_of_a_stall() {
    let (mut model, now) = model();
    for id in [2, 3, 4] {
        model.report(id, Report::Disk { trouble: Some("full".to_owned()) }, now);
    }
    model.news();
    assert_eq!(
        after_five_seconds(&mut model, now),
        ["stalled: 1 good disk left, 2 needed; nodes 2, 3 and 4 can keep no shards"]
    );
}

#[test]
fn a_recovery_that_fails_is_the_reason_of_a_stall() {
    let (mut model, now) = model();
    for id in 1..=4 {
        model.report(id, Report::OutOfService, now);
    }
    model.report(1, Report::RecoveryFailed { view: 2, why: "node 3 does not answer".to_owned() }, now);
    model.news();
    model.weigh(now + STALL_AFTER);
    assert_eq!(
        told(&mut model),
        ["stalled: node 1 could not recover view 2: node 3 does not answer"],
        "and not that four are left of three that are needed"
    );
}

#[test]
fn slow_workers_have_not_stalled() {
    let job = Job { picture: Picture::new(128, 32).unwrap(), code: Code::new(4, 2).unwrap() };
    let now = Instant::now();
    let mut model = Model::new(job, 0.1, now);
    model.weigh(now + 29_000 * MS);
    assert_eq!(told(&mut model), Vec::<String>::new());
    model.weigh(now + 30_000 * MS);
    assert_eq!(told(&mut model), ["stalled: 0 workers left, 3 needed"]);
}

#[test]
fn a_change_of_views_is_no_stall() {
    let (mut model, now) = model();
    for id in 1..=4 {
        model.report(id, Report::OutOfService, now);
    }
    model.weigh(now + 500 * MS);
    view(&mut model, 2, &[1, 2, 3, 4], None, now + 600 * MS);
    model.weigh(now + 2 * STALL_AFTER);
    assert_eq!(told(&mut model), ["view 2 in service: nodes 1, 2, 3 and 4; fault manager: node 1"]);
}

#[test]
fn the_time_after_a_kill_is_held_against_the_work_left() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..4, now);
    kill(&mut model, &[1, 2], now);
    model.report(3, found(2, vec![Rows::first(32); 2]), now + 3_300 * MS);
    assert!(model.is_done());
    let after = model.after_kill().unwrap();
    assert_eq!((after.rows_done, after.rows_left, after.workers_left), (4, 60, 2));
    assert_eq!((after.ms, after.ideal_ms, after.ratio), (3_300, 3_000, 1.1));
}

#[test]
fn nobody_could_have_worked_while_too_few_were_left() {
    let (mut model, now) = model();
    safe(&mut model, 1, 0..4, now);
    kill(&mut model, &[1, 2], now);
    // They know it after a second, in which they could have worked; one returns after thirty more.
    for id in [3, 4] {
        model.report(id, Report::OutOfService, now + 1_000 * MS);
    }
    start(&mut model, &[1], now + 31_000 * MS);
    view(&mut model, 2, &[1, 3, 4], None, now + 31_500 * MS);
    model.report(1, found(2, vec![Rows::first(32); 2]), now + 32_000 * MS);
    let after = model.after_kill().unwrap();
    assert_eq!((after.ms, after.stalled_ms, after.workers_left), (32_000, 30_000, 2));
    // 2 * 1 s and 3 * 1 s, at ten rows a second, for sixty rows.
    assert_eq!((after.ratio, model.stalled()), (0.833, 30_000 * MS));
}

#[test]
fn a_disk_that_fails_is_told_of_once() {
    let (mut model, now) = model();
    for trouble in [Some("full".to_owned()), None, Some("full".to_owned())] {
        model.report(3, Report::Disk { trouble }, now);
    }
    assert_eq!(told(&mut model), ["node 3: its disk takes no shards (full); the others go on without them"]);
}

#[test]
fn a_worker_is_dead_when_it_has_been_alive() {
    let (mut model, now) = model();
    model.report(3, Report::Dead, now);
    model.report(3, Report::Dead, now);
    assert_eq!(told(&mut model), ["node 3 notices that it is dead, and stops"]);
    model.process(3, Process::Down("killed".to_owned()), now);
    model.process(3, Process::Up(300), now);
    model.news();
    model.report(3, Report::Up { held: 9 }, now);
    model.report(3, Report::OutOfService, now);
    model.report(3, Report::Dead, now);
    assert_eq!(told(&mut model), ["node 3 is up again, with 9 shards on its disk"]);
}
