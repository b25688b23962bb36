//! Many messages to one node go in one frame: a hundred thousand names change hands in as many messages, and in a few hundred frames.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Action;
use crate::exclusive::message::{ExclusiveMsg, PARCEL, Parcel, Said, Telling, Wish};
use crate::ident::NodeId;

/// Fewer messages to one node are sent one by one: members of earlier versions do not know parcels.
const FEW: usize = 8;

/// A parcel is full when its messages take about so many bytes. A frame has room for one that is a little heavier.
const HEAVY: usize = 40 * 1024;

/// Puts messages to one node into parcels, where there are many. They keep their order; only those of different kinds may overtake
/// each other, and no part of a node depends on that.
pub(super) fn pack(actions: &mut Vec<Action>) {
    let mut counts: BTreeMap<NodeId, usize> = BTreeMap::new();
    for action in actions.iter() {
        if let Action::Send(to, _) = action {
            *counts.entry(*to).or_default() += 1;
        }
    }
    counts.retain(|_, count| *count > FEW);
    if counts.is_empty() {
        return;
    }
    let mut open: BTreeMap<NodeId, (Parcel, usize)> = BTreeMap::new();
    let mut packed = Vec::new();
    for action in core::mem::take(actions) {
        match action {
            Action::Send(to, msg) if counts.contains_key(&to) && !matches!(*msg, ExclusiveMsg::Recall(_)) => {
                let (parcel, weight) = open.entry(to).or_default();
                *weight += weigh(&msg);
                put(parcel, *msg);
                if *weight >= HEAVY || is_full(parcel) {
                    packed.push(Action::Send(to, Box::new(ExclusiveMsg::Many(core::mem::take(parcel)))));
                    *weight = 0;
                }
            }
            other => packed.push(other),
        }
    }
    let rest = open.into_iter().filter(|(_, (_, weight))| *weight > 0);
    packed.extend(rest.map(|(to, (parcel, _))| Action::Send(to, Box::new(ExclusiveMsg::Many(parcel)))));
    *actions = packed;
}

fn put(parcel: &mut Parcel, msg: ExclusiveMsg) {
    match msg {
        ExclusiveMsg::Ask(asked) => parcel.asks.push(asked),
        ExclusiveMsg::Answer(said) => parcel.answers.push(said),
        ExclusiveMsg::Wish(wish) => parcel.wishes.push(wish),
        ExclusiveMsg::Tell(telling) => parcel.tellings.push(telling),
        // Nobody sends one inside of another.
        ExclusiveMsg::Many(_) | ExclusiveMsg::Recall(_) => {}
    }
}

fn is_full(parcel: &Parcel) -> bool {
    let Parcel { asks, answers, wishes, tellings } = parcel;
    [asks.len(), answers.len(), wishes.len(), tellings.len()].contains(&PARCEL)
}

/// About how many bytes it takes: rather too many.
fn weigh(msg: &ExclusiveMsg) -> usize {
    const NAME: usize = 320;
    const CONFIGURATION: usize = 1024;
    match msg {
        ExclusiveMsg::Ask(asked) => NAME + asked.ask.value_len(),
        ExclusiveMsg::Answer(Said { configuration, answer, .. }) => {
            NAME + answer.value_len() + configuration.as_ref().map_or(0, |_| CONFIGURATION)
        }
        ExclusiveMsg::Wish(Wish::Campaign { value, .. } | Wish::Proclaim { value, .. }) => NAME + value.len(),
        ExclusiveMsg::Tell(Telling::Held { grant, .. }) => NAME + grant.value.len(),
        ExclusiveMsg::Wish(_) => NAME,
        ExclusiveMsg::Tell(_) => CONFIGURATION,
        ExclusiveMsg::Many(_) | ExclusiveMsg::Recall(_) => HEAVY,
    }
}
