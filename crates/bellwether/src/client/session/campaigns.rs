//! The campaigns of a session, and how they stand.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bellwether_proto::exclusive::grant::Name;
use tokio::sync::{Notify, watch};

use super::super::standing::{AskedBack, Grant, Over, Phase, Until};
use super::{Candidacy, ClientError};
use crate::uptime::Uptime;

/// All campaigns of a session.
#[derive(Debug, Default)]
pub(super) struct Campaigns {
    entries: Mutex<BTreeMap<Name, Entry>>,
    /// Rung when one has been given back.
    freed: Notify,
}

#[derive(Debug)]
struct Entry {
    candidacy: Candidacy,
    phase: watch::Sender<Phase>,
    course: Course,
    /// What the agent granted, while it is not known until when it is valid.
    elected: Option<u64>,
    /// Whether the agent of this stream has said that it is held.
    is_confirmed: bool,
}

/// How far a campaign has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// The agent has not taken note of it.
    Asked,
    Begun,
    /// It is being given back.
    Leaving,
}

/// Why a name cannot be campaigned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Campaigns,
    /// It is being given back, and can be soon.
    Leaving,
}

/// What is to be done when the agent says that a name is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// Ask until when it is valid.
    Ask,
    /// Nobody wants it: give it back.
    GiveBack,
}

/// What a session that is resumed says of itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Holds {
    pub(super) names: Vec<(Name, u64)>,
    /// The latest validity of any of them, if a clock decides.
    pub(super) until: Option<Duration>,
}

pub(super) fn twice(name: &Name) -> ClientError {
    ClientError::Campaigns { name: name.to_string() }
}

