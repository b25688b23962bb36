//! A PostgreSQL database that is there anyway.
//!
//! A name is a row with its token, and whoever wants it is a row in another table. All that changes something is a function of the
//! schema, and so one statement: nothing is left half done by a connection that breaks, and a pooler may give each statement another
//! connection. Whoever waits is told by `NOTIFY`, and where that does not get through, with the next renewal.
//!
//! | file | what |
//! |---|---|
//! | `schema.sql`, `fence.sql` | the schema, and the function that refuses old tokens |
//! | `lane.rs` | a connection, made again when it breaks |
//! | `said.rs` | what the functions say |
//! | `tls.rs` | connections over TLS |

mod lane;
mod said;
mod tls;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_postgres::types::{ToSql, Type};

use super::tls::ClientTls;
use super::{Candidacy, Engine, EngineClock, Line, News, Place, Terms, Ticket, Tokens, Trouble};
use crate::elections::Name;
use crate::uptime;
use lane::Lane;
use said::{Renewed, Row};

/// The version of the schema that this speaks with.
const VERSION: i32 = 1;
const SCHEMA: &str = include_str!("postgres/schema.sql");
const FENCE: &str = include_str!("postgres/fence.sql");
/// The function must find its table wherever it is called from.
const AFTER: &str = "ALTER FUNCTION bellwether.fence(text, bigint) SET search_path = bellwether, pg_temp;\n";

/// A question has so long to be answered.
const PATIENCE: Duration = Duration::from_secs(5);
/// A renewal has less, and this at least.
const PATIENCE_MIN: Duration = Duration::from_millis(250);

/// Where the database is, and how it is used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PostgresConfig {
    /// `postgres://user:password@host/database`, or `host=… user=…`. Of several hosts the one counts that takes writes.
    pub url: String,
    /// For how long a silent holder may act.
    pub ttl: Duration,
    /// For servers that want TLS.
    pub tls: Option<ClientTls>,
}

impl PostgresConfig {
    /// For how long a silent holder may act, by default.
    pub const TTL: Duration = Duration::from_secs(10);

    /// That database.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), ttl: Self::TTL, tls: None }
    }
}

/// A PostgreSQL database.
#[derive(Debug)]
pub struct Postgres {
    ttl: Duration,
    /// Where something may have to wait for a lock.
    work: Arc<Lane>,
    /// Where nothing does.
    renewals: Lane,
    listens: Lane,
    /// What the last renewal said of lines, until it is told.
    polled: Mutex<Vec<(Name, Line)>>,
    has_polled: Notify,
    /// How far the server's clock is ahead of how long this machine has been up, in milliseconds.
    ahead: Mutex<Option<i64>>,
}

impl Postgres {
    /// Asks nobody yet.
    ///
    /// # Errors
    /// If the configuration cannot be.
    pub fn new(config: &PostgresConfig) -> Result<Self, Trouble> {
        let lane = |patience| Lane::new(&config.url, config.tls.as_ref(), patience);
        // A renewal is tried every third of it.
        let soon = (config.ttl / 4).clamp(PATIENCE_MIN, PATIENCE);
        Ok(Self {
            ttl: config.ttl,
            work: Arc::new(lane(PATIENCE)?),
            renewals: lane(soon)?,
            listens: lane(PATIENCE)?,
            polled: Mutex::default(),
            has_polled: Notify::new(),
            ahead: Mutex::default(),
        })
    }

    /// The schema as a script for `psql`. It may be run again.
    pub fn schema() -> String {
        format!("BEGIN;\n{SCHEMA}SET LOCAL search_path = bellwether;\n\n{FENCE}\n{AFTER}COMMIT;\n")
    }

    /// Makes the schema, if it is not there.
    ///
    /// # Errors
    /// If the database does not answer, or refuses.
    pub async fn init(&self) -> Result<(), Trouble> {
        self.work.run(&Self::schema()).await
    }

    /// Whether the schema is there, and the right one.
    async fn check_schema(&self) -> Result<(), Trouble> {
        let wanted = || format!("version {VERSION} of the schema: see `bellwether arbiter init`");
        let found = self.work.ask("SELECT version FROM bellwether.version", &[]).await?;
        match found.first().map(|row| row.try_get::<_, i32>(0)) {
            Some(Ok(VERSION)) => Ok(()),
            found => {
                let found = found
                    .and_then(Result::ok)
                    .map_or_else(|| "none".to_owned(), |no| format!("version {no}"));
                Err(Trouble::Unfit { at: self.work.place(), found, wanted: wanted() })
            }
        }
    }

    async fn lines(&self, names: Option<&[&str]>) -> Result<Vec<(Name, Line)>, Trouble> {
        let row = self.work.one("SELECT bellwether.lines($1)::text", &[(&names, Type::TEXT_ARRAY)]).await?;
        said::lines(&self.work, &row)
    }

    /// A clock that jumps ends sessions too early, or too late.
    fn compare_clocks(&self, asked: Duration, clock_ms: i64) {
        let here = i64::try_from(asked.as_millis()).unwrap_or(i64::MAX);
        let ahead = clock_ms.saturating_sub(here);
        let mut before = self.ahead.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let jumped = before.map_or(0, |before| ahead.saturating_sub(before));
        *before = Some(ahead);
        let much = i64::try_from(self.ttl.as_millis() / 4).unwrap_or(i64::MAX);
        if jumped > much {
            tracing::warn!(
                "the clock of {} jumped by {jumped} ms: sessions may have ended too early, and two may have acted at once; \
                 tokens are right all the same",
                self.work.place()
            );
        } else if jumped < -much {
            tracing::warn!(
                "the clock of {} jumped back by {} ms: what is silent is replaced later",
                self.work.place(),
                -jumped
            );
        }
    }
}

