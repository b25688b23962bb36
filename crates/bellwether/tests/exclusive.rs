//! Exclusive leadership: members of one process that vote.

#[path = "exclusive/arbiter.rs"]
mod arbiter;
#[path = "exclusive/elections.rs"]
mod elections;
#[path = "exclusive/embedded.rs"]
mod embedded;
#[path = "../examples/support/loopback.rs"]
mod loopback;
#[cfg(target_os = "linux")]
#[path = "exclusive/paused.rs"]
mod paused;
#[path = "relay/relay.rs"]
mod relay;

use std::future::{Future, pending};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bellwether::member::Hold;
use bellwether::members::{Address, Differs, MemberChange, Unchanged};
use bellwether::proto::tenure;
use bellwether::status::{Connection, ExclusiveStatus, Standing, Vote};
use bellwether::{
    BadConfig, Config, Drift, Exclusive, Expired, GrantKind, Leadership, Member, Mode, NodeId, OnLost,
    Overrun, Peers, Percent, Protocol, Refused,
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(30);

async fn soon<F: Future>(what: &str, future: F) -> F::Output {
    timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("not within {PATIENCE:?}: {what}"))
}

fn exclusive(kind: GrantKind) -> Exclusive {
    let mut exclusive = Exclusive::default();
    exclusive.kind = kind;
    exclusive
}

fn configs(count: u32, terms: &Exclusive) -> (TempDir, Vec<Config>) {
    let (dir, mut configs) = loopback::configs(count).unwrap();
    configs.iter_mut().for_each(|config| config.exclusive = Some(terms.clone()));
    (dir, configs)
}

async fn join(configs: &[Config]) -> Vec<Member> {
    let mut members = Vec::new();
    for config in configs {
        members.push(Member::join(config.clone()).await.unwrap());
    }
    members
}

/// Whoever leads first, and the others.
async fn led(members: &[Member]) -> (Member, Leadership, Vec<Member>) {
    let mut campaigns = JoinSet::new();
    for member in members.iter().cloned() {
        campaigns.spawn(async move { (member.campaign().await.unwrap(), member) });
    }
    let (leadership, leader) = soon("somebody leads", campaigns.join_next()).await.unwrap().unwrap();
    let id = leader.status().id;
    let others = members.iter().filter(|member| member.status().id != id).cloned().collect();
    (leader, leadership, others)
}

#[tokio::test]
async fn one_leads_with_a_token_and_the_next_has_a_larger_one() {
    for kind in GrantKind::ALL {
        let (_dir, configs) = configs(3, &exclusive(kind));
        let members = join(&configs).await;
        let (leader, leadership, others) = led(&members).await;
        let by_clock = kind == GrantKind::Lease;
        let token = leadership.token().expect("that is the mode");
        assert_eq!((leadership.epoch(), leadership.check()), (token, Ok(())));
        assert_eq!(
            (leadership.valid_until().is_some(), leadership.deadline().is_some()),
            (by_clock, by_clock)
        );
        let cancelled = leadership.cancellation();
        assert!(!cancelled.is_cancelled());
        let status = leader.status();
        assert_eq!((status.standing, status.mode), (Standing::Leading, Mode::Exclusive(kind)));
        let exclusive: ExclusiveStatus = status.exclusive.expect("that is the mode");
        assert_eq!((exclusive.token, exclusive.valid_for.is_some()), (Some(token), by_clock));
        assert_eq!((exclusive.needed, exclusive.vote), (2, Vote::Counts));
        soon("it resigns", leadership.resign(Hold::UntilTold)).await.unwrap();
        soon("whoever listens is told", cancelled.cancelled()).await;
        let (next, leadership, _) = led(&others).await;
        assert!(leadership.token() > Some(token), "{kind:?}: {:?} after {token}", leadership.token());
        drop(leadership);
        soon("it hands over", next.transfer(others_than(&next, &others))).await.unwrap();
        for member in members {
            soon("it leaves", member.leave()).await;
        }
    }
}

