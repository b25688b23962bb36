use std::fs;

use super::{LEASE, PROMISED, hand_over, started, wait_for_one};
use crate::cluster::meddler::Meddler;
use crate::cluster::{Cluster, DEADLINE, wait_until};
use crate::faults::judged::assert_kept;
use crate::faults::skip;

/// Agents, of which one that does not lead has been killed; that one, who leads, and with which token.
fn one_is_down() -> (Cluster, u32, (u32, u64)) {
    let mut cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let down = if agreed.0 == 1 { 2 } else { 1 };
    cluster.kill(down);
    (cluster, down, agreed)
}

#[test]
fn a_voter_that_lost_its_disk_does_not_vote_and_says_so() {
    let (mut cluster, down, agreed) = one_is_down();
    fs::remove_dir_all(cluster.home(down).join("data")).unwrap();
    cluster.start_node(down);
    wait_for_one(&cluster, down, "its vote is lost", |view| view["exclusive"]["vote"] == "lost");
    assert_eq!(cluster.wait_for_agreement(), agreed, "the others go on");
    assert!(cluster.log(down).contains("this member does not vote"), "{}", cluster.log(down));
    let (_, said, _) = cluster.ask(down, &["status"]);
    assert!(said.contains("this member does not vote: its votes"), "{said}");
    // Two votes are left, and two are needed. Without one of them nobody leads, although two members are there.
    let third = cluster.ids().into_iter().find(|id| ![down, agreed.0].contains(id)).unwrap();
    cluster.kill(third);
    wait_for_one(&cluster, agreed.0, "it leads no more", |view| view["leader"].is_null());
    cluster.start_node(third);
    let (_, token) = cluster.wait_for_agreement();
    assert!(token >= agreed.1, "{token} after {}", agreed.1);
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn a_voter_whose_disk_was_put_back_does_not_vote_once_it_is_told() {
    let (mut cluster, down, _) = one_is_down();
    let (data, copy) = (cluster.home(down).join("data"), cluster.home(down).join("copy"));
    fs::create_dir(&copy).unwrap();
    for file in fs::read_dir(&data).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    cluster.start_node(down);
    for _ in 0..3 {
        hand_over(&cluster, None);
    }
    cluster.kill(down);
    fs::remove_dir_all(&data).unwrap();
    fs::rename(&copy, &data).unwrap();
    cluster.start_node(down);
    wait_for_one(&cluster, down, "its votes are old", |view| view["exclusive"]["vote"] == "outdated");
    assert!(
        wait_until(DEADLINE, || cluster.log(down).contains("an old copy was put back")),
        "{}",
        cluster.log(down)
    );
    let (_, said, _) = cluster.ask(down, &["status"]);
    assert!(said.contains("this member does not vote: its votes"), "{said}");
    cluster.wait_for_agreement();
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn votes_that_are_not_what_was_written_are_refused_and_left_alone() {
    let (mut cluster, down, agreed) = one_is_down();
    let file = cluster.home(down).join("data").join("votes.redb");
    let good = fs::read(&file).unwrap();
    let other = fs::read(cluster.home(agreed.0).join("data").join("votes.redb")).unwrap();
    for (bad, wrong) in [
        (&good[..good.len() / 2], "is damaged: "),
        (b"a letter to a friend".as_slice(), "is not a file of votes of bellwether; move it away"),
    ] {
        fs::write(&file, bad).unwrap();
        let (code, said) = cluster.attempt(down, &[]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(&format!("error: the file of votes {} {wrong}", file.display())), "{said}");
        assert_eq!(fs::read(&file).unwrap(), bad, "nothing was written");
    }
    fs::write(&file, other).unwrap();
    let (code, said) = cluster.attempt(down, &[]);
    assert!(
        code == Some(2) && said.contains(&format!("belongs to node {}, not to this one", agreed.0)),
        "{said}"
    );
    fs::write(&file, good).unwrap();
    cluster.start_node(down);
    assert_eq!(cluster.wait_for_agreement(), agreed, "nobody was disturbed, and what is restored is good");
    wait_for_one(&cluster, down, "its vote counts", |view| view["exclusive"]["vote"] == "counts");
}

/// Longer than a renewal takes, and than the default heartbeat.
const FSYNC_MICROS: u32 = 300_000;

#[test]
fn slow_disks_keep_nobody_from_renewing() {
    let cluster = started(3, LEASE);
    let agreed = cluster.wait_for_agreement();
    let mut meddlers = Vec::new();
    for id in cluster.ids() {
        match Meddler::slows_the_disk(&cluster, id, FSYNC_MICROS) {
            Ok(meddler) => meddlers.push(meddler),
            Err(why) => return skip("a slow disk", &why),
        }
    }
    // Several leases long.
    cluster.leave_alone();
    assert_eq!(cluster.wait_for_agreement(), agreed);
    // What is written takes longer, and that is all.
    hand_over(&cluster, None);
    assert_kept(&cluster, &PROMISED);
}

#[test]
fn a_voter_whose_disk_is_full_ends_and_says_so() {
    let (mut cluster, down, agreed) = one_is_down();
    cluster.start_node(down);
    cluster.wait_for_agreement();
    let _meddler = match Meddler::fills_the_disk(&cluster, down) {
        Ok(meddler) => meddler,
        Err(why) => return skip("a full disk", &why),
    };
    // Another is to lead: all vote.
    let to = cluster.ids().into_iter().find(|id| ![down, agreed.0].contains(id)).unwrap();
    let _ = cluster.post(agreed.0, "/v1/transfer", &format!("{{\"to\":{to}}}"));
    assert!(wait_until(DEADLINE, || cluster.has_ended(down)), "it goes on");
    let (code, log) = cluster.wait_for_end(down);
    assert_eq!(code, Some(3), "{log}");
    let error = log.lines().last().expect("it says why");
    assert!(error.contains("cannot write votes to") && error.contains("No space left on device"), "{log}");
    assert_kept(&cluster, &PROMISED);
}