type Param<'a> = (&'a (dyn ToSql + Sync), Type);

impl Engine for Postgres {
    fn terms(&self) -> Terms {
        let (clock, tokens) = (EngineClock::Server, Tokens::WhileNothingIsLost);
        Terms { engine: lane::ENGINE, ttl: self.ttl, clock, tokens, is_fair: true }
    }

    async fn open(&self) -> Result<(String, Duration), Trouble> {
        self.check_schema().await?;
        let ttl = i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX);
        let id = self.work.one("SELECT bellwether.open($1)", &[(&ttl, Type::INT8)]).await?;
        Ok((said::text(&self.work, &id)?, self.ttl))
    }

    async fn renew(&self, session: &str) -> Result<Duration, Trouble> {
        let asked = uptime::now();
        let row = self.renewals.one("SELECT bellwether.renew($1)::text", &[(&session, Type::TEXT)]).await?;
        let Renewed { ttl_ms, clock_ms, ended, lines } =
            said::renewed(&self.renewals, &row)?.ok_or(Trouble::Gone)?;
        self.compare_clocks(asked, clock_ms);
        let lines = lines.into_iter().filter_map(Row::line).collect();
        *self.polled.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = lines;
        self.has_polled.notify_one();
        tokio::spawn(bury(Arc::clone(&self.work), ended));
        Ok(Duration::from_millis(ttl_ms))
    }

    async fn close(&self, session: &str) -> Result<(), Trouble> {
        self.work.ask("SELECT bellwether.bury($1, true)", &[(&session, Type::TEXT)]).await.map(drop)
    }

    async fn enter(
        &self,
        session: &str,
        name: &Name,
        slot: u32,
        candidacy: &Candidacy,
    ) -> Result<Place, Trouble> {
        let (of_slot, priority) = (i64::from(slot), i64::from(candidacy.priority));
        let (name, value) = (name.as_str(), &*candidacy.value);
        let params: [Param<'_>; 5] = [
            (&session, Type::TEXT),
            (&name, Type::TEXT),
            (&of_slot, Type::INT8),
            (&priority, Type::INT8),
            (&value, Type::BYTEA),
        ];
        let row =
            self.work.one("SELECT number, at FROM bellwether.enter($1, $2, $3, $4, $5)", &params).await?;
        let (number, at) = said::place(&self.work, &row)?.ok_or(Trouble::Gone)?;
        Ok(Place { ticket: Ticket { session: session.to_owned(), slot, number }, at })
    }

    async fn leave(&self, name: &Name, ticket: &Ticket) -> Result<(), Trouble> {
        let (name, number) = (name.as_str(), said::signed(ticket.number));
        let params: [Param<'_>; 2] = [(&name, Type::TEXT), (&number, Type::INT8)];
        self.work.ask("SELECT bellwether.leave($1, $2)", &params).await.map(drop)
    }

    async fn proclaim(&self, name: &Name, ticket: &Ticket, value: &[u8]) -> Result<bool, Trouble> {
        let (name, number) = (name.as_str(), said::signed(ticket.number));
        let params: [Param<'_>; 3] = [(&name, Type::TEXT), (&number, Type::INT8), (&value, Type::BYTEA)];
        let row = self.work.one("SELECT bellwether.proclaim($1, $2, $3)", &params).await?;
        said::get(&self.work, &row, 0)
    }

    async fn read(&self, name: &Name) -> Result<Line, Trouble> {
        let lines = self.lines(Some(&[name.as_str()])).await?;
        Ok(lines.into_iter().next().map(|(_, line)| line).unwrap_or_default())
    }

    async fn follow(&self, news: &News) -> Trouble {
        match self.tell(news).await {
            Ok(never) => match never {},
            Err(trouble) => trouble,
        }
    }
}

/// Ends sessions whose time is over. Whoever renews next tries again what fails.
async fn bury(work: Arc<Lane>, ended: Vec<String>) {
    for session in ended {
        let params: [Param<'_>; 1] = [(&session, Type::TEXT)];
        if let Err(trouble) = work.ask("SELECT bellwether.bury($1, false)", &params).await {
            return tracing::debug!("a session that is over is not ended yet: {trouble}");
        }
    }
}

impl Postgres {
    /// Tells what is notified, and what renewals say.
    async fn tell(&self, news: &News) -> Result<std::convert::Infallible, Trouble> {
        let mut listened = self.listens.listen("bellwether").await?;
        // Whatever changes from here on is notified.
        news.all(self.lines(None).await?, 0);
        loop {
            tokio::select! {
                told = listened.next() => {
                    let names = told?;
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let lines = self.lines(Some(&names)).await?;
                    lines.into_iter().for_each(|(name, line)| news.line(name, line));
                }
                () = self.has_polled.notified() => {
                    let polled = std::mem::take(&mut *self.polled.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
                    polled.into_iter().for_each(|(name, line)| news.line(name, line));
                }
            }
        }
    }
}
