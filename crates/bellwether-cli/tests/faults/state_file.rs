//! What a node keeps on its disk: damaged, foreign, lost, or another's.

use std::fs;
use std::time::SystemTime;

use crate::cluster::Cluster;

/// Three agents of which one has been killed; that one, who leads, and with which epoch.
fn one_is_down() -> (Cluster, u32, (u32, u64)) {
    let mut cluster = Cluster::start(3);
    let agreed = cluster.wait_for_agreement();
    let down = if agreed.0 == 1 { 2 } else { 1 };
    cluster.kill(down);
    (cluster, down, agreed)
}

#[test]
fn a_file_that_is_not_what_was_written_is_refused_and_left_alone() {
    let (mut cluster, down, agreed) = one_is_down();
    let file = cluster.state_file(down);
    let good = fs::read(&file).unwrap();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 1;
    for (bad, wrong, remedy) in [
        (
            flipped.as_slice(),
            "is damaged: its checksum is wrong",
            "delete it to join as if the disk were new",
        ),
        (&good[..good.len() / 2], "is cut off: ", "delete it to join as if the disk were new"),
        (b"a letter to a friend", "is not a state file of bellwether", "move it away"),
    ] {
        fs::write(&file, bad).unwrap();
        let (code, said) = cluster.attempt(down, &[]);
        assert_eq!(code, Some(2), "{said}");
        let error = said.lines().last().expect("it says why");
        assert!(error.starts_with(&format!("error: the state file {} {wrong}", file.display())), "{said}");
        assert!(error.contains(remedy), "{said}");
        assert_eq!(fs::read(&file).unwrap(), bad, "nothing was written");
    }
    fs::write(&file, good).unwrap();
    cluster.start_node(down);
    assert_eq!(cluster.wait_for_agreement(), agreed, "nobody was disturbed, and what is restored is good");
}

#[test]
fn the_file_of_another_node_is_refused() {
    let (cluster, down, (leader, _)) = one_is_down();
    fs::copy(cluster.state_file(leader), cluster.state_file(down)).unwrap();
    let (code, said) = cluster.attempt(down, &[]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains(&format!("belongs to node {leader}, not to this one; give this member")), "{said}");
}

#[test]
fn a_node_that_lost_its_disk_rejoins_by_the_clock_and_ousts_nobody() {
    let (mut cluster, down, agreed) = one_is_down();
    fs::remove_dir_all(cluster.home(down).join("data")).unwrap();
    let micros = || SystemTime::UNIX_EPOCH.elapsed().unwrap().as_micros() as u64;
    let before = micros();
    cluster.start_node(down);
    assert_eq!(cluster.wait_for_agreement(), agreed);
    let incarnation = cluster.get(down, "/v1/status").json()["incarnation"].as_u64().unwrap();
    assert!((before..=micros()).contains(&incarnation), "{before}, {incarnation}");
    assert!(cluster.state_file(down).exists());
}

#[test]
fn a_data_directory_serves_one_process() {
    let cluster = Cluster::start(1);
    let agreed = cluster.wait_for_agreement();
    let (code, said) = cluster.attempt(1, &["--listen-peer", "127.0.0.1:0", "--listen-api", "127.0.0.1:0"]);
    assert_eq!(code, Some(3), "{said}");
    let error = said.lines().last().expect("it says why");
    let dir = cluster.home(1).join("data");
    let wrong = format!("error: the data directory {} is in use by another process", dir.display());
    assert!(error.starts_with(&wrong), "{said}");
    assert_eq!(cluster.wait_for_agreement(), agreed);
}
