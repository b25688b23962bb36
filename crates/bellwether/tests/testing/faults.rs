//! What the kit can do to a cluster, and what the members make of it.

use std::collections::BTreeSet;
use std::time::Duration;

use bellwether::arbiter::{self, Arbiter, Registers, Uptime};
use bellwether::client::{Candidacy, Leadership};
use bellwether::elections::Name;
use bellwether::member::Hold;
use bellwether::members::{Address, MemberChange};
use bellwether::status::{Connection, Participant, Standing};
use bellwether::testing::Cluster;
use bellwether::{BadConfig, Ended, Exclusive, JoinError, NodeId, Peers, Refused};
use tokio::time::{Instant, sleep, timeout};

use super::exclusive;

#[tokio::test(start_paused = true)]
async fn a_process_that_is_killed_has_ended_and_its_peers_know_at_once() {
    let mut cluster = Cluster::of(3).start().unwrap();
    let first = cluster.leader().await;
    let (dead, killed_at) = (cluster.member(first.id.0), Instant::now());
    let leadership = dead.campaign().await.unwrap();
    cluster.kill(first.id.0);
    assert!(!leadership.is_held() && dead.leader().is_none());
    assert!(matches!(dead.ended().await, Ended::Runtime));
    assert!(matches!(dead.resign(Hold::Default).await, Err(Refused::Ended(Ended::Runtime))));
    let second = cluster.leader().await;
    assert!(second.epoch > first.epoch);
    assert!(killed_at.elapsed() < Duration::from_millis(100), "nobody waits for a timeout");
    let survivor = cluster.member(second.id.0);
    assert_eq!(survivor.counters().gone, 1);

    let before = dead.history();
    let back = cluster.restart(first.id.0);
    assert_eq!(back.history(), before, "the disk remembers");
    assert!(back.status().incarnation > dead.status().incarnation);
    assert_eq!(cluster.leader().await.id, second.id);
    let connected = |other: &Participant| matches!(other.connection, Connection::Connected(_));
    assert!(back.participants().iter().all(connected), "{:?}", back.participants());
    assert_eq!(back.local_addr(), dead.local_addr());
}

