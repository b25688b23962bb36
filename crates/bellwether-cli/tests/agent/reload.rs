//! What an agent reads again while it runs.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use bellwether::tls::{Authority, Validity};
use bellwether_proto::ident::NodeId;
use nix::sys::signal::Signal;
use serde_json::Value;

use crate::cluster::{Cluster, DEADLINE, Shape, TOKEN, http, wait_until};

/// Puts a file in the place of another, as those do who exchange secrets.
fn put(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::set_permissions(&beside, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&beside, file).unwrap();
}

/// Gives a node a new certificate, with a new key.
fn certify(cluster: &Cluster, id: u32, authority: &Authority, days: u32) {
    let identity = authority.issue(NodeId(id), Validity::days(days)).unwrap();
    put(&cluster.home(id).join("key.pem"), &identity.key);
    put(&cluster.home(id).join("cert.pem"), &identity.cert);
}

fn trust(cluster: &Cluster, authorities: &[&Authority]) {
    let all: String = authorities.iter().map(|authority| authority.cert_pem()).collect();
    cluster.ids().iter().for_each(|id| put(&cluster.home(*id).join("ca.pem"), &all));
}

fn status(cluster: &Cluster, id: u32) -> Value {
    cluster.get(id, "/v1/status").json()
}

/// How often a node has taken what it read again.
fn reloads(cluster: &Cluster, id: u32) -> u64 {
    let metrics = cluster.get(id, "/metrics").body;
    let line = metrics.lines().find(|line| line.starts_with("bellwether_reloads_total{ended=\"done\"}"));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("it is counted")
}

/// Tells all to read their files again, and waits until they have. They may have noticed by themselves.
#[track_caller]
fn reload_all(cluster: &Cluster) {
    let before: Vec<_> = cluster.ids().into_iter().map(|id| (id, reloads(cluster, id))).collect();
    cluster.ids().iter().for_each(|id| cluster.signal(*id, Signal::SIGHUP));
    let done = || before.iter().all(|(id, before)| reloads(cluster, *id) > *before);
    assert!(wait_until(DEADLINE, done), "{}", cluster.log(1));
    for id in cluster.ids() {
        assert_eq!(status(cluster, id)["reload"]["problems"], serde_json::json!([]), "{}", cluster.log(id));
    }
}

#[test]
fn an_authority_is_replaced_and_the_leader_stays() {
    let mut cluster = Cluster::start(3);
    let agreement = cluster.wait_for_agreement();
    let leader = agreement.0;
    let changes = || cluster.get(leader, "/v1/history").json()["changes"].as_array().unwrap().len();
    let before = changes();
    let (old, new) = (cluster.authority(), Authority::create("test", Validity::days(9)).unwrap());
    trust(&cluster, &[old, &new]);
    reload_all(&cluster);
    cluster.ids().iter().for_each(|id| certify(&cluster, *id, &new, 5));
    reload_all(&cluster);
    let until = |id| status(&cluster, id)["certificate"]["until_us"].as_u64().unwrap();
    let days = |id: u32| (until(id) - status(&cluster, id)["up_since_us"].as_u64().unwrap()) / 86_400_000_000;
    assert!(cluster.ids().into_iter().all(|id| (4..=5).contains(&days(id))), "the new ones are in use");
    // Connections that were made with certificates of the old authority end now, and are made anew.
    trust(&cluster, &[&new]);
    reload_all(&cluster);
    cluster.wait_for("all are connected again", |_| {
        cluster.ids().iter().all(|id| {
            let members = cluster.get(*id, "/v1/members").json();
            let others =
                members["members"].as_array().unwrap().iter().filter(|member| member["is_self"] == false);
            others.filter(|member| member["link"] == "connected").count() == 2
        })
    });
    assert_eq!((cluster.wait_for_agreement(), changes()), (agreement, before), "{}", cluster.log(leader));

    let stranger = cluster.ids().into_iter().find(|id| *id != leader).unwrap();
    cluster.kill(stranger);
    let identity = cluster.authority().issue(NodeId(stranger), Validity::days(1)).unwrap();
    for (file, text) in [("ca.pem", identity.ca), ("cert.pem", identity.cert), ("key.pem", identity.key)] {
        put(&cluster.home(stranger).join(file), &text);
    }
    cluster.start_node(stranger);
    cluster.wait_for("a certificate of the old authority is refused", |views| {
        views[&stranger].as_ref().is_some_and(|view| view["barred"]["kind"] == "refused")
    });
}

