//! Named elections through members of one process.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bellwether::elections::{
    Adoption, Campaign, Candidacy, Declined, Name, Session, State, Watching, WatchingAll,
};
use bellwether::proto::tenure;
use bellwether::{GrantKind, Member, NodeId, Refused};

use super::{PATIENCE, configs, exclusive, join, led, soon};

fn name(name: &str) -> Name {
    Name::new(name).unwrap()
}

fn of_kind(kind: GrantKind) -> Candidacy {
    Candidacy { kind, ..Candidacy::default() }
}

async fn campaign(session: &Session, of: &str, candidacy: Candidacy) -> Campaign {
    soon("the member takes note", session.campaign(name(of), candidacy)).await.unwrap()
}

/// Waits until it holds its name; with which token.
async fn held(campaign: &mut Campaign) -> u64 {
    let waits = async {
        loop {
            if let State::Held { token } = campaign.state() {
                return token;
            }
            campaign.changed().await;
        }
    };
    tokio::time::timeout(PATIENCE, waits).await.unwrap_or_else(|_| panic!("{campaign:?} does not hold it"))
}

fn declined(outcome: Result<(), Refused>) -> Declined {
    match outcome {
        Err(Refused::Cannot(tenure::Refused::Election(why))) => why,
        other => panic!("{other:?}"),
    }
}

pub(super) async fn three() -> (tempfile::TempDir, Vec<Member>) {
    let (dir, configs) = configs(3, &exclusive(GrantKind::Lease));
    let members = join(&configs).await;
    drop(led(&members).await);
    (dir, members)
}

#[tokio::test]
async fn sessions_hold_names_one_after_the_other() {
    let (_dir, members) = three().await;
    for kind in GrantKind::ALL {
        let of = kind.name();
        let (one, two) = (members[0].session().unwrap(), members[1].session().unwrap());
        let mut first = campaign(&one, of, of_kind(kind)).await;
        let token = held(&mut first).await;
        assert_eq!(first.check(token), Ok(()));
        assert_eq!(first.valid_until() == Some(Duration::MAX), kind == GrantKind::Token);
        let mut second = campaign(&two, of, of_kind(kind)).await;
        soon("its place", second.changed()).await;
        assert_eq!(second.state(), State::Waiting { before: Some(0), lost: None });
        assert!(first.check(token).is_ok() && second.valid_until().is_none());
        soon("it is given back", first.release(None)).await.unwrap();
        assert!(held(&mut second).await > token);
        drop(second);
        let mut third = campaign(&one, of, of_kind(kind)).await;
        assert!(held(&mut third).await > token + 1);
    }
}

/// Whoever follows many campaigns has no task for each.
#[tokio::test]
async fn a_campaign_calls_the_last_waker_that_it_was_given() {
    let (_dir, members) = three().await;
    let (one, two) = (members[0].session().unwrap(), members[1].session().unwrap());
    let mut first = campaign(&one, "backup", Candidacy::default()).await;
    held(&mut first).await;
    let mut second = campaign(&two, "backup", Candidacy::default()).await;
    soon("its place", second.changed()).await;
    assert_eq!(second.poll_changed(&Context::from_waker(Waker::noop())), Poll::Pending);
    let changes = tokio::spawn(async move {
        poll_fn(|cx| second.poll_changed(cx)).await;
        held(&mut second).await
    });
    soon("it is given back", first.release(None)).await.unwrap();
    assert!(soon("somebody is told", changes).await.unwrap() > 0);
}

