//! Views of `fb-omega`: whoever is in one agrees with all others in it on its members and its leader, and whoever is in none
//! has no leader.

use serde_json::json;

use super::judged::{assert_kept, recorded_as};
use crate::cluster::records::VIEWS_KEPT;
use crate::cluster::records::add_line;
use crate::cluster::{Cluster, DEADLINE, Records, Shape, TOKEN, wait_until};

fn five() -> Cluster {
    recorded_as(&Shape { protocol: "fb-omega", ..Shape::of(5) }).0
}

#[test]
fn the_leader_is_killed_and_admitted_again() {
    let mut cluster = five();
    let first = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert_eq!(first.leader, 1);
    cluster.kill(1);
    let second = cluster.wait_for_view(&[2, 3, 4, 5]);
    assert_eq!(second.leader, 2);
    assert!(second.epoch > first.epoch && second.number != first.number, "{first:?}, {second:?}");
    assert_eq!(last_cause(&cluster, 4), ("gone".to_owned(), Some(1)));
    cluster.start_node(1);
    let third = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert_eq!(third.leader, 2, "who admits goes on to lead");
    assert!(third.epoch > second.epoch && third.number != second.number, "{second:?}, {third:?}");
    assert_eq!(last_cause(&cluster, 4), ("merged".to_owned(), None));
    let records = assert_kept(&cluster, &VIEWS_KEPT);
    assert!(saw(&records, 1, "dead"), "it came back dead, and was admitted");
    for id in cluster.ids() {
        let (code, shown, _) = cluster.ask(id, &["history"]);
        assert_eq!(code, 0);
        assert!([&second, &third].iter().all(|view| shown.contains(&view.number)), "{shown}");
        let (code, shown, _) = cluster.ask(id, &["members"]);
        assert_eq!((code, shown.lines().count()), (0, 6), "{shown}");
    }
}

#[test]
fn a_stopped_follower_is_excluded_and_finds_itself_dead() {
    let mut cluster = five();
    let first = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    cluster.stop(4);
    let second = cluster.wait_for_view(&[1, 2, 3, 5]);
    assert_eq!((first.leader, second.leader), (1, 1));
    assert_eq!(last_cause(&cluster, 2), ("silent".to_owned(), Some(4)));
    cluster.cont(4);
    let third = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert_eq!(third.leader, 1);
    let records = assert_kept(&cluster, &VIEWS_KEPT);
    assert!(saw(&records, 4, "dead") && !saw(&records, 3, "dead"));
}

#[test]
fn a_stopped_leader_is_replaced_and_follows_when_it_goes_on() {
    let mut cluster = five();
    cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    cluster.stop(1);
    let second = cluster.wait_for_view(&[2, 3, 4, 5]);
    assert_eq!((second.leader, last_cause(&cluster, 3)), (2, ("silent".to_owned(), Some(1))));
    cluster.cont(1);
    let third = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert_eq!(third.leader, 2);
    assert_kept(&cluster, &VIEWS_KEPT);
}

/// Two of five are no majority, three are. Who admits others leads them, even lighter ones; the next view is the lightest one's.
#[test]
fn without_a_majority_nobody_leads() {
    let mut cluster = five();
    let first = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    cluster.kill_together(&[1, 3, 5]);
    cluster.wait_for_nobody_to_lead(&[2, 4]);
    cluster.wait_for("both know whom they reach", |views| {
        [2, 4].iter().all(|id| views[id].as_ref().is_some_and(|view| view["reach"]["members"] == 2))
    });
    let (code, shown, _) = cluster.ask(4, &["status"]);
    assert_eq!(code, 0);
    assert!(shown.contains("\nleader       nobody: 2 of 5 reachable; 3 are needed\n"), "{shown}");
    cluster.start_node(5);
    let second = cluster.wait_for_view(&[2, 4, 5]);
    assert_eq!(second.leader, 2);
    assert!(second.epoch > first.epoch, "{first:?}, {second:?}");
    cluster.start_node(1);
    assert_eq!(cluster.wait_for_view(&[1, 2, 4, 5]).leader, 2);
    cluster.kill(5);
    let third = cluster.wait_for_view(&[1, 2, 4]);
    assert_eq!((third.leader, last_cause(&cluster, 4)), (1, ("gone".to_owned(), Some(5))));
    cluster.start_node(3);
    assert_eq!(cluster.wait_for_view(&[1, 2, 3, 4]).leader, 1);
    assert_kept(&cluster, &VIEWS_KEPT);
}

