//! The layer by itself: everything else is played by the test. It is node 1; the others are linked.

use alloc::vec::Vec;

use super::super::{Announcement, Cause, Leadership, LeadershipMsg, Step, Terms};
use super::{SETTLE, TIMING};
use crate::ident::NodeId;
use crate::time::Time;

const ME: NodeId = NodeId(1);

struct Alone {
    layer: Leadership,
    now: Time,
}

impl Alone {
    /// Past the time in which nothing is announced.
    fn new(others: &[u32]) -> Self {
        let terms = Terms {
            period: TIMING.tau,
            settle: SETTLE,
            priority: 0,
            preempt: None,
            hands_over: true,
            epoch: 0,
        };
        let layer = Leadership::new(ME, terms, Time::ZERO);
        let mut alone = Self { layer, now: Time::ZERO + SETTLE };
        for other in others {
            alone.layer.link(alone.now, NodeId(*other));
        }
        alone
    }

    fn named(&mut self, leader: u32) -> Vec<Step> {
        self.layer.name(self.now, Some(NodeId(leader)), Cause::Started);
        self.steps()
    }

    fn hears(&mut self, from: u32, msg: LeadershipMsg) -> Vec<Step> {
        self.layer.heard(self.now, NodeId(from));
        self.layer.handle(self.now, NodeId(from), msg);
        self.steps()
    }

    fn has_seen(&mut self, from: u32, epoch: u64, of: Option<u32>) -> Vec<Step> {
        let round = self.layer.round;
        self.hears(from, LeadershipMsg::Follow { round, epoch, of: of.map(NodeId), priority: 0 })
    }

    fn steps(&mut self) -> Vec<Step> {
        self.layer.drain().collect()
    }
}

fn announced(steps: &[Step]) -> Vec<(Option<u32>, u64)> {
    let announced = steps.iter().filter_map(|step| match step {
        Step::Announce(Announcement { leader, epoch, .. }) => Some((leader.map(|id| id.0), *epoch)),
        _ => None,
    });
    announced.collect()
}

/// Epochs are heard of in many ways; whatever is announced is kept.
#[test]
fn an_epoch_that_a_follower_told_of_is_kept_once_it_is_announced() {
    let mut alone = Alone::new(&[2, 3]);
    alone.named(1);
    assert_eq!(alone.has_seen(3, 1, Some(2)), [], "it waits for the other");
    alone.named(2);
    let steps = alone.hears(2, LeadershipMsg::Lead { round: 7, epoch: 1 });
    assert_eq!(announced(&steps), [(Some(2), 1)]);
    assert!(steps.contains(&Step::Persist), "{steps:?}");
    let again = alone.hears(2, LeadershipMsg::Lead { round: 8, epoch: 1 });
    assert!(!again.contains(&Step::Persist), "once is enough: {again:?}");
}
