//! One name, and what a program does with it.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};

use super::door::{self, Ask};
use super::error::found;
use super::observer::Observer;
use super::{AGAIN, Candidacy, Client, ClientError, Known, Leadership, Session, embedded};
use crate::arbiter::Arbiter;
use crate::backoff::Backoff;
use crate::member::Outcome;

/// An election, by its name.
#[derive(Clone, Debug)]
pub struct Election {
    through: Through,
    name: Name,
}

/// Who knows of elections.
#[derive(Clone, Debug)]
pub(super) enum Through {
    Agent(Client),
    /// In this process.
    Here(Arc<dyn Arbiter>),
}

impl Election {
    pub(super) fn of_agent(client: Client, name: Name) -> Self {
        Self { through: Through::Agent(client), name }
    }

    pub(super) fn of(arbiter: Arc<dyn Arbiter>, name: Name) -> Self {
        Self { through: Through::Here(arbiter), name }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Waits until this program holds the name, in a session of its own. If the call is dropped, it waits no more. An agent that is lost
    /// meanwhile is waited for.
    ///
    /// # Errors
    /// If no agent answers at first, it refuses, or the member has ended.
    pub async fn campaign(&self, candidacy: Candidacy) -> Result<Leadership, ClientError> {
        match &self.through {
            Through::Agent(client) => {
                Session::alone(client.door.clone(), &self.name, candidacy).await?.held().await
            }
            Through::Here(arbiter) => embedded::campaign(&**arbiter, &self.name, &candidacy).await,
        }
    }

    /// Runs `lead` whenever this program holds the name, for ever, or until the member ends through which it does.
    ///
    /// - Losing the name is no error: the task is stopped, at its next `await`, and has come to its end before the name is given back; then
    ///   it is campaigned for again. An agent that was there once and is lost is waited for.
    /// - Work that returns while the name is held is begun again, after a pause of 100 ms that doubles each time, up to 10 s, and is short
    ///   again once the work has gone on for 10 s. If it returns an error, that is logged.
    /// - Work that wants another to hold the name calls [`Leadership::resign`].
    ///
    /// # Errors
    /// If no agent answers at first, it refuses, the member has ended, or the task panicked; the name is given back then.
    pub async fn run<F, Fut>(&self, candidacy: Candidacy, mut lead: F) -> Result<Infallible, ClientError>
    where
        F: FnMut(Leadership) -> Fut,
        Fut: Future<Output: Outcome> + Send + 'static,
    {
        let mut again = Backoff::between(AGAIN.0, AGAIN.1);
        let mut leadership = self.campaign(candidacy.clone()).await?;
        loop {
            work_while_held(&leadership, &mut lead).await?;
            if let Err(error) = leadership.resign().await {
                tracing::debug!("\"{}\" is not certain to be given back: {error}", self.name);
            }
            leadership = loop {
                match self.campaign(candidacy.clone()).await {
                    Ok(leadership) => break leadership,
                    Err(error) if error.is_bad_input() || error.is_final() => return Err(error),
                    Err(error) => {
                        tracing::debug!("\"{}\" is not campaigned for yet: {error}", self.name);
                        sleep(again.after(Duration::ZERO)).await;
                    }
                }
            };
            again = Backoff::between(AGAIN.0, AGAIN.1);
        }
    }

    /// What is known of it, now and from now on.
    pub fn observe(&self) -> Observer {
        match &self.through {
            Through::Agent(client) => Observer::of_agent(client.clone(), self.name.clone()),
            Through::Here(arbiter) => Observer::of(Arc::clone(arbiter), &self.name),
        }
    }

    /// What the agent or the arbiter of this process knows of it; `None` if there is none of that name.
    ///
    /// # Errors
    /// If no agent answers, or it refuses.
    pub async fn known(&self) -> Result<Option<Known>, ClientError> {
        match &self.through {
            Through::Agent(client) => client.known(self.name()).await,
            Through::Here(arbiter) => Ok(arbiter.known(&self.name).map(Known::from)),
        }
    }

    /// What a majority of the voters, or the engine, knows of it; `None` if there is none of that name.
    ///
    /// # Errors
    /// If no majority can be asked, no agent answers, it refuses, or the member has ended.
    pub async fn read(&self) -> Result<Option<Known>, ClientError> {
        match &self.through {
            Through::Agent(client) => {
                found(client.door.answer(Ask::get(door::election(&self.name, "?read=quorum"))).await)
            }
            Through::Here(arbiter) => Ok(arbiter.read(self.name.clone()).await?.map(Known::from)),
        }
    }
}

/// Until it is time to stop; the work has come to its end then.
async fn work_while_held<F, Fut>(leadership: &Leadership, lead: &mut F) -> Result<(), ClientError>
where
    F: FnMut(Leadership) -> Fut,
    Fut: Future<Output: Outcome> + Send + 'static,
{
    let mut backoff = Backoff::new();
    while leadership.is_held() {
        let began = Instant::now();
        if !work_once(leadership, lead).await? {
            break;
        }
        tokio::select! {
            () = sleep(backoff.after(began.elapsed())) => {}
            () = leadership.ended() => {}
        }
    }
    Ok(())
}

/// True if the work returned by itself.
async fn work_once<F, Fut>(leadership: &Leadership, lead: &mut F) -> Result<bool, ClientError>
where
    F: FnMut(Leadership) -> Fut,
    Fut: Future<Output: Outcome> + Send + 'static,
{
    let work = lead(leadership.clone());
    // It does not go on without whoever waits for it.
    let mut task = JoinSet::new();
    task.spawn(async move {
        match work.await.failure() {
            None => tracing::debug!("the leader's work returned; it is begun again"),
            Some(why) => tracing::warn!("the leader's work failed: {why}; it is begun again"),
        }
    });
    let panicked = |error: JoinError| ClientError::Panicked(error.to_string());
    tokio::select! {
        Some(finished) = task.join_next() => finished.map(|()| true).map_err(panicked),
        () = leadership.ended() => {
            task.abort_all();
            match task.join_next().await {
                Some(Err(error)) if error.is_panic() => Err(panicked(error)),
                _ => Ok(false),
            }
        }
    }
}