/// Its file may list those that vote now, or all that shall.
#[tokio::test]
async fn a_member_whose_file_lists_all_that_shall_vote_is_added() {
    let (_dir, mut configs) = configs(5, &exclusive(GrantKind::Lease));
    for config in &mut configs[..3] {
        let Peers::Listed(peers) = &mut config.peers else { unreachable!() };
        peers.retain(|id, _| id.0 <= 3);
    }
    let members = join(&configs[..3]).await;
    let (_, leadership, _) = led(&members).await;
    let token = leadership.token();
    let fourth = Member::join(configs[3].clone()).await.unwrap();
    assert_eq!(fourth.leader(), None, "nobody knows it");
    let address = Address::new(&configs[3].listen.to_string()).unwrap();
    let add = MemberChange::Add { node: NodeId(4), address };
    soon("it is added", members[0].change_members(add.clone())).await.unwrap();
    assert_eq!((leadership.check(), leadership.token()), (Ok(()), token), "nobody was disturbed");
    let told = members[0].status().exclusive.expect("that is the mode");
    let in_force = told.membership.configuration.as_ref().expect("it is known who votes");
    assert!(in_force.is_settled() && in_force.voters.keys().map(|id| id.0).eq(1..=4), "{in_force:?}");
    let differs: Differs = told.differs.expect("its file lists three");
    assert_eq!(
        differs.to_string(),
        "the file lists the voters 1, 2, 3, but 1, 2, 3, 4 vote; the file does not count"
    );
    let again = soon("it is refused", members[1].change_members(add)).await.unwrap_err();
    let votes_already = Unchanged::VotesAlready { node: NodeId(4) };
    assert!(
        matches!(again, Refused::Cannot(tenure::Refused::Members(why)) if why == votes_already),
        "{again}"
    );
}

#[tokio::test]
async fn there_are_no_voters_to_change_where_leadership_is_not_exclusive() {
    let (_dir, configs) = loopback::configs(1).unwrap();
    let member = Member::join(configs[0].clone()).await.unwrap();
    let refused = member.change_members(MemberChange::Remove { node: NodeId(1) }).await.unwrap_err();
    assert!(
        matches!(refused, Refused::Cannot(tenure::Refused::Members(Unchanged::NotExclusive))),
        "{refused}"
    );
}

fn others_than(leader: &Member, members: &[Member]) -> NodeId {
    members.iter().map(|member| member.status().id).find(|id| *id != leader.status().id).unwrap()
}

/// Work is told to end before its time is over. When it is over, nothing says otherwise, whoever knows.
#[tokio::test]
async fn without_a_majority_work_ends_in_time() {
    let (_dir, configs) = configs(3, &exclusive(GrantKind::Lease));
    let members = join(&configs).await;
    let (leader, leadership, others) = led(&members).await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let runner = leader.clone();
    let running = tokio::spawn(async move {
        runner
            .run(|leadership| {
                let tell = tell.clone();
                async move {
                    let _ = tell.send(None);
                    let _stopped = OnDrop(move || {
                        let _ = tell.send(Some(leadership.check()));
                    });
                    pending::<()>().await;
                }
            })
            .await
    });
    assert_eq!(soon("work begins", told.recv()).await, Some(None));
    for other in others {
        soon("it leaves", other.leave()).await;
    }
    let stopped = soon("work ends", told.recv()).await;
    assert_eq!(stopped, Some(Some(Ok(()))), "it ends while it may still act");
    soon("leadership ends", async {
        while leader.leader().is_some() {
            tokio::task::yield_now().await
        }
    })
    .await;
    let expired: Expired = leadership.check().expect_err("it is over");
    assert_eq!(expired.epoch, leadership.epoch());
    assert!(!leadership.is_held());
    let exclusive = leader.status().exclusive.unwrap();
    assert_eq!((exclusive.reached, exclusive.needed, exclusive.token), (1, 2, None));
    drop(leadership);
    soon("it leaves", leader.leave()).await;
    soon("and so does its work", running).await.unwrap().unwrap();
}

struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Whose work it was that did not end. Only one test has such work.
static OVERRUN: AtomicU64 = AtomicU64::new(0);

#[tokio::test]
async fn work_that_does_not_end_is_told_of() {
    let mut terms = exclusive(GrantKind::Lease);
    terms.on_lost = OnLost::Exit(|overrun: Overrun| OVERRUN.store(overrun.token, Ordering::SeqCst));
    let (_dir, configs) = configs(3, &terms);
    let members = join(&configs).await;
    let (leader, leadership, others) = led(&members).await;
    for other in others {
        soon("it leaves", other.leave()).await;
    }
    let told = async {
        while OVERRUN.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await
        }
    };
    soon("it is told of", told).await;
    assert_eq!(OVERRUN.load(Ordering::SeqCst), leadership.epoch());
    assert!(leadership.check().is_err());
    drop(leadership);
    soon("it leaves", leader.leave()).await;
}

/// Tokens grow, whoever is started again: what was granted is on the disks of a majority.
#[tokio::test]
async fn tokens_grow_over_restarts() {
    let (_dir, configs) = configs(3, &exclusive(GrantKind::Token));
    let mut last = 0;
    for _ in 0..3 {
        let members = join(&configs).await;
        let (_, leadership, _) = led(&members).await;
        assert!(leadership.epoch() > last, "{} after {last}", leadership.epoch());
        last = leadership.epoch();
        drop(leadership);
        for member in members {
            soon("it leaves", member.leave()).await;
        }
    }
}

