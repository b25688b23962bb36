//! A campaign: a task that gets in line, says what becomes of it, and leaves the line at the end.

use std::sync::Arc;
use std::time::Duration;

use bellwether_proto::exclusive::order::{Declined, Lost};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{sleep, timeout};

use super::board::Known;
use super::session::Tenancy;
use super::slots::Slot;
use super::{AGAIN, Life, Shared};
use crate::arbiter::{Campaign, Candidacy, Denied, Doing, Engine, Place, Sight, Ticket, Trouble, VALUE_MAX};
use crate::backoff::Backoff;
use crate::elections::{Name, State};
use crate::uptime;

/// A question that has no answer after so long is asked again.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) type Reply = oneshot::Sender<Result<(), Denied>>;

enum Ask {
    Release(Reply),
    Proclaim(Arc<[u8]>, Reply),
}

/// How a campaign stands, and in which session.
type Stand = (State, u64);

/// Begins a campaign.
pub(super) fn begin<E: Engine>(
    shared: Arc<Shared<E>>,
    life: Life,
    name: Name,
    candidacy: Candidacy,
) -> Box<dyn Campaign> {
    let stand = Arc::new(watch::Sender::new((State::Waiting { before: None, lost: None }, 0)));
    let (asks, asked) = mpsc::channel(4);
    let looks = Looks { stand: stand.subscribe(), session: shared.session.subscribe() };
    let line = shared.board.watch(&name);
    let runner = Runner { shared, name, candidacy, stand: Arc::clone(&stand), asked, line, _life: life };
    tokio::spawn(runner.run());
    Box::new(Handle { stand, asks, looks })
}

/// What whoever campaigns has.
#[derive(Debug)]
struct Handle {
    stand: Arc<watch::Sender<Stand>>,
    asks: mpsc::Sender<Ask>,
    looks: Looks,
}

/// A look at it.
#[derive(Clone, Debug)]
struct Looks {
    stand: watch::Receiver<Stand>,
    session: watch::Receiver<Option<Tenancy>>,
}

impl Sight for Looks {
    fn state(&self) -> State {
        self.stand.borrow().0
    }

    fn valid_until(&self) -> Option<Duration> {
        let (State::Held { .. }, held_in) = *self.stand.borrow() else { return None };
        let until = self.session.borrow().as_ref().filter(|session| session.no == held_in)?.until;
        // The clock is looked at last.
        (uptime::now() < until).then_some(until)
    }
}

impl Campaign for Handle {
    fn sight(&self) -> Arc<dyn Sight> {
        Arc::new(self.looks.clone())
    }

    fn changed(&mut self) -> Doing<'_, ()> {
        Box::pin(async {
            tokio::select! {
                Ok(()) = self.looks.stand.changed() => {}
                Ok(()) = self.looks.session.changed() => {}
                else => std::future::pending().await,
            }
        })
    }

    fn proclaim(&self, value: Arc<[u8]>) -> Doing<'static, Result<(), Denied>> {
        if value.len() > VALUE_MAX {
            return Box::pin(async { Err(Denied::declined(Declined::TooLong)) });
        }
        let asks = self.asks.clone();
        Box::pin(async move {
            let answer = ask(&asks, |reply| Ask::Proclaim(value, reply)).await;
            answer.unwrap_or(Err(Denied::declined(Declined::NotHeld)))
        })
    }

    fn release(self: Box<Self>) -> Doing<'static, Result<(), Denied>> {
        // From here on nobody may act.
        self.stand.send_replace((State::Over, 0));
        let asks = self.asks.clone();
        Box::pin(async move {
            let answer = ask(&asks, Ask::Release).await;
            drop(self);
            answer.unwrap_or(Ok(()))
        })
    }
}

async fn ask(asks: &mpsc::Sender<Ask>, what: impl FnOnce(Reply) -> Ask) -> Option<Result<(), Denied>> {
    let (reply, answer) = oneshot::channel();
    asks.send(what(reply)).await.ok()?;
    answer.await.ok()
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.stand.send_replace((State::Over, 0));
    }
}

