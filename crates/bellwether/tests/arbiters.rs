//! Arbiters over engines: one in memory, and what engines of other makes refuse before they are asked.

#[path = "arbiters/shelf.rs"]
mod shelf;

use std::sync::Arc;
use std::time::Duration;

use bellwether::arbiter::conformance::{Bench, passes};
use bellwether::arbiter::{
    Campaign, Candidacy, Denied, Doing, Kept, Observe, Seen, Sight, Trouble, Uptime, VALUE_MAX,
};
use bellwether::client::{self, ClientError, Election, Observer};
use bellwether::elections::{Name, State};
use bellwether::{GrantKind, Refused};
use tokio::time::timeout;

use shelf::{Flaw, Shelf, Store};

/// What takes longer does not happen.
const PATIENCE: Duration = Duration::from_secs(30);

async fn benches(flaw: Option<Flaw>) -> [Bench; 3] {
    let store = Store::new(flaw);
    let mut benches = Vec::new();
    for _ in 0..3 {
        let (shelf, link) = Shelf::of(&store);
        let kept = Kept::open(shelf).await.expect("it is there");
        benches.push(Bench { arbiter: Arc::new(kept), link: Arc::new(link) });
    }
    benches.try_into().unwrap_or_else(|_| unreachable!("there are three"))
}

#[tokio::test]
async fn an_engine_in_memory_passes() {
    passes(&benches(None).await).await;
}

/// A test that lets everything pass is none.
#[tokio::test]
async fn engines_with_a_flaw_do_not_pass() {
    let flaws = [Flaw::TokensRepeat, Flaw::SessionsEndEarly, Flaw::LeavingIsForgotten, Flaw::ValuesAreLost];
    let mut passed = Vec::new();
    for flaw in flaws {
        let benches = benches(Some(flaw)).await;
        passed.push((flaw, tokio::spawn(async move { timeout(PATIENCE, passes(&benches)).await })));
    }
    for (flaw, passed) in passed {
        assert!(!matches!(passed.await, Ok(Ok(()))), "{flaw:?} is not noticed");
    }
}

#[tokio::test]
async fn a_program_holds_a_name_as_through_an_agent() {
    let [one, two, _] = benches(None).await;
    let election = Election::with(Arc::clone(&one.arbiter), "backup").unwrap();
    let candidacy = client::Candidacy { value: "here".to_owned(), ..client::Candidacy::default() };
    let leadership = timeout(PATIENCE, election.campaign(candidacy)).await.unwrap().unwrap();
    assert!(leadership.is_held() && leadership.check().is_ok());
    assert_eq!((leadership.node(), leadership.session().is_none()), (None, true));
    let other = Election::with(two.arbiter, "backup").unwrap();
    let mut observer: Observer = other.observe();
    let seen = loop {
        if let Some(seen) = timeout(PATIENCE, observer.next()).await.unwrap().unwrap() {
            break seen;
        }
    };
    assert_eq!((seen.token, seen.value.as_str(), seen.kind), (leadership.token(), "here", GrantKind::Lease));
    timeout(PATIENCE, leadership.proclaim("there")).await.unwrap().unwrap();
    let read = timeout(PATIENCE, other.read()).await.unwrap().unwrap().expect("it is held");
    assert_eq!((read.value.as_str(), read.holder.map(|holder| holder.node)), ("there", Some(None)));
    // Cut off, it stops in time, whether anybody is told or not.
    one.link.cut();
    timeout(PATIENCE, leadership.ended()).await.unwrap();
    let next = timeout(PATIENCE, other.campaign(client::Candidacy::default())).await.unwrap().unwrap();
    assert!(leadership.check().is_err() && next.token() > leadership.token());
    one.link.heal();
}

