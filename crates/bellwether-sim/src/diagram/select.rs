//! Chooses what to draw of a run.
//!
//! First the instants: those of faults, and those of changed opinions, the nearest to a violation first. Then the
//! messages that caused these or followed from them. Everything else is steady traffic: it is not drawn, only counted
//! where it was left out.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::time::{Span, Time};

use super::drawing::{Drawing, Message, Moment, Weight, is_background};

/// So many messages are drawn at most: more cannot be read on a page.
const MESSAGES_MAX: usize = 300;
/// Related messages are drawn only if there are at most this many.
const RELATED_MAX: usize = 100;
/// Instants at which something changed are drawn while no more messages than this belong to them.
const TELLING_MAX: usize = 90;
/// Of those of minor interest, while no more than this.
const TELLING_MINOR_MAX: usize = 40;
/// And no more instants than this.
const MOMENTS_MAX: usize = 48;
/// How many instants are drawn after the last violation.
const AFTERMATH_MAX: usize = 8;
/// A run with no more messages than this, detectors' not counted, is drawn whole.
const SHORT: usize = 24;
/// With no more than this, detectors' are drawn, too.
const VERY_SHORT: usize = 20;

/// The class of instants of minor interest.
const MINOR: u8 = 2;

/// What is drawn.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Places of messages.
    pub(super) messages: BTreeSet<usize>,
    /// Instants at which something changed.
    pub(super) moments: BTreeSet<Time>,
}

/// Chooses what to draw, within a window if one is given.
pub(super) fn choose(drawing: &Drawing, marked: &[Time], window: Option<(Time, Time)>) -> Selection {
    let inside = |at: Time| window.is_none_or(|(from, to)| from <= at && at <= to);
    let is_fault = |(_, moment): &(&Time, &Moment)| **moment == Moment::Fault;
    let faults = drawing.moments.iter().filter(is_fault).map(|(at, _)| *at).collect();
    let choosing = Choosing { drawing, marked, faults, inside: &inside };
    let moments = choosing.moments();
    let messages = choosing.messages(&moments, window.is_some());
    Selection { messages, moments }
}

struct Choosing<'a> {
    drawing: &'a Drawing,
    marked: &'a [Time],
    /// When something befell the nodes or the network, in order.
    faults: Vec<Time>,
    inside: &'a dyn Fn(Time) -> bool,
}

impl Choosing<'_> {
    fn moments(&self) -> BTreeSet<Time> {
        let cost = self.telling_at();
        let last_mark = self.marked.iter().max();
        let mut candidates: Vec<(Time, Moment)> = self
            .drawing
            .moments
            .iter()
            .map(|(at, moment)| (*at, *moment))
            .filter(|(at, _)| (self.inside)(*at))
            .collect();
        candidates.sort_by_cached_key(|(at, moment)| (self.rank(*at, *moment), *at));
        let mut kept = BTreeSet::new();
        let (mut messages, mut after) = (BTreeSet::<usize>::new(), 0);
        for (at, moment) in candidates {
            let minor = self.rank(at, moment).0 == MINOR;
            if last_mark.is_some_and(|last| at > *last) {
                after += 1;
                if after > AFTERMATH_MAX {
                    continue;
                }
            }
            messages.extend(cost.get(&at).into_iter().flatten());
            let most = if minor { TELLING_MINOR_MAX } else { TELLING_MAX };
            if !kept.is_empty() && (messages.len() > most || kept.len() >= MOMENTS_MAX) {
                break;
            }
            kept.insert(at);
        }
        kept
    }

    /// The smaller, the more it belongs into the picture.
    fn rank(&self, at: Time, moment: Moment) -> (u8, Span) {
        let fault = moment == Moment::Fault;
        if let Some(last) = self.marked.iter().max() {
            let away = |mark: &Time| mark.since(at).max(at.since(*mark));
            let nearest = self.marked.iter().map(away).min().unwrap_or_default();
            let class = if at > *last { MINOR } else { u8::from(!fault) };
            return (class, nearest);
        }
        match self.faults[..self.faults.partition_point(|fault| *fault <= at)].last() {
            Some(before) => (u8::from(!fault), at.since(*before)),
            // How all began is of interest only if nothing befell it later.
            None => (if self.faults.is_empty() { 1 } else { MINOR }, at.since(Time::ZERO)),
        }
    }

    /// The messages that decide or tell, by the instants at which they were sent and ended.
    fn telling_at(&self) -> BTreeMap<Time, Vec<usize>> {
        let mut at: BTreeMap<Time, Vec<usize>> = BTreeMap::new();
        for (place, message) in self.drawing.messages.iter().enumerate() {
            if message.weight >= Weight::Tells {
                instants(message).for_each(|instant| at.entry(instant).or_default().push(place));
            }
        }
        at
    }

    fn messages(&self, moments: &BTreeSet<Time>, window_given: bool) -> BTreeSet<usize> {
        let all = || self.drawing.messages.iter().enumerate();
        let inside: Vec<(usize, &Message)> =
            all().filter(|(_, message)| instants(message).any(|at| (self.inside)(at))).collect();
        let spoken = inside.iter().filter(|(_, message)| !is_background(message.kind)).count();
        if inside.len() <= VERY_SHORT {
            return inside.into_iter().map(|(place, _)| place).collect();
        }
        let mut chosen: BTreeSet<usize> = inside
            .iter()
            .filter(|(_, message)| message.weight >= Weight::Tells)
            .filter(|(_, message)| instants(message).any(|at| moments.contains(&at)))
            .map(|(place, _)| *place)
            .collect();
        if spoken <= if window_given { MESSAGES_MAX } else { SHORT } {
            chosen.extend(inside.iter().filter(|(_, m)| !is_background(m.kind)).map(|(place, _)| place));
            return chosen;
        }
        self.add_related(&mut chosen, &inside, moments);
        chosen
    }

    /// Adds related messages, and the last messages of nodes that fell silent, while there is room.
    fn add_related(
        &self,
        chosen: &mut BTreeSet<usize>,
        inside: &[(usize, &Message)],
        moments: &BTreeSet<Time>,
    ) {
        let answered: BTreeSet<usize> =
            chosen.iter().filter_map(|place| self.drawing.messages[*place].answers).collect();
        let belongs = |(place, message): &&(usize, &Message)| match message.weight {
            Weight::Brink => self.is_at_fault(message.sent, moments),
            Weight::Related => {
                answered.contains(place) || message.answers.is_some_and(|other| chosen.contains(&other))
            }
            Weight::Steady | Weight::Tells | Weight::Decides => false,
        };
        let belonging: Vec<usize> = inside
            .iter()
            .filter(|(_, message)| !is_background(message.kind))
            .filter(belongs)
            .map(|(place, _)| *place)
            .collect();
        let room = RELATED_MAX.saturating_sub(chosen.len());
        chosen.extend(belonging.into_iter().take(room));
    }

    /// Whether the fault before or after it is drawn.
    fn is_at_fault(&self, at: Time, moments: &BTreeSet<Time>) -> bool {
        let later = self.faults.partition_point(|fault| *fault <= at);
        let (before, after) = self.faults.split_at(later);
        before.last().into_iter().chain(after.first()).any(|fault| moments.contains(fault))
    }
}

/// When it was sent, and when it ended.
pub(super) fn instants(message: &Message) -> impl Iterator<Item = Time> + '_ {
    std::iter::once(message.sent).chain(message.ends.iter().map(|end| end.at))
}
