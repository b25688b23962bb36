//! Changes of one election, as they happen.

use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use tokio::time::sleep;

use super::door::{self, Ask};
use super::error::Refusal;
use super::stream::Stream;
use super::{AGAIN, Client, ClientError, Known, said};
use crate::arbiter::{Arbiter, Observe};
use crate::backoff::Backoff;

/// What an agent or an arbiter of this process knows of one election, as it changes. An agent that is lost is asked again.
#[derive(Debug)]
pub struct Observer(Source);

#[derive(Debug)]
enum Source {
    Agent(Box<Listener>),
    Here(Arc<dyn Arbiter>, Box<dyn Observe>),
}

impl Observer {
    pub(super) fn of_agent(client: Client, name: Name) -> Self {
        Self(Source::Agent(Box::new(Listener::new(client, name))))
    }

    pub(super) fn of(arbiter: Arc<dyn Arbiter>, name: &Name) -> Self {
        let observing = arbiter.observe(name);
        Self(Source::Here(arbiter, observing))
    }

    /// The next thing to know: at first what is known now, then whenever that has changed. `None`: there is no such election. What was
    /// different in between is not told. If the call is dropped, nothing is lost.
    ///
    /// # Errors
    /// If the agent refuses, or the member has ended.
    pub async fn next(&mut self) -> Result<Option<Known>, ClientError> {
        match &mut self.0 {
            Source::Agent(listener) => listener.next().await,
            Source::Here(arbiter, observing) => match observing.next().await {
                Some(seen) => Ok(seen.map(Known::from)),
                None => Err(arbiter.ended().await.into()),
            },
        }
    }
}

/// Listens to an agent.
#[derive(Debug)]
struct Listener {
    client: Client,
    name: Name,
    stream: Option<Stream>,
    backoff: Backoff,
    /// What was told last, once something was.
    told: Option<Option<Known>>,
}

impl Listener {
    fn new(client: Client, name: Name) -> Self {
        Self { client, name, stream: None, backoff: Backoff::between(AGAIN.0, AGAIN.1), told: None }
    }

    /// If the call is dropped, nothing is lost.
    async fn next(&mut self) -> Result<Option<Known>, ClientError> {
        loop {
            let news = self.listen().await?;
            if self.told.as_ref() != Some(&news) {
                self.told = Some(news.clone());
                return Ok(news);
            }
        }
    }

    /// The next event, of whichever stream.
    async fn listen(&mut self) -> Result<Option<Known>, ClientError> {
        loop {
            let Some(stream) = &mut self.stream else {
                match self.open().await {
                    Ok(()) => continue,
                    Err(error) if error.refusal() == Some(Refusal::Unknown) && self.told != Some(None) => {
                        return Ok(None);
                    }
                    Err(error) if error.is_passing() || error.refusal() == Some(Refusal::Unknown) => {
                        sleep(self.backoff.after(Duration::ZERO)).await;
                        continue;
                    }
                    Err(error) => return Err(error),
                }
            };
            match stream.next().await {
                Ok(event) => {
                    self.backoff = Backoff::between(AGAIN.0, AGAIN.1);
                    match said::election(&event) {
                        Ok(Some(known)) => return Ok(known),
                        Ok(None) => {}
                        Err(error) => return Err(self.client.door.is_no_agent(error.to_string())),
                    }
                }
                Err(broken) => {
                    tracing::debug!("\"{}\" is observed anew: {broken}", self.name);
                    self.stream = None;
                    sleep(self.backoff.after(Duration::ZERO)).await;
                }
            }
        }
    }

    async fn open(&mut self) -> Result<(), ClientError> {
        let ask = Ask::get(door::election(&self.name, "/watch"));
        self.stream = Some(self.client.door.stream(ask).await?);
        Ok(())
    }
}
