//! Names that a program holds through a member of its own: the same face as through an agent.

use std::future::{pending, ready};
use std::pin::pin;
use std::time::{Duration, Instant};

use bellwether::client::{AskedBack, Candidacy, ClientError, Election, Known, Leadership, Over, Standing};
use bellwether::proto::tenure;
use bellwether::{Ended, GrantKind, Member, Refused};
use tokio::process::Command;
use tokio::sync::mpsc;

use super::elections::three;
use super::{OnDrop, soon};

fn backup(member: &Member) -> Election {
    member.election("backup").unwrap()
}

fn of_kind(kind: GrantKind) -> Candidacy {
    Candidacy { kind: Some(kind), ..Candidacy::default() }
}

async fn hold(member: &Member) -> Leadership {
    soon("it is held", backup(member).campaign(Candidacy::default())).await.unwrap()
}

#[tokio::test]
async fn a_name_is_held_proclaimed_observed_and_given_back() {
    let (_dir, members) = three().await;
    for kind in GrantKind::ALL {
        let election = members[0].election(kind.name()).unwrap();
        let mut observer = members[2].election(kind.name()).unwrap().observe();
        assert_eq!(observer.next().await.unwrap(), None, "there is no such election");
        let candidacy = Candidacy { value: "here".to_owned(), ..of_kind(kind) };
        let leadership = soon("it is held", election.campaign(candidacy)).await.unwrap();
        assert_eq!((leadership.name(), leadership.node()), (kind.name(), Some(members[0].status().id)));
        assert!(leadership.session().is_none(), "no agent is asked");
        assert!(leadership.is_held() && leadership.check().is_ok());
        let by_clock = kind == GrantKind::Lease;
        let (until, deadline) = (leadership.valid_until(), leadership.deadline());
        assert_eq!(
            (until.is_some(), deadline.is_some(), leadership.stop_at().is_some()),
            (by_clock, by_clock, by_clock)
        );
        assert!(until.is_none_or(|until| until > Instant::now()) && leadership.stop_at() <= deadline);

        let seen: Known = soon("it is seen", observer.next()).await.unwrap().expect("it is there");
        assert_eq!((seen.token, seen.value.as_str(), seen.kind), (leadership.token(), "here", kind));
        assert_eq!(seen.holder.map(|holder| holder.node), Some(leadership.node()));
        assert!(seen.since.ends_with('Z'), "{}", seen.since);
        soon("it proclaims", leadership.proclaim("there")).await.unwrap();
        let seen = soon("it is seen", observer.next()).await.unwrap().expect("it is there");
        assert_eq!(seen.value, "there");
        let read = soon("a majority says", election.read()).await.unwrap().expect("it is there");
        assert_eq!((read.token, read.value), (leadership.token(), "there".to_owned()));
        assert_eq!(election.known().await.unwrap().expect("it is there").kind, kind);

        // Whoever does not say which kind takes the one that there is.
        let waits = tokio::spawn({
            let election = members[1].election(kind.name()).unwrap();
            async move { election.campaign(Candidacy::default()).await.unwrap() }
        });
        let (token, one_more) = (leadership.token(), leadership.clone());
        let cancelled = one_more.cancellation();
        assert!(!cancelled.is_cancelled());
        soon("it resigns", leadership.resign()).await.unwrap();
        assert_eq!(one_more.standing(), Standing::Over(Over::GivenBack));
        assert_eq!(one_more.check().unwrap_err().epoch, token);
        soon("whoever listens is told", cancelled.cancelled()).await;
        let next = soon("the next one holds it", waits).await.unwrap();
        assert!(next.token() > token && next.check().is_ok());
    }
}

#[tokio::test]
async fn the_last_guard_keeps_the_name_and_a_dropped_wait_ends() {
    let (_dir, members) = three().await;
    let first = hold(&members[0]).await;
    let one_more = first.clone();
    let second = tokio::spawn({
        let member = members[1].clone();
        async move { hold(&member).await }
    });
    tokio::select! {
        biased;
        _ = hold(&members[2]) => panic!("it is held by the first"),
        () = ready(()) => {} // It has begun to wait, and waits no more.
    }
    drop(first);
    assert!(one_more.check().is_ok(), "a clone is one more guard");
    let token = one_more.token();
    drop(one_more);
    let second = soon("the other holds it", second).await.unwrap();
    assert!(second.token() > token);
    drop(second);
    assert!(hold(&members[2]).await.token() > token, "nobody else waits for it");
}

