//! What the driver knows of named elections, for all handles to read.

mod seats;
mod slot;
mod told;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use bellwether_proto::exclusive::grant::{Grant, GrantKind, Name};
use bellwether_proto::exclusive::order::{Lost, News, Order};
use bellwether_proto::time::Time;
use tokio::sync::{mpsc, watch};

use crate::command::{Asked, Command};
use crate::uptime::Uptime;
use seats::Seats;

pub(crate) use slot::Slot;
pub use told::{Election, Holder, Lease, State};

/// Between the driver and the handles.
#[derive(Debug, Default)]
pub(crate) struct Board {
    uptime: Uptime,
    inner: Mutex<Inner>,
    /// The member's lease.
    pub(crate) lease: watch::Sender<Lease>,
    /// Names that are held through guards.
    pub(crate) seats: Seats,
    /// The number of what became known last, of any name. [`ENDED`] at the end.
    pub(crate) latest: watch::Sender<u64>,
}

/// The member has ended, and nothing more becomes known.
pub(crate) const ENDED: u64 = u64::MAX;

/// Of so many names that are not known any more it is remembered when that became known. Whoever asks again in time is told of
/// each.
const GONE_MAX: usize = 10_000;

#[derive(Debug, Default)]
struct Inner {
    sessions: u64,
    campaigns: BTreeMap<(u64, Name), Arc<Slot>>,
    known: BTreeMap<Name, Known>,
    watched: BTreeMap<Name, watch::Sender<u64>>,
    /// The names, by the number of what became known of them last; those that are not known any more may be there more than once.
    latest: BTreeMap<u64, Name>,
    /// The numbers of those that are not known any more.
    gone: VecDeque<u64>,
    /// What was dropped while the driver was busy.
    unsent: Vec<Command>,
    /// Counts what became known.
    no: u64,
    /// When all that is known was so, if nothing was heard since.
    current: Duration,
}

/// There may be a million.
#[derive(Clone, Debug)]
struct Known {
    grant: Arc<Grant>,
    waiting: u32,
    since: Micros,
    heard: Micros,
    /// The number under which this became known.
    no: u64,
}

/// Since 1970, or since the machine is up: half as large as what it is made of.
#[derive(Clone, Copy, Debug)]
struct Micros(u64);

