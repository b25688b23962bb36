//! Who holds what, and who waits.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::process::Process;

pub(crate) struct State {
    pub(super) ttl: Duration,
    /// How long something that is asked back is waited for.
    pub(crate) release: Duration,
    pub(super) names: BTreeMap<String, Register>,
    agents: BTreeMap<u32, AgentState>,
    pub(super) sessions: BTreeMap<String, Session>,
    watches: Vec<Watch>,
    /// Counts whatever is counted.
    pub(super) no: u64,
}

pub(super) struct Register {
    pub(super) kind: String,
    pub(super) token: u64,
    pub(super) holder: Option<String>,
    pub(super) value: String,
    /// By when it is given back, and why.
    asked_back: Option<(Duration, &'static str)>,
}

struct AgentState {
    is_up: bool,
    is_cut: bool,
    renewed: Duration,
    valid_until: Duration,
}

pub(super) struct Session {
    pub(super) node: u32,
    pub(super) secret: String,
    /// None over TCP.
    pub(super) opener: Option<Process>,
    pub(super) bound: Vec<Process>,
    stream: Option<(u64, UnboundedSender<String>)>,
    /// The last validity that was told.
    pub(super) told: Duration,
    pub(super) wants: BTreeMap<String, Want>,
    /// Of an earlier life of its agent: when the lease of that life is over.
    forgotten: Option<Duration>,
}

#[derive(Clone)]
pub(super) struct Want {
    pub(super) kind: String,
    pub(super) priority: u32,
    pub(super) value: String,
    pub(super) no: u64,
    pub(super) told: Option<usize>,
}

struct Watch {
    name: String,
    told: Option<Value>,
    tell: UnboundedSender<String>,
}

pub(super) fn now() -> Duration {
    let up = clock_gettime(ClockId::Boottime);
    Duration::new(up.tv_sec.try_into().unwrap(), up.tv_nsec.try_into().unwrap())
}

pub(super) fn micros(at: Duration) -> u64 {
    at.as_micros().try_into().unwrap()
}

fn event(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

impl State {
    pub(super) fn new(ttl: Duration) -> Self {
        Self {
            ttl,
            release: Duration::from_secs(5),
            names: BTreeMap::new(),
            agents: BTreeMap::new(),
            sessions: BTreeMap::new(),
            watches: Vec::new(),
            no: 0,
        }
    }

    pub(crate) fn holder(&self, name: &str) -> Option<(u32, u64)> {
        let register = self.names.get(name)?;
        let session = self.sessions.get(register.holder.as_ref()?)?;
        Some((session.node, register.token))
    }

    /// How many wait for it.
    pub(crate) fn waiting(&self, name: &str) -> usize {
        let holder = self.names.get(name).and_then(|register| register.holder.as_ref());
        let waits =
            |(id, session): &(&String, &Session)| session.wants.contains_key(name) && Some(*id) != holder;
        self.sessions.iter().filter(waits).count()
    }

    pub(crate) fn sessions(&self) -> usize {
        self.sessions.len()
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.names.get(name).map(|register| register.value.as_str())
    }

    pub(crate) fn bound(&self) -> Vec<i32> {
        self.sessions.values().flat_map(|session| &session.bound).map(|process| process.pid).collect()
    }

    /// Whether what that agent's programs hold is valid.
    pub(crate) fn is_valid(&self, node: u32) -> bool {
        now() < self.valid_until(node)
    }

    pub(super) fn valid_until(&self, node: u32) -> Duration {
        self.agents[&node].valid_until
    }

    pub(super) fn start(&mut self, node: u32) {
        let (renewed, valid_until) = (now(), now() + self.ttl * 99 / 100);
        self.agents.insert(node, AgentState { is_up: true, is_cut: false, renewed, valid_until });
    }

    pub(super) fn crash(&mut self, node: u32) {
        let agent = self.agents.get_mut(&node).unwrap();
        agent.is_up = false;
        let until = agent.valid_until;
        for session in self.sessions.values_mut().filter(|session| session.node == node) {
            session.forgotten.get_or_insert(until);
            session.stream = None;
        }
    }

    pub(super) fn cut(&mut self, node: u32, is_cut: bool) {
        self.agents.get_mut(&node).unwrap().is_cut = is_cut;
    }

    pub(super) fn break_streams(&mut self, node: u32) {
        for session in self.sessions.values_mut().filter(|session| session.node == node) {
            session.stream = None;
        }
    }

    pub(super) fn count(&mut self) -> u64 {
        self.no += 1;
        self.no
    }

    /// A stream of a new session, or of one that goes on.
    pub(super) fn open(&mut self, id: &str, session: Session) {
        self.sessions.insert(id.to_owned(), session);
    }

    pub(super) fn session(node: u32, secret: String, opener: Option<Process>) -> Session {
        Session {
            node,
            secret,
            opener,
            bound: Vec::new(),
            stream: None,
            told: Duration::ZERO,
            wants: BTreeMap::new(),
            forgotten: None,
        }
    }

    /// From now on its events go there. Says how it begins.
    pub(super) fn stream(&mut self, id: &str, tell: UnboundedSender<String>) -> u64 {
        let no = self.count();
        let session = self.sessions.get_mut(id).unwrap();
        if let Some((_, before)) = session.stream.replace((no, tell)) {
            let _ = before.send(event("end", &json!({ "why": "taken-over" })));
        }
        let death = if session.opener.is_some() { "certain" } else { "presumed" };
        let opened = json!({ "session": id, "secret": session.secret, "death": death, "node": session.node,
                             "keep_ms": 10_000 });
        session.tell("session", &opened);
        no
    }

    /// Whether that session is of an earlier life, and what it wants may be taken over.
    pub(super) fn forgotten(&self, id: &str) -> Option<Duration> {
        self.sessions.get(id)?.forgotten
    }

    /// The client has closed its stream.
    pub(super) fn closed(&mut self, id: &str, no: u64) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        if session.forgotten.is_some() || session.stream.as_ref().is_none_or(|(of, _)| *of != no) {
            return;
        }
        session.stream = None;
        // Over the socket that gives back, unless others live on.
        if session.opener.is_some() && session.bound.is_empty() {
            self.end(id);
        }
    }

    /// A session gives everything back.
    pub(super) fn end(&mut self, id: &str) {
        for register in self.names.values_mut().filter(|register| register.holder.as_deref() == Some(id)) {
            (register.holder, register.asked_back) = (None, None);
        }
        if let Some(session) = self.sessions.remove(id) {
            session.tell("end", &json!({ "why": "closed" }));
        }
        self.settle();
    }

    /// A campaign is over.
    pub(super) fn leave(&mut self, id: &str, name: &str) -> bool {
        let was = self.sessions.get_mut(id).is_some_and(|session| session.wants.remove(name).is_some());
        if let Some(register) = self.names.get_mut(name)
            && register.holder.as_deref() == Some(id)
        {
            (register.holder, register.asked_back) = (None, None);
        }
        self.settle();
        was
    }

    /// Whoever holds it is to give it back.
    pub(crate) fn ask_back(&mut self, name: &str, why: &'static str) {
        let by = now() + self.release;
        let release = self.release;
        let Some(register) = self.names.get_mut(name) else { return };
        let Some(session) = register.holder.as_ref().and_then(|id| self.sessions.get(id)) else { return };
        register.asked_back = Some((by, why));
        let left = u64::try_from(release.as_millis()).unwrap();
        let asked = json!({ "name": name, "token": register.token, "why": why, "release_ms": left });
        session.tell("asked_back", &asked);
    }

    /// It is held by that session from now on.
    pub(super) fn grant(&mut self, name: &str, id: &str) {
        let register = self.names.get_mut(name).unwrap();
        register.token += 1;
        register.holder = Some(id.to_owned());
        register.asked_back = None;
        let session = self.sessions.get_mut(id).unwrap();
        register.value.clone_from(&session.wants[name].value);
        let valid_until = self.agents[&session.node].valid_until;
        Self::elected(name, register, session, valid_until);
    }

    /// Whether a session that is resumed goes on to hold that; an agent that was restarted adopts it.
    pub(super) fn goes_on(&mut self, name: &str, token: u64, old: &str, new: &str) -> bool {
        let no = self.count();
        let Some(register) = self.names.get_mut(name) else { return false };
        if register.holder.as_deref() != Some(old) || register.token != token {
            return false;
        }
        if old != new {
            register.token += 1;
            register.holder = Some(new.to_owned());
            let (kind, value) = (register.kind.clone(), register.value.clone());
            let want = Want { kind, priority: 0, value, no, told: None };
            self.sessions.get_mut(new).unwrap().wants.insert(name.to_owned(), want);
        }
        true
    }

    /// The session is told so, after it was told that it waits, as when an agent takes over what an earlier one has granted.
    pub(super) fn tell_elected(&mut self, name: &str) {
        let register = &self.names[name];
        let session = self.sessions.get_mut(register.holder.as_ref().unwrap()).unwrap();
        session.tell("waiting", &json!({ "name": name, "kind": register.kind, "position": null }));
        let valid_until = self.agents[&session.node].valid_until;
        Self::elected(name, register, session, valid_until);
    }

    fn elected(name: &str, register: &Register, session: &mut Session, valid_until: Duration) {
        let (kind, token) = (&register.kind, register.token);
        let mut elected = json!({ "name": name, "kind": kind, "token": token, "campaign": 1 });
        if session.opener.is_some() {
            elected["valid_until"] = session.tells(kind, valid_until);
        }
        session.tell("elected", &elected);
    }

    /// Whatever is due now.
    pub(super) fn settle(&mut self) {
        self.renew();
        self.bury();
        self.end_lives();
        self.release();
        self.choose();
        self.tell_positions();
        self.tell_watches();
    }

    fn renew(&mut self) {
        let (now, ttl) = (now(), self.ttl);
        let mut renewed = Vec::new();
        for (node, agent) in &mut self.agents {
            if agent.is_up && !agent.is_cut && agent.renewed + ttl / 5 <= now {
                (agent.renewed, agent.valid_until) = (now, now + ttl * 99 / 100);
                renewed.push((*node, agent.valid_until));
            }
        }
        for (node, valid_until) in renewed {
            let holds = |id: &String| {
                let mut held = self.names.values().filter(|held| held.holder.as_ref() == Some(id));
                held.any(|held| held.kind == "lease")
            };
            let mine = self.sessions.iter_mut().filter(|(id, session)| session.node == node && holds(id));
            for (_, session) in mine.filter(|(_, session)| session.forgotten.is_none()) {
                let mut valid = json!({});
                if session.opener.is_some() {
                    valid["valid_until"] = session.tells("lease", valid_until);
                }
                session.tell("valid", &valid);
            }
        }
    }

    /// What an agent held whose lease is over is nobody's.
    fn bury(&mut self) {
        let (now, margin) = (now(), self.ttl / 50);
        for (name, register) in &mut self.names {
            let Some(session) = register.holder.as_ref().and_then(|id| self.sessions.get(id)) else {
                continue;
            };
            let until = session.forgotten.unwrap_or(self.agents[&session.node].valid_until);
            if until + margin < now {
                let lost = json!({ "name": name, "token": register.token, "why": "lease" });
                session.tell("lost", &lost);
                (register.holder, register.asked_back) = (None, None);
            }
        }
    }

    fn end_lives(&mut self) {
        let now = now();
        let is_over = |session: &Session| match &session.opener {
            Some(opener) => opener.is_gone() && session.bound.iter().all(Process::is_gone),
            None => session.stream.is_none() && session.told < now,
        };
        let holds = |id: &String| self.names.values().any(|held| held.holder.as_ref() == Some(id));
        let is_over = |id: &String, session: &Session| match session.forgotten {
            Some(_) => !holds(id),
            None => is_over(session),
        };
        let over = self.sessions.iter().filter(|(id, session)| is_over(id, session));
        let over: Vec<_> = over.map(|(id, _)| id.clone()).collect();
        for id in over {
            for held in self.names.values_mut().filter(|held| held.holder.as_deref() == Some(&id)) {
                held.holder = None;
            }
            self.sessions.remove(&id);
        }
    }

    fn release(&mut self) {
        let now = now();
        for (name, register) in &mut self.names {
            let Some((by, why)) = register.asked_back else { continue };
            if by <= now {
                let why = if why == "transfer" { "transferred" } else { "resigned" };
                let lost = json!({ "name": name, "token": register.token, "why": why });
                if let Some(session) = register.holder.take().and_then(|id| self.sessions.get(&id)) {
                    session.tell("lost", &lost);
                }
                register.asked_back = None;
            }
        }
    }

    fn choose(&mut self) {
        let now = now();
        let free: Vec<_> = self
            .names
            .iter()
            .filter(|(_, held)| held.holder.is_none())
            .map(|(name, _)| name.clone())
            .collect();
        for name in free {
            let can = |session: &&Session| {
                let agent = &self.agents[&session.node];
                agent.is_up && now < agent.valid_until && session.stream.is_some()
            };
            let waiting = self.sessions.iter().filter(|(_, session)| can(session));
            let waiting = waiting.filter_map(|(id, session)| Some((id, session.wants.get(&name)?)));
            let next = waiting.min_by_key(|(_, want)| (u32::MAX - want.priority, want.no));
            if let Some(id) = next.map(|(id, _)| id.clone()) {
                self.grant(&name, &id);
            }
        }
    }

    fn tell_positions(&mut self) {
        for (name, register) in &self.names {
            let mut queue: Vec<_> = self.sessions.iter_mut().collect();
            queue.retain(|(id, session)| {
                session.wants.contains_key(name) && register.holder.as_ref() != Some(*id)
            });
            queue.sort_by_key(|(_, session)| {
                (u32::MAX - session.wants[name].priority, session.wants[name].no)
            });
            for (position, (_, session)) in queue.into_iter().enumerate() {
                let told = session.wants.get_mut(name).unwrap().told.replace(position + 1);
                if told != Some(position + 1) {
                    let waiting = json!({ "name": name, "kind": register.kind, "position": position + 1 });
                    session.tell("waiting", &waiting);
                }
            }
        }
    }

    pub(super) fn watch(&mut self, name: &str, tell: UnboundedSender<String>) {
        self.watches.push(Watch { name: name.to_owned(), told: None, tell });
        self.settle();
    }

    fn tell_watches(&mut self) {
        let mut watches = std::mem::take(&mut self.watches);
        for watch in &mut watches {
            let now = self.election(&watch.name).unwrap_or(Value::Null);
            if watch.told.as_ref() != Some(&now) {
                let _ = watch.tell.send(match now.is_null() {
                    true => event("none", &json!({ "name": watch.name })),
                    false => event("election", &now),
                });
                watch.told = Some(now);
            }
        }
        watches.retain(|watch| !watch.tell.is_closed());
        self.watches = watches;
    }

    pub(super) fn election(&self, name: &str) -> Option<Value> {
        let register = self.names.get(name)?;
        let node = register.holder.as_ref().and_then(|id| self.sessions.get(id)).map(|session| session.node);
        let holder = node.map(|node| json!({ "node": node, "session": register.holder }));
        Some(json!({
            "name": name, "kind": register.kind, "token": register.token, "holder": holder,
            "value": register.value, "waiting": self.waiting(name),
            "since": "2026-03-01T12:30:00Z", "age_ms": 0,
        }))
    }
}

impl Register {
    pub(super) fn new(kind: &str) -> Self {
        // No small number, so that nothing else is taken for a token.
        Self { kind: kind.to_owned(), token: 100, holder: None, value: String::new(), asked_back: None }
    }
}

impl Session {
    fn tell(&self, name: &str, data: &Value) {
        if let Some((_, stream)) = &self.stream {
            let _ = stream.send(event(name, data));
        }
    }

    /// What it is told of validity.
    fn tells(&mut self, kind: &str, valid_until: Duration) -> Value {
        if kind == "token" {
            return Value::Null;
        }
        self.told = self.told.max(valid_until);
        json!(micros(valid_until))
    }
}