#[tokio::test]
async fn what_cannot_be_is_declined() {
    let (_dir, members) = three().await;
    let session = members[0].session().unwrap();
    let mut campaign = campaign(&session, "backup", of_kind(GrantKind::Token)).await;
    held(&mut campaign).await;
    let again = session.campaign(name("backup"), of_kind(GrantKind::Token)).await;
    assert_eq!(declined(again.map(drop)), Declined::Campaigns);
    let other = members[1].session().unwrap();
    let mut other = soon("noted", other.campaign(name("backup"), of_kind(GrantKind::Lease))).await;
    // Whether it is known there already or not: it does not count.
    match &mut other {
        Ok(campaign) => assert_eq!(
            soon("it does not count", campaign.changed()).await,
            State::Unfit { kind: GrantKind::Token }
        ),
        Err(Refused::Cannot(tenure::Refused::Election(why))) => {
            assert_eq!(*why, Declined::OtherKind { kind: GrantKind::Token })
        }
        Err(other) => panic!("{other:?}"),
    }
    let long: Arc<[u8]> = vec![b'x'; 4097].into();
    assert_eq!(declined(campaign.proclaim(long).await), Declined::TooLong);
    for (of, why) in
        [("backup", Declined::InUse), ("nothing", Declined::Unknown), ("leader", Declined::Reserved)]
    {
        assert_eq!(declined(soon("an answer", members[2].delete_election(&name(of))).await), why);
    }
}

#[tokio::test]
async fn what_a_holder_proclaims_everybody_can_read_and_a_deleted_name_begins_above_its_tokens() {
    let (_dir, members) = three().await;
    let session = members[0].session().unwrap();
    let mut watching: Watching = members[2].observe_election(&name("backup"));
    assert!(watching.next().await.unwrap().is_none(), "there is no such election");
    let mut campaign = campaign(&session, "backup", Candidacy::default()).await;
    let token = held(&mut campaign).await;
    let value: Arc<[u8]> = Arc::from(*b"10.0.0.1:80");
    soon("it proclaims", campaign.proclaim(Arc::clone(&value))).await.unwrap();
    let seen = async {
        loop {
            match watching.next().await.unwrap() {
                Some(election) if election.value == value => return election,
                _ => {}
            }
        }
    };
    let seen = soon("another member hears of it", seen).await;
    assert_eq!((seen.token, seen.holder.map(|holder| holder.node)), (token, Some(NodeId(1))));
    let read = soon("a majority says so", members[1].read_election(&name("backup"))).await.unwrap();
    assert_eq!(read.map(|election| election.value), Some(value));
    soon("it is given back", campaign.release(None)).await.unwrap();
    soon("it is deleted", members[1].delete_election(&name("backup"))).await.unwrap();
    let read = soon("a majority says so", members[2].read_election(&name("backup"))).await.unwrap();
    assert!(read.is_none(), "{read:?}");
    assert!(members[2].known_election(&name("backup")).is_none());
    let mut again = self::campaign(&session, "backup", Candidacy::default()).await;
    assert!(held(&mut again).await > token);
}

#[tokio::test]
async fn names_go_over_to_another_coordinator_and_are_listed_in_pages() {
    const NAMES: usize = 200;
    let (_dir, mut members) = three().await;
    let sessions: Vec<Session> = members.iter().map(|member| member.session().unwrap()).collect();
    let mut campaigns = Vec::new();
    for at in 0..NAMES {
        campaigns.push(campaign(&sessions[at % 3], &format!("job-{at:03}"), Candidacy::default()).await);
    }
    for campaign in &mut campaigns {
        held(campaign).await;
    }
    // Whoever coordinates is the first in the order of ids as long as nobody was suspected; it does not matter if it is not.
    let gone = members.remove(0);
    let mut waiting = Vec::new();
    for at in (0..NAMES).step_by(3) {
        waiting.push(campaign(&sessions[1], &format!("job-{at:03}"), Candidacy::default()).await);
    }
    soon("it leaves", gone.leave()).await;
    for campaign in &mut waiting {
        held(campaign).await;
    }
    for (at, campaign) in campaigns.iter().enumerate().filter(|(at, _)| at % 3 != 0) {
        assert!(matches!(campaign.state(), State::Held { .. }), "{at}: nobody was disturbed");
    }
    let jobs = |member: &Member| {
        let all = member.elections(None, 1_000);
        all.iter().filter(|election| election.name.as_str().starts_with("job-")).count()
    };
    let known = async {
        while members.iter().any(|member| jobs(member) < NAMES) {
            members[0].lease_changes().changed().await.unwrap();
        }
    };
    soon("all names are known to all", known).await;
    let page = members[1].elections(Some(&name("job-099")), 10);
    let names: Vec<&str> = page.iter().map(|election| election.name.as_str()).collect();
    assert_eq!((names.first(), names.len()), (Some(&"job-100"), 10));
}

