//! Bugs, planted between the machines: in messages, on disks, in clocks. The machines themselves are the ones that ship.

use bellwether_proto::exclusive::configuration::Settling;
use bellwether_proto::exclusive::grant::{Accepted, Content, Holder, Name, Token};
use bellwether_proto::exclusive::ident::{Lease, Stamp, StoreId};
use bellwether_proto::exclusive::message::{Answer, Ask, Asked, ExclusiveMsg, Said, Wish};
use bellwether_proto::exclusive::voter::VoterKept;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::exclusive::{Envelope, Meddle, Model, Promise, Setting};

/// A bug, and what it breaks first in some walk.
pub(super) struct Bug {
    pub(super) name: &'static str,
    pub(super) meddle: &'static dyn Meddle,
    pub(super) breaks: &'static [Promise],
}

const HOLDER: &[Promise] = &[Promise::OneHolder, Promise::DeadStays];
const CHAIN: &[Promise] = &[Promise::OneChain, Promise::TokenGrows, Promise::TokenOnce, Promise::ToldDecided];

/// Whoever forgot everything forgot burials, too; and to rewrite a disk, a voter is restarted without its timers.
const ALL: &[Promise] = &[
    Promise::OneHolder,
    Promise::DeadStays,
    Promise::OneChain,
    Promise::TokenGrows,
    Promise::TokenOnce,
    Promise::ToldDecided,
];
/// Who votes is the first thing that is broken, or whatever rests on it.
const VOTERS: &[Promise] = &[
    Promise::OneElectorate,
    Promise::OneHolder,
    Promise::DeadStays,
    Promise::OneChain,
    Promise::TokenGrows,
    Promise::TokenOnce,
    Promise::ToldDecided,
];
const EARLY: &[Promise] = &[Promise::OneChain, Promise::TokenOnce, Promise::ToldDecided, Promise::Whole];

pub(super) const BUGS: &[Bug] = &[
    Bug { name: "a change of hands without burial", meddle: &Unburied, breaks: HOLDER },
    Bug { name: "burial while the timer runs", meddle: &BuriedAlive, breaks: HOLDER },
    Bug { name: "renewal of a dead lease", meddle: &Undead, breaks: HOLDER },
    Bug { name: "validity counted from the answer", meddle: &FromTheAnswer, breaks: HOLDER },
    Bug { name: "a restarted voter that forgets timers", meddle: &ForgetsTimers, breaks: HOLDER },
    Bug { name: "a restarted voter that forgets burials", meddle: &ForgetsBurials, breaks: HOLDER },
    Bug { name: "a token taken from the ballot", meddle: &TokenOfBallot, breaks: CHAIN },
    Bug { name: "a release of an older token believed", meddle: &OldRelease, breaks: HOLDER },
    Bug { name: "a late write of the same ballot believed", meddle: &LateWrite, breaks: ALL },
    Bug { name: "a new life that releases the old one's grants", meddle: &Heir, breaks: HOLDER },
    Bug { name: "a renewal that shortens a timer", meddle: &Shortened, breaks: HOLDER },
    Bug { name: "an amnesiac that votes", meddle: &Amnesiac, breaks: ALL },
    Bug { name: "a reader that does not promise", meddle: &Unpromised, breaks: CHAIN },
    Bug { name: "a word sent before its write is durable", meddle: &Early, breaks: EARLY },
    Bug { name: "a configuration in force when accepted", meddle: &InForceAtOnce, breaks: VOTERS },
];

/// What goes wrong only when changes of the voters are settled, or names are forgotten, and the course that leads there.
pub(super) const BUGS_ON_COURSES: &[(&str, Bug)] = &[
    ("names", Bug { name: "a sweep that skips the names", meddle: &SweepsNoNames, breaks: CHAIN }),
    ("dead", Bug { name: "a sweep that skips the dead", meddle: &SweepsNoDead, breaks: HOLDER }),
    ("told", Bug { name: "a configuration in force only when told", meddle: &OnlyWhenTold, breaks: HOLDER }),
    ("returning", Bug { name: "a removed store that votes again", meddle: &Returns, breaks: CHAIN }),
    ("deleted", Bug { name: "a deletion dropped too early", meddle: &DroppedEarly, breaks: CHAIN }),
];

/// A voter's words, with the right of its store.
fn says(model: &Model, voter: NodeId, to: NodeId, answer: Answer) -> Envelope {
    let (store, configuration) = (model.store(index(voter)), None);
    Envelope { from: voter, to, msg: ExclusiveMsg::Answer(Said { store, commits: 0, configuration, answer }) }
}

/// Which voter that is.
fn index(voter: NodeId) -> usize {
    voter.0 as usize - 1
}

fn ask(envelope: &Envelope) -> Option<&Ask> {
    match &envelope.msg {
        ExclusiveMsg::Ask(Asked { ask, .. }) => Some(ask),
        _ => None,
    }
}