/// A split gives each side a leader, unless leadership is exclusive.
#[tokio::test(start_paused = true)]
async fn a_split_network_is_mended() {
    for is_exclusive in [false, true] {
        let cluster = if is_exclusive { exclusive(5) } else { Cluster::of(5) };
        let mut cluster = cluster.start().unwrap();
        cluster.leader().await;
        for (one, other) in [(1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (2, 5)] {
            cluster.cut(one, other);
        }
        let most = cluster.leader_among(&[3, 4, 5]).await;
        if is_exclusive {
            sleep(Duration::from_secs(3)).await;
            assert!(cluster.member(1).leader().is_none_or(|leader| leader.epoch < most.epoch));
        } else {
            assert_ne!(cluster.leader_among(&[1, 2]).await.id, most.id);
        }
        cluster.heal();
        assert!(cluster.leader().await.epoch >= most.epoch);
    }
}

#[tokio::test(start_paused = true)]
async fn leadership_is_handed_over_and_left() {
    let cluster = Cluster::of(3).start().unwrap();
    let first = cluster.leader().await;
    let to = first.id.0 % 3 + 1;
    cluster.member(first.id.0).transfer(NodeId(to)).await.unwrap();
    assert_eq!(cluster.leader().await.id, NodeId(to));
    cluster.member(to).leave().await;
    assert!(matches!(cluster.member(to).ended().await, Ended::Left));
    assert_ne!(cluster.leader().await.id, NodeId(to), "it is not waited for");
}

/// Names that are held through members, with the types that a client of an agent has.
#[tokio::test(start_paused = true)]
async fn names_are_held_by_one_and_then_by_the_next() {
    let mut cluster = exclusive(3).start().unwrap();
    cluster.leader().await;
    let hold = |id: u32, cluster: &Cluster| {
        let election = cluster.member(id).election("backup").unwrap();
        async move { election.campaign(Candidacy::default()).await.unwrap() }
    };
    let first: Leadership = hold(1, &cluster).await;
    let waits = tokio::spawn(hold(2, &cluster));
    first.check().unwrap();
    cluster.pause(1);
    let paused = Instant::now();
    let second = waits.await.unwrap();
    assert!(first.check().is_err() && second.token() > first.token());
    assert!(paused.elapsed() < Exclusive::TTL + Duration::from_secs(8));
    cluster.resume(1);
    first.ended().await;
    second.resign().await.unwrap();
    let third = hold(3, &cluster).await;
    assert!(third.check().is_ok() && third.stop_at() < third.deadline());
}

/// Deadlines of what an arbiter grants are on the clock that the test has stopped, too.
#[tokio::test(start_paused = true)]
async fn what_an_arbiter_grants_ends_when_the_clock_of_the_test_says_so() {
    let mut cluster = exclusive(3).start().unwrap();
    cluster.leader().await;
    let arbiter = Registers::new(cluster.member(1));
    let begun = arbiter.campaign(Name::new("backup").unwrap(), arbiter::Candidacy::default()).await;
    let mut campaign = begun.unwrap();
    let sight = campaign.sight();
    while sight.valid_until().is_none() {
        campaign.changed().await;
    }
    let clock = sight.uptime();
    assert!(matches!(clock, Uptime::Runtime(_)));
    cluster.isolate(1);
    let cut = Instant::now();
    while let Some(until) = sight.valid_until() {
        assert!(clock.now() < until);
        clock.reaches(until).await;
    }
    assert!(cut.elapsed() <= Exclusive::TTL);
}

#[tokio::test(start_paused = true)]
async fn who_is_alone_in_exclusive_mode_leads_no_more_when_it_says_so() {
    let mut cluster = exclusive(3).start().unwrap();
    let leader = cluster.leader().await.id.0;
    (1..=3).filter(|id| *id != leader).for_each(|id| cluster.kill(id));
    sleep(2 * Exclusive::TTL).await;
    let member = cluster.member(leader);
    assert!(member.leader().is_none() && member.status().standing == Standing::Electing);
    (1..=3).filter(|id| *id != leader).for_each(|id| drop(cluster.restart(id)));
    cluster.leader().await;
}

/// Many seeds: members are killed, stopped and cut off, and at no instant two of them may act.
#[tokio::test(start_paused = true)]
async fn whatever_happens_one_leads_at_a_time() {
    let mut led = BTreeSet::new();
    for seed in 0..8 {
        let mut cluster = exclusive(3).seed(seed).start().unwrap();
        cluster.leader().await;
        let mut guards = Vec::new();
        for step in 0..12 {
            let (what, id) = ((seed + step * step) % 5, u32::try_from((seed + step) % 3).unwrap() + 1);
            match what {
                0 => drop(cluster.restart(id)),
                1 => cluster.isolate(id),
                2 => cluster.pause(id),
                3 => cluster.heal(),
                _ => (1..=3).for_each(|id| cluster.resume(id)),
            }
            for _ in 0..100 {
                sleep(Duration::from_millis(7)).await;
                let leads = |id: &u32| cluster.member(*id).status().standing == Standing::Leading;
                for id in (1..=3).filter(leads) {
                    // One that is stopped does not notice that it leads.
                    let guard = timeout(Duration::ZERO, cluster.member(id).campaign()).await;
                    guards.extend(guard.map(|guard| guard.expect("it lives")));
                }
                guards.retain(|guard: &bellwether::Leadership| guard.check().is_ok());
                let may: BTreeSet<NodeId> = guards.iter().map(|guard| guard.node()).collect();
                assert!(may.len() <= 1, "seed {seed}, step {step}: {may:?}");
                led.extend(may);
                guards.truncate(1);
            }
        }
        cluster.heal();
        (1..=3).for_each(|id| cluster.resume(id));
        cluster.leader().await;
    }
    assert_eq!(led.len(), 3, "all had their turn");
}

#[tokio::test(start_paused = true)]
async fn a_configuration_that_cannot_be_is_refused() {
    let even = exclusive(2).start().unwrap_err();
    assert!(matches!(even, JoinError::Config(BadConfig::EvenVoters { found: 2, .. })), "{even}");
}

/// One that no other lists is added as a voter, and removed again.
#[tokio::test(start_paused = true)]
async fn voters_come_and_go() {
    let (new, list) = (NodeId(4), |id: u32| id != 4);
    let cluster = Cluster::of(4).configure(|config| {
        let Peers::Listed(peers) = &mut config.peers else { unreachable!("the kit lists them") };
        if list(config.id.0) {
            peers.remove(&new);
        }
        let mut exclusive = Exclusive::default();
        exclusive.voters = Some((1..=3).map(NodeId).collect());
        config.exclusive = Some(exclusive);
    });
    let cluster = cluster.start().unwrap();
    let leader = cluster.leader_among(&[1, 2, 3]).await.id.0;
    let ids = |of: u32| -> BTreeSet<NodeId> {
        let connected = |other: &Participant| matches!(other.connection, Connection::Connected(_));
        let others = cluster.member(of).participants();
        others.into_iter().filter(connected).filter_map(|other| other.id).collect()
    };
    assert!(!ids(leader).contains(&new), "nobody knows it");
    let address = cluster.member(4).local_addr().to_string();
    let add = MemberChange::Add { node: new, address: Address::new(&address).unwrap() };
    cluster.member(1).change_members(add).await.unwrap();
    assert!(ids(leader).contains(&new) && ids(4).len() == 4);
    assert_eq!(cluster.leader().await.id.0, leader);
    cluster.member(1).change_members(MemberChange::Remove { node: new }).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert!(!ids(leader).contains(&new) && ids(4).len() == 1, "{:?}", ids(4));
}
