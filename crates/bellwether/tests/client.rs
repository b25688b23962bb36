//! A program beside an agent: what it holds, for how long, and what becomes of it when the agent goes.

#![cfg(target_os = "linux")]

#[path = "stand_in/stand_in.rs"]
mod stand_in;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bellwether::client::{
    AskedBack, BadName, Candidacy, Changes, Checked, Client, ClientError, Death, Election, Holder, Known,
    Leadership, Observer, Over, Page, Refusal, Session, SessionKey, Standing,
};
use bellwether::{Backoff, GrantKind, NodeId};
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::mpsc;
use tokio::time::timeout;

use stand_in::{Agent, TOKEN, World};

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(20);
/// Long enough that a busy machine loses no lease.
const TTL: Duration = Duration::from_secs(2);

async fn soon<T>(what: impl Future<Output = T>) -> T {
    timeout(PATIENCE, what).await.expect("it happens in time")
}

/// Waits for what the stand-in knows.
async fn known(mut is_so: impl FnMut() -> bool) {
    soon(async {
        let mut looks = tokio::time::interval(Duration::from_millis(5));
        while !is_so() {
            looks.tick().await;
        }
    })
    .await;
}

fn uptime() -> Duration {
    let up = clock_gettime(ClockId::Boottime);
    Duration::new(up.tv_sec.try_into().unwrap(), up.tv_nsec.try_into().unwrap())
}

async fn client(agent: &Agent<'_>) -> Client {
    Client::connect(agent.socket.clone()).await.unwrap()
}

fn over_tcp(agent: &Agent<'_>) -> Client {
    Client::at(&format!("http://{}/", agent.api)).with_token(TOKEN)
}

async fn hold(client: &Client, name: &str) -> Leadership {
    soon(client.election(name).unwrap().campaign(Candidacy::default())).await.unwrap()
}

#[tokio::test]
async fn a_name_is_held_proclaimed_observed_and_given_back() {
    let world = World::new(TTL);
    let agent = world.agent(3);
    let client = client(&agent).await;
    let backup: Election = client.election("backup").unwrap();
    let mut observer: Observer = backup.observe();
    assert_eq!(soon(observer.next()).await.unwrap(), None, "there is no such election");
    let candidacy =
        Candidacy { kind: Some(GrantKind::Lease), value: "here".to_owned(), ..Candidacy::default() };
    let leadership = soon(backup.campaign(candidacy)).await.unwrap();
    assert_eq!((leadership.name(), leadership.node(), backup.name()), ("backup", Some(NodeId(3)), "backup"));
    assert_eq!(leadership.standing(), Standing::Held);
    assert!(leadership.is_held() && leadership.check().is_ok());
    let (stop_at, deadline) = (leadership.stop_at().unwrap(), leadership.deadline().unwrap());
    assert!(uptime() < stop_at && stop_at < deadline && deadline < uptime() + TTL);
    assert!(leadership.valid_until().unwrap() > Instant::now());

    let token = leadership.token();
    let seen: Known = soon(observer.next()).await.unwrap().expect("it is there");
    assert_eq!((seen.name.as_str(), seen.kind, seen.value.as_str()), ("backup", GrantKind::Lease, "here"));
    let holder: Holder = seen.holder.expect("it is held");
    assert_eq!((holder.node, seen.token, seen.waiting), (Some(NodeId(3)), token, 0));
    assert_eq!(holder.session, leadership.session().unwrap().key().id());
    assert!(seen.age < PATIENCE && seen.since.ends_with('Z'));
    soon(leadership.proclaim("there")).await.unwrap();
    assert_eq!(soon(observer.next()).await.unwrap().unwrap().value, "there");
    assert_eq!(soon(backup.known()).await.unwrap(), soon(backup.read()).await.unwrap());

    soon(leadership.clone().resign()).await.unwrap();
    assert_eq!(leadership.standing(), Standing::Over(Over::GivenBack));
    assert_eq!(leadership.check().unwrap_err().epoch, token);
    assert_eq!((leadership.token(), leadership.deadline()), (token, Some(Duration::ZERO)));
    assert_eq!(soon(observer.next()).await.unwrap().unwrap().holder, None);
    assert_eq!(world.holder("backup"), None);
    assert!(hold(&client, "backup").await.token() > token);
}

#[tokio::test]
async fn dropping_the_last_guard_gives_the_name_back_and_a_dropped_wait_ends() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let client = client(&agent).await;
    let first = hold(&client, "backup").await;
    let one_more = first.clone();
    let waits = client.clone();
    let second = tokio::spawn(async move { hold(&waits, "backup").await });
    let third = {
        let waits = client.clone();
        tokio::spawn(async move { hold(&waits, "backup").await })
    };
    known(|| world.state().waiting("backup") == 2).await;
    third.abort();
    known(|| world.state().waiting("backup") == 1).await;
    drop(first);
    assert!(one_more.check().is_ok(), "a clone is one more guard");
    assert!(!second.is_finished());
    drop(one_more);
    let second = soon(second).await.unwrap();
    drop(second);
    known(|| world.holder("backup").is_none() && world.state().sessions() == 0).await;
}

