//! News in, a story out.

use bellwether::GrantKind;
use bellwether_proto::election::Protocol;

use super::super::board;
use super::*;
use crate::fleet::files::NodePlan;
use crate::schema::Exclusive;
use crate::terminal::notes::NOTES_MAX;

fn model(nodes: u32) -> (Model, Instant) {
    model_of(Protocol::Fjr, nodes)
}

fn model_of(protocol: Protocol, nodes: u32) -> (Model, Instant) {
    model_with(protocol, Mode::OfAlgorithm(protocol.spec().mode), nodes)
}

fn model_with(protocol: Protocol, mode: Mode, nodes: u32) -> (Model, Instant) {
    let address = |id: u32, base| SocketAddr::from(([127, 0, 0, 1], base + u16::try_from(id).unwrap()));
    let node = |id| NodePlan {
        id,
        peer: address(id, 50_000),
        api: address(id, 60_000),
        socket: None,
        config: "agent.toml".into(),
        log: "log".into(),
    };
    let plan = Plan {
        cluster: "up",
        protocol,
        mode,
        dir: "dir".into(),
        token: "token".into(),
        nodes: (1..=nodes).map(node).collect(),
    };
    let now = Instant::now();
    let mut model = Model::new(&plan, now);
    for id in 1..=nodes {
        model.process(id, Process::Up(1_000 + id), now);
    }
    (model, now)
}

fn change(leader: Option<u32>, epoch: u64, kind: &str, node: Option<u32>) -> Change {
    let cause = cause::Cause::by_name(kind, node.map(NodeId), leader.map(NodeId)).expect("a cause");
    let cause = Cause::new(cause, leader.map(NodeId));
    Change { no: 1, at: String::new(), at_us: 0, incarnation: None, leader, epoch, token: None, cause }
}

fn told(model: &Model) -> Vec<&str> {
    model.notes.latest().map(|note| note.text.as_str()).collect()
}

const MS: Duration = Duration::from_millis(1);

#[test]
fn a_leader_counts_when_all_that_run_name_it() {
    let (mut model, start) = model(3);
    for id in [2, 3] {
        model.change(id, &change(Some(1), 1, "started", None), start + 100 * MS);
    }
    assert_eq!(model.leader(), None, "the leader itself has not said so");
    model.change(1, &change(Some(1), 1, "started", None), start + 120 * MS);
    assert_eq!(told(&model), ["node 1 leads, epoch 1; 120 ms after the start"]);
}

#[test]
fn too_few_for_a_majority_are_told_once() {
    for (protocol, expected) in
        [(Protocol::FbOmega, &["nobody can lead: 2 of 5 run, and 3 are needed"][..]), (Protocol::Fjr, &[])]
    {
        let (mut model, start) = model_of(protocol, 5);
        for id in 1..=4 {
            model.process(id, Process::Down("killed".to_owned()), start + id * MS);
        }
        assert_eq!(told(&model), expected);
        for id in 1..=3 {
            model.process(id, Process::Up(2_000 + id), start + 100 * MS);
        }
        model.process(5, Process::Stopped(1_005), start + 200 * MS);
        model.process(3, Process::Stopped(2_003), start + 300 * MS);
        assert_eq!(told(&model).len(), 2 * expected.len(), "and again when it is so again");
    }
}

#[test]
fn the_time_without_a_leader_begins_with_its_end() {
    let (mut model, start) = model(3);
    for id in 1..=3 {
        model.change(id, &change(Some(1), 1, "started", None), start);
    }
    model.process(1, Process::Down("killed".to_owned()), start + 1_000 * MS);
    assert_eq!(model.leader(), None);
    for id in [2, 3] {
        model.change(id, &change(Some(2), 2, "gone", Some(1)), start + 1_030 * MS);
    }
    assert_eq!(told(&model)[1..], ["node 2 leads, epoch 2; 30 ms without a leader (node 1 is gone)"]);
    model.process(1, Process::Up(2_000), start + 2_000 * MS);
    model.change(1, &change(None, 0, "started", None), start + 2_010 * MS);
    model.change(1, &change(Some(2), 2, "started", None), start + 2_020 * MS);
    assert_eq!(told(&model)[2..], ["all follow node 2 again, epoch 2"]);
}

#[test]
fn a_stopped_node_is_not_waited_for() {
    let (mut model, start) = model(2);
    for id in 1..=2 {
        model.change(id, &change(Some(1), 1, "started", None), start);
    }
    model.process(1, Process::Stopped(1_001), start + 10 * MS);
    model.change(2, &change(Some(2), 2, "silent", Some(1)), start + 260 * MS);
    assert_eq!(told(&model)[1..], ["node 2 leads, epoch 2; 250 ms without a leader (node 1 was silent)"]);
}

/// `fb-omega`: the leader is stopped, goes on, and is admitted by the next. To it the other was silent.
#[test]
fn who_slept_is_not_asked_why() {
    let (mut model, start) = model(3);
    for id in 1..=3 {
        model.change(id, &change(Some(1), 1, "started", None), start);
    }
    model.process(1, Process::Stopped(1_001), start + 10 * MS);
    for id in [2, 3] {
        model.change(id, &change(Some(2), 2, "silent", Some(1)), start + 500 * MS);
    }
    model.process(1, Process::Up(1_001), start + 3_000 * MS);
    model.change(1, &change(None, 1, "silent", Some(2)), start + 3_010 * MS);
    for id in [2, 3] {
        model.change(id, &change(Some(2), 3, "merged", None), start + 3_080 * MS);
    }
    model.change(1, &change(Some(2), 3, "silent", Some(2)), start + 3_090 * MS);
    assert_eq!(told(&model)[2..], ["node 2 leads, epoch 3; 90 ms without a leader (groups met)"]);
}

