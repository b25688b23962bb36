//! One stream to an agent, kept up, and the names that are held through it.

mod campaigns;
mod keeper;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use bellwether_proto::ident::NodeId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::door::{self, Ask, Door, Secret};
use super::error::{ClientError, found};
use super::leadership::Leadership;
use super::said::Opened;
use super::standing::{Over, Phase};
use super::{AGAIN, Candidacy};
use crate::backoff::Backoff;
use campaigns::Campaigns;
use keeper::Keeper;

/// How often an agent is asked to take something back, and how long it may take each time.
const RELEASE_TRIES: u32 = 10;
const RELEASE_MAX: Duration = Duration::from_secs(5);
/// How long an agent may take to bind a process.
const BIND_MAX: Duration = Duration::from_secs(5);

/// A session: it holds names, or waits for them, as long as it or a [`Leadership`] of it is there. Cheap to clone.
///
/// When the stream breaks, because the agent is restarted for instance, it is opened again. What was held goes on if the agent is back
/// in time; names that are waited for are waited for again.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
    /// The keeper ends when the last of these is gone.
    _alive: mpsc::Sender<()>,
}

/// How the end of a program is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Death {
    /// The kernel tells the agent, which gives back at once.
    Certain,
    /// The agent waits until what it told is valid no more.
    Presumed,
}

/// What names a session, and proves whose it is.
#[derive(Clone, Debug)]
pub struct SessionKey {
    id: String,
    secret: Secret,
}

impl SessionKey {
    /// A session with that id and that secret.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { id: id.into(), secret: Secret(secret.into()) }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The secret that proves whose it is.
    pub fn secret(&self) -> &str {
        &self.secret.0
    }

    fn delete(&self, path: String) -> Ask {
        Ask::delete(path).with_secret(self.secret())
    }

    pub(super) async fn close(&self, door: &Door) -> Result<(), ClientError> {
        let _closed: Option<Value> = found(door.answer(self.delete(door::session(&self.id, ""))).await)?;
        Ok(())
    }
}

/// What a stream begins with.
#[derive(Clone, Debug)]
pub(super) enum Opening {
    /// A session.
    Session,
    /// A session with that campaign.
    Campaign(Name, Candidacy),
}

/// Between the keeper of the stream and the handles.
#[derive(Debug)]
struct Shared {
    door: Arc<Door>,
    facts: watch::Sender<Facts>,
    campaigns: Campaigns,
    /// Processes whose life is the session's, too.
    bound: Mutex<Vec<u32>>,
    /// Where names are given back by whoever does not wait for that.
    runtime: Handle,
}

/// What is known of a session.
#[derive(Clone, Debug)]
struct Facts {
    key: SessionKey,
    death: Death,
    node: NodeId,
    keep: Duration,
    line: Line,
    /// How often a stream was opened.
    opened: u64,
    /// Whether another has taken the session over: what it holds is none of ours.
    is_taken: bool,
}

/// Whether the agent is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Up,
    Down,
    /// It refuses, so nobody asks any more.
    Over,
}

impl Facts {
    fn of(opened: Opened) -> Self {
        let Opened { session, secret, death, node, keep } = opened;
        let key = SessionKey::new(session, secret);
        Self { key, death, node, keep, line: Line::Up, opened: 1, is_taken: false }
    }
}

impl Session {
    pub(super) async fn open(door: Arc<Door>, opening: Opening) -> Result<Self, ClientError> {
        let (stream, facts) = keeper::open(&door, opening.ask()).await?;
        let campaigns = Campaigns::default();
        if let Opening::Campaign(name, candidacy) = &opening {
            campaigns.enter(name, candidacy).map_err(|_| campaigns::twice(name))?;
            campaigns.begin(name);
        }
        let shared = Arc::new(Shared {
            door,
            facts: watch::Sender::new(facts),
            campaigns,
            bound: Mutex::default(),
            runtime: Handle::current(),
        });
        let (alive, gone) = mpsc::channel(1);
        tokio::spawn(Keeper::new(Arc::clone(&shared), opening, stream, gone).keep());
        Ok(Self { shared, _alive: alive })
    }

