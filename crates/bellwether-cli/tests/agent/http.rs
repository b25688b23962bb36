//! The HTTP interface, as its clients meet it.

use crate::cluster::{Cluster, DEADLINE, Shape, TOKEN, http, wait_until};

#[test]
fn questions_are_answered_by_everyone() {
    let cluster = Cluster::start(2);
    let leader = cluster.wait_for_leader();
    let follower = 3 - leader;
    for id in [leader, follower] {
        let status = cluster.get(id, "/v1/status").json();
        assert_eq!((status["node"].as_u64(), status["cluster"].as_str()), (Some(id.into()), Some("test")));
        assert_eq!(status["leader"], leader);
        assert!(
            status["guarantee"]
                .as_str()
                .unwrap()
                .starts_with("Every set of members that can reach each other"),
            "{status}"
        );
        let named = cluster.get(id, "/v1/leader").json();
        assert_eq!((&named["leader"], &named["epoch"]), (&status["leader"], &status["epoch"]));
        assert!(named["since"].as_str().unwrap().ends_with('Z') && named["since_us"].is_u64(), "{named}");
        assert_eq!(cluster.get(id, "/livez").status, 200);
        assert_eq!(cluster.get(id, "/readyz").status, 200);
        assert!(!cluster.get(id, "/v1/history").json()["changes"].as_array().unwrap().is_empty());
    }
    assert_eq!((cluster.get(leader, "/leader").status, cluster.get(follower, "/leader").status), (200, 503));
    assert_eq!(cluster.get(follower, "/leader").json()["leader"], leader);
}

#[test]
fn a_browser_is_shown_a_page_that_fetches_nothing_from_elsewhere() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let page = cluster.get(1, "/");
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    assert!(
        page.head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
        "{}",
        page.head
    );
    for file in ["/page/common.css", "/page/common.js", "/page/cluster.css", "/page/cluster/main.js"] {
        assert!(page.body.contains(file) || file.ends_with("common.js"), "{file}");
        assert_eq!(cluster.get(1, file).status, 200, "{file}");
    }
    assert_eq!(cluster.get(1, "/page/lab/main.js").status, 404);
    assert_eq!(cluster.post(1, "/", "").status, 405);
}

#[test]
fn members_are_listed_with_their_links() {
    let cluster = Cluster::start(2);
    let leader = cluster.wait_for_leader();
    let members = || cluster.get(1, "/v1/members").json()["members"].as_array().unwrap().clone();
    let connected = wait_until(DEADLINE, || {
        members().iter().any(|member| member["id"] == 2 && member["link"] == "connected")
    });
    assert!(connected, "{:?}", members());
    let members = members();
    assert_eq!(members.len(), 2);
    for member in members {
        assert_eq!(member["is_self"], member["id"] == 1);
        assert_eq!(member["is_leader"], member["id"] == leader);
        for field in ["address", "link", "remote", "reason", "incarnation", "heard_us"] {
            assert!(member.get(field).is_some(), "{field} is null, never absent: {member}");
        }
    }
}

#[test]
fn what_is_counted_can_be_scraped() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let answer = cluster.get(1, "/metrics");
    assert!(answer.head.contains("content-type: application/openmetrics-text"), "{}", answer.head);
    let text = answer.body;
    for line in [
        "bellwether_is_leader 1",
        "bellwether_has_leader 1",
        "bellwether_led_total 1",
        "bellwether_peers_connected 0",
        "bellwether_build_info{version=\"0.1.0\"} 1",
        "leader_election_master_status{name=\"test\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    for name in [
        "epoch ",
        "incarnation ",
        "leader_changes_total ",
        "frames_sent_total{layer=\"election\"} ",
        "frames_sent_total{layer=\"detector\"} ",
        "sent_bytes_total ",
        "frames_received_total ",
        "frames_dropped_total ",
        "refused_frames_total ",
        "refused_connections_total ",
        "log_lines_left_out_total ",
        "requests_refused_total{why=\"token\"} ",
        "requests_refused_total{why=\"host\"} ",
        "duplicate_ids_total ",
        "peers_gone_total ",
        "state_writes_total ",
        "state_write_seconds_total ",
        "state_write_slowest_seconds ",
    ] {
        assert!(text.contains(&format!("\nbellwether_{name}")), "{name}: {text}");
    }
    assert!(text.ends_with("# EOF\n"));
}

#[test]
fn a_change_without_the_token_changes_nothing() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let history = cluster.get(1, "/v1/history").body;
    for (path, body) in [("/v1/resign", ""), ("/v1/transfer", "{\"to\":1}"), ("/v1/transfer", "no JSON")] {
        for token in [None, Some(""), Some("wrong"), Some(&TOKEN[1..]), Some(&format!("{TOKEN}!")[..])] {
            let answer = http::post(&cluster.api(1), path, token, body);
            assert_eq!(answer.status, 401, "{token:?}: {}", answer.body);
            assert!(answer.head.contains("www-authenticate: bearer"), "{}", answer.head);
            assert!(answer.error().contains("token"), "{}", answer.body);
        }
    }
    assert_eq!(cluster.get(1, "/v1/history").body, history);
    // Whoever runs it sees that somebody tries.
    let metrics = cluster.get(1, "/metrics").body;
    assert!(metrics.contains("\nbellwether_requests_refused_total{why=\"token\"} 15\n"), "{metrics}");
    assert!(wait_until(DEADLINE, || cluster.log(1).contains("why=\"token\"")), "{}", cluster.log(1));
    let log = cluster.log(1);
    let lines = log.lines().filter(|line| line.contains("why=\"token\"")).collect::<Vec<_>>();
    assert!(lines.len() < 15 && lines[0].contains("127.0.0.1:"), "{log}");
    assert!(!log.contains(&TOKEN[1..]), "{log}");
}

