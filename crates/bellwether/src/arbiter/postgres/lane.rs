//! A connection to the database, made again when it breaks. What is asked over it is answered in order.

use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, mpsc};
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::error::SqlState;
use tokio_postgres::{AsyncMessage, Client, Config, Error, Row};

use super::Param;
use super::tls::Tls;
use crate::arbiter::Trouble;
use crate::arbiter::tls::ClientTls;

pub(super) const ENGINE: &str = "PostgreSQL";
/// So many notifications wait to be read.
const HEARD_MAX: usize = 1024;

/// A connection.
pub(super) struct Lane {
    config: Config,
    tls: Tls,
    /// A connection takes no longer, and neither does an answer.
    patience: Duration,
    client: Mutex<Option<Arc<Client>>>,
}

/// What is notified.
#[derive(Debug)]
pub(super) struct Listened {
    heard: mpsc::Receiver<String>,
    broken: Trouble,
    /// The connection ends with it.
    _client: Client,
}

impl Lane {
    pub(super) fn new(url: &str, tls: Option<&ClientTls>, patience: Duration) -> Result<Self, Trouble> {
        let mut config: Config = url.parse().map_err(|error: Error| Trouble::Unfit {
            at: "url".to_owned(),
            found: causes(&error),
            wanted: "postgres://user:password@host/database".to_owned(),
        })?;
        if tls.is_some() {
            config.ssl_mode(SslMode::Require);
        }
        config.connect_timeout(patience).application_name("bellwether");
        config.target_session_attrs(tokio_postgres::config::TargetSessionAttrs::ReadWrite);
        Ok(Self { config, tls: Tls::new(tls)?, patience, client: Mutex::new(None) })
    }

    /// Where that is, without what is secret.
    pub(super) fn place(&self) -> String {
        let hosts = self.config.get_hosts().iter().enumerate().map(|(no, host)| match host {
            Host::Tcp(host) => {
                let ports = self.config.get_ports();
                format!("{host}:{}", ports.get(no).or(ports.first()).copied().unwrap_or(5432))
            }
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        });
        hosts.collect::<Vec<_>>().join(",")
    }

    pub(super) fn unfit(&self, error: &dyn std::error::Error) -> Trouble {
        let wanted = "what the schema of `bellwether arbiter init` says".to_owned();
        Trouble::Unfit { at: self.place(), found: causes(error), wanted }
    }

    /// Asks for one row.
    pub(super) async fn one(&self, sql: &str, params: &[Param<'_>]) -> Result<Row, Trouble> {
        let rows = self.ask(sql, params).await?;
        rows.into_iter().next().ok_or_else(|| self.unreachable("an answer without a row"))
    }

    /// Asks. A connection that is broken is made anew; whatever is asked may be asked again.
    pub(super) async fn ask(&self, sql: &str, params: &[Param<'_>]) -> Result<Vec<Row>, Trouble> {
        self.in_time(async {
            let client = self.client().await?;
            // Without a name, so that a pooler may give the next one another connection.
            client.query_typed(sql, params).await.map_err(|error| self.trouble(&error))
        })
        .await
    }

    /// Runs a script.
    pub(super) async fn run(&self, script: &str) -> Result<(), Trouble> {
        self.in_time(async {
            let client = self.client().await?;
            client.batch_execute(script).await.map_err(|error| self.trouble(&error))
        })
        .await
    }

    /// Listens, over a connection of its own.
    pub(super) async fn listen(&self, channel: &str) -> Result<Listened, Trouble> {
        self.in_time(async {
            let (sender, heard) = mpsc::channel(HEARD_MAX);
            let client = self.connect(Some(sender)).await?;
            let listen = format!("LISTEN {channel}");
            client.batch_execute(&listen).await.map_err(|error| self.trouble(&error))?;
            Ok(Listened { heard, broken: self.unreachable("the connection broke"), _client: client })
        })
        .await
    }

    async fn in_time<T>(&self, does: impl Future<Output = Result<T, Trouble>>) -> Result<T, Trouble> {
        match timeout(self.patience, does).await {
            Ok(done) => done,
            Err(_) => {
                // It may hang for good.
                *self.client.lock().await = None;
                Err(self.unreachable("no answer in time"))
            }
        }
    }

    async fn client(&self) -> Result<Arc<Client>, Trouble> {
        let mut client = self.client.lock().await;
        if let Some(client) = client.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let fresh = Arc::new(self.connect(None).await?);
        *client = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Connects. Moves the bytes in a task, which ends with the client.
    async fn connect(&self, heard: Option<mpsc::Sender<String>>) -> Result<Client, Trouble> {
        let connected = self.config.connect(self.tls.clone()).await;
        let (client, mut connection) = connected.map_err(|error| self.trouble(&error))?;
        tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                let (AsyncMessage::Notification(told), Some(heard)) = (message, &heard) else { continue };
                if heard.send(told.payload().to_owned()).await.is_err() {
                    return;
                }
            }
        });
        Ok(client)
    }

    fn unreachable(&self, why: impl fmt::Display) -> Trouble {
        Trouble::Unreachable { engine: ENGINE, at: self.place(), why: why.to_string() }
    }

    fn trouble(&self, error: &Error) -> Trouble {
        let Some(code) = error.code() else { return self.unreachable(causes(error)) };
        let is_missing = [
            SqlState::UNDEFINED_TABLE,
            SqlState::UNDEFINED_FUNCTION,
            SqlState::INVALID_SCHEMA_NAME,
            SqlState::UNDEFINED_COLUMN,
        ]
        .contains(code);
        if is_missing {
            return self.unfit(error);
        }
        let is_passing = ["08", "40", "53", "57"].iter().any(|class| code.code().starts_with(class));
        if is_passing {
            return self.unreachable(causes(error));
        }
        let is_wrong = ["28", "3D", "42"].iter().any(|class| code.code().starts_with(class));
        Trouble::Refused { engine: ENGINE, at: self.place(), why: causes(error), is_wrong }
    }
}

impl Listened {
    /// What has been notified: one at least.
    pub(super) async fn next(&mut self) -> Result<Vec<String>, Trouble> {
        let mut names = Vec::new();
        match self.heard.recv_many(&mut names, HEARD_MAX).await {
            0 => Err(self.broken.clone()),
            _ => Ok(names),
        }
    }
}

/// An error, and what it comes from.
fn causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}

impl fmt::Debug for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place())
    }
}