/// What another has taken over is the other's: nothing of it is given back.
#[tokio::test]
async fn a_session_that_was_taken_over_is_left_to_whoever_has_it() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let world = World::new(TTL);
    let agent = world.agent(1);
    let client = client(&agent).await;
    let leadership = hold(&client, "backup").await;
    let (key, token) = (leadership.session().unwrap().key(), leadership.token());
    let body = format!(
        r#"{{"resume":{{"session":"{}","secret":"{}","holds":[{{"name":"backup","token":{token}}}]}}}}"#,
        key.id(),
        key.secret()
    );
    let mut other = tokio::net::UnixStream::connect(&agent.socket).await.unwrap();
    let ask = format!("POST /v1/session HTTP/1.0\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    other.write_all(ask.as_bytes()).await.unwrap();
    let mut said = String::new();
    while !said.contains("event: elected") {
        let mut some = [0; 4096];
        let read = soon(other.read(&mut some)).await.unwrap();
        assert!(read > 0, "{said}");
        said.push_str(&String::from_utf8_lossy(&some[..read]));
    }
    known(|| leadership.standing() == Standing::Over(Over::Session)).await;
    drop(leadership);
    drop(hold(&client, "other").await);
    known(|| world.holder("other").is_none()).await;
    assert_eq!(world.holder("backup"), Some((1, token)));
}

#[tokio::test]
async fn validity_ends_by_itself_and_work_is_stopped_before() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let leadership = hold(&client(&agent).await, "backup").await;
    let mut changes: Changes = leadership.changes();
    let first = leadership.deadline().unwrap();
    assert!(soon(changes.next()).await);
    assert!(leadership.deadline().unwrap() > first, "it is put off");
    agent.cut(true);
    soon(leadership.ended()).await;
    assert!(leadership.check().is_ok(), "there is time to stop");
    assert!(!leadership.is_held());
    let deadline = leadership.deadline().unwrap();
    known(|| leadership.check().is_err()).await;
    assert!(uptime() >= deadline);
    assert_eq!(leadership.standing(), Standing::Over(Over::Lease));
    known(|| world.holder("backup").is_none()).await;
}

#[tokio::test]
async fn what_is_asked_back_may_be_acted_on_until_it_is_given_back() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let leadership = hold(&client(&agent).await, "backup").await;
    world.state().ask_back("backup", "resign");
    soon(leadership.ended()).await;
    let Standing::AskedBack { why: AskedBack::Resign, left: Some(left) } = leadership.standing() else {
        panic!("{:?}", leadership.standing());
    };
    assert!(left <= world.state().release && leadership.check().is_ok());
    world.state().release = Duration::from_millis(10);
    world.state().ask_back("backup", "transfer");
    known(|| leadership.standing() == Standing::Over(Over::Transferred)).await;
    assert!(leadership.check().is_err());
    // It does not wait again without being asked to.
    known(|| world.state().waiting("backup") == 0 && world.holder("backup").is_none()).await;
}

#[tokio::test]
async fn an_agent_that_comes_back_in_time_takes_over_what_is_held() {
    let world = World::new(2 * TTL);
    let mut agent = world.agent(1);
    let client = client(&agent).await;
    let session: Session = soon(client.session()).await.unwrap();
    let held = soon(session.campaign("backup", Candidacy::default())).await.unwrap();
    let alone = hold(&client, "alone").await;
    let other = client.clone();
    let waits = tokio::spawn(async move {
        let session = soon(other.session()).await.unwrap();
        session.campaign("backup", Candidacy::default()).await
    });
    known(|| world.state().waiting("backup") == 1).await;
    let (token, key) = (held.token(), session.key());
    agent.crash();
    assert!(held.check().is_ok(), "it is valid still");
    agent.start();
    known(|| held.token() > token && alone.token() > 101).await;
    assert_eq!((world.holder("backup"), held.standing()), (Some((1, token + 1)), Standing::Held));
    assert_ne!(session.key().id(), key.id());
    let mut changes = held.changes();
    let deadline = held.deadline();
    assert!(soon(changes.next()).await && held.deadline() > deadline, "the new agent puts it off");
    known(|| world.state().waiting("backup") == 1).await;
    drop(held);
    let next = soon(waits).await.unwrap().expect("who waited waits again");
    assert!(next.token() > token + 1);
}

