//! The layer on a disk that says when it is done.

use alloc::vec::Vec;

use super::alone::{Alone, announced, answers, lead};
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