/// The process of a member ends, and another begins, while a program beside it goes on.
#[tokio::test]
async fn a_session_that_comes_back_goes_on_with_what_it_held() {
    let (_dir, configs) = configs(3, &exclusive(GrantKind::Lease));
    let mut members = join(&configs).await;
    drop(led(&members).await);
    let session = members[0].session().unwrap();
    let mut first = campaign(&session, "backup", Candidacy::default()).await;
    let token = held(&mut first).await;
    let until = first.valid_until().expect("it may act");
    assert!(members[0].lease_valid_until() >= Some(until));
    let other = members[1].session().unwrap();
    let mut second = campaign(&other, "backup", Candidacy::default()).await;
    let gone = members.remove(0);
    soon("it leaves", gone.leave()).await;
    assert_eq!(first.state(), State::Over, "the member has ended");
    drop((first, session, gone));
    let back = soon("it comes back", Member::join(configs[0].clone())).await.unwrap();
    let again = back.session_again(1).unwrap();
    let adopts = Some(Adoption { token, until });
    let mut third = campaign(&again, "backup", Candidacy { adopts, ..Candidacy::default() }).await;
    assert_eq!(held(&mut third).await, token + 1, "{:?}", second.state());
    assert!(third.valid_until() >= Some(until), "what it was told still holds");
    assert!(back.session().unwrap().id() > again.id());
    soon("it is given back", third.release(None)).await.unwrap();
    assert_eq!(held(&mut second).await, token + 2);
}

#[tokio::test]
async fn an_agent_that_leads_for_itself_gives_way_to_a_session() {
    let (_dir, members) = three().await;
    let session = members[1].session().unwrap();
    let mut campaign = campaign(&session, "leader", Candidacy::default()).await;
    let token = held(&mut campaign).await;
    let leads = async {
        while members[1].leader().is_none_or(|leader| leader.epoch != token) {
            members[1].observe().next().await;
        }
    };
    soon("its member says that it leads", leads).await;
    assert_eq!(campaign.check(token), Ok(()));
    soon("it is given back", campaign.release(None)).await.unwrap();
    let (_, leadership, _) = led(&members).await;
    assert!(leadership.token() > Some(token));
}

#[tokio::test]
async fn whoever_watches_all_elections_is_told_of_each_that_changes() {
    let (_dir, members) = three().await;
    let session = members[0].session().unwrap();
    let mut before = campaign(&session, "before", Candidacy::default()).await;
    held(&mut before).await;
    let mut all: WatchingAll = members[0].observe_elections();
    let mut told = async |wanted: &str| {
        let told = async { while !all.next().await.expect("it goes on").contains(&name(wanted)) {} };
        soon("it is told", told).await;
    };
    told("before").await;
    let mut later = campaign(&session, "later", Candidacy::default()).await;
    held(&mut later).await;
    told("later").await;
    soon("it is given back", later.release(None)).await.unwrap();
    while members[0].known_election(&name("later")).is_some_and(|election| election.holder.is_some()) {
        told("later").await;
    }
    soon("it is deleted", members[0].delete_election(&name("later"))).await.unwrap();
    while members[0].known_election(&name("later")).is_some() {
        told("later").await;
    }
    soon("it leaves", members[0].leave()).await;
    let ends = async { while all.next().await.is_some() {} };
    soon("the end is told", ends).await;
}