impl Campaigns {
    fn entries(&self) -> MutexGuard<'_, BTreeMap<Name, Entry>> {
        // What is in it is whole between any two lines that change it.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resolves when one has been given back after this was called.
    pub(super) fn freed(&self) -> impl Future<Output = ()> + '_ {
        let mut freed = Box::pin(self.freed.notified());
        freed.as_mut().enable();
        freed
    }

    /// Whoever may campaign for that name: how it stands from now on.
    pub(super) fn enter(&self, name: &Name, candidacy: &Candidacy) -> Result<watch::Receiver<Phase>, Taken> {
        let mut entries = self.entries();
        match entries.get(name).map(|entry| entry.course) {
            Some(Course::Leaving) => return Err(Taken::Leaving),
            Some(Course::Asked | Course::Begun) => return Err(Taken::Campaigns),
            None => {}
        }
        let (phase, seen) = watch::channel(Phase::Waiting { position: None });
        let (candidacy, course) = (candidacy.clone(), Course::Asked);
        entries.insert(name.clone(), Entry { candidacy, phase, course, elected: None, is_confirmed: false });
        Ok(seen)
    }

    pub(super) fn phase(&self, name: &Name) -> Option<watch::Receiver<Phase>> {
        self.entries().get(name).map(|entry| entry.phase.subscribe())
    }

    /// The agent has taken note of it.
    pub(super) fn begin(&self, name: &Name) {
        if let Some(entry) = self.entries().get_mut(name).filter(|entry| entry.course == Course::Asked) {
            entry.course = Course::Begun;
        }
    }

    /// It is to be given back: true if it was not before. From here on nobody may act.
    pub(super) fn leave(&self, name: &Name) -> bool {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(name).filter(|entry| entry.course != Course::Leaving) else {
            return false;
        };
        entry.end(Over::GivenBack);
        entry.course = Course::Leaving;
        true
    }

    /// It has been given back.
    pub(super) fn forget(&self, name: &Name) {
        self.entries().remove(name);
        self.freed.notify_waiters();
    }

    pub(super) fn waits(&self, name: &Name, position: Option<u64>) {
        if let Some(entry) = self.entries().get_mut(name) {
            match entry.now() {
                Phase::Waiting { .. } => entry.turn(Phase::Waiting { position }),
                // An agent that was restarted waits until it may take it over.
                Phase::Held(_) if !entry.is_confirmed => {}
                Phase::Held(_) => entry.end(Over::Other),
                Phase::Over { .. } => {}
            }
        }
    }

    /// The agent says that it is held. `until` is unknown if it has to be asked.
    pub(super) fn elected(&self, name: &Name, token: u64, until: Option<Until>) -> Then {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(name) else { return Then::GiveBack };
        match (entry.now(), until) {
            (Phase::Over { .. }, _) => return Then::Nothing,
            (Phase::Waiting { .. } | Phase::Held(_), None) => {
                entry.elected = Some(token);
                return Then::Ask;
            }
            (Phase::Waiting { .. }, Some(until)) => {
                entry.turn(Phase::Held(Grant::new(token, until, Uptime::Machine)))
            }
            // An agent that was restarted has taken it over, with another token.
            (Phase::Held(grant), Some(until)) => {
                entry.turn(Phase::Held(grant.told(token, until, Uptime::Machine)))
            }
        }
        (entry.elected, entry.is_confirmed) = (None, true);
        Then::Nothing
    }

    /// What is held of kind lease is valid until then: that name, or all that the agent of this stream said is held.
    pub(super) fn valid(&self, name: Option<&Name>, token: Option<u64>, until: Duration) {
        let is_meant =
            |(of, entry): &(&Name, &mut Entry)| name.is_none_or(|name| name == *of) && entry.is_confirmed;
        for (_, entry) in self.entries().iter_mut().filter(is_meant) {
            if let Phase::Held(grant) = entry.now()
                && token.is_none_or(|token| token == grant.token)
                && let Until::Uptime(before) = grant.until
                && before < until
            {
                entry.turn(Phase::Held(grant.told(grant.token, Until::Uptime(until), Uptime::Machine)));
            }
        }
    }

    /// What has to be asked for its validity: names with tokens that are held, or that the agent says are.
    pub(super) fn unsure(&self, name: Option<&Name>) -> Vec<(Name, u64)> {
        let entries = self.entries();
        let meant = entries.iter().filter(|(of, _)| name.is_none_or(|name| name == *of));
        let token = |entry: &Entry| match (entry.elected, entry.now()) {
            (Some(token), _) => Some(token),
            (None, Phase::Held(Grant { token, until: Until::Uptime(_), .. })) => Some(token),
            (None, Phase::Held(_) | Phase::Waiting { .. } | Phase::Over { .. }) => None,
        };
        meant.filter_map(|(name, entry)| Some((name.clone(), token(entry)?))).collect()
    }

    pub(super) fn asked_back(&self, name: &Name, why: AskedBack, by: Option<Duration>) {
        if let Some(entry) = self.entries().get_mut(name)
            && let Phase::Held(grant) = entry.now()
        {
            entry.turn(Phase::Held(Grant { asked_back: Some((why, by)), ..grant }));
        }
    }

    /// It is held no more: true if somebody held it.
    pub(super) fn lost(&self, name: &Name, why: Over) -> bool {
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(name) else { return false };
        entry.elected = None;
        let was_held = matches!(entry.now(), Phase::Held(_));
        if was_held {
            entry.end(why);
        }
        was_held
    }

    /// The stream is lost: what the next one does not confirm is not put off any more.
    pub(super) fn doubt(&self) {
        for entry in self.entries().values_mut() {
            (entry.is_confirmed, entry.elected) = (false, None);
        }
    }

    /// What is held still, and what is not is over. What no clock decides is held as long as the agent keeps it.
    pub(super) fn holds(&self, is_kept: bool) -> Holds {
        let mut holds = Holds::default();
        for (name, entry) in self.entries().iter_mut() {
            let Phase::Held(grant) = entry.now() else { continue };
            if !grant.until.lasts(Uptime::Machine) || (grant.until == Until::ByStore && !is_kept) {
                entry.end(Over::Lease);
                continue;
            }
            holds.names.push((name.clone(), grant.token));
            holds.until = holds.until.max(grant.until.deadline());
        }
        holds
    }

    /// Nothing that was held is held any more.
    pub(super) fn end_held(&self, why: Over) {
        for entry in self.entries().values_mut() {
            if let Phase::Held(_) = entry.now() {
                entry.end(why);
            }
        }
    }

    /// Nothing is held or waited for any more.
    pub(super) fn end(&self, why: Over) {
        self.entries().values_mut().for_each(|entry| entry.end(why));
    }

    pub(super) fn refused(&self, name: &Name) {
        if let Some(entry) = self.entries().get_mut(name) {
            entry.end(Over::Refused);
        }
    }

    /// What a new agent has to be asked for.
    pub(super) fn waiting(&self) -> Vec<(Name, Candidacy)> {
        let entries = self.entries();
        let waits =
            |entry: &Entry| entry.course == Course::Begun && matches!(entry.now(), Phase::Waiting { .. });
        let waiting = entries.iter().filter(|(_, entry)| waits(entry));
        waiting.map(|(name, entry)| (name.clone(), entry.candidacy.clone())).collect()
    }
}

impl Entry {
    fn now(&self) -> Phase {
        *self.phase.borrow()
    }

    fn turn(&self, phase: Phase) {
        self.phase.send_if_modified(|now| std::mem::replace(now, phase) != phase);
    }

