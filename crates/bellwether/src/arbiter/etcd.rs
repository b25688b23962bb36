//! An etcd cluster that is there anyway, through its JSON gateway.
//!
//! A name is a prefix, and whoever wants it has a key below it, bound to a lease: `prefix` + `name/` + the lease in hexadecimal. The key
//! that was created first holds the name; its create revision is the token. So it is with `etcdctl lock`, `etcdctl elect` and the
//! package `concurrency` for Go: they wait for ours, and we for theirs. A session that wants a name more than once has more keys,
//! with `.1`, `.2` at the end.
//!
//! | file | what |
//! |---|---|
//! | `gateway.rs` | connections, credentials, which endpoint is asked |
//! | `said.rs` | what the gateway says |
//! | `mirror.rs` | all lines below the prefix, as one watch tells them |
//!
//! **A renewal is certain.** A leader of etcd that was stopped and replaced may go on for a moment and renew a lease that its
//! successor has ended. So each renewal is followed by a read, which a majority confirms, and counts only if the term of the leader
//! is that of the read before.

mod gateway;
mod mirror;
mod said;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::tls::ClientTls;
use super::{Candidacy, Engine, EngineClock, Line, News, Place, Terms, Ticket, Tokens, Trouble};
use crate::elections::Name;
use gateway::Gateway;
use mirror::Mirror;
use said::{Granted, KeyValue, Ranged, Streamed, Txn, base64};

/// Where etcd is, and how it is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EtcdConfig {
    /// `http://host:port`, `https://host:port`, or `host:port`. One is asked at a time; the next if that does not answer.
    pub endpoints: Vec<String>,
    /// What all keys begin with. Everything below it is watched, so it should have nothing else in it.
    pub prefix: String,
    /// For how long a silent holder may act, in whole seconds. etcd makes more of it if it is shorter than it can tell.
    pub ttl: Duration,
    /// A user of etcd, and the password.
    pub user: Option<(String, String)>,
    /// For endpoints that begin with `https`.
    pub tls: Option<ClientTls>,
}

impl EtcdConfig {
    /// What all keys begin with, by default.
    pub const PREFIX: &str = "bellwether/";
    /// For how long a silent holder may act, by default.
    pub const TTL: Duration = Duration::from_secs(10);

    /// With these endpoints.
    pub fn new(endpoints: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let endpoints = endpoints.into_iter().map(Into::into).collect();
        Self { endpoints, prefix: Self::PREFIX.to_owned(), ttl: Self::TTL, user: None, tls: None }
    }
}

/// An etcd cluster.
#[derive(Debug)]
pub struct Etcd {
    gateway: Gateway,
    prefix: String,
    ttl: Duration,
    /// At which endpoint a majority was asked last, and which term it was in.
    confirmed: Mutex<Option<(usize, u64)>>,
}

impl Etcd {
    /// Asks nobody yet.
    ///
    /// # Errors
    /// If the configuration cannot be.
    pub fn new(config: EtcdConfig) -> Result<Self, Trouble> {
        let EtcdConfig { endpoints, prefix, ttl, user, tls } = config;
        // A renewal is tried every third of it, and is two questions.
        let gateway = Gateway::new(&endpoints, user, tls.as_ref(), ttl / 6)?;
        Ok(Self { gateway, prefix, ttl, confirmed: Mutex::new(None) })
    }

    fn key(&self, name: &Name, session: &str, slot: u32) -> String {
        match slot {
            0 => format!("{}{name}/{session}", self.prefix),
            slot => format!("{}{name}/{session}.{slot}", self.prefix),
        }
    }

    /// A question that costs nothing but a majority.
    fn one(&self) -> Value {
        json!({ "key": base64(&self.prefix), "keys_only": true })
    }

    /// All that begins with this.
    async fn range(&self, prefix: &str) -> Result<Ranged, Trouble> {
        self.gateway.ask("/v3/kv/range", &said::range_of(prefix)).await
    }

    async fn txn(&self, key: &str, created: u64, then: Value, otherwise: Value) -> Result<Txn, Trouble> {
        let compare = json!({ "key": base64(key), "target": "CREATE", "result": "EQUAL", "create_revision": created.to_string() });
        let txn = json!({ "compare": [compare], "success": [then], "failure": [otherwise] });
        self.gateway.ask("/v3/kv/txn", &txn).await
    }

    /// The term of the leader that a majority follows, as that endpoint has it.
    async fn term(&self, at: usize) -> Result<u64, Trouble> {
        let read: Ranged = self.gateway.ask_soon(at, "/v3/kv/range", &self.one()).await?;
        Ok(read.header.raft_term)
    }

