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