/// Nobody is asked about a lease, and it is taken for dead.
struct Unburied;
impl Meddle for Unburied {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let answer = match ask(envelope)? {
            Ask::Runs { lease } => Answer::Stopped { lease: *lease },
            Ask::Bury { lease } => Answer::Buried { lease: *lease },
            _ => return None,
        };
        Some(vec![says(model, envelope.to, envelope.from, answer)])
    }
}

/// Voters bury as if it were much later.
struct BuriedAlive;
impl Meddle for BuriedAlive {
    fn hears_at(&self, envelope: &Envelope, now: Time) -> Time {
        match ask(envelope) {
            Some(Ask::Bury { .. } | Ask::Runs { .. }) => now + Span::secs(60),
            _ => now,
        }
    }
}

/// Voters answer renewals of leases that they have buried.
struct Undead;
impl Meddle for Undead {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Renew { lease, no, .. }) = ask(envelope) else { return None };
        let dead = model.kept(index(envelope.to)).dead.get(&lease.life.node).copied();
        let is_dead = dead.is_some_and(|dead| lease.age() <= dead);
        let renewed = Answer::Renewed { lease: *lease, no: *no };
        is_dead.then(|| vec![says(model, envelope.to, envelope.from, renewed)])
    }
}

/// What was answered to one renewal counts as if it were answered to the last one, which was sent later.
struct FromTheAnswer;
impl Meddle for FromTheAnswer {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let last = model.last_renewal(envelope.to);
        let mut counted = envelope.clone();
        match &mut counted.msg {
            ExclusiveMsg::Answer(Said { answer: Answer::Renewed { no, .. }, .. }) if *no < last => *no = last,
            _ => return None,
        }
        Some(vec![counted])
    }
}

/// Voters believe to have restarted long ago.
struct ForgetsTimers;
impl Meddle for ForgetsTimers {
    fn restarts_at(&self, _: Time) -> Time {
        Time::ZERO
    }
}

/// The dead are not on disk.
struct ForgetsBurials;
impl Meddle for ForgetsBurials {
    fn finds(&self, kept: &mut VoterKept) {
        kept.dead.clear();
    }
}

/// Every grant has its ballot's round for a token.
struct TokenOfBallot;
impl Meddle for TokenOfBallot {
    fn sends(&self, _: &Model, mut envelope: Envelope) -> Vec<Envelope> {
        if let ExclusiveMsg::Ask(Asked { ask: Ask::Write { stamp, content, .. }, .. }) = &mut envelope.msg
            && let Content::Grant(grant) = content
        {
            std::sync::Arc::make_mut(grant).token = Token(stamp.ballot.round);
        }
        vec![envelope]
    }
}

/// What somebody gave back is taken for what it holds by now.
struct OldRelease;
impl Meddle for OldRelease {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let mut believed = envelope.clone();
        let ExclusiveMsg::Wish(Wish::Release { name, token, holder, .. }) = &mut believed.msg else {
            return None;
        };
        let held = held(model, name, holder.lease).filter(|held| held != holder)?;
        (*token, *holder) = (None, held);
        Some(vec![believed])
    }
}

/// Who holds a name with that lease, as far as some voter knows.
fn held(model: &Model, name: &Name, lease: Lease) -> Option<Holder> {
    let accepted = (0..3).filter_map(|voter| model.kept(voter).accepted.get(name));
    let latest = accepted.max_by_key(|accepted| accepted.stamp)?;
    latest.content.as_grant()?.holder.filter(|holder| holder.lease == lease)
}

/// An earlier write of the same ballot is put in the place of a later one.
struct LateWrite;
impl Meddle for LateWrite {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Write { stamp, name, content }) = ask(envelope) else { return None };
        let voter = index(envelope.to);
        let is_late = |held: &Stamp| held.ballot == stamp.ballot && held > stamp;
        model.kept(voter).accepted.get(name).map(|accepted| accepted.stamp).filter(is_late)?;
        let late = Accepted { stamp: *stamp, content: content.clone() };
        model.rewrite(voter, |kept| drop(kept.accepted.insert(name.clone(), late)));
        let wrote = Answer::Wrote { stamp: *stamp, name: name.clone() };
        Some(vec![says(model, envelope.to, envelope.from, wrote)])
    }
}

/// Whoever is told of a grant of another life of its node gives it back.
struct Heir;
impl Meddle for Heir {
    fn sends(&self, model: &Model, envelope: Envelope) -> Vec<Envelope> {
        let release = match &envelope.msg {
            ExclusiveMsg::Wish(Wish::Campaign { name, holder, .. }) => released(model, name, holder.lease)
                .map(|wish| Envelope { from: envelope.from, to: envelope.to, msg: ExclusiveMsg::Wish(wish) }),
            _ => None,
        };
        release.into_iter().chain([envelope]).collect()
    }
}