    /// A session with one campaign: its seat.
    pub(super) async fn alone(
        door: Arc<Door>,
        name: &Name,
        candidacy: Candidacy,
    ) -> Result<Seat, ClientError> {
        let session = Self::open(door, Opening::Campaign(name.clone(), candidacy)).await?;
        let phase = session.shared.campaigns.phase(name).ok_or(ClientError::Over(Over::Session))?;
        Ok(Seat { name: name.clone(), phase, session })
    }

    /// What names it now. An agent that was restarted gives it another.
    pub fn key(&self) -> SessionKey {
        self.shared.key()
    }

    /// How the agent notices that this program is gone.
    pub fn death(&self) -> Death {
        self.shared.facts.borrow().death
    }

    /// The member whose agent it is.
    pub fn node(&self) -> NodeId {
        self.shared.facts.borrow().node
    }

    /// Waits until this session holds that name. If the call is dropped, it waits no more.
    ///
    /// # Errors
    /// If no election can have that name, this session campaigns for it already, the agent is lost before it has taken note of it, or
    /// it refuses.
    pub async fn campaign(&self, name: &str, candidacy: Candidacy) -> Result<Leadership, ClientError> {
        let name = Name::new(name)?;
        let seat = self.seat(&name, &candidacy).await?;
        let Facts { key, opened, .. } = self.up().await?;
        self.shared.campaign(&key, &name, &candidacy).await?;
        self.shared.campaigns.begin(&name);
        if self.shared.facts.borrow().opened != opened {
            // Another stream was opened meanwhile. Whether its agent was asked for this name is not known.
            return Err(ClientError::Over(Over::Session));
        }
        seat.held().await
    }

    /// Binds a process to this session: a child of this one, or of one that is bound. Over the Unix socket what is held is then given
    /// back when it is gone, too, or when it is given back; the end of the stream alone says nothing any more.
    ///
    /// # Errors
    /// If the agent refuses, or cannot know, as over TCP.
    pub async fn bind(&self, pid: u32) -> Result<(), ClientError> {
        self.shared.bind(&self.up().await?.key, pid).await?;
        self.shared.bound().push(pid);
        Ok(())
    }

    /// A process that was bound is gone, and its number may be another's.
    pub fn unbind(&self, pid: u32) {
        self.shared.bound().retain(|bound| *bound != pid);
    }

    /// What is known of it, once the agent is there.
    async fn up(&self) -> Result<Facts, ClientError> {
        let mut facts = self.shared.facts.subscribe();
        let facts = facts.wait_for(|facts| facts.line != Line::Down).await.map(|facts| facts.clone());
        // An error would mean that the sender is gone, which is in this session.
        facts.ok().filter(|facts| facts.line == Line::Up).ok_or(ClientError::Over(Over::Session))
    }

    async fn seat(&self, name: &Name, candidacy: &Candidacy) -> Result<Seat, ClientError> {
        loop {
            let freed = self.shared.campaigns.freed();
            match self.shared.campaigns.enter(name, candidacy) {
                Ok(phase) => return Ok(Seat { name: name.clone(), phase, session: self.clone() }),
                Err(campaigns::Taken::Campaigns) => return Err(campaigns::twice(name)),
                Err(campaigns::Taken::Leaving) => freed.await,
            }
        }
    }
}

impl Shared {
    fn key(&self) -> SessionKey {
        self.facts.borrow().key.clone()
    }

    /// What names the session, if it is ours to give anything of it back.
    fn own_key(&self) -> Option<SessionKey> {
        let facts = self.facts.borrow();
        (!facts.is_taken).then(|| facts.key.clone())
    }

