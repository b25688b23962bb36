//! Keeps the stream of a session up, and hears what the agent says in it.

use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::campaigns::{Holds, Then};
use super::{Ask, Candidacy, Door, Facts, Line, Opening, SessionKey, Shared};
use crate::backoff::Backoff;
use crate::client::AGAIN;
use crate::client::door;
use crate::client::error::{ClientError, Refusal};
use crate::client::said::{Elected, Said, Valid, WantedBack};
use crate::client::standing::{AskedBack, Over, Until};
use crate::client::stream::Stream;
use crate::config::GrantKind;
use crate::uptime;

/// How long the first word in a stream may take.
const OPEN_MAX: Duration = Duration::from_secs(5);
/// How long the end of a session may take. What is given back later is given back by the end of the stream.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// Opens a stream: what it begins with.
pub(super) async fn open(door: &Door, ask: Ask) -> Result<(Stream, Facts), ClientError> {
    let mut stream = door.stream(ask).await?;
    let first = timeout(OPEN_MAX, stream.next()).await;
    let first = first.map_err(|_| ClientError::Silent { at: door.to_string(), within: OPEN_MAX })?;
    let event = first.map_err(|broken| door.is_no_agent(broken.to_string()))?;
    match Said::of(&event) {
        Ok(Some(Said::Session(opened))) => Ok((stream, Facts::of(opened))),
        _ => Err(door.is_no_agent(format!("a stream that begins with \"{}\"", event.name))),
    }
}

/// Whoever keeps the stream of a session.
pub(super) struct Keeper {
    shared: Arc<Shared>,
    opening: Opening,
    stream: Stream,
    /// Ends when no handle is left.
    gone: mpsc::Receiver<()>,
    /// Questions that the stream does not wait for.
    asked: JoinSet<Answered>,
}

/// Why the stream is followed no more.
enum Left {
    /// By everybody that had a handle.
    ByAll,
    /// By the agent, for this reason.
    ByAgent(String),
}

/// What has come of a question.
enum Answered {
    /// Until when that token is valid, if it is.
    Checked(Name, u64, Result<Option<Until>, ClientError>),
    /// What was waited for is waited for again.
    Restored,
}

impl Keeper {
    pub(super) fn new(
        shared: Arc<Shared>,
        opening: Opening,
        stream: Stream,
        gone: mpsc::Receiver<()>,
    ) -> Self {
        Self { shared, opening, stream, gone, asked: JoinSet::new() }
    }

    /// Until no handle is left, or the agent refuses for good.
    pub(super) async fn keep(mut self) {
        while let Left::ByAgent(why) = self.follow().await {
            tracing::debug!("the session with the agent at {} broke: {why}", self.shared.door);
            self.shared.campaigns.doubt();
            self.asked.abort_all();
            self.shared.facts.send_modify(|facts| facts.line = Line::Down);
            match self.reopen().await {
                Some(stream) => self.stream = stream,
                None => break,
            }
        }
        self.shared.campaigns.end(Over::Session);
        // Nobody acts any more. It is said aloud: over TCP, and while processes are bound, the end of the stream says nothing.
        Arc::clone(&self.shared).end().await;
    }

    async fn follow(&mut self) -> Left {
        loop {
            tokio::select! {
                event = self.stream.next() => {
                    let said = match event {
                        Ok(event) => Said::of(&event).map_err(|error| format!("{}: {error}", event.name)),
                        Err(broken) => Err(broken.to_string()),
                    };
                    match said {
                        Ok(said) => {
                            if let Some(why) = said.and_then(|said| self.hear(said)) {
                                return Left::ByAgent(why);
                            }
                        }
                        Err(why) => return Left::ByAgent(why),
                    }
                }
                _ = self.gone.recv() => return Left::ByAll,
                Some(answered) = self.asked.join_next() => {
                    if let Ok(Answered::Checked(name, token, until)) = answered {
                        self.checked(&name, token, until);
                    }
                }
            }
        }
    }