#[tokio::test]
async fn work_ends_before_a_member_leaves_and_the_next_one_begins() {
    let (_dir, members) = three().await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let mut runs = Vec::new();
    for member in &members[..2] {
        let (member, tell) = (member.clone(), tell.clone());
        runs.push(tokio::spawn(async move {
            let work = |leadership: Leadership| {
                let (node, tell) = (leadership.node().expect("it is held through a member"), tell.clone());
                async move {
                    tell.send((node, true)).unwrap();
                    let ends = tell.clone();
                    let _ends = OnDrop(move || {
                        let _ = ends.send((node, false));
                    });
                    pending::<()>().await;
                }
            };
            backup(&member).run(Candidacy::default(), work).await.unwrap_err()
        }));
    }
    let (first, began) = soon("one works", told.recv()).await.unwrap();
    assert!(began);
    let leaves = members.iter().find(|member| member.status().id == first).unwrap();
    let leaving = tokio::spawn({
        let leaves = leaves.clone();
        async move { leaves.leave().await }
    });
    assert_eq!(soon("its work ends", told.recv()).await, Some((first, false)));
    let (second, began) = soon("the other works", told.recv()).await.unwrap();
    assert!(began && second != first);
    soon("it leaves", leaving).await.unwrap();
    let run = runs.remove(if members[0].status().id == first { 0 } else { 1 });
    let over = soon("it works no more", run).await.unwrap();
    assert!(matches!(over, ClientError::Member(Refused::Ended(Ended::Left))), "{over}");
}

/// What does not stop is not waited for for ever.
#[tokio::test]
async fn a_member_that_leaves_says_so_and_takes_back_what_is_not_given() {
    let (_dir, members) = three().await;
    let leadership = hold(&members[0]).await;
    let leaving = tokio::spawn({
        let member = members[0].clone();
        async move { member.leave().await }
    });
    soon("it is asked back", leadership.ended()).await;
    let standing = leadership.standing();
    assert!(
        matches!(standing, Standing::AskedBack { why: AskedBack::AgentLeaves, left: Some(left) } if left > Duration::ZERO),
        "{standing:?}"
    );
    assert!(leadership.check().is_ok() && !leadership.is_held(), "there is time to stop");
    soon("it leaves", leaving).await.unwrap();
    assert!(leadership.check().is_err());
    assert_eq!(leadership.standing(), Standing::Over(Over::AgentEnds));
    let token = leadership.token();
    assert!(hold(&members[1]).await.token() > token);
}

#[tokio::test]
async fn without_a_majority_a_name_is_held_no_more() {
    let (_dir, members) = three().await;
    let leadership = hold(&members[0]).await;
    for other in &members[1..] {
        soon("it leaves", other.leave()).await;
    }
    soon("it is time to stop", leadership.ended()).await;
    assert!(leadership.check().is_ok() && !leadership.is_held(), "there is time to stop");
    soon("validity ends", async {
        while leadership.check().is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(leadership.standing(), Standing::Over(Over::Lease));
}

#[tokio::test]
async fn a_process_and_a_thread_keep_the_name_until_they_end() {
    let (_dir, members) = three().await;
    let leadership = hold(&members[0]).await;
    let token = leadership.token();
    let thread = leadership.spawn_blocking(|guard| (guard.is_held(), guard.token()));
    assert_eq!(soon("it returns", thread).await.unwrap(), (true, token));
    let mut sleep = Command::new("sleep");
    let mut sleeps = pin!(leadership.child(sleep.arg("600")));
    tokio::select! {
        biased;
        exit = &mut sleeps => panic!("{exit:?}"),
        () = ready(()) => {} // It has begun.
    }
    let waits = tokio::spawn({
        let member = members[1].clone();
        async move { hold(&member).await }
    });
    soon("it resigns", leadership.clone().resign()).await.unwrap();
    let exit = soon("it is killed", sleeps).await.unwrap();
    assert!(!exit.success());
    assert!(soon("the next one holds it", waits).await.unwrap().token() > token);
    assert!(leadership.child(&mut Command::new("true")).await.is_err(), "nothing is started any more");
}

#[tokio::test]
async fn what_cannot_be_is_refused() {
    let (_dir, members) = three().await;
    assert!(members[0].election("").is_err());
    let held = soon("it is held", backup(&members[0]).campaign(of_kind(GrantKind::Token))).await.unwrap();
    let other = soon("an answer", backup(&members[0]).campaign(of_kind(GrantKind::Lease))).await.unwrap_err();
    assert_eq!(other.to_string(), "that name is of kind token");
    assert!(other.is_bad_input() && !other.is_passing());
    let long = soon("an answer", held.proclaim(&"x".repeat(4097))).await.unwrap_err();
    assert!(
        matches!(&long, ClientError::Member(Refused::Cannot(tenure::Refused::Election(_))))
            && long.is_bad_input(),
        "{long}"
    );
    soon("it leaves", members[0].leave()).await;
    let late = soon("an answer", backup(&members[0]).campaign(Candidacy::default())).await.unwrap_err();
    assert!(matches!(late, ClientError::Member(Refused::Ended(Ended::Left))), "{late}");
    let mut observer = backup(&members[0]).observe();
    let over = async { while observer.next().await.is_ok() {} };
    soon("nothing more is observed", over).await;
}