#[tokio::test]
async fn an_agent_that_comes_back_too_late_finds_nothing_to_take_over() {
    let world = World::new(Duration::from_millis(500));
    let mut agent = world.agent(1);
    let client = client(&agent).await;
    let session = soon(client.session()).await.unwrap();
    let held = soon(session.campaign("backup", Candidacy::default())).await.unwrap();
    agent.crash();
    soon(held.ended()).await;
    known(|| held.check().is_err()).await;
    agent.start();
    drop(held);
    let again = soon(session.campaign("backup", Candidacy::default())).await.unwrap();
    assert!(again.check().is_ok());
}

#[tokio::test]
async fn a_stream_that_breaks_is_opened_again_and_nothing_is_lost() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let client = client(&agent).await;
    let session = soon(client.session()).await.unwrap();
    let held = soon(session.campaign("backup", Candidacy::default())).await.unwrap();
    let (token, id) = (held.token(), session.key().id().to_owned());
    for _ in 0..3 {
        agent.break_streams();
        let mut changes = held.changes();
        let deadline = held.deadline();
        while held.deadline() <= deadline {
            assert!(soon(changes.next()).await);
        }
    }
    assert_eq!((held.token(), session.key().id()), (token, id.as_str()));
}

#[tokio::test]
async fn a_session_holds_many_names_and_each_is_given_back_alone() {
    let world = World::new(TTL);
    let agent = world.agent(2);
    let client = client(&agent).await;
    let session = soon(client.session()).await.unwrap();
    assert_eq!((session.death(), session.node()), (Death::Certain, NodeId(2)));
    let strange = soon(session.bind(1)).await.unwrap_err();
    assert!(matches!(strange, ClientError::Refused { refusal: Refusal::Forbidden, .. }), "{strange}");
    session.unbind(1);
    let names = ["a", "b/c", "größe"];
    let mut held = Vec::new();
    for name in names {
        held.push(soon(session.campaign(name, Candidacy::default())).await.unwrap());
    }
    assert_eq!(world.state().sessions(), 1);
    let twice = soon(session.campaign("a", Candidacy::default())).await.unwrap_err();
    assert!(matches!(&twice, ClientError::Campaigns { name } if name == "a") && twice.is_bad_input());
    let deadline = held[2].deadline();
    let mut changes = held[2].changes();
    assert!(soon(changes.next()).await && held[2].deadline() > deadline);

    soon(held.remove(0).resign()).await.unwrap();
    assert_eq!(world.holder("a"), None);
    let page: Page = soon(client.elections(None, 2)).await.unwrap();
    assert_eq!(page.elections.iter().map(|known| known.name.as_str()).collect::<Vec<_>>(), names[..2]);
    let next = page.next.expect("there are more");
    let page = soon(client.elections(Some(&next), 2)).await.unwrap();
    assert_eq!((page.elections[0].name.as_str(), page.next), (names[2], None));
    let token = held[1].token();
    assert!(matches!(soon(client.check(names[2], token)).await.unwrap(), Checked::Until(_)));
    assert_eq!(soon(client.check(names[2], token - 1)).await.unwrap(), Checked::No);
    soon(client.delete("a")).await.unwrap();
    let refused = soon(client.delete(names[2])).await.unwrap_err();
    assert!(matches!(refused, ClientError::Refused { refusal: Refusal::NotNow, .. }), "{refused}");
    assert_eq!(soon(client.known("a")).await.unwrap(), None);

    // One that is given back can be campaigned for again at once, in the same session.
    let before = world.holder(names[1]);
    drop(held.remove(0));
    let again = soon(session.campaign(names[1], Candidacy::default())).await.unwrap();
    assert!(world.holder(names[1]) > before && again.check().is_ok());
    let key: SessionKey = SessionKey::new(session.key().id(), session.key().secret());
    assert!(!format!("{key:?}").contains(key.secret()));
    soon(client.close(&key)).await.unwrap();
    known(|| again.check().is_err() && held[0].check().is_err()).await;
    assert_eq!(again.standing(), Standing::Over(Over::Session));
}

#[tokio::test]
async fn over_tcp_validity_is_asked_and_death_is_presumed() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let client = over_tcp(&agent);
    let stranger = Client::at(&agent.api.to_string());
    let error = soon(stranger.session()).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { refusal: Refusal::Forbidden, .. }), "{error}");
    assert!(error.is_bad_input() && !error.is_passing());

    let held = hold(&client, "backup").await;
    assert_eq!(held.session().unwrap().death(), Death::Presumed);
    let mut changes = held.changes();
    for _ in 0..3 {
        assert!(soon(changes.next()).await);
    }
    assert!(held.check().is_ok() && held.deadline().unwrap() < uptime() + TTL);
    soon(held.resign()).await.unwrap();
    assert_eq!(world.holder("backup"), None, "it was said aloud");

    let session = soon(client.session()).await.unwrap();
    assert!(matches!(soon(session.bind(std::process::id())).await, Err(ClientError::Refused { .. })));
    let held = soon(session.campaign("backup", Candidacy::default())).await.unwrap();
    agent.cut(true);
    soon(held.ended()).await;
    known(|| held.check().is_err()).await;
    known(|| world.holder("backup").is_none()).await;
}