/// The task.
struct Runner<E> {
    shared: Arc<Shared<E>>,
    name: Name,
    candidacy: Candidacy,
    stand: Arc<watch::Sender<Stand>>,
    asked: mpsc::Receiver<Ask>,
    line: watch::Receiver<Known>,
    _life: Life,
}

/// Nobody wants the name any more. Who waits for the end, if anybody does.
struct Withdrawn(Option<Reply>);

/// What comes of a place in line.
enum Onward {
    /// It is lost: another is asked for.
    Again,
    Withdrawn(Withdrawn),
}

impl<E: Engine> Runner<E> {
    async fn run(mut self) {
        loop {
            let tenancy = match self.tenancy().await {
                Ok(tenancy) => tenancy,
                Err(Withdrawn(reply)) => break answer(reply, Ok(())),
            };
            let slot = self.shared.slots.take(&self.name);
            let (place, withdrawn) = self.enter(&tenancy, &slot).await;
            let Some(Place { ticket, at }) = place else {
                match withdrawn {
                    Some(Withdrawn(reply)) => break answer(reply, Ok(())),
                    None => continue,
                }
            };
            let onward = match withdrawn {
                Some(withdrawn) => Onward::Withdrawn(withdrawn),
                None => self.stand_in_line(&tenancy, &ticket, at).await,
            };
            if let Onward::Withdrawn(Withdrawn(reply)) = onward {
                break leave(self.shared, tenancy.no, self.name, ticket, reply).await;
            }
        }
    }

    /// If nobody wants the name any more, that stays so.
    fn tell(&self, now: State, session: u64) {
        self.stand.send_if_modified(|stand| {
            let is_news = stand.0 != State::Over && *stand != (now, session);
            if is_news {
                *stand = (now, session);
            }
            is_news
        });
    }

    /// The session, when there is one.
    async fn tenancy(&mut self) -> Result<Tenancy, Withdrawn> {
        let mut session = self.shared.session.subscribe();
        tokio::select! {
            biased;
            withdrawn = withdrawn(&mut self.asked) => Err(withdrawn),
            there = session.wait_for(Option::is_some) => match there.ok().and_then(|there| there.clone()) {
                Some(tenancy) => Ok(tenancy),
                None => Err(Withdrawn(None)),
            },
        }
    }

    /// Gets in line; `None` if the session has ended. Whoever does not want the name any more while this is asked has to know what came
    /// of it all the same.
    async fn enter(&mut self, tenancy: &Tenancy, slot: &Slot) -> (Option<Place>, Option<Withdrawn>) {
        let Self { shared, name, candidacy, asked, .. } = self;
        let entered = entered(shared, tenancy, name, slot.no, candidacy);
        tokio::pin!(entered);
        tokio::select! {
            biased;
            withdrawn = withdrawn(asked) => (entered.await, Some(withdrawn)),
            place = &mut entered => (place, None),
        }
    }

    async fn stand_in_line(&mut self, tenancy: &Tenancy, ticket: &Ticket, at: u64) -> Onward {
        let mut session = self.shared.session.subscribe();
        loop {
            let line = self.line.borrow_and_update().line.clone();
            match line.tickets.iter().position(|there| there == ticket) {
                Some(0) => self.tell(State::Held { token: line.token }, tenancy.no),
                Some(before) => {
                    let before = u32::try_from(before - 1).ok();
                    self.tell(State::Waiting { before, lost: None }, tenancy.no);
                }
                // It is told later.
                None if line.at < at => {}
                None => {
                    self.is_lost(Lost::Replaced);
                    return Onward::Again;
                }
            }
            tokio::select! {
                biased;
                ask = self.asked.recv() => match ask {
                    None => return Onward::Withdrawn(Withdrawn(None)),
                    Some(Ask::Release(reply)) => return Onward::Withdrawn(Withdrawn(Some(reply))),
                    Some(Ask::Proclaim(value, reply)) => self.proclaim(ticket, value, reply),
                },
                () = ends(&mut session, tenancy.no) => {
                    self.is_lost(Lost::Lease);
                    return Onward::Again;
                }
                changed = self.line.changed() => if changed.is_err() {
                    return Onward::Withdrawn(Withdrawn(None));
                },
            }
        }
    }

