//! One member that differs from the others: it is refused, it does not lead, and everybody sees why.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bellwether::tls::{Authority, Identity, Validity};
use bellwether_proto::ident::NodeId;
use serde_json::Value;

use crate::cluster::{Cluster, DEADLINE, Shape, wait_until};
use crate::security::stranger::{self, Stranger, connect};

/// A cluster in which one member is about to be made different. All have followed a leader, so its disk has seen an epoch.
struct Odd {
    cluster: Cluster,
    agreed: (u32, u64),
    odd: u32,
}

impl Odd {
    fn among_three() -> Self {
        let mut cluster = Cluster::start(3);
        let agreed = cluster.wait_for_agreement();
        let odd = cluster.ids().into_iter().find(|id| *id != agreed.0).unwrap();
        cluster.wait_for_disks(&[odd]);
        let (code, log) = cluster.end(odd);
        assert_eq!(code, Some(0), "{log}");
        Self { cluster, agreed, odd }
    }

    /// It comes up, is refused, and has not led. Everybody says why, in these words.
    #[track_caller]
    fn is_refused(&mut self, it_says: &str, others_say: &str) {
        self.cluster.start_node(self.odd);
        let odd = self.odd;
        self.cluster.wait_for("both others refuse it", |views| {
            let barred = views[&odd].as_ref().map_or(&Value::Null, |view| &view["barred"]);
            barred["kind"] == "refused" && barred["refusals"].as_array().is_some_and(|all| all.len() == 2)
        });
        self.says_why(it_says);
        self.is_seen_by_the_others(others_say);
        assert_eq!(self.led(), 0, "it has never led");
        assert_eq!(self.others_agree(), self.agreed, "nobody else was disturbed");
    }

