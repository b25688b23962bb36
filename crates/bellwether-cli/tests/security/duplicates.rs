//! Two processes that claim one id: the one that was there stays.

use std::fs;

use super::records::{self, IN_USE, REFUSED};
use super::siege::Siege;
use super::stranger::{self, Stranger};
use crate::cluster::{DEADLINE, Place, Process, wait_until};

/// Who has stolen a certificate cannot use it while its owner is there; and the owner hears of it.
#[test]
fn an_id_in_use_cannot_be_claimed() {
    let siege = Siege::begin();
    let (before, claims) = (siege.refused(), 5);
    for victim in [siege.other, siege.leader] {
        let told = siege.metric(victim, "duplicate_ids_total");
        let config = stranger::member(siege.cluster.authority(), victim);
        for instance in 0..claims {
            let mut stranger = Stranger::dial(siege.target(), std::sync::Arc::clone(&config));
            stranger.say(&records::hello(victim, u64::from(u32::MAX), 1000 + instance)).unwrap();
            let answer = stranger.hear().unwrap();
            assert_eq!((answer[0], answer[2]), (REFUSED, IN_USE), "{answer:?}");
            stranger.until_closed();
        }
        let told = || siege.metric(victim, "duplicate_ids_total") == told + claims;
        assert!(wait_until(DEADLINE, told), "{}", siege.cluster.log(victim));
        let log = siege.cluster.log(victim);
        assert!(log.contains("ERROR") && log.contains("claims our id"), "{log}");
    }
    siege.has_refused(before, 2 * claims, 0);
    siege.is_unmoved();
}

/// A copy of a whole node gives up, and says why.
#[test]
fn a_second_agent_with_the_same_id_ends() {
    let siege = Siege::begin();
    for id in [siege.other, siege.leader] {
        let (place, copy) = (siege.cluster.place(id), Place::on_loopback(1)[0]);
        let config = fs::read_to_string(siege.cluster.config(id)).unwrap();
        let config = config.replace("data_dir = \"data\"", "data_dir = \"data-2\"");
        let config =
            config.replace(&format!("peer = \"{}\"", place.listen), &format!("peer = \"{}\"", copy.listen));
        let config = config.replace(&place.api.to_string(), &copy.api.to_string());
        let (file, log) = (
            siege.cluster.config(id).with_file_name("copy.toml"),
            siege.cluster.config(id).with_file_name("copy.log"),
        );
        fs::write(&file, config).unwrap();
        let code = Process::agent(&file, &log).wait(DEADLINE);
        let log = fs::read_to_string(&log).unwrap();
        assert_eq!(code, Some(3), "{log}");
        assert!(log.contains(&format!("the id {id} is already used by the node at ")), "{log}");
        siege.is_unmoved();
    }
}
