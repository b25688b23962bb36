//! Changes of one election, as they happen.

use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use tokio::time::sleep;

use super::door::{self, Ask};
use super::error::Refusal;
use super::stream::Stream;
use super::{AGAIN, Client, ClientError, Known, said};
use crate::backoff::Backoff;
use crate::elections::Watching;
use crate::error::Refused;
use crate::member::Member;

/// What an agent or a member knows of one election, as it changes. An agent that is lost is asked again.
#[derive(Debug)]
pub struct Observer(Source);

#[derive(Debug)]
enum Source {
    Agent(Box<Listener>),
    Member(Member, Watching),
}

impl Observer {
    pub(super) fn of_agent(client: Client, name: Name) -> Self {
        Self(Source::Agent(Box::new(Listener::new(client, name))))
    }

    pub(super) fn of_member(member: Member, name: &Name) -> Self {
        let watching = member.observe_election(name);
        Self(Source::Member(member, watching))
    }

    /// The next thing to know: at first what is known now, then whenever that has changed. `None`: there is no such election. What was
    /// different in between is not told. If the call is dropped, nothing is lost.
    ///
    /// # Errors
    /// If the agent refuses, or the member has ended.
    pub async fn next(&mut self) -> Result<Option<Known>, ClientError> {
        match &mut self.0 {
            Source::Agent(listener) => listener.next().await,
            Source::Member(member, watching) => match watching.next().await {
                Some(election) => Ok(election.map(Known::from)),
                None => Err(Refused::Ended(member.ended().await).into()),
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
