//! A node with the leadership layer, to which anything may happen.

use alloc::collections::VecDeque;

use super::*;
use crate::leadership::Announcement;
use crate::tenure::{Command, Hold, Ticket};

const PROTOCOLS: [Protocol; 4] = [Protocol::Fjr, Protocol::Lfa, Protocol::Adft, Protocol::AsyncBully];

pub(super) fn member(protocol: Protocol) -> Rig {
    let mut rig = Rig::of(protocol, DetectorKind::Heartbeat, Variant::Repaired, 2, 1);
    let config = LeadershipConfig {
        period: TAU,
        settle: DELTA * 2,
        meet: DELTA * 2,
        priority: 5,
        preempt: Some(TAU),
        hands_over: protocol.spec().hands_over,
        min_peers: 0,
        quorum: 1,
        epoch: 3,
    };
    rig.node = rig.node.with_leadership(config, PATIENCE, Time::ZERO);
    rig
}

/// Whatever members say, truth or not, and however connections come and go: the node goes on, time passes, each of its own
/// leaderships has a larger epoch than the one before, and that is durable before anybody hears of it.
#[test]
fn nothing_that_happens_breaks_a_member() {
    for protocol in PROTOCOLS {
        for disk in [Disk::AtOnce, Disk::Behind] {
            let mut began = 0;
            for seed in 0..100 {
                began += storm(protocol, disk, seed);
            }
            assert!(began >= 10, "{protocol:?}, {disk:?}, led {began} times: a lame attack");
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disk {
    AtOnce,
    /// It says when it is done.
    Behind,
}

fn storm(protocol: Protocol, disk: Disk, seed: u64) -> usize {
    let mut rig = member(protocol);
    if disk == Disk::Behind {
        rig.node = rig.node.writing_behind();
    }
    let mut random = Random(seed);
    let (mut durable, mut led, mut began) = (Durable::default(), 3, 0);
    let (mut asked, mut writes) = (VecDeque::new(), 0);
    let mut input = Input::Start;
    for _ in 0..600 {
        let woken = matches!(input, Input::Deadline);
        for output in rig.input(input) {
            match output {
                Output::Persist(kept) if disk == Disk::Behind => asked.push_back(kept),
                Output::Persist(kept) => {
                    assert!(kept.incarnation >= durable.incarnation && kept.epoch >= durable.epoch);
                    durable = kept;
                }
                Output::Send { to, frame } => {
                    assert!(
                        frame.incarnation <= durable.incarnation,
                        "sent in an incarnation that is not durable"
                    );
                    assert_ne!(to, NodeId(2));
                    if let Body::Leadership(LeadershipMsg::Lead { epoch, .. }) = frame.body {
                        assert!(epoch <= durable.epoch, "told before it was durable");
                    }
                }
                Output::Broadcast(frame) => assert!(frame.incarnation <= durable.incarnation),
                Output::Event(Event::Announced(Announcement { leader: Some(NodeId(2)), epoch, .. })) => {
                    assert!(led < epoch && epoch <= durable.epoch, "{epoch} after {led}");
                    (led, began) = (epoch, began + 1);
                }
                Output::Plan(_)
                | Output::Keep(_)
                | Output::Valid { .. }
                | Output::Members(_)
                | Output::News(_)
                | Output::Tenure(_)
                | Output::Answer { .. }
                | Output::Left
                | Output::Event(_) => {}
            }
        }
        let due = rig.node.deadline();
        assert!(
            !woken || due.is_none_or(|due| due > rig.now),
            "{protocol:?}, seed {seed}: time stands still"
        );
        rig.form();
        input = anything(protocol, &mut random);
        // Now and then the disk has done something.
        if random.below(8) == 0
            && let Some(kept) = asked.pop_front()
        {
            assert!(kept.incarnation >= durable.incarnation && kept.epoch >= durable.epoch);
            (durable, writes) = (kept, writes + 1);
            input = Input::Persisted { writes };
        }
        rig.now = match (&input, due) {
            (Input::Deadline, Some(due)) if random.below(4) > 0 => rig.now.max(due),
            _ => rig.now + Span::micros(random.below(30_000)),
        };
    }
    began
}

fn anything(protocol: Protocol, random: &mut Random) -> Input<AnyMsg> {
    let peer = NodeId(random.below(5) as u32);
    let incarnation = Incarnation(random.number()).min(Incarnation::MAX);
    match random.below(12) {
        0 | 1 => Input::Connected { peer, incarnation },
        2 => Input::Gone { peer, incarnation },
        3 => Input::Disconnected { peer },
        4 => Input::Command { ticket: Ticket(4), command: Command::Transfer { to: peer } },
        5 => match random.below(10) {
            0 => {
                let hold = Hold::For(Span::micros(random.below(20_000_000)));
                Input::Command { ticket: Ticket(5), command: Command::Resign { hold } }
            }
            1..6 => Input::Released,
            _ => Input::Command { ticket: Ticket(6), command: Command::Stand },
        },
        6..9 => Input::Deadline,
        _ => {
            let mut frame = random.frame();
            frame.from = peer;
            if matches!(frame.body, Body::Election(_)) {
                frame.body =
                    Body::Election(message_of(protocol, random.below(PER_ALGORITHM), random.number()));
            }
            Input::Frame(frame)
        }
    }
}