#[test]
fn without_a_token_in_the_configuration_nothing_can_be_changed() {
    let mut cluster = Cluster::prepare(&Shape { token: None, ..Shape::of(1) });
    cluster.start_all();
    cluster.wait_for_leader();
    let answer = cluster.post(1, "/v1/resign", "");
    assert_eq!(answer.status, 403);
    assert!(answer.error().contains("`api.token`"), "{}", answer.body);
}

#[test]
fn what_cannot_be_understood_is_explained() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    for (path, body, status, words) in [
        ("/v1/transfer", "", 400, "the body: "),
        ("/v1/transfer", "{\"to\":", 400, "the body: EOF"),
        ("/v1/transfer", "{\"to\":\"3\"}", 400, "expected u32"),
        ("/v1/transfer", "{\"to\":1,\"from\":2}", 400, "unknown field `from`"),
        ("/v1/resign", "[]", 400, "the body: "),
        ("/v1/resign", "{\"hold\":\"soon\"}", 400, "hold: found \"soon\", expected a time with a unit"),
        ("/v1/resign", "{\"hold\":\"1s\",\"end\":true}", 400, "expected one of them"),
        ("/v1/resign", &" ".repeat(5000), 413, "at most 4096 bytes"),
        ("/v1/nothing", "", 404, "/v1/nothing"),
        ("/v1/status", "", 405, "does not take POST"),
    ] {
        let answer = cluster.post(1, path, body);
        assert_eq!(answer.status, status, "{path} {body}: {}", answer.body);
        assert!(answer.error().contains(words), "{path} {body}: {}", answer.body);
    }
    let answer = cluster.get(1, "/v1/resign");
    assert_eq!((answer.status, answer.error().contains("does not take GET")), (405, true));
    assert_eq!(cluster.get(1, "/v1/watch?after=x").status, 400);
    assert_eq!(cluster.wait_for_leader(), 1);
}

#[test]
fn what_is_no_http_at_all_does_no_harm() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    for bytes in ["\0\0\0\0\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", &"x".repeat(1 << 20)] {
        let answer = http::request(&cluster.api(1), bytes);
        assert!(answer.is_none_or(|answer| answer.status >= 400));
    }
    assert_eq!(cluster.get(1, "/livez").status, 200);
}

#[test]
fn who_speaks_http_2_is_told_what_is_expected() {
    let cluster = Cluster::start(1);
    cluster.wait_for_leader();
    let settings = "\0\0\0\u{4}\0\0\0\0\0";
    let answer = http::request(&cluster.api(1), &format!("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n{settings}"));
    let answer = answer.expect("an answer");
    assert_eq!((answer.status, answer.error().contains("expected HTTP/1.1")), (505, true), "{}", answer.body);
}

#[test]
fn the_leader_resigns_and_stands_again() {
    let cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    let other = if first == 1 { 2 } else { 1 };
    let answer = cluster.post(other, "/v1/resign", "");
    assert_eq!(answer.status, 409);
    assert_eq!(answer.error(), format!("node {other} does not lead; node {first} does"));
    let answer = cluster.post(first, "/v1/resign", "{\"hold\":\"until-told\"}");
    assert_eq!(answer.status, 200, "{}", answer.body);
    let second = cluster.wait_for_leader();
    assert_ne!(first, second);
    let views = cluster.wait_for("the old leader stands aside", |views| {
        views[&first].as_ref().is_some_and(|view| view["standing"] == "aside")
    });
    assert_eq!(views[&first].as_ref().unwrap()["leader"], second);
    assert_eq!(cluster.get(first, "/readyz").status, 200);
    assert_eq!(cluster.post(first, "/v1/resign", "{\"end\":true}").status, 200);
    // It is aside until its next incarnation is on disk.
    cluster.wait_for("it follows", |views| {
        views[&first].as_ref().is_some_and(|view| view["standing"] == "following")
    });
    assert_eq!(cluster.post(first, "/v1/resign", "{\"end\":true}").status, 409);
}

#[test]
fn leadership_is_handed_over() {
    let cluster = Cluster::start(3);
    let first = cluster.wait_for_leader();
    let to = if first == 3 { 2 } else { 3 };
    let answer = cluster.post(first, "/v1/transfer", "{\"to\":99}");
    assert_eq!(answer.status, 409, "{}", answer.body);
    let answer = cluster.post(first, "/v1/transfer", &format!("{{\"to\":{to}}}"));
    assert_eq!((answer.status, answer.json()["leader"].as_u64()), (200, Some(to.into())), "{}", answer.body);
    assert_eq!(cluster.wait_for_leader(), to);
}