#[test]
fn all_are_killed_and_the_lightest_forms_a_view() {
    let mut cluster = five();
    let first = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    wait_until_installed(&cluster, first.leader); // A view is shown before it is on disk and installed.
    cluster.kill_together(&[1, 2, 3, 4, 5]);
    for id in [2, 3, 4] {
        cluster.start_node(id);
    }
    let second = cluster.wait_for_view(&[2, 3, 4]);
    assert_eq!(second.leader, 2);
    assert!(second.epoch > first.epoch, "{first:?}, {second:?}");
    cluster.start_node(5);
    assert_eq!(cluster.wait_for_view(&[2, 3, 4, 5]).leader, 2);
    assert_kept(&cluster, &VIEWS_KEPT);
}

#[test]
fn who_resigns_is_left_out_and_admitted_again_and_nobody_hands_over() {
    let cluster = five();
    let first = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    let (code, out, err) = cluster.ask(1, &["transfer", "--to", "3", "--token", TOKEN]);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(err.contains("fb-omega has fixed priorities") && err.contains("resign instead"), "{err}");
    let (code, out, err) = cluster.ask(1, &["resign", "--hold", "2s", "--token", TOKEN]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    cluster.wait_for("it stands aside", |views| {
        views[&1].as_ref().is_some_and(|view| view["standing"] == "aside")
    });
    let (leader, epoch) = cluster.wait_for_agreement();
    assert!(leader == 2 && epoch > first.epoch, "{first:?}, then node {leader} with {epoch}");
    assert_eq!(out, format!("node 2 leads, epoch {epoch}\n"));
    assert_eq!(last_cause(&cluster, 3), ("resigned".to_owned(), Some(1)));
    let last = cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    assert!(last.leader == 2 && last.epoch > epoch, "{last:?}");
    let records = assert_kept(&cluster, &VIEWS_KEPT);
    assert!(
        saw(&records, 1, "down") && saw(&records, 1, "dead"),
        "it was not there, and then was to be admitted"
    );
}

/// What is in the traces is what the judge looks at.
#[test]
fn two_views_with_one_number_are_found_out() {
    let cluster = five();
    cluster.wait_for_view(&[1, 2, 3, 4, 5]);
    let records = assert_kept(&cluster, &VIEWS_KEPT);
    let view = records.events(3, "state").pop().expect("it is in a view");
    let (at, incarnation, group) = (&view["t_us"], &view["inc"], &view["post"]["group"]);
    let other = json!({"status": "normal", "leader": 3, "group": group});
    let lie = json!({"v": 1, "t_us": at.as_u64().unwrap() + 1, "node": 3, "inc": incarnation, "ev": "state", "post": other});
    add_line(&records.trace(3), &lie.to_string());
    let judgement = records.check();
    assert_eq!(
        (judgement.code, judgement.finds_that("ONE-LEADER-PER-VIEW")),
        (1, Some(false)),
        "{:#}",
        judgement.said
    );
}

/// Why a node has the leader that it has: the kind of the cause, and whom it is about.
#[track_caller]
fn last_cause(cluster: &Cluster, id: u32) -> (String, Option<u32>) {
    let history = cluster.get(id, "/v1/history").json();
    let change = history["changes"].as_array().and_then(|changes| changes.last()).expect("a change");
    let node = change["cause"]["node"].as_u64().map(|node| u32::try_from(node).expect("an id"));
    (change["cause"]["kind"].as_str().expect("a kind").to_owned(), node)
}

/// Whether a node recorded that it was in that state.
fn saw(records: &Records, node: u32, status: &str) -> bool {
    records.events(node, "state").iter().any(|event| event["post"]["status"] == status)
}

/// Waits until every node has installed all views that it has shown.
fn wait_until_installed(cluster: &Cluster, leader: u32) {
    let installed = wait_until(DEADLINE, || {
        let records = cluster.records(leader);
        cluster.ids().into_iter().all(|id| {
            let shown = records.events(id, "state").into_iter().map(|event| event["post"]["group"].clone());
            let mut shown: Vec<_> = shown.filter_map(|group| group.as_str().map(str::to_owned)).collect();
            shown.sort_unstable();
            shown.dedup();
            records.events(id, "members").len() >= shown.len()
        })
    });
    assert!(installed, "a view is shown and never installed");
}