    /// Renews the lease, until it is certain that the leader of the day did it.
    async fn renewed(&self, lease: &str) -> Result<Duration, Trouble> {
        let mut confirmed = self.confirmed.lock().await;
        let at = self.gateway.at();
        let before = match confirmed.take() {
            Some((there, term)) if there == at => term,
            _ => self.term(at).await?,
        };
        let renewed: Streamed<Granted> =
            self.gateway.ask_soon(at, "/v3/lease/keepalive", &json!({ "ID": lease })).await?;
        let after = self.term(at).await?;
        *confirmed = Some((at, after));
        match renewed.result.ttl {
            0 => Err(Trouble::Gone),
            _ if before != after => Err(self.gateway.unreachable(at, "its leader changed meanwhile")),
            ttl => Ok(Duration::from_secs(ttl)),
        }
    }
}

/// The number of a lease, as JSON has it.
fn lease(session: &str) -> Result<String, Trouble> {
    i64::from_str_radix(session, 16).map(|id| id.to_string()).map_err(|_| Trouble::Gone)
}

impl Engine for Etcd {
    fn terms(&self) -> Terms {
        let (clock, tokens) = (EngineClock::Server, Tokens::ForEver);
        Terms { engine: "etcd", ttl: self.ttl, clock, tokens, is_fair: true }
    }

    async fn open(&self) -> Result<(String, Duration), Trouble> {
        // Anybody may have a lease. Whether names can be read shows who may not have any.
        let _readable: Ranged = self.gateway.ask_all("/v3/kv/range", &self.one()).await?;
        let seconds = self.ttl.as_secs() + u64::from(self.ttl.subsec_nanos() > 0);
        let grant = json!({ "TTL": seconds.to_string(), "ID": "0" });
        let granted: Granted = self.gateway.ask("/v3/lease/grant", &grant).await?;
        Ok((format!("{:x}", granted.id), Duration::from_secs(granted.ttl)))
    }

    async fn renew(&self, session: &str) -> Result<Duration, Trouble> {
        self.renewed(&lease(session)?).await
    }

    async fn close(&self, session: &str) -> Result<(), Trouble> {
        let revoke = json!({ "ID": lease(session)? });
        let _revoked: Value = self.gateway.ask("/v3/lease/revoke", &revoke).await?;
        Ok(())
    }

    async fn enter(
        &self,
        session: &str,
        name: &Name,
        slot: u32,
        candidacy: &Candidacy,
    ) -> Result<Place, Trouble> {
        let key = self.key(name, session, slot);
        let put = json!({ "requestPut": said::put(&key, &candidacy.value, &lease(session)?) });
        let there = json!({ "requestRange": { "key": base64(&key) } });
        let entered = self.txn(&key, 0, put, there).await?;
        let number = match entered.succeeded {
            true => entered.header.revision,
            false => entered.there().ok_or(Trouble::Gone)?.create_revision,
        };
        let ticket = Ticket { session: session.to_owned(), slot, number };
        Ok(Place { ticket, at: number })
    }

    async fn leave(&self, name: &Name, ticket: &Ticket) -> Result<(), Trouble> {
        let key = self.key(name, &ticket.session, ticket.slot);
        let delete = json!({ "requestDeleteRange": { "key": base64(&key) } });
        let there = json!({ "requestRange": { "key": base64(&key), "keys_only": true } });
        self.txn(&key, ticket.number, delete, there).await?;
        Ok(())
    }

    async fn proclaim(&self, name: &Name, ticket: &Ticket, value: &[u8]) -> Result<bool, Trouble> {
        let key = self.key(name, &ticket.session, ticket.slot);
        let put = json!({ "requestPut": said::put(&key, value, &lease(&ticket.session)?) });
        let there = json!({ "requestRange": { "key": base64(&key), "keys_only": true } });
        Ok(self.txn(&key, ticket.number, put, there).await?.succeeded)
    }

    async fn read(&self, name: &Name) -> Result<Line, Trouble> {
        let there = self.range(&format!("{}{name}/", self.prefix)).await?;
        let at = there.header.revision;
        let mirror = Mirror::of(&self.prefix, there);
        Ok(mirror.line(name).unwrap_or(Line { at, ..Line::default() }))
    }

    async fn follow(&self, news: &News) -> Trouble {
        match mirror::follow(&self.gateway, &self.prefix, news).await {
            Ok(never) => match never {},
            Err(trouble) => trouble,
        }
    }
}

/// A key as a ticket of a name, if it is one below that prefix.
fn ticket_of(prefix: &str, there: &KeyValue) -> Option<(Name, Ticket)> {
    let key = std::str::from_utf8(&there.key).ok()?.strip_prefix(prefix)?;
    let (name, mark) = key.rsplit_once('/')?;
    let numbered = mark.rsplit_once('.').and_then(|(session, slot)| Some((session, slot.parse().ok()?)));
    let (session, slot) = numbered.unwrap_or((mark, 0));
    let ticket = Ticket { session: session.to_owned(), slot, number: there.create_revision };
    Some((Name::new(name).ok()?, ticket))
}