#[tokio::test]
async fn what_a_store_decides_has_no_deadline() {
    let world = World::new(Duration::from_millis(200));
    let mut agent = world.agent(1);
    let client = client(&agent).await;
    let kind = Some(GrantKind::Token);
    let candidacy = Candidacy { kind, ..Candidacy::default() };
    let held = soon(client.election("table").unwrap().campaign(candidacy)).await.unwrap();
    assert_eq!((held.deadline(), held.stop_at(), held.valid_until()), (None, None, None));
    assert_eq!(soon(client.check("table", held.token())).await.unwrap(), Checked::ByStore);
    let token = held.token();
    agent.crash();
    assert!(held.check().is_ok(), "the store will say");
    agent.start();
    known(|| held.token() > token || held.check().is_err()).await;
    let lease = Candidacy { kind: Some(GrantKind::Lease), ..Candidacy::default() };
    let error = soon(client.election("table").unwrap().campaign(lease)).await.unwrap_err();
    assert!(matches!(error, ClientError::Refused { refusal: Refusal::NotNow, .. }), "{error}");
}

#[tokio::test]
async fn work_runs_while_the_name_is_held_and_again_when_it_is_held_again() {
    let world = World::new(TTL);
    let mut agent = world.agent(1);
    let client = client(&agent).await;
    let (tell, mut told) = mpsc::unbounded_channel();
    let running = Arc::new(AtomicU64::new(0));
    struct Running(Arc<AtomicU64>);
    impl Drop for Running {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let runs = Arc::clone(&running);
    let election = client.election("backup").unwrap();
    let run = tokio::spawn(async move {
        let work = |leadership: Leadership| {
            let (tell, running) = (tell.clone(), Arc::clone(&runs));
            async move {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                let _running = Running(running);
                tell.send(leadership.token()).unwrap();
                std::future::pending::<()>().await;
            }
        };
        election.run(Candidacy::default(), work).await
    });
    let first = soon(told.recv()).await.unwrap();
    world.state().ask_back("backup", "resign");
    let second = soon(told.recv()).await.unwrap();
    assert!(second > first);
    agent.crash();
    known(|| running.load(Ordering::SeqCst) == 0).await;
    agent.start();
    assert!(soon(told.recv()).await.unwrap() > second);
    run.abort();
    known(|| world.holder("backup").is_none() && running.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn work_that_panics_ends_and_gives_the_name_back() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let election = client(&agent).await.election("backup").unwrap();
    let panics = |_| async { panic!("no disk") };
    let error = soon(election.run(Candidacy::default(), panics)).await.unwrap_err();
    assert!(matches!(&error, ClientError::Panicked(why) if why.contains("no disk")), "{error}");
    known(|| world.holder("backup").is_none()).await;
}

#[tokio::test]
async fn priority_goes_first_among_those_that_wait() {
    let world = World::new(TTL);
    let agent = world.agent(1);
    let client = client(&agent).await;
    let holder = hold(&client, "backup").await;
    let mut waits = Vec::new();
    for priority in [1, 7, 3] {
        let election = client.election("backup").unwrap();
        waits.push(tokio::spawn(async move {
            election.campaign(Candidacy { priority, ..Candidacy::default() }).await
        }));
        known(|| world.state().waiting("backup") == waits.len()).await;
    }
    drop(holder);
    let first = soon(&mut waits[1]).await.unwrap().unwrap();
    drop(first);
    soon(&mut waits[2]).await.unwrap().unwrap();
}

#[tokio::test]
async fn where_there_is_no_agent_the_error_says_where_was_looked() {
    let error = Client::connect("/no/such.sock").await.unwrap_err();
    assert!(matches!(&error, ClientError::Unreachable { at, .. } if at == "/no/such.sock"), "{error}");
    assert!(error.is_passing() && !error.is_bad_input());
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap().to_string();
    drop(nobody);
    let client = Client::at(&address);
    let error = soon(client.elections(None, 10)).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("no agent answers at {address}")), "{error}");
    assert_eq!(client.to_string(), address);
    assert_eq!(client.election("").unwrap_err(), BadName::Empty);
    assert!(matches!(soon(client.delete("a\nb")).await, Err(ClientError::Name(BadName::Control))));
}

#[test]
fn pauses_between_failures_grow() {
    let mut backoff = Backoff::default();
    let first = backoff.after(Duration::ZERO);
    assert!(backoff.after(Duration::ZERO) > first);
    assert_eq!(Backoff::new().after(Duration::ZERO), first);
}
