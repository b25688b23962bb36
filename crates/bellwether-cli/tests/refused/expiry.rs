//! Certificates that expire while a cluster runs.

use std::fs;
use std::time::{Duration, SystemTime};

use bellwether::tls::Validity;
use bellwether_proto::ident::NodeId;

use crate::cluster::{Cluster, DEADLINE, Shape, wait_until};

/// Long enough for a cluster to come up and agree.
const VALID: Duration = Duration::from_secs(8);

/// Connections outlive the certificates that they were made with, so a cluster whose certificates have expired works on. Whoever is
/// restarted then is a stranger to it.
#[test]
fn a_restart_after_certificates_have_expired_makes_no_second_leader() {
    let mut cluster = Cluster::prepare(&Shape::of(3));
    let until = SystemTime::now() + VALID;
    for id in cluster.ids() {
        let validity = Validity { from: SystemTime::now() - VALID, until };
        let identity = cluster.authority().issue(NodeId(id), validity).unwrap();
        fs::write(cluster.home(id).join("cert.pem"), identity.cert).unwrap();
        fs::write(cluster.home(id).join("key.pem"), identity.key).unwrap();
    }
    cluster.start_all();
    let (leader, epoch) = cluster.wait_for_agreement();
    let restarted = cluster.ids().into_iter().find(|id| *id != leader).unwrap();
    cluster.wait_for_disks(&[restarted]);
    assert!(
        wait_until(DEADLINE, || SystemTime::now() > until + Duration::from_secs(1)),
        "it is later by then"
    );
    cluster.kill(restarted);
    cluster.start_node(restarted);
    let views = cluster.wait_for("the one that was restarted is refused", |views| {
        views[&restarted].as_ref().is_some_and(|view| view["barred"]["kind"] == "refused")
    });
    let leads = |id: &u32| cluster.get(*id, "/leader").status == 200;
    assert_eq!(cluster.ids().into_iter().filter(leads).collect::<Vec<_>>(), [leader], "{views:#?}");
    let view = views[&leader].as_ref().unwrap();
    assert_eq!(
        (view["leader"].as_u64(), view["epoch"].as_u64()),
        (Some(leader.into()), Some(epoch)),
        "{view}"
    );
    let log = cluster.log(restarted);
    assert!(!log.contains(&format!("node {restarted} leads")), "{log}");
}

#[test]
fn a_certificate_that_expires_soon_is_warned_of() {
    let mut cluster = Cluster::prepare(&Shape::of(1));
    let issue = |cluster: &Cluster, days| {
        let identity = cluster.authority().issue(NodeId(1), Validity::days(days)).unwrap();
        fs::write(cluster.home(1).join("cert.pem"), identity.cert).unwrap();
        fs::write(cluster.home(1).join("key.pem"), identity.key).unwrap();
    };
    let warned = |cluster: &Cluster, words: &str| {
        let status = cluster.get(1, "/v1/status").json();
        let (_, said, _) = cluster.ask(1, &["status"]);
        let in_json =
            status["certificate"]["warning"].as_str().is_some_and(|warning| warning.contains(words));
        [in_json, said.contains(words), cluster.log(1).contains(words)]
    };
    for (days, words) in
        [(20, "this member's certificate expires in 19 days"), (31, "this member's certificate")]
    {
        issue(&cluster, days);
        cluster.start_node(1);
        cluster.wait_for_leader();
        assert_eq!(warned(&cluster, words), [days == 20; 3], "{}", cluster.log(1));
        let until = cluster.get(1, "/v1/status").json()["certificate"]["until_us"].as_u64().unwrap();
        let metrics = cluster.get(1, "/metrics").body;
        assert!(metrics.contains(&format!("certificate_until_seconds {}", until / 1_000_000)), "{metrics}");
        cluster.end(1);
        fs::remove_file(cluster.home(1).join("log")).unwrap();
    }
}