    /// What the agent says; why it says no more, if that is so.
    fn hear(&mut self, said: Said) -> Option<String> {
        let campaigns = &self.shared.campaigns;
        match said {
            Said::Session(_) => {}
            Said::Waiting(waiting) => campaigns.waits(&waiting.name, waiting.position),
            Said::Elected(elected) => self.elected(&elected),
            Said::Valid(valid) => self.valid(&valid),
            Said::AskedBack(WantedBack { name, why, release_ms }) => {
                let by = release_ms.map(|left| uptime::now() + Duration::from_millis(left));
                campaigns.asked_back(&name, AskedBack::by_name(&why), by);
            }
            Said::Lost(gone) => {
                if campaigns.lost(&gone.name, Over::by_name(&gone.why)) {
                    // The agent would have it wait again, and nobody has asked for that.
                    drop(self.shared.give_back(&gone.name));
                }
            }
            Said::Refused(refused) => {
                tracing::debug!("\"{}\" is refused: {}", refused.name, refused.why);
                campaigns.refused(&refused.name);
            }
            Said::End(end) => {
                if end.why == "taken-over" {
                    self.shared.facts.send_modify(|facts| facts.is_taken = true);
                }
                if matches!(end.why.as_str(), "closed" | "taken-over") {
                    campaigns.end_held(Over::Session);
                }
                return Some(end.why);
            }
        }
        None
    }

    fn elected(&mut self, elected: &Elected) {
        let Elected { name, kind, token, valid_until } = elected;
        let until = match kind {
            GrantKind::Token => Some(Until::ByStore),
            GrantKind::Lease => self.shared.door.uptime(*valid_until).map(Until::Uptime),
        };
        match self.shared.campaigns.elected(name, *token, until) {
            Then::Nothing => {}
            Then::Ask => self.ask_about(Some(name)),
            Then::GiveBack => {
                let (shared, name) = (Arc::clone(&self.shared), name.clone());
                self.shared.runtime.spawn(async move { shared.release(name).await });
            }
        }
    }

    fn valid(&mut self, valid: &Valid) {
        match self.shared.door.uptime(valid.valid_until) {
            Some(until) => self.shared.campaigns.valid(valid.name.as_ref(), valid.token, until),
            None => self.ask_about(valid.name.as_ref()),
        }
    }

    /// Asks until when what is held is valid, if the agent's clock is not ours.
    fn ask_about(&mut self, name: Option<&Name>) {
        for (name, token) in self.shared.campaigns.unsure(name) {
            let door = Arc::clone(&self.shared.door);
            self.asked.spawn(async move {
                let until = door.check(&name, token).await;
                Answered::Checked(name, token, until)
            });
        }
    }

    fn checked(&self, name: &Name, token: u64, until: Result<Option<Until>, ClientError>) {
        match until {
            Ok(Some(until)) => {
                self.shared.campaigns.elected(name, token, Some(until));
            }
            // The agent will say that it is lost, or the next answer is better.
            Ok(None) => {}
            Err(error) => tracing::debug!("until when \"{name}\" is valid is not known: {error}"),
        }
    }

    /// Opens the stream again, as often as it takes; `None` if nobody waits for that, or the agent refuses for good.
    async fn reopen(&mut self) -> Option<Stream> {
        let lost = uptime::now();
        let keep = self.shared.facts.borrow().keep;
        let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
        loop {
            let holds = self.shared.campaigns.holds(uptime::now() < lost + keep);
            if holds.names.is_empty() && self.is_over() {
                return None;
            }
            let shared = Arc::clone(&self.shared);
            let opened = tokio::select! {
                opened = again(&shared, &self.opening, &holds) => opened,
                _ = self.gone.recv() => return None,
            };
            match opened {
                Ok((stream, facts)) => {
                    self.restore(facts, !holds.names.is_empty()).await;
                    return Some(stream);
                }
                Err(error) if error.is_passing() || matches!(error, ClientError::NoAgent { .. }) => {
                    tracing::debug!("the session is not open again yet: {error}");
                }
                // What was held is not known any more. A session that holds nothing may be opened all the same.
                Err(error) if !holds.names.is_empty() => {
                    tracing::debug!("the session cannot go on: {error}");
                    self.shared.campaigns.end_held(Over::Session);
                    continue;
                }
                Err(error) => {
                    tracing::warn!("the agent refuses to open the session again: {error}");
                    self.shared.facts.send_modify(|facts| facts.line = Line::Over);
                    self.shared.campaigns.end(Over::Refused);
                    return None;
                }
            }
            tokio::select! {
                () = sleep(backoff.after(Duration::ZERO)) => {}
                _ = self.gone.recv() => return None,
            }
        }
    }

