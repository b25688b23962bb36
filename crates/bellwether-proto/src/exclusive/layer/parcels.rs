//! Many messages to one node go in one frame: a hundred thousand names change hands in as many messages, and in a few hundred frames.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Action;
use crate::exclusive::message::{ExclusiveMsg, PARCEL, Parcel, Said, Telling, Wish};
use crate::ident::NodeId;

/// Fewer messages to one node are sent one by one: members of earlier versions do not know parcels.
const FEW: usize = 8;

/// A parcel is full when one more message would make it take more bytes than about so many. One that is heavier by itself goes alone,
/// and a frame has room for it.
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
                let more = weigh(&msg);
                if is_full(parcel) || *weight > 0 && *weight + more > HEAVY {
                    packed.push(Action::Send(to, Box::new(ExclusiveMsg::Many(core::mem::take(parcel)))));
                    *weight = 0;
                }
                *weight += more;
                put(parcel, *msg);
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
        ExclusiveMsg::Tell(telling @ (Telling::Held { .. } | Telling::Listed { .. })) => {
            NAME + telling.value_len()
        }
        ExclusiveMsg::Wish(_) => NAME,
        ExclusiveMsg::Tell(_) => CONFIGURATION,
        ExclusiveMsg::Many(_) | ExclusiveMsg::Recall(_) => HEAVY,
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;
    use alloc::vec;

    use super::*;
    use crate::exclusive::grant::{Accepted, Content, Grant, GrantKind, Holder, Name, Token};
    use crate::exclusive::ident::{Ballot, Lease, Life, LifeId, Stamp, StoreId};
    use crate::exclusive::message::{Answer, PAGE};
    use crate::ident::Incarnation;
    use crate::wire::FRAME_MAX;

    /// All numbers as long as they can be.
    const LIFE: Life =
        Life { node: NodeId(u32::MAX), incarnation: Incarnation(u64::MAX), id: LifeId(u128::MAX) };

    fn name(no: usize) -> Name {
        Name::new(&alloc::format!("{no:0>255}")).unwrap()
    }

    /// A page of names that are held, with values as long as a page has room for.
    fn holdings() -> ExclusiveMsg {
        let ballot = Ballot { round: u64::MAX, of: LIFE };
        let lease = Lease { life: LIFE, number: u64::MAX };
        let holder = Some(Holder { lease, session: u64::MAX, campaign: u64::MAX });
        let grant =
            Grant { kind: GrantKind::Lease, token: Token(u64::MAX), holder, value: Arc::from([0; 100]) };
        let accepted =
            Accepted { stamp: Stamp { ballot, write: u64::MAX }, content: Content::Grant(Arc::new(grant)) };
        let held = (0..PAGE).map(|no| (name(no), accepted.clone())).collect();
        let answer = Answer::Holdings { ballot, after: Some(name(0)), held, more: true };
        ExclusiveMsg::Answer(Said {
            store: StoreId(u128::MAX),
            commits: u64::MAX,
            configuration: None,
            answer,
        })
    }

    fn listed() -> ExclusiveMsg {
        let names = (0..PAGE).map(name).collect();
        ExclusiveMsg::Tell(Telling::Listed { after: Some(name(0)), up_to: Some(name(1)), names })
    }

    #[test]
    fn a_parcel_of_pages_fits_into_a_frame() {
        for msg in [holdings(), listed()] {
            let mut actions = vec![Action::Send(NodeId(2), Box::new(msg)); 20];
            pack(&mut actions);
            for action in &actions {
                let Action::Send(_, msg) = action else { panic!("{action:?}") };
                let ExclusiveMsg::Many(_) = **msg else { panic!("it is a parcel") };
                let len = postcard::to_allocvec(msg).unwrap().len();
                assert!(len <= FRAME_MAX - 1024, "{len} bytes, and what goes around them");
            }
        }
    }
}
