//! An engine in memory: what an engine has to do, in its shortest form, and with flaws on request.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bellwether::arbiter::conformance::Link;
use bellwether::arbiter::{
    Candidacy, Engine, EngineClock, Line, News, Place, Terms, Ticket, Tokens, Trouble,
};
use bellwether::elections::Name;
use tokio::sync::watch;
use tokio::time::{sleep_until, timeout};

const TTL: Duration = Duration::from_millis(400);

/// What may be wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    TokensRepeat,
    SessionsEndEarly,
    LeavingIsForgotten,
    ValuesAreLost,
    IsNotThere,
}

/// What all its clients share.
#[derive(Debug)]
pub(super) struct Store {
    flaw: Option<Flaw>,
    kept: Mutex<Kept>,
    /// How often something has changed.
    changed: watch::Sender<u64>,
}

/// Somebody in line, and what it would proclaim.
type Placed = (Ticket, Arc<[u8]>);

#[derive(Debug, Default)]
struct Kept {
    numbers: u64,
    /// Until when each lasts.
    sessions: BTreeMap<String, Instant>,
    lines: BTreeMap<Name, Vec<Placed>>,
}

impl Store {
    pub(super) fn new(flaw: Option<Flaw>) -> Arc<Self> {
        Arc::new(Self { flaw, kept: Mutex::default(), changed: watch::Sender::new(0) })
    }

    /// What is kept now: sessions that are over are no more.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        let mut kept = self.kept.lock().unwrap();
        let (now, all) = (Instant::now(), kept.sessions.len());
        kept.sessions.retain(|_, until| now < *until);
        if kept.sessions.len() < all {
            let Kept { sessions, lines, .. } = &mut *kept;
            lines
                .values_mut()
                .for_each(|line| line.retain(|(there, _)| sessions.contains_key(&there.session)));
            self.changed.send_modify(|changed| *changed += 1);
        }
        kept
    }

    fn lasts(&self) -> Duration {
        if self.flaw == Some(Flaw::SessionsEndEarly) { TTL / 3 } else { TTL }
    }

    fn line(&self, kept: &Kept, name: &Name) -> Line {
        let line = kept.lines.get(name).map_or(&[][..], Vec::as_slice);
        let number = line.first().map_or(0, |(first, _)| first.number);
        let token = if self.flaw == Some(Flaw::TokensRepeat) { number.min(1) } else { number };
        let value = line.first().map(|(_, value)| Arc::clone(value)).unwrap_or_default();
        let tickets = line.iter().map(|(ticket, _)| ticket.clone()).collect();
        Line { at: *self.changed.borrow(), tickets, token, value }
    }
}

/// A client of it.
#[derive(Debug)]
pub(super) struct Shelf {
    store: Arc<Store>,
    link: watch::Receiver<bool>,
}

#[derive(Debug)]
pub(super) struct Wire(watch::Sender<bool>);

impl Link for Wire {
    fn cut(&self) {
        self.0.send_replace(false);
    }

    fn heal(&self) {
        self.0.send_replace(true);
    }
}

impl Shelf {
    pub(super) fn of(store: &Arc<Store>) -> (Self, Wire) {
        let link = watch::Sender::new(true);
        (Self { store: Arc::clone(store), link: link.subscribe() }, Wire(link))
    }

    async fn passes(&self) {
        let _ = self.link.clone().wait_for(|whole| *whole).await;
    }

    /// A question and its answer, each of which may be under way for long.
    async fn ask<T>(&self, does: impl FnOnce(&mut Kept) -> T) -> T {
        self.passes().await;
        let answer = {
            let mut kept = self.store.kept();
            let answer = does(&mut kept);
            self.store.changed.send_modify(|changed| *changed += 1);
            answer
        };
        self.passes().await;
        answer
    }
}

impl Engine for Shelf {
    fn terms(&self) -> Terms {
        let (clock, tokens) = (EngineClock::Server, Tokens::WhileNothingIsLost);
        Terms { engine: "shelf", ttl: TTL, clock, tokens, is_fair: true }
    }