    fn bound(&self) -> MutexGuard<'_, Vec<u32>> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn campaign(
        &self,
        key: &SessionKey,
        name: &Name,
        candidacy: &Candidacy,
    ) -> Result<(), ClientError> {
        let ask = Ask::post(door::campaign(key.id(), name), &wanted(candidacy));
        let _campaign: Value = self.door.answer(ask.with_secret(key.secret())).await?;
        Ok(())
    }

    async fn bind(&self, key: &SessionKey, pid: u32) -> Result<(), ClientError> {
        let ask = Ask::post(door::session(key.id(), "/process"), &json!({ "pid": pid })).within(BIND_MAX);
        let _bound: Value = self.door.answer(ask.with_secret(key.secret())).await?;
        Ok(())
    }

    /// Has a name given back, or not waited for any more, in a task of its own.
    fn give_back(self: &Arc<Self>, name: &Name) -> Option<tokio::task::JoinHandle<Result<(), ClientError>>> {
        let is_new = self.campaigns.leave(name);
        is_new.then(|| self.runtime.spawn(Self::release(Arc::clone(self), name.clone())))
    }

    async fn release(self: Arc<Self>, name: Name) -> Result<(), ClientError> {
        let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
        let mut answer = Ok(());
        for _ in 0..RELEASE_TRIES {
            let Some(key) = self.own_key() else { break };
            let ask = key.delete(door::campaign(key.id(), &name)).within(RELEASE_MAX);
            let asked = self.door.answer::<Value>(ask).await;
            answer = found(asked).map(drop);
            if !answer.as_ref().is_err_and(ClientError::is_passing) {
                break;
            }
            sleep(backoff.after(Duration::ZERO)).await;
        }
        self.campaigns.forget(&name);
        answer
    }
}

/// A campaign of a session. When it goes, the name is given back, or not waited for any more.
#[derive(Debug)]
pub(super) struct Seat {
    name: Name,
    phase: watch::Receiver<Phase>,
    session: Session,
}

impl Seat {
    pub(super) fn name(&self) -> &Name {
        &self.name
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn phase(&self) -> Phase {
        *self.phase.borrow()
    }

    /// Tells of changes, and keeps nothing.
    pub(super) fn changes(&self) -> watch::Receiver<Phase> {
        self.phase.clone()
    }

    /// Waits until it is held.
    pub(super) async fn held(self) -> Result<Leadership, ClientError> {
        let phase =
            self.changes().wait_for(|phase| !matches!(phase, Phase::Waiting { .. })).await.map(|now| *now);
        match phase {
            Ok(Phase::Held(_)) => Ok(Leadership::new(super::seat::Seat::Agent(self))),
            Ok(Phase::Over { why, .. }) => Err(ClientError::Over(why)),
            Ok(Phase::Waiting { .. }) | Err(_) => Err(ClientError::Over(Over::Session)),
        }
    }

    pub(super) async fn proclaim(&self, token: u64, value: &str) -> Result<(), ClientError> {
        let body = json!({ "token": token, "value": value });
        let ask = Ask::put(door::election(&self.name, "/value"), &body);
        let _election: Value = self.session.shared.door.answer(ask).await?;
        Ok(())
    }

    /// Gives it back. Goes on to its end if the call is dropped.
    pub(super) async fn give_back(&self) -> Result<(), ClientError> {
        match self.session.shared.give_back(&self.name) {
            // A runtime that ends takes the session with it.
            Some(task) => task.await.unwrap_or(Ok(())),
            None => Ok(()),
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        drop(self.session.shared.give_back(&self.name));
    }
}

impl Opening {
    fn ask(&self) -> Ask {
        match self {
            Self::Session => Ask::post("/v1/session".to_owned(), &json!({})),
            Self::Campaign(name, candidacy) => {
                Ask::post(door::election(name, "/campaign"), &wanted(candidacy))
            }
        }
    }
}

/// A candidacy as the agent reads it.
fn wanted(candidacy: &Candidacy) -> impl Serialize {
    let mut wanted = json!({ "priority": candidacy.priority });
    if let Some(kind) = candidacy.kind {
        wanted["kind"] = json!(kind.name());
    }
    if !candidacy.value.is_empty() {
        wanted["value"] = json!(candidacy.value);
    }
    wanted
}
