//! Who has no certificate that is good, and good for the id that it claims, is nobody.

use std::io::Write;
use std::time::{Duration, SystemTime};

use bellwether::tls::{Authority, Validity};
use bellwether_proto::ident::NodeId;

use super::records::{self, CERTIFICATE, REFUSED};
use super::siege::Siege;
use super::stranger::{self, Stranger, connect, until_closed};
use crate::cluster::{DEADLINE, wait_until};

/// Tries again and again, until the log says why it was refused: it has one line of a kind in a second. Every attempt counts.
#[track_caller]
fn is_refused(siege: &Siege, why: &str, mut attempt: impl FnMut()) {
    let (before, mut attempts) = (siege.refused(), 0);
    let logged = wait_until(DEADLINE, || {
        attempt();
        attempts += 1;
        siege.log().contains(why)
    });
    assert!(logged, "{why}: {}", siege.log());
    siege.has_refused(before, attempts, 0);
    siege.is_unmoved();
}

#[test]
fn strangers_are_refused() {
    let siege = Siege::begin();
    let (target, ours) = (siege.target(), siege.cluster.authority());
    let turned_away =
        |config: &std::sync::Arc<_>| Stranger::dial(target, std::sync::Arc::clone(config)).until_closed();

    let nobody = stranger::nobody(ours);
    is_refused(&siege, "peer sent no certificates", || turned_away(&nobody));

    let theirs = Authority::create("test", Validity::days(1)).unwrap();
    let theirs = stranger::with(ours, &theirs.issue(NodeId(2), Validity::days(1)).unwrap());
    is_refused(&siege, "UnknownIssuer", || turned_away(&theirs));

    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    let past = Validity { from: now - 2 * hour, until: now - hour };
    let expired = stranger::with(ours, &ours.issue(NodeId(2), past).unwrap());
    is_refused(&siege, "certificate expired", || turned_away(&expired));
}

#[test]
fn a_certificate_is_good_for_its_own_id_only() {
    let siege = Siege::begin();
    let ours = siege.cluster.authority();
    // The other member, and one that is on no list.
    for holder in [siege.other, 4] {
        let config = stranger::member(ours, holder);
        for claimed in (1..=3).filter(|id| *id != holder) {
            let why = format!("the certificate is not that of node {claimed} ");
            is_refused(&siege, &why, || {
                let mut stranger = Stranger::dial(siege.target(), std::sync::Arc::clone(&config));
                stranger.say(&records::hello(claimed, 1, 7)).unwrap();
                let answer = stranger.hear().unwrap();
                assert_eq!((answer[0], answer[2]), (REFUSED, CERTIFICATE), "{answer:?}");
                stranger.until_closed();
            });
        }
    }
}

#[test]
fn who_speaks_no_tls_is_refused() {
    let siege = Siege::begin();
    for bytes in
        [&b"GET / HTTP/1.1\r\nhost: node\r\n\r\n"[..], &records::hello(2, 1, 7), &[0; 100_000], &[0xff; 5]]
    {
        is_refused(&siege, "about=Tls", || {
            let mut stream = connect(siege.target());
            // It may be refused before all has been said.
            let _ = stream.write_all(bytes);
            until_closed(&mut stream);
        });
    }
}