    /// From here on nobody may act. Why it ended first is what counts.
    fn end(&self, why: Over) {
        match self.now() {
            Phase::Over { .. } => {}
            Phase::Held(Grant { token, .. }) => self.turn(Phase::Over { token, why }),
            Phase::Waiting { .. } => self.turn(Phase::Over { token: 0, why }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uptime;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn name(name: &str) -> Name {
        Name::new(name).unwrap()
    }

    /// Campaigns that hold these names, each with token 7.
    fn holding(names: &[&str]) -> (Campaigns, Vec<watch::Receiver<Phase>>) {
        let campaigns = Campaigns::default();
        let hold = |held: &&str| {
            let phase = campaigns.enter(&name(held), &Candidacy::default()).unwrap();
            campaigns.begin(&name(held));
            let until = Until::Uptime(uptime::now() + HOUR);
            assert_eq!(campaigns.elected(&name(held), 7, Some(until)), Then::Nothing);
            phase
        };
        let phases = names.iter().map(hold).collect();
        (campaigns, phases)
    }

    fn grant(phase: &watch::Receiver<Phase>) -> Grant {
        let Phase::Held(grant) = *phase.borrow() else { panic!("{phase:?}") };
        grant
    }

    #[test]
    fn validity_is_put_off_for_all_that_this_stream_said_is_held() {
        let (campaigns, phases) = holding(&["a", "b"]);
        let later = uptime::now() + 2 * HOUR;
        campaigns.valid(None, None, later);
        assert!(phases.iter().all(|phase| grant(phase).until == Until::Uptime(later)));
        campaigns.valid(Some(&name("a")), Some(6), later + HOUR);
        assert_eq!(grant(&phases[0]).until, Until::Uptime(later), "of another token");
        campaigns.valid(None, None, later - HOUR);
        assert_eq!(grant(&phases[0]).until, Until::Uptime(later), "what was told once is true");
        campaigns.doubt();
        campaigns.waits(&name("a"), None);
        campaigns.valid(None, None, later + HOUR);
        assert_eq!(grant(&phases[0]).until, Until::Uptime(later), "another agent may mean others");
        campaigns.elected(&name("a"), 8, Some(Until::Uptime(later + HOUR)));
        let (a, b) = (grant(&phases[0]), grant(&phases[1]));
        assert_eq!((a.token, a.until), (8, Until::Uptime(later + HOUR)));
        assert_eq!((b.token, b.until), (7, Until::Uptime(later)));
    }

    #[test]
    fn what_is_given_back_is_over_before_anybody_else_is_told() {
        let (campaigns, phases) = holding(&["a"]);
        assert!(campaigns.leave(&name("a")) && !campaigns.leave(&name("a")));
        assert_eq!(*phases[0].borrow(), Phase::Over { token: 7, why: Over::GivenBack });
        assert_eq!(campaigns.enter(&name("a"), &Candidacy::default()).err(), Some(Taken::Leaving));
        assert_eq!(campaigns.elected(&name("a"), 8, None), Then::Nothing, "it is on its way back");
        campaigns.forget(&name("a"));
        assert_eq!(campaigns.elected(&name("a"), 9, None), Then::GiveBack, "nobody asked for it");
        assert!(campaigns.enter(&name("a"), &Candidacy::default()).is_ok());
        assert_eq!(campaigns.enter(&name("a"), &Candidacy::default()).err(), Some(Taken::Campaigns));
    }

    #[test]
    fn what_is_not_valid_any_more_is_not_resumed() {
        let (campaigns, phases) = holding(&["a", "b"]);
        campaigns.enter(&name("c"), &Candidacy::default()).unwrap();
        campaigns.begin(&name("c"));
        let holds = campaigns.holds(true);
        assert_eq!(holds.names, [(name("a"), 7), (name("b"), 7)]);
        assert_eq!(holds.until, grant(&phases[0]).until.deadline().max(grant(&phases[1]).until.deadline()));
        campaigns.lost(&name("a"), Over::Replaced);
        campaigns.end_held(Over::Session);
        assert!(campaigns.holds(true).names.is_empty());
        assert_eq!(*phases[0].borrow(), Phase::Over { token: 7, why: Over::Replaced });
        let waiting = campaigns.waiting();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].0, name("c"));
    }

    #[test]
    fn what_a_store_decides_is_held_while_the_agent_keeps_it() {
        let campaigns = Campaigns::default();
        let phase = campaigns.enter(&name("a"), &Candidacy::default()).unwrap();
        campaigns.elected(&name("a"), 3, Some(Until::ByStore));
        let holds = campaigns.holds(true);
        assert_eq!((holds.names, holds.until), (vec![(name("a"), 3)], None));
        assert!(campaigns.holds(false).names.is_empty());
        assert_eq!(*phase.borrow(), Phase::Over { token: 3, why: Over::Lease });
    }
}