#[tokio::test]
async fn members_with_other_terms_refuse_each_other() {
    let (_dir, mut configs) = configs(3, &exclusive(GrantKind::Lease));
    configs[1].exclusive = None;
    configs[2].exclusive.as_mut().unwrap().drift = Drift(20_000);
    let members = join(&configs).await;
    for member in &members {
        let refused = || {
            let down = |peer: &_| matches!(peer, Connection::Refused(why) if why.contains("exclusive (lease, ttl 1s, drift"));
            member.participants().into_iter().filter(|peer| !peer.is_self).all(|peer| down(&peer.connection))
        };
        soon("all refuse", async {
            while !refused() {
                tokio::task::yield_now().await
            }
        })
        .await;
    }
    for member in members {
        soon("it leaves", member.leave()).await;
    }
}

#[test]
fn what_is_not_said_has_a_default_and_a_drift_is_written_as_a_share() {
    let Exclusive { ttl, drift, kind, .. } = Exclusive::default();
    assert_eq!((ttl, drift, kind), (Exclusive::TTL, Exclusive::DRIFT, GrantKind::Lease));
    assert!(ttl >= Config::HEARTBEAT * Exclusive::HEARTBEATS_IN_TTL);
    assert_eq!((Percent::parse("1%"), Percent(drift).to_string()), (Some(drift), "1%".to_owned()));
    assert_eq!(Percent::parse("one"), None, "expected {}", Percent::EXPECTED);
    assert_eq!(Mode::Exclusive(kind).name(), Mode::EXCLUSIVE);
}

#[test]
fn what_cannot_be_is_refused() {
    type Change = fn(&mut Config, &mut Exclusive);
    let cases: [(Change, &str); 13] = [
        (|config, _| config.protocol = Protocol::Lfa, "exclusive: found protocol lfa, expected fjr"),
        (|config, _| config.peers = Peers::Named(vec!["a:1".to_owned()]), "expected a list of all members"),
        (
            |config, _| config.preempt = Some(Duration::ZERO),
            "preempt: found 0s, expected none with exclusive",
        ),
        (
            |_, terms| terms.ttl = Exclusive::TTL_MAX + Duration::from_secs(1),
            "exclusive.ttl: found 3601s, expected at most",
        ),
        (
            |_, terms| terms.ttl = Duration::from_millis(249),
            "exclusive.ttl: found 249ms, expected at least 5 times the heartbeat, which is 50ms",
        ),
        (
            |_, terms| terms.drift = Drift(500_000),
            "exclusive.drift: found 50%, expected a share above 0% and below 50%",
        ),
        (|_, terms| terms.drift = Drift(0), "exclusive.drift: found 0%"),
        (
            |_, terms| terms.voters = Some(vec![NodeId(1), NodeId(2)]),
            "exclusive.voters: found 2, expected an odd number",
        ),
        (
            |_, terms| terms.voters = Some(vec![NodeId(1), NodeId(2), NodeId(2)]),
            "exclusive.voters: found 2 twice",
        ),
        (
            |_, terms| terms.voters = Some(vec![NodeId(1), NodeId(2), NodeId(9)]),
            "exclusive.voters: found 9, expected ids of members only",
        ),
        (|_, terms| terms.voters = Some(Vec::new()), "exclusive.voters: found 0, expected an odd number"),
        (
            |_, terms| terms.witnesses = vec![NodeId(7)],
            "exclusive.witnesses: found 7, expected ids of members only",
        ),
        (
            |_, terms| terms.witnesses = vec![NodeId(1), NodeId(2), NodeId(3)],
            "expected one at least that may lead",
        ),
    ];
    let (_dir, configs) = configs(3, &exclusive(GrantKind::Lease));
    assert_eq!(configs[0].problems(), []);
    for (change, words) in cases {
        let (mut config, mut terms) = (configs[0].clone(), Exclusive::default());
        change(&mut config, &mut terms);
        config.exclusive = Some(terms);
        let problems: Vec<String> = config.problems().iter().map(ToString::to_string).collect();
        assert!(problems.iter().any(|problem| problem.contains(words)), "{words}: {problems:?}");
    }
    let (_dir, mut even) = loopback::configs(4).unwrap();
    even[0].exclusive = Some(Exclusive::default());
    assert_eq!(even[0].problems(), [BadConfig::EvenVoters { found: 4, all: true }]);
}
