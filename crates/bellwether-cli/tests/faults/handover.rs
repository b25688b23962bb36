//! Leaders that go on purpose: nobody has to find out.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::judged::{assert_kept, recorded};
use crate::cluster::{Cluster, Shape, TOKEN};

/// The last change of leader that a node saw.
fn last_change(cluster: &Cluster, id: u32) -> Value {
    let history = cluster.get(id, "/v1/history").json();
    history["changes"].as_array().and_then(|changes| changes.last().cloned()).expect("a change")
}

#[test]
fn who_resigns_stands_aside_for_its_time_and_then_follows() {
    let hold = Duration::from_secs(2);
    let mut cluster = Cluster::prepare(&Shape { more: "resign_hold = \"2s\"", ..Shape::of(3) });
    cluster.start_all();
    let (first, epoch) = cluster.wait_for_agreement();
    let resigned_at = Instant::now();
    let (code, out, err) = cluster.ask(first, &["resign", "--token", TOKEN]);
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    let stands = |standing: &'static str| {
        cluster.wait_for(standing, |views| {
            views[&first].as_ref().is_some_and(|view| view["standing"] == standing)
        })
    };
    stands("aside");
    let (second, higher) = cluster.wait_for_agreement();
    assert!(second != first && higher > epoch, "{epoch}, {higher}");
    assert_eq!(out, format!("node {second} leads, epoch {higher}\n"));
    let change = last_change(&cluster, second);
    assert_eq!((&change["cause"]["kind"], &change["cause"]["node"]), (&"resigned".into(), &first.into()));
    stands("following");
    assert!(resigned_at.elapsed() >= hold);
    assert_eq!(cluster.wait_for_agreement(), (second, higher));
}

#[test]
fn leadership_is_transferred_to_whom_one_likes() {
    let (cluster, _) = recorded(3);
    let (first, mut epoch) = cluster.wait_for_agreement();
    let mut leader = first;
    for to in cluster.ids().into_iter().filter(|to| *to != first) {
        let (code, out, err) = cluster.ask(leader, &["transfer", "--to", &to.to_string(), "--token", TOKEN]);
        assert_eq!((code, err.as_str()), (0, ""), "{out}");
        let (next, higher) = cluster.wait_for_agreement();
        assert_eq!((next, out), (to, format!("node {to} leads, epoch {higher}\n")));
        assert!(higher > epoch, "{epoch}, {higher}");
        let change = last_change(&cluster, to);
        let (kind, from) = (&change["cause"]["kind"], &change["cause"]["node"]);
        assert_eq!((kind, from, &change["cause"]["to"]), (&"handed-over".into(), &leader.into(), &to.into()));
        (leader, epoch) = (next, higher);
    }
    let judgement = assert_kept(&cluster, &["ANSWERED"]).check();
    // A message that was late on a busy machine excuses it.
    assert_ne!(judgement.finds_that("TAKEN-OVER"), Some(false), "{:#}", judgement.said);
}

#[test]
fn who_is_told_to_end_resigns_first() {
    let mut cluster = Cluster::start(3);
    let (first, epoch) = cluster.wait_for_agreement();
    let (code, log) = cluster.end(first);
    assert_eq!(code, Some(0), "{log}");
    let (second, higher) = cluster.wait_for_agreement();
    assert!(second != first && higher > epoch, "{epoch}, {higher}");
    let change = last_change(&cluster, second);
    assert_eq!(change["leader"], second);
    assert_eq!((&change["cause"]["kind"], &change["cause"]["node"]), (&"resigned".into(), &first.into()));
}

#[test]
fn where_the_ids_say_who_leads_nobody_hands_over() {
    let mut cluster = Cluster::prepare(&Shape { protocol: "lfa", ..Shape::of(2) });
    cluster.start_all();
    let agreed = cluster.wait_for_agreement();
    let (code, out, err) = cluster.ask(agreed.0, &["transfer", "--to", "2", "--token", TOKEN]);
    assert_eq!((code, out.as_str()), (3, ""));
    assert!(err.contains("lfa has fixed priorities") && err.contains("resign instead"), "{err}");
    assert_eq!(cluster.wait_for_agreement(), agreed);
}