    /// Whether there is nothing left to open a stream for: its one campaign is over.
    fn is_over(&self) -> bool {
        match &self.opening {
            Opening::Session => false,
            Opening::Campaign(..) => self.shared.campaigns.waiting().is_empty(),
        }
    }

    /// The agent is there again: it is asked for all that was waited for.
    async fn restore(&mut self, facts: Facts, is_resumed: bool) {
        self.shared.facts.send_modify(|before| {
            let opened = before.opened + 1;
            *before = Facts { opened, line: Line::Down, ..facts };
        });
        let key = self.shared.key();
        if !is_resumed {
            Arc::clone(&self.shared).bind_again(&key).await;
        }
        self.shared.facts.send_modify(|facts| facts.line = Line::Up);
        if matches!(self.opening, Opening::Session) || is_resumed {
            let (shared, waiting) = (Arc::clone(&self.shared), self.shared.campaigns.waiting());
            self.asked.spawn(async move {
                wait_again(&shared, &key, waiting).await;
                Answered::Restored
            });
        }
    }
}

/// The runtime may end, and the stream with it: the agent gives back what was held, so nobody may act any more.
impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.campaigns.end(Over::Session);
    }
}

impl Shared {
    /// Before anything is held. Whoever is gone is bound no more.
    async fn bind_again(&self, key: &SessionKey) {
        let bound = self.bound().clone();
        for pid in bound {
            if let Err(error) = self.bind(key, pid).await {
                tracing::debug!("process {pid} is not bound any more: {error}");
                self.bound().retain(|bound| *bound != pid);
            }
        }
    }

    async fn end(&self) {
        let Some(key) = self.own_key() else { return };
        let ask = key.delete(door::session(key.id(), "")).within(CLOSE_MAX);
        if let Err(error) = self.door.answer::<Value>(ask).await {
            tracing::debug!("the session was not closed: {error}");
        }
    }
}

/// A stream that goes on with what is held, or one that begins anew. The old session gives back whatever it has then, if it is still
/// there.
async fn again(shared: &Shared, opening: &Opening, holds: &Holds) -> Result<(Stream, Facts), ClientError> {
    if holds.names.is_empty() {
        if let Some(key) = shared.own_key()
            && let Err(error) = key.close(&shared.door).await
            && error.is_passing()
        {
            return Err(error);
        }
        return open(&shared.door, opening.ask()).await;
    }
    open(&shared.door, resume(shared, holds)).await
}

fn resume(shared: &Shared, holds: &Holds) -> Ask {
    let (key, now) = (shared.key(), uptime::now());
    let names: Vec<_> =
        holds.names.iter().map(|(name, token)| json!({ "name": name.as_str(), "token": token })).collect();
    let mut resume = json!({ "session": key.id(), "secret": key.secret(), "holds": names });
    if let Some(until) = holds.until {
        let left = until.saturating_sub(now);
        let (told, time) = if shared.door.is_local() {
            ("valid_until", until.as_micros())
        } else {
            ("valid_ms", left.as_millis() + 1)
        };
        resume[told] = json!(u64::try_from(time).unwrap_or(u64::MAX));
    }
    let bound = shared.bound().clone();
    if !bound.is_empty() {
        resume["bound"] = json!(bound);
    }
    Ask::post("/v1/session".to_owned(), &json!({ "resume": resume }))
}

async fn wait_again(shared: &Arc<Shared>, key: &SessionKey, waiting: Vec<(Name, Candidacy)>) {
    for (name, candidacy) in waiting {
        match shared.campaign(key, &name, &candidacy).await {
            Ok(()) => {}
            // A session that was kept campaigns still.
            Err(error) if error.is_passing() || error.refusal() == Some(Refusal::Unknown) => {
                tracing::debug!("\"{name}\" is not waited for again: {error}");
            }
            Err(error) => {
                tracing::warn!("\"{name}\" cannot be waited for any more: {error}");
                shared.campaigns.refused(&name);
            }
        }
    }
}