#[test]
fn who_is_revoked_is_cut_off_and_refused() {
    let mut cluster = Cluster::prepare(&Shape { tables: "", ..Shape::of(3) });
    let authority = cluster.authority();
    let none = authority.revoke(None, &[]).unwrap();
    for id in cluster.ids() {
        put(&cluster.home(id).join("crl.pem"), &none);
        cluster.configure(id, "tls.crl = \"crl.pem\"");
        // A table cannot be written in two places.
        let config = fs::read_to_string(cluster.config(id))
            .unwrap()
            .replace("[tls]\nca", "tls.ca")
            .replace("\ncert =", "\ntls.cert =");
        let config = config.replace("\nkey =", "\ntls.key =");
        let (tls, rest): (Vec<_>, Vec<_>) = config.lines().partition(|line| line.starts_with("tls."));
        fs::write(cluster.config(id), format!("{}\n{}\n", tls.join("\n"), rest.join("\n"))).unwrap();
    }
    cluster.start_all();
    let agreement = cluster.wait_for_agreement();
    let stranger = cluster.ids().into_iter().find(|id| *id != agreement.0).unwrap();
    let cert = fs::read_to_string(cluster.home(stranger).join("cert.pem")).unwrap();
    let list = cluster.authority().revoke(Some(&none), &[&cert]).unwrap();
    for id in cluster.ids().into_iter().filter(|id| *id != stranger) {
        put(&cluster.home(id).join("crl.pem"), &list);
        cluster.signal(id, Signal::SIGHUP);
    }
    let views = cluster.wait_for("the one that is revoked is refused", |views| {
        views[&stranger].as_ref().is_some_and(|view| view["barred"]["kind"] == "refused")
    });
    let leader = views[&agreement.0].as_ref().unwrap();
    assert_eq!(
        (leader["leader"].as_u64(), leader["epoch"].as_u64()),
        (Some(agreement.0.into()), Some(agreement.1))
    );
    let log = cluster.log(agreement.0);
    assert!(log.contains("a peer is not trusted any more") && log.contains("it has been revoked"), "{log}");

    put(&cluster.home(stranger).join("crl.pem"), &list);
    let problem =
        || status(&cluster, stranger)["reload"]["problems"][0].as_str().unwrap_or_default().to_owned();
    assert!(wait_until(DEADLINE, || problem().contains("it has been revoked")), "{}", problem());
    certify(&cluster, stranger, cluster.authority(), 1);
    cluster.wait_for_agreement();
}

#[test]
fn a_changed_file_is_noticed_and_what_is_wrong_with_it_told() {
    let mut cluster = Cluster::prepare(&Shape { token: None, ..Shape::of(1) });
    cluster.configure(1, "api = { token_file = \"token\" }");
    let token = cluster.home(1).join("token");
    put(&token, TOKEN);
    cluster.start_all();
    let agreement = cluster.wait_for_agreement();
    let may =
        |token: &str| http::post(&cluster.api(1), "/v1/resign", Some(token), "{\"end\":true}").status != 401;
    assert!(may(TOKEN));
    put(&token, "another-token-of-the-tests");
    assert!(wait_until(DEADLINE, || may("another-token-of-the-tests")), "{}", cluster.log(1));
    assert!(!may(TOKEN), "it was exchanged");

    let stranger = Authority::create("test", Validity::days(1)).unwrap();
    let (cert, good) =
        (cluster.home(1).join("cert.pem"), fs::read(cluster.home(1).join("cert.pem")).unwrap());
    let key = fs::read(cluster.home(1).join("key.pem")).unwrap();
    let problem = || status(&cluster, 1)["reload"]["problems"][0].as_str().unwrap_or_default().to_owned();
    certify(&cluster, 1, &stranger, 1);
    assert!(wait_until(DEADLINE, || problem().contains("the authority did not issue it")), "{}", problem());
    put(&cert, "nothing");
    assert!(wait_until(DEADLINE, || problem().contains("cert.pem has no certificate")), "{}", problem());
    let (_, said, _) = cluster.ask(1, &["status"]);
    assert!(said.contains("all is as before"), "{said}");
    assert!(cluster.get(1, "/metrics").body.contains("bellwether_reload_failed 1\n"));
    assert!(cluster.log(1).contains("nothing is taken from it"), "{}", cluster.log(1));
    put(&cert, std::str::from_utf8(&good).unwrap());
    put(&cluster.home(1).join("key.pem"), std::str::from_utf8(&key).unwrap());
    assert!(wait_until(DEADLINE, || problem().is_empty()), "{}", problem());
    assert_eq!(cluster.wait_for_agreement(), agreement);
}

#[test]
fn what_needs_a_restart_is_named() {
    let mut cluster = Cluster::start(1);
    let agreement = cluster.wait_for_agreement();
    cluster.configure(1, "priority = 7\nmin_peers = 0");
    cluster.signal(1, Signal::SIGHUP);
    let restart = || status(&cluster, 1)["reload"]["restart"].clone();
    let named = || restart() == serde_json::json!(["min_peers", "priority"]);
    assert!(wait_until(DEADLINE, named), "{}", restart());
    let (_, said, _) = cluster.ask(1, &["status"]);
    assert!(said.contains("a restart is needed for `min_peers`, `priority`"), "{said}");
    cluster.configure(1, "nonsense = 1");
    cluster.signal(1, Signal::SIGHUP);
    let problems = || status(&cluster, 1)["reload"]["problems"].to_string();
    assert!(wait_until(DEADLINE, || problems().contains("unknown key `nonsense`")), "{}", problems());
    assert!(named(), "it is still so");
    assert_eq!(cluster.wait_for_agreement(), agreement);
    assert_eq!(cluster.end(1).0, Some(0));
}

#[test]
fn a_configuration_is_checked_without_starting_anything() {
    let cluster = Cluster::prepare(&Shape::of(3));
    let (code, said) = cluster.attempt(2, &["--check-config"]);
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "node      2\n",
        "protocol  fjr\n",
        "node 1 at ",
        "the certificate is good for 0 days more",
        "changes need the token",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!cluster.home(2).join("data").exists());
    let (code, said) = cluster.attempt(2, &["--check-config", "--priority", "many"]);
    assert!(code == Some(2) && said.contains("--priority: found \"many\""), "{said}");
    let (code, said) = cluster.attempt(2, &["--check-config", "--node", "3"]);
    assert!(code == Some(2) && said.contains("node-3.test.bellwether.internal"), "{said}");
    certify(&cluster, 2, &Authority::create("test", Validity::days(1)).unwrap(), 1);
    let (code, said) = cluster.attempt(2, &["--check-config"]);
    assert!(code == Some(2) && said.contains("the authority did not issue it"), "{said}");
}