#[tokio::test]
async fn what_an_engine_cannot_do_is_refused() {
    let [one, ..] = benches(None).await;
    let name = Name::new("backup").unwrap();
    let candidacy = Candidacy { kind: Some(GrantKind::Token), ..Candidacy::default() };
    let denied = one.arbiter.campaign(name.clone(), candidacy).await.unwrap_err();
    assert_eq!(denied.to_string(), "that name is of kind lease");
    let candidacy = Candidacy { value: vec![0; VALUE_MAX + 1].into(), ..Candidacy::default() };
    let denied: Denied = one.arbiter.campaign(name.clone(), candidacy).await.unwrap_err();
    assert_eq!(denied.to_string(), "a value has at most 4096 bytes");
    assert!(matches!(ClientError::from(denied), ClientError::Member(Refused::Cannot(_))));
    assert!(one.arbiter.known(&name).is_none() && one.arbiter.asks_back().borrow().is_none());
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_said_at_once() {
    let (shelf, _link) = Shelf::of(&Store::new(Some(Flaw::IsNotThere)));
    let trouble = Kept::open(shelf).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Unreachable { .. }) && !trouble.is_bad_input());
    assert_eq!(trouble.to_string(), "no shelf answers at memory: it is not there");
}

#[cfg(feature = "etcd")]
#[test]
fn what_no_etcd_can_be_is_said_before_it_is_asked() {
    use bellwether::arbiter::{ClientTls, Etcd, EtcdConfig};

    let mut config = EtcdConfig::new(["127.0.0.1:2379"]);
    assert_eq!((config.ttl, config.prefix.as_str()), (EtcdConfig::TTL, EtcdConfig::PREFIX));
    assert!(Etcd::new(config.clone()).is_ok());
    for odd in ["ftp://here:1", "here", "https://here:1"] {
        config.endpoints = vec![odd.to_owned()];
        let trouble = Etcd::new(config.clone()).unwrap_err();
        assert!(trouble.is_bad_input() && trouble.to_string().contains(odd), "{trouble}");
    }
    config.tls = Some(ClientTls { ca: "no certificate".to_owned(), identity: None });
    let trouble = Etcd::new(config).unwrap_err();
    assert!(trouble.to_string().starts_with("the certificate of the engine's authority"), "{trouble}");
}

#[cfg(feature = "postgres")]
#[test]
fn what_no_database_can_be_is_said_before_it_is_asked() {
    use bellwether::arbiter::{Postgres, PostgresConfig};

    let config = PostgresConfig::new("postgres://user:secret@127.0.0.1/postgres");
    assert_eq!(config.ttl, PostgresConfig::TTL);
    let postgres = Postgres::new(&config).unwrap();
    assert!(!format!("{postgres:?}").contains("secret"), "what is secret is not shown");
    let trouble = Postgres::new(&PostgresConfig::new("postgres://here:odd")).unwrap_err();
    assert!(trouble.is_bad_input() && trouble.to_string().starts_with("url: found"), "{trouble}");
    let schema = Postgres::schema();
    assert!(schema.contains("CREATE SCHEMA IF NOT EXISTS bellwether") && schema.contains("FUNCTION fence"));
}

#[tokio::test]
async fn an_arbiter_may_be_asked_without_a_guard() {
    let [one, two, _] = benches(None).await;
    let name = Name::new("backup").unwrap();
    let begins: Doing<'_, Result<Box<dyn Campaign>, Denied>> =
        one.arbiter.campaign(name.clone(), Candidacy::default());
    let mut campaign = begins.await.unwrap();
    let sight: Arc<dyn Sight> = campaign.sight();
    let held = timeout(PATIENCE, async {
        while sight.valid_until().is_none() {
            campaign.changed().await;
        }
    });
    held.await.unwrap();
    assert_eq!(sight.uptime(), Uptime::Machine);
    let State::Held { token } = sight.state() else { panic!("{sight:?}") };
    let mut observer: Box<dyn Observe> = two.arbiter.observe(&name);
    let seen: Seen = loop {
        if let Some(seen) = timeout(PATIENCE, observer.next()).await.unwrap().flatten() {
            break seen;
        }
    };
    assert_eq!((seen.token, seen.waiting, seen.holder.is_some()), (token, 0, true));
    drop(campaign);
    assert_eq!((sight.state(), sight.check(token).unwrap_err().epoch), (State::Over, token));
}