/// What an earlier life of that lease's node holds, given back.
fn released(model: &Model, name: &Name, lease: Lease) -> Option<Wish> {
    let accepted = (0..3).filter_map(|voter| model.kept(voter).accepted.get(name));
    let latest = accepted.max_by_key(|accepted| accepted.stamp)?;
    let holder = latest.content.as_grant()?.holder?;
    let is_earlier = holder.lease.life.node == lease.life.node && holder.lease.life != lease.life;
    is_earlier.then(|| Wish::Release { name: name.clone(), token: None, holder, next: None })
}

/// A renewal that finds a timer takes its place, and lasts half as long.
struct Shortened;
impl Meddle for Shortened {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Renew { .. }) = ask(envelope) else { return None };
        model.rewrite(index(envelope.to), |_| {});
        None
    }

    fn sends(&self, _: &Model, mut envelope: Envelope) -> Vec<Envelope> {
        if let ExclusiveMsg::Ask(Asked { ask: Ask::Renew { ttl, no, .. }, .. }) = &mut envelope.msg
            && no.is_multiple_of(2)
        {
            *ttl = *ttl / 2;
        }
        vec![envelope]
    }
}

/// A store that was lost is replaced by one with the same id.
struct Amnesiac;
impl Meddle for Amnesiac {
    fn store_after(&self, lost: StoreId, _: StoreId) -> StoreId {
        lost
    }
}

/// A voter tells what it has accepted, and promises nothing.
struct Unpromised;
impl Meddle for Unpromised {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Read { ballot, name }) = ask(envelope) else { return None };
        let accepted = model.kept(index(envelope.to)).accepted.get(name).cloned();
        let holds = Answer::Holds { ballot: *ballot, name: name.clone(), accepted };
        Some(vec![says(model, envelope.to, envelope.from, holds)])
    }
}

/// Voters speak of what is not on disk.
struct Early;
impl Meddle for Early {
    fn is_early(&self) -> bool {
        true
    }
}

/// Whoever is shown a change counts by the voters after it alone.
struct InForceAtOnce;
impl Meddle for InForceAtOnce {
    fn sends(&self, _: &Model, mut envelope: Envelope) -> Vec<Envelope> {
        if let ExclusiveMsg::Answer(Said { configuration: Some((_, shown)), .. }) = &mut envelope.msg {
            shown.settling = Settling::Done;
        }
        vec![envelope]
    }
}

/// Whoever settles a change is told that there are no names.
struct SweepsNoNames;
impl Meddle for SweepsNoNames {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Names { ballot, after }) = ask(envelope) else { return None };
        let (ballot, after) = (*ballot, after.clone());
        let none = Answer::Names { ballot, after, names: Vec::new(), more: false };
        Some(vec![says(model, envelope.to, envelope.from, none)])
    }
}

/// Whoever settles a change is told that no lease is dead.
struct SweepsNoDead;
impl Meddle for SweepsNoDead {
    fn answers(&self, model: &mut Model, envelope: &Envelope) -> Option<Vec<Envelope>> {
        let Some(Ask::Buried { ballot, after }) = ask(envelope) else { return None };
        let none = Answer::TheBuried { ballot: *ballot, after: *after, dead: Vec::new(), more: false };
        Some(vec![says(model, envelope.to, envelope.from, none)])
    }
}

/// A store that comes to vote is taken for empty, whatever it holds.
struct Returns;
impl Meddle for Returns {
    fn sends(&self, _: &Model, mut envelope: Envelope) -> Vec<Envelope> {
        if let ExclusiveMsg::Answer(Said { answer: Answer::Store { empty, .. }, .. }) = &mut envelope.msg {
            *empty = true;
        }
        vec![envelope]
    }
}

/// Agents heed no configuration that voters show, only what a coordinator tells.
struct OnlyWhenTold;
impl Meddle for OnlyWhenTold {
    fn sends(&self, _: &Model, mut envelope: Envelope) -> Vec<Envelope> {
        if let ExclusiveMsg::Answer(said) = &mut envelope.msg
            && envelope.to >= Setting::agent(0)
        {
            said.configuration = None;
        }
        vec![envelope]
    }
}

/// A voter drops what it knows to be deleted, though others may not know.
pub(super) struct DroppedEarly;
impl Meddle for DroppedEarly {
    fn sends(&self, _: &Model, envelope: Envelope) -> Vec<Envelope> {
        let drops = match &envelope.msg {
            ExclusiveMsg::Answer(Said { answer: Answer::Holdings { ballot, held, .. }, .. }) => {
                let deleted = held.iter().filter(|(_, accepted)| accepted.content == Content::Deleted);
                let drop = |(name, accepted): &(Name, Accepted)| {
                    let (ballot, name, stamp) = (*ballot, name.clone(), accepted.stamp);
                    let asked = Asked { by: ballot.of, ask: Ask::Drop { ballot, name, stamp } };
                    Envelope { from: ballot.of.node, to: envelope.from, msg: ExclusiveMsg::Ask(asked) }
                };
                deleted.map(drop).collect()
            }
            _ => Vec::new(),
        };
        drops.into_iter().chain([envelope]).collect()
    }
}