impl From<Duration> for Micros {
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl Micros {
    fn span(self) -> Duration {
        Duration::from_micros(self.0)
    }
}

impl Board {
    pub(crate) fn new(uptime: Uptime) -> Self {
        Self { uptime, ..Self::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // What is in it is whole between any two lines that change it.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session that nobody has had before in this process.
    pub(crate) fn open(&self) -> u64 {
        let mut inner = self.inner();
        inner.sessions += 1;
        inner.sessions
    }

    /// A session of an earlier process goes on.
    pub(crate) fn open_again(&self, session: u64) {
        let mut inner = self.inner();
        inner.sessions = inner.sessions.max(session);
    }

    /// A campaign begins: what becomes of it. `None` if that session has one for the name.
    pub(crate) fn begin(&self, session: u64, name: &Name) -> Option<Arc<Slot>> {
        let slot = Arc::new(Slot::new());
        let mut inner = self.inner();
        let key = (session, name.clone());
        if inner.campaigns.contains_key(&key) {
            return None;
        }
        inner.campaigns.insert(key, Arc::clone(&slot));
        Some(slot)
    }

    /// A campaign is over, or never was.
    pub(crate) fn end(&self, session: u64, name: &Name) {
        // Nobody is woken under the lock: who is may look here at once.
        let slot = self.inner().campaigns.remove(&(session, name.clone()));
        if let Some(slot) = slot {
            slot.set(State::Over);
        }
    }

    /// Gives something back for one that does not wait. If the driver is busy for long, somebody else waits for it.
    pub(crate) fn give_back(&self, commands: &mpsc::Sender<Command>, order: Order) {
        let command = Command { asked: Asked::Order(Box::new(order)), reply: None };
        match commands.try_send(command) {
            // A member that has ended has given everything back.
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => {}
            Err(mpsc::error::TrySendError::Full(command)) => self.inner().unsent.push(command),
        }
    }

    /// What could not be given back because the driver was busy.
    pub(crate) fn unsent(&self) -> Vec<Command> {
        std::mem::take(&mut self.inner().unsent)
    }

    /// Something became known.
    pub(crate) fn post(&self, at: SystemTime, until: impl Fn(Time) -> Option<Duration>, news: News) {
        match news {
            News::Waits { session, name, before } => {
                self.turn(session, name, |state| match *state {
                    State::Waiting { lost, .. } => State::Waiting { before, lost },
                    State::Held { .. } | State::Unfit { .. } | State::Over => {
                        State::Waiting { before, lost: None }
                    }
                });
            }
            News::Holds { session, name, token } => {
                self.turn(session, name, |_| State::Held { token: token.0 });
            }
            News::Lost { session, name, why } => self.turn(session, name, |_| lost(why)),
            News::Over { session, name } => self.end(session, &name),
            News::Unfit { session, name, kind } => self.refuse(session, &name, kind),
            News::Current => self.inner().current = self.uptime.now(),
            News::Valid(valid) => {
                let valid_until = valid.and_then(until);
                self.lease.send_replace(Lease { valid_until });
            }
            News::Known { name, held } => self.learn(at, name, held),
        }
    }

    /// A campaign does not count.
    fn refuse(&self, session: u64, name: &Name, kind: GrantKind) {
        let slot = self.inner().campaigns.remove(&(session, name.clone()));
        if let Some(slot) = slot {
            slot.set(State::Unfit { kind });
        }
    }

    fn turn(&self, session: u64, name: Name, next: impl FnOnce(&State) -> State) {
        let slot = self.inner().campaigns.get(&(session, name)).cloned();
        if let Some(slot) = slot {
            slot.turn(next);
        }
    }

    fn learn(&self, at: SystemTime, name: Name, held: Option<(Arc<Grant>, u32)>) {
        let mut inner = self.inner();
        inner.no += 1;
        let no = inner.no;
        match held {
            Some((grant, waiting)) => {
                let before = inner.known.get(&name).filter(|known| known.grant == grant);
                let at = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                let since = before.map_or(at.into(), |known| known.since);
                let known = Known { grant, waiting, since, heard: self.uptime.now().into(), no };
                if let Some(Known { no, .. }) = inner.known.insert(name.clone(), known) {
                    inner.latest.remove(&no);
                }
            }
            None => {
                if let Some(Known { no, .. }) = inner.known.remove(&name) {
                    inner.latest.remove(&no);
                }
                inner.bury(no);
            }
        }
        if let Some(watched) = inner.watched.get(&name) {
            watched.send_replace(no);
        }
        inner.latest.insert(no, name);
        drop(inner);
        self.latest.send_replace(no);
    }

    /// The names of which something became known after that number, in that order, so many at most; and the number of the last of
    /// them.
    pub(crate) fn learnt_after(&self, no: u64, limit: usize) -> (Vec<Name>, u64) {
        let inner = self.inner();
        let learnt = inner.latest.range((Bound::Excluded(no), Bound::Unbounded)).take(limit);
        learnt.fold((Vec::new(), no), |(mut names, _), (no, name)| {
            names.push(name.clone());
            (names, *no)
        })
    }

    /// The elections that are known, in the order of their names.
    pub(crate) fn list(&self, after: Option<&Name>, limit: usize) -> Vec<Election> {
        let begin = after.map_or(Bound::Unbounded, Bound::Excluded);
        let inner = self.inner();
        let known = inner.known.range::<Name, _>((begin, Bound::Unbounded));
        known.take(limit).map(|(name, known)| known.election(name, inner.current, self.uptime)).collect()
    }

    /// What is known of one.
    pub(crate) fn get(&self, name: &Name) -> Option<Election> {
        let inner = self.inner();
        inner.known.get(name).map(|known| known.election(name, inner.current, self.uptime))
    }

    /// Tells when something becomes known of that name.
    pub(crate) fn watch(&self, name: &Name) -> watch::Receiver<u64> {
        let mut inner = self.inner();
        if *self.latest.borrow() == ENDED {
            return watch::channel(0).1; // Nobody tells.
        }
        let gone: BTreeSet<Name> = inner.gone();
        gone.iter().for_each(|name| drop(inner.watched.remove(name)));
        inner.watched.entry(name.clone()).or_default().subscribe()
    }

    /// The member has ended: nothing is held any more.
    pub(crate) fn close(&self) {
        let campaigns = std::mem::take(&mut self.inner().campaigns);
        campaigns.into_values().for_each(|slot| slot.set(State::Over));
        let mut inner = self.inner();
        inner.watched.clear();
        self.latest.send_replace(ENDED);
        drop(inner);
        self.lease.send_replace(Lease::default());
    }
}

impl Inner {
    /// A name is not known any more, since that number.
    fn bury(&mut self, no: u64) {
        self.gone.push_back(no);
        if self.gone.len() > GONE_MAX {
            let forgotten = self.gone.pop_front();
            forgotten.map(|no| self.latest.remove(&no));
        }
    }

    fn gone(&self) -> BTreeSet<Name> {
        let idle = self.watched.iter().filter(|(_, watched)| watched.receiver_count() == 0);
        idle.map(|(name, _)| name.clone()).collect()
    }
}

impl Known {
    fn election(&self, name: &Name, current: Duration, uptime: Uptime) -> Election {
        let holder =
            self.grant.holder.map(|holder| Holder { node: holder.lease.life.node, session: holder.session });
        Election {
            name: name.clone(),
            kind: self.grant.kind,
            token: self.grant.token.0,
            holder,
            value: Arc::clone(&self.grant.value),
            waiting: self.waiting,
            since: SystemTime::UNIX_EPOCH + self.since.span(),
            age: uptime.now().saturating_sub(self.heard.span().max(current)),
        }
    }
}

fn lost(why: Lost) -> State {
    State::Waiting { before: None, lost: Some(why) }
}

/// Whether a grant of that kind is valid without a clock.
pub(crate) fn is_by_store(kind: GrantKind) -> bool {
    kind == GrantKind::Token
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    use super::*;

    /// Looks at the board when it is woken.
    #[derive(Default)]
    struct Reader {
        board: Board,
        seen: AtomicUsize,
    }

    impl Wake for Reader {
        fn wake(self: Arc<Self>) {
            assert!(self.board.inner.try_lock().is_ok(), "the board is locked");
            self.seen.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_is_woken_may_look_at_once() {
        let name = Name::new("backup").unwrap();
        let ends: [&dyn Fn(&Board); 4] = [
            &|board| board.turn(1, name.clone(), |_| State::Held { token: 1 }),
            &|board| board.refuse(1, &name, GrantKind::Token),
            &|board| board.end(1, &name),
            &Board::close,
        ];
        for happens in ends {
            let reader = Arc::new(Reader::default());
            let slot = reader.board.begin(1, &name).unwrap();
            let waker = Waker::from(Arc::clone(&reader));
            assert!(slot.poll_changed(&mut 0, &Context::from_waker(&waker)).is_pending());
            happens(&reader.board);
            assert_eq!(reader.seen.load(Ordering::Relaxed), 1);
        }
    }
}
