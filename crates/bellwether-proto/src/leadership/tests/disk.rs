//! The layer on a disk that says when it is done.

use alloc::vec::Vec;

use super::SETTLE;
use super::alone::{Alone, announced, answers, lead};
use crate::ident::NodeId;
use crate::leadership::epochs::Epochs;
use crate::leadership::{Action, LeadershipMsg};

fn alone() -> Alone {
    let mut alone = Alone::new(&[2, 3]);
    alone.layer.write_behind();
    alone
}

fn written(alone: &mut Alone, epoch: u64) -> Vec<Action> {
    alone.layer.written(alone.now, epoch);
    alone.actions()
}

/// What it has shown it must know after a crash.
#[test]
fn a_leader_is_shown_when_its_epoch_is_on_disk() {
    let mut alone = alone();
    alone.named(2);
    let told = alone.hears(2, lead(5));
    assert_eq!((announced(&told), answers(&told)), ([].into(), [(2, 5)].into()));
    assert!(told.contains(&Action::Persist), "{told:?}");
    assert_eq!(written(&mut alone, 4), [], "of something else");
    assert_eq!(announced(&written(&mut alone, 5)), [(Some(2), 5)]);
    assert_eq!(written(&mut alone, 5), [], "once is enough");
}

/// Nobody waits for that: the disks of all can work while the claim is settled.
#[test]
fn an_epoch_is_written_while_it_is_claimed() {
    let mut alone = alone();
    alone.named(2);
    let claimed = alone.hears(2, LeadershipMsg::Claim { round: 1, epoch: 5 });
    assert_eq!(answers(&claimed), [(2, 0)], "it is not used yet");
    assert!(claimed.contains(&Action::Persist), "{claimed:?}");
    written(&mut alone, 5);
    let told = alone.hears(2, lead(5));
    assert_eq!(announced(&told), [(Some(2), 5)]);
    assert!(!told.contains(&Action::Persist), "{told:?}");
}

#[test]
fn who_is_followed_no_more_when_its_epoch_is_on_disk_is_not_shown() {
    let mut alone = alone();
    alone.named(2);
    alone.hears(2, lead(5));
    alone.named(3);
    assert_eq!(announced(&written(&mut alone, 5)), []);
}

/// It has kept an epoch of whom it does not remember. If it took anybody's word for whose that was, it could agree to an epoch that
/// another has used.
#[test]
fn whoever_does_not_remember_whose_an_epoch_was_agrees_to_it_with_nobody() {
    let mut alone = alone();
    alone.layer.config.quorum = 2;
    alone.layer.epochs = Epochs::new(5);
    alone.hears(3, LeadershipMsg::Seen { epoch: 5, of: Some(NodeId(2)) });
    alone.named(2);
    let answer = alone.hears(2, LeadershipMsg::Claim { round: 1, epoch: 5 });
    let of = answer.iter().find_map(|action| match action {
        Action::Send(_, LeadershipMsg::Follow { epoch: 5, of, .. }) => Some(*of),
        _ => None,
    });
    assert_eq!(of, Some(None), "{answer:?}");
}

/// Those who came while the disk worked may follow another.
#[test]
fn whoever_is_connected_while_the_disk_works_is_given_its_time_to_answer() {
    let mut alone = alone();
    alone.named(1);
    for peer in [2, 3] {
        alone.has_seen(peer, 0, None);
    }
    assert!(alone.layer.awaits_disk());
    alone.now = alone.now + SETTLE * 10;
    alone.layer.connect(alone.now, NodeId(4));
    alone.actions();
    assert_eq!(announced(&written(&mut alone, 1)), [], "it is asked first");
    assert_eq!(announced(&alone.has_seen(4, 0, None)), [(Some(1), 1)]);
}