    async fn open(&self) -> Result<(String, Duration), Trouble> {
        if self.store.flaw == Some(Flaw::IsNotThere) {
            let (at, why) = ("memory".to_owned(), "it is not there".to_owned());
            return Err(Trouble::Unreachable { engine: "shelf", at, why });
        }
        let until = Instant::now() + self.store.lasts();
        let opens = |kept: &mut Kept| {
            kept.numbers += 1;
            let id = format!("session-{}", kept.numbers);
            kept.sessions.insert(id.clone(), until);
            (id, TTL)
        };
        Ok(self.ask(opens).await)
    }

    async fn renew(&self, session: &str) -> Result<Duration, Trouble> {
        let lasts = self.store.lasts();
        let renews = |kept: &mut Kept| match kept.sessions.get_mut(session) {
            Some(until) => {
                *until = Instant::now() + lasts;
                Ok(TTL)
            }
            None => Err(Trouble::Gone),
        };
        self.ask(renews).await
    }

    async fn close(&self, session: &str) -> Result<(), Trouble> {
        let ends = |kept: &mut Kept| kept.sessions.insert(session.to_owned(), Instant::now());
        self.ask(ends).await;
        drop(self.store.kept());
        Ok(())
    }

    async fn enter(
        &self,
        session: &str,
        name: &Name,
        slot: u32,
        candidacy: &Candidacy,
    ) -> Result<Place, Trouble> {
        let enters = |kept: &mut Kept| {
            if !kept.sessions.contains_key(session) {
                return Err(Trouble::Gone);
            }
            let line = kept.lines.entry(name.clone()).or_default();
            let is_there = |(there, _): &&Placed| (there.session.as_str(), there.slot) == (session, slot);
            if let Some((ticket, _)) = line.iter().find(is_there) {
                return Ok(ticket.clone());
            }
            kept.numbers += 1;
            let ticket = Ticket { session: session.to_owned(), slot, number: kept.numbers };
            line.push((ticket.clone(), Arc::clone(&candidacy.value)));
            Ok(ticket)
        };
        let ticket = self.ask(enters).await?;
        Ok(Place { ticket, at: *self.store.changed.borrow() })
    }

    async fn leave(&self, name: &Name, ticket: &Ticket) -> Result<(), Trouble> {
        let is_forgotten = self.store.flaw == Some(Flaw::LeavingIsForgotten);
        let leaves = |kept: &mut Kept| {
            if let Some(line) = kept.lines.get_mut(name).filter(|_| !is_forgotten) {
                line.retain(|(there, _)| there != ticket);
            }
        };
        self.ask(leaves).await;
        Ok(())
    }

    async fn proclaim(&self, name: &Name, ticket: &Ticket, value: &[u8]) -> Result<bool, Trouble> {
        let is_lost = self.store.flaw == Some(Flaw::ValuesAreLost);
        let proclaims = |kept: &mut Kept| {
            let holder = kept.lines.get_mut(name).and_then(|line| line.first_mut());
            let holder = holder.filter(|(there, _)| there == ticket);
            holder
                .map(|(_, known)| {
                    if !is_lost {
                        *known = value.into()
                    }
                })
                .is_some()
        };
        Ok(self.ask(proclaims).await)
    }

    async fn read(&self, name: &Name) -> Result<Line, Trouble> {
        let store = Arc::clone(&self.store);
        Ok(self.ask(|kept| store.line(kept, name)).await)
    }

    async fn follow(&self, news: &News) -> Trouble {
        let mut changed = self.store.changed.subscribe();
        let mut is_first = true;
        loop {
            self.passes().await;
            let (lines, ends) = {
                let kept = self.store.kept();
                changed.borrow_and_update();
                let lines = kept.lines.keys().map(|name| (name.clone(), self.store.line(&kept, name)));
                (lines.collect::<Vec<_>>(), kept.sessions.values().min().copied())
            };
            match std::mem::take(&mut is_first) {
                true => news.all(lines, *self.store.changed.borrow()),
                false => lines.into_iter().for_each(|(name, line)| news.line(name, line)),
            }
            let ends = ends.unwrap_or_else(|| Instant::now() + TTL);
            let _ = timeout(TTL, async {
                tokio::select! {
                    _ = changed.changed() => {}
                    () = sleep_until(ends.into()) => {}
                }
            })
            .await;
        }
    }
}
