use super::{BY_STORE, LEASE, PROMISED, hand_over, started, wait_for_one};
use crate::faults::judged::assert_kept;

#[test]
fn one_leads_with_a_token_and_says_for_how_long() {
    for (tables, by_clock) in [(LEASE, true), (BY_STORE, false)] {
        let cluster = started(3, tables);
        let (leader, token) = cluster.wait_for_agreement();
        for id in cluster.ids() {
            let status = cluster.get(id, "/v1/status").json();
            assert_eq!(
                (&status["mode"], &status["token"]),
                (&"exclusive".into(), &token.into()),
                "{status:#}"
            );
            assert_eq!(status["valid_ms"].is_u64(), by_clock && id == leader, "{status:#}");
            assert_eq!(
                (&status["exclusive"]["needed"], &status["exclusive"]["vote"]),
                (&2.into(), &"counts".into())
            );
            let answer = cluster.get(id, "/leader");
            assert_eq!(
                (answer.status, &answer.json()["token"]),
                (if id == leader { 200 } else { 503 }, &token.into())
            );
        }
        let (code, said, _) = cluster.ask(leader, &["status"]);
        assert!(code == 0 && said.contains(&format!("token        {token}\n")), "{said}");
        assert!(
            said.contains(if by_clock { "valid        for " } else { "valid        as long as the store" }),
            "{said}"
        );
        let metrics = cluster.get(leader, "/metrics").body;
        assert!(metrics.contains(&format!("\nbellwether_token {token}\n")), "{metrics}");
        let (_, said, _) = cluster.ask(leader, &["watch", "--after", "0", "--count", "1"]);
        assert!(said.contains(&format!("token {token}")), "{said}");
    }
}

/// Whoever is next has a larger token. Of kind `lease` it begins when the one before can have acted no more.
#[test]
fn a_holder_that_is_killed_is_replaced() {
    for tables in [LEASE, BY_STORE] {
        let mut cluster = started(3, tables);
        let (mut leader, mut token) = cluster.wait_for_agreement();
        for _ in 0..3 {
            cluster.kill(leader);
            let (next, larger) = cluster.wait_for_agreement();
            assert!(next != leader && larger > token, "{larger} after {token}");
            cluster.start_node(leader);
            let agreed = cluster.wait_for_agreement();
            assert_eq!(agreed, (next, larger), "who comes back changes nothing");
            (leader, token) = agreed;
        }
        assert_kept(&cluster, judged(tables));
    }
}

#[test]
fn tokens_grow_when_all_are_killed_and_started_again() {
    for tables in [LEASE, BY_STORE] {
        let mut cluster = started(3, tables);
        let (_, mut token) = cluster.wait_for_agreement();
        for _ in 0..3 {
            cluster.kill_together(&cluster.ids());
            cluster.start_all();
            let (_, larger) = cluster.wait_for_agreement();
            assert!(larger > token, "{larger} after {token}");
            token = larger;
        }
        assert_kept(&cluster, judged(tables));
    }
}

#[test]
fn a_holder_gives_leadership_back_or_hands_it_over() {
    let cluster = started(3, LEASE);
    let (leader, token) = hand_over(&cluster, None);
    let answer = cluster.post(leader, "/v1/resign", "{\"hold\":\"until-told\"}");
    assert_eq!(answer.status, 200, "{}", answer.body);
    wait_for_one(&cluster, leader, "it is aside", |view| {
        view["standing"] == "aside" && view["leader"] != leader
    });
    let views = cluster.wait_for("the others have a leader", |views| {
        views.values().flatten().all(|view| view["leader"].is_u64() && view["leader"] != leader)
    });
    let next = views[&leader].as_ref().expect("it answers").clone();
    assert!(next["token"].as_u64() > Some(token), "{next:#}");
    assert_kept(&cluster, &PROMISED);
}

/// Of kind `token` the store decides who may act: there is nothing to hold to a clock.
fn judged(tables: &str) -> &'static [&'static str] {
    if tables == LEASE { &PROMISED } else { &PROMISED[..2] }
}