/// `async-bully`: the strongest is stopped, goes on, and leads again. Its own word counts only later.
#[test]
fn a_leader_that_slept_is_not_asked_why_until_it_is_awake() {
    let (mut model, start) = model(3);
    for id in 1..=3 {
        model.change(id, &change(Some(1), 1, "started", None), start);
    }
    model.process(1, Process::Stopped(1_001), start);
    for id in [2, 3] {
        model.change(id, &change(Some(2), 2, "silent", Some(1)), start + 200 * MS);
    }
    model.process(1, Process::Up(1_001), start + 1_000 * MS);
    for id in 1..=3 {
        let (kind, node) = if id == 1 { ("silent", 1) } else { ("outranked", 2) };
        model.change(id, &change(Some(1), 3, kind, Some(node)), start + 1_000 * MS);
    }
    assert!(told(&model)[2].ends_with(" without a leader (preferred to node 2)"), "{:?}", told(&model));
    for id in 1..=3 {
        model.change(id, &change(Some(1), 4, "merged", None), start + 9_000 * MS);
    }
    assert!(told(&model)[3].ends_with(" without a leader (groups met)"), "{:?}", told(&model));
}

/// A node that was stopped and missed nothing is not behind; but to it all others were silent.
#[test]
fn a_follower_that_slept_through_nothing_is_not_asked_why() {
    let (mut model, start) = model(3);
    for id in 1..=3 {
        model.change(id, &change(Some(3), 1, "started", None), start);
    }
    model.process(1, Process::Stopped(1_001), start);
    model.process(1, Process::Up(1_001), start + 2_000 * MS);
    for id in [1, 2, 3] {
        let (kind, node) = if id == 1 { ("silent", 3) } else { ("outranked", 3) };
        model.change(id, &change(Some(3), 2, kind, Some(node)), start + 2_010 * MS);
    }
    assert_eq!(told(&model)[1..], ["node 3 leads, epoch 2; 0 ms without a leader (elected again)"]);
}

/// Where nobody saw the one before go, nothing is made up.
#[test]
fn who_came_later_knows_no_cause() {
    let (mut model, start) = model(2);
    for id in 1..=2 {
        model.change(id, &change(Some(1), 1, "started", None), start);
    }
    model.process(1, Process::Stopped(1_001), start);
    model.process(1, Process::Up(1_001), start + 1_000 * MS);
    model.change(1, &change(Some(1), 2, "silent", Some(2)), start + 1_000 * MS);
    model.change(2, &change(Some(1), 2, "started", None), start + 1_000 * MS);
    assert!(told(&model)[2].ends_with(" without a leader"), "{:?}", told(&model));
}

#[test]
fn the_board_fits_every_terminal() {
    let (mut model, start) = model(9);
    for id in 1..=9 {
        model.change(id, &change(Some(9), 123_456, "handed-over", Some(8)), start);
    }
    model.process(3, Process::Down("signal 31".to_owned()), start);
    model.process(4, Process::Stopped(4_194_304), start);
    let lines = board::lines(&model, Some(3), start + 3_000_000 * MS);
    assert!(lines.iter().all(|line| line.text.chars().count() <= 80 && line.text == line.text.trim_end()));
    assert!(lines.iter().any(|line| line.text.starts_with(">3") && line.text.contains("signal 31")));
    assert!(lines.iter().any(|line| line.text.contains("★ leader") && line.text.contains("127.0.0.1:60009")));
    assert_eq!(board::list(&model, start).lines().count(), 10);
}

#[test]
fn only_the_latest_news_is_kept() {
    let (mut model, start) = model(1);
    (0..100).for_each(|n| model.note(&n.to_string(), start));
    assert_eq!((model.notes.latest().count(), model.notes.count()), (NOTES_MAX, 100));
}

#[test]
fn exclusive_leadership_is_shown_with_token_validity_and_voters() {
    let (mut model, start) = model_with(Protocol::Fjr, Mode::Exclusive(GrantKind::Lease), 4);
    for id in 1..=4 {
        model.change(id, &change(Some(2), 7, "started", None), start + 100 * MS);
    }
    assert_eq!(told(&model), ["node 2 leads, token 7; 100 ms after the start"]);
    let voters = Exclusive {
        kind: "lease".to_owned(),
        reachable: 3,
        needed: 2,
        vote: "counts".to_owned(),
        configuration: None,
    };
    model.right(2, Right { token: Some(7), valid_ms: Some(812), exclusive: Some(voters) });
    let rows = board::list(&model, start + 200 * MS);
    let row = rows.lines().nth(2).expect("a row for node 2");
    assert!(rows.lines().next().is_some_and(|titles| titles.contains("token  valid    reach")), "{rows}");
    assert!(row.contains("★ leader        7  812 ms   3/2"), "{rows}");
    assert!(rows.lines().all(|line| line.chars().count() <= 80), "{rows}");
    for id in [1, 3] {
        model.process(id, Process::Down("killed".to_owned()), start + 300 * MS);
    }
    assert_eq!(told(&model)[1..], ["nobody can lead: 1 of 3 run, and 2 are needed"], "node 4 does not vote");
}