    /// Whoever held the name has lost it; whoever waited waits.
    fn is_lost(&self, why: Lost) {
        let lost = matches!(self.stand.borrow().0, State::Held { .. }).then_some(why);
        self.tell(State::Waiting { before: None, lost }, 0);
    }

    fn proclaim(&mut self, ticket: &Ticket, value: Arc<[u8]>, reply: Reply) {
        if !matches!(self.stand.borrow().0, State::Held { .. }) {
            return answer(Some(reply), Err(Denied::declined(Declined::NotHeld)));
        }
        self.candidacy.value = Arc::clone(&value);
        let (shared, name, ticket) = (Arc::clone(&self.shared), self.name.clone(), ticket.clone());
        tokio::spawn(async move {
            let proclaimed = match shared.engine.proclaim(&name, &ticket, &value).await {
                Ok(true) => Ok(()),
                Ok(false) => Err(Denied::declined(Declined::NotHeld)),
                Err(trouble) => Err(trouble.into()),
            };
            answer(Some(reply), proclaimed);
        });
    }
}

/// Until it is certain that it is not in line any more. Whoever waits for that is told of the first trouble.
pub(super) async fn leave<E: Engine>(
    shared: Arc<Shared<E>>,
    session_no: u64,
    name: Name,
    ticket: Ticket,
    mut reply: Option<Reply>,
) {
    let mut session = shared.session.subscribe();
    let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
    loop {
        let asked = tokio::select! {
            biased;
            () = ends(&mut session, session_no) => Ok(Ok(())),
            left = timeout(PATIENCE, shared.engine.leave(&name, &ticket)) => left,
        };
        match asked {
            Ok(Ok(()) | Err(Trouble::Gone)) => return answer(reply, Ok(())),
            Ok(Err(trouble)) => answer(reply.take(), Err(trouble.into())),
            Err(_) => {}
        }
        sleep(backoff.after(Duration::ZERO)).await;
    }
}

/// Gets in line; `None` if the session has ended.
async fn entered<E: Engine>(
    shared: &Shared<E>,
    tenancy: &Tenancy,
    name: &Name,
    slot: u32,
    candidacy: &Candidacy,
) -> Option<Place> {
    let mut session = shared.session.subscribe();
    let mut backoff = Backoff::between(AGAIN.0, AGAIN.1);
    let mut is_told = false;
    loop {
        let asked = tokio::select! {
            biased;
            () = ends(&mut session, tenancy.no) => return None,
            asked = timeout(PATIENCE, shared.engine.enter(&tenancy.id, name, slot, candidacy)) => asked,
        };
        match asked {
            Ok(Ok(place)) => return Some(place),
            // Whoever keeps the session up finds out.
            Ok(Err(Trouble::Gone)) => shared.doubt.notify_one(),
            Ok(Err(trouble)) if !std::mem::replace(&mut is_told, true) => {
                tracing::warn!("\"{name}\" is not campaigned for yet: {trouble}");
            }
            Ok(Err(trouble)) => tracing::debug!("\"{name}\" is not campaigned for yet: {trouble}"),
            Err(_) => tracing::debug!("\"{name}\" is campaigned for anew: no answer in time"),
        }
        sleep(backoff.after(Duration::ZERO)).await;
    }
}

/// Until nobody wants the name any more. It is not held meanwhile.
async fn withdrawn(asked: &mut mpsc::Receiver<Ask>) -> Withdrawn {
    loop {
        match asked.recv().await {
            None => return Withdrawn(None),
            Some(Ask::Release(reply)) => return Withdrawn(Some(reply)),
            Some(Ask::Proclaim(_, reply)) => answer(Some(reply), Err(Denied::declined(Declined::NotHeld))),
        }
    }
}

/// Until that session has ended.
async fn ends(session: &mut watch::Receiver<Option<Tenancy>>, no: u64) {
    // An error means that nobody keeps it up any more.
    let _ = session.wait_for(|now| now.as_ref().is_none_or(|now| now.no != no)).await;
}

fn answer(reply: Option<Reply>, what: Result<(), Denied>) {
    if let Some(reply) = reply {
        // Whoever waits no more does not want to know.
        let _ = reply.send(what);
    }
}