    #[track_caller]
    fn says_why(&self, it_says: &str) {
        let (cluster, odd) = (&self.cluster, self.odd);
        assert_eq!(cluster.get(odd, "/leader").status, 503);
        let ready = cluster.get(odd, "/readyz");
        assert_eq!(ready.status, 503);
        assert!(ready.json()["reason"].as_str().is_some_and(|why| why.contains(it_says)), "{}", ready.body);
        let (code, text, _) = cluster.ask(odd, &["status"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(code == 0 && text.contains("peers answer and refuse this member"), "{text}");
        let log = cluster.log(odd);
        assert!(log.contains("this member does not lead") && log.contains(it_says), "{log}");
        let metrics = cluster.get(odd, "/metrics").body;
        assert!(metrics.contains("bellwether_peers_refused 2"), "{metrics}");
        assert!(!metrics.contains("bellwether_refusals_total 0"), "{metrics}");
    }

    #[track_caller]
    fn is_seen_by_the_others(&self, others_say: &str) {
        for id in self.others() {
            let shown = || {
                let members = self.cluster.get(id, "/v1/members").json();
                let mut all = members["members"].as_array().cloned().unwrap_or_default().into_iter();
                all.find(|member| member["id"] == self.odd).unwrap_or(Value::Null)
            };
            let seen = wait_until(DEADLINE, || {
                let member = shown();
                member["link"] == "refused"
                    && member["reason"].as_str().is_some_and(|why| why.contains(others_say))
            });
            assert!(seen, "node {id}: {}", shown());
        }
    }

    /// How often it has begun to lead since it came up.
    fn led(&self) -> usize {
        let history = self.cluster.get(self.odd, "/v1/history").json();
        let incarnation = self.cluster.get(self.odd, "/v1/status").json()["incarnation"].clone();
        let began = |change: &&Value| change["leader"] == self.odd && change["incarnation"] == incarnation;
        history["changes"].as_array().expect("changes").iter().filter(began).count()
    }

    fn others(&self) -> Vec<u32> {
        self.cluster.ids().into_iter().filter(|id| *id != self.odd).collect()
    }

    fn others_agree(&self) -> (u32, u64) {
        let says = self.others().into_iter().map(|id| {
            let view = self.cluster.get(id, "/v1/status").json();
            (view["leader"].as_u64().unwrap_or(0) as u32, view["epoch"].as_u64().unwrap_or(0))
        });
        let says: Vec<_> = says.collect();
        assert!(says.windows(2).all(|pair| pair[0] == pair[1]), "{says:?}");
        says[0]
    }

    fn identify(&self, identity: &Identity) {
        let home = self.cluster.home(self.odd);
        for (file, text) in
            [("ca.pem", &identity.ca), ("cert.pem", &identity.cert), ("key.pem", &identity.key)]
        {
            fs::write(home.join(file), text).unwrap();
        }
    }

    fn issue(&self, by: &Authority) -> Identity {
        by.issue(NodeId(self.odd), Validity::days(1)).unwrap()
    }

    /// What was wrong has been put right.
    #[track_caller]
    fn is_accepted_again(&mut self) {
        self.cluster.end(self.odd);
        self.cluster.start_node(self.odd);
        assert_eq!(self.cluster.wait_for_agreement(), self.agreed);
        assert_eq!(self.cluster.get(self.odd, "/readyz").status, 200);
        assert_eq!(self.cluster.get(self.odd, "/v1/status").json()["barred"], Value::Null);
    }
}

#[test]
fn who_has_an_expired_certificate_does_not_lead() {
    let mut odd = Odd::among_three();
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    let past = Validity { from: now - 2 * hour, until: now - hour };
    odd.identify(&odd.cluster.authority().issue(NodeId(odd.odd), past).unwrap());
    odd.is_refused("CertificateExpired", "certificate expired");
    odd.identify(&odd.issue(odd.cluster.authority()));
    odd.is_accepted_again();
}

#[test]
fn who_has_the_certificate_of_a_foreign_authority_does_not_lead() {
    let theirs = Authority::create("test", Validity::days(1)).unwrap();
    let mut odd = Odd::among_three();
    odd.identify(&odd.issue(&theirs));
    odd.is_refused("this member refuses the certificate at", "this member refuses the certificate at");
}

/// It trusts the others, and learns from their alert that they do not trust it.
#[test]
fn who_trusts_the_others_and_is_not_trusted_does_not_lead() {
    let theirs = Authority::create("test", Validity::days(1)).unwrap();
    let mut odd = Odd::among_three();
    let ca = odd.cluster.authority().cert_pem().to_owned();
    odd.identify(&Identity { ca, ..odd.issue(&theirs) });
    odd.is_refused("refuses a secure connection with this member", "this member refuses the certificate at");
}

#[test]
fn who_runs_another_protocol_does_not_lead() {
    let mut odd = Odd::among_three();
    let config = fs::read_to_string(odd.cluster.config(odd.odd)).unwrap();
    let other = config.replace("protocol = \"fjr\"", "protocol = \"lfa\"\npreempt = true");
    fs::write(odd.cluster.config(odd.odd), other).unwrap();
    odd.is_refused("this member runs fjr", "this member runs lfa");
    fs::write(odd.cluster.config(odd.odd), config).unwrap();
    odd.is_accepted_again();
}

/// The others have a list without it. It has never been with them, and would be the first of its own list.
#[test]
fn who_is_not_listed_by_the_others_does_not_lead() {
    let mut cluster = Cluster::prepare(&Shape { more: "min_peers = 0", ..Shape::of(3) });
    let odd = 3;
    for id in [1, 2] {
        let config = fs::read_to_string(cluster.config(id)).unwrap();
        let at = config.find("[[peer]]\nid = 3").expect("it is the last of the list");
        fs::write(cluster.config(id), &config[..at]).unwrap();
        cluster.start_node(id);
    }
    let agreed = cluster.wait_for_agreement();
    Odd { cluster, agreed, odd }
        .is_refused("node 3 is not in the list of members", "node 3 is not in the list");
}

/// Only answers from addresses that it dials count: whoever connects to it can say what it likes.
#[test]
fn strangers_cannot_make_a_survivor_believe_that_it_is_refused() {
    let mut cluster = Cluster::start(2);
    let (leader, epoch) = cluster.wait_for_agreement();
    cluster.kill(3 - leader);
    let theirs = Authority::create("test", Validity::days(1)).unwrap();
    let identity = theirs.issue(NodeId(3 - leader), Validity::days(1)).unwrap();
    let foreign = stranger::with(cluster.authority(), &identity);
    // It refuses the agent's certificate, and says so in an alert.
    let distrustful = stranger::with(&theirs, &identity);
    for _ in 0..20 {
        Stranger::dial(cluster.peer(leader), Arc::clone(&foreign)).until_closed();
        let mut distrustful = Stranger::dial(cluster.peer(leader), Arc::clone(&distrustful));
        assert!(distrustful.say(b"").and_then(|()| distrustful.hear()).is_err());
        drop(connect(cluster.peer(leader)));
    }
    let view = cluster.get(leader, "/v1/status").json();
    assert_eq!((&view["barred"], view["epoch"].as_u64()), (&Value::Null, Some(epoch)), "{view}");
    assert_eq!(cluster.get(leader, "/leader").status, 200);
}
