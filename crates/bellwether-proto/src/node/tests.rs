//! One node driven by hand: what it refuses, what it persists, in which order it speaks.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::*;
use crate::canonical::Form;
use crate::detector::{DetectorKind, DetectorMsg, Token, WatchNo};
use crate::election::stoller::{Membership, Msg};
use crate::election::{AnyElection, AnyMsg, Choices, Peers, Protocol, Timing, Variant};
use crate::ident::ElectionId;
use crate::io::Durable;
use crate::leadership::LeadershipMsg;
use crate::opinion::Status;
use crate::release::Patience;
use crate::roster::{Priority, Roster};
use crate::time::Span;
use crate::wire::tests::{PER_ALGORITHM, Random, message_of};

const DELTA: Span = Span::millis(10);
const TAU: Span = Span::millis(100);
const PATIENCE: Patience = Patience { work: Span::secs(1), successor: Span::secs(2), hold: Span::secs(10) };

#[test]
fn persist_is_the_first_output_of_start() {
    for protocol in Protocol::ALL {
        for kind in DetectorKind::ALL {
            let mut rig = Rig::of(protocol, kind, Variant::Repaired, 1, 7);
            let outputs = rig.input(Input::Start);
            assert_eq!(
                outputs[0],
                Output::Persist(Durable { incarnation: Incarnation(7), count: 5, epoch: 0, group: None })
            );
            let incarnations = outputs.iter().filter_map(|output| match output {
                Output::Persist(durable) => Some(durable.incarnation),
                _ => None,
            });
            assert!(incarnations.clone().all(|incarnation| incarnation == Incarnation(7)));
            // It raises its count at once, or keeps the group that it forms by itself.
            let more = matches!(protocol, Protocol::Mmrt | Protocol::Invitation);
            assert_eq!(incarnations.count(), if more { 2 } else { 1 }, "{}", protocol.name());
        }
    }
}

#[test]
fn only_peers_are_heard() {
    let mut rig = Rig::started(1);
    for from in [1, 99] {
        let form = rig.form();
        let refused = Output::Event(Event::Refused { from: NodeId(from), why: Refusal::NotAPeer });
        assert_eq!(rig.receive(from, 1, 1, halt(from, 1)), [refused], "from {from}");
        assert_eq!(rig.form(), form, "no effect");
    }
}

#[test]
fn a_frame_of_an_earlier_incarnation_is_refused_and_answered() {
    let mut rig = Rig::started(2);
    rig.receive(1, 5, 1, halt(1, 5));
    let form = rig.form();
    let stale = [halt(1, 4), Body::Detector(DetectorMsg::Beat { no: WatchNo(1) })];
    for body in stale {
        let outputs = rig.receive(1, 4, 9, body);
        let why = Refusal::StaleIncarnation;
        assert_eq!(outputs[0], Output::Event(Event::Refused { from: NodeId(1), why }));
        let known = Incarnation(5);
        assert!(
            matches!(&outputs[1..], [Output::Send { to: NodeId(1), frame }]
                if frame.body == Body::Link(LinkMsg::Outlived { known })),
            "{outputs:?}"
        );
    }
    // Only the number of the next frame has moved.
    assert_eq!(rig.form().len(), form.len());
    assert_eq!(rig.node.opinion().status, Status::Waiting);
}

#[test]
fn an_election_message_that_was_overtaken_or_repeated_is_refused() {
    let mut rig = Rig::started(2);
    rig.receive(1, 1, 5, halt(1, 1));
    let form = rig.form();
    for seq in [5, 4] {
        let why = Refusal::OutOfOrder;
        let refused = Output::Event(Event::Refused { from: NodeId(1), why });
        assert_eq!(rig.receive(1, 1, seq, ldr(1, 1)), [refused]);
        assert_eq!(rig.form(), form);
    }
    rig.receive(1, 1, 6, ldr(1, 1));
    assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(1)));
    // A new incarnation counts anew.
    let outputs = rig.receive(1, 2, 1, halt(1, 2));
    assert!(!outputs.iter().any(|output| matches!(output, Output::Event(Event::Refused { .. }))));
}

#[test]
fn detector_messages_are_held_to_no_order() {
    let mut rig = Rig::started(2);
    rig.receive(1, 1, 5, halt(1, 1));
    let subscribe = DetectorMsg::Subscribe { no: WatchNo(1), period: TAU };
    let outputs = rig.receive(1, 1, 3, Body::Detector(subscribe));
    assert!(matches!(&outputs[..], [Output::Send { .. }]), "{outputs:?}");
}

#[test]
fn the_printed_variant_takes_channels_at_their_word() {
    let mut rig = Rig::of(Protocol::AsyncBully, DetectorKind::Heartbeat, Variant::Printed, 2, 1);
    rig.input(Input::Start);
    rig.receive(1, 5, 9, halt(1, 5));
    for outputs in [rig.receive(1, 5, 1, halt(1, 5)), rig.receive(1, 4, 1, halt(1, 4))] {
        assert!(!outputs.iter().any(|output| matches!(output, Output::Event(Event::Refused { .. }))));
    }
}

#[test]
fn outlived_moves_above_and_persists_before_anything_is_sent() {
    let mut rig = Rig::started(1);
    let outputs = rig.receive(2, 1, 1, outlived(41));
    let reborn = Incarnation(42);
    assert_eq!(outputs[0], Output::Event(Event::Reborn(reborn)));
    assert_eq!(outputs[1], Output::Persist(Durable { incarnation: reborn, count: 5, epoch: 0, group: None }));
    assert_eq!(rig.node.incarnation(), reborn);
    for output in &outputs[2..] {
        if let Output::Send { frame, .. } = output {
            assert_eq!(frame.incarnation, reborn);
        }
    }
    assert!(outputs.iter().any(|output| matches!(output, Output::Send { .. })), "it starts over");
    assert_eq!(rig.receive(2, 1, 2, outlived(41)), [], "already above");
    assert_eq!(rig.node.incarnation(), reborn);
}

/// It answers a frame of an earlier incarnation that was long on its way: this incarnation is the latest, and
/// no news.
#[test]
fn an_outlived_that_names_the_present_incarnation_is_no_reason_to_leave_it() {
    let mut rig = Rig::started(1);
    assert_eq!(rig.receive(2, 1, 1, outlived(1)), []);
    assert_eq!(rig.node.incarnation(), Incarnation(1));
}

/// Each has seen a later incarnation of the other: one Outlived must be enough, or they would exchange them
/// for ever.
#[test]
fn two_nodes_that_outlived_each_other_come_to_terms() {
    let (mut one, mut two) = (Rig::started(1), Rig::started(2));
    one.receive(2, 5, 1, Body::Detector(DetectorMsg::Beat { no: WatchNo(9) }));
    two.receive(1, 5, 1, Body::Detector(DetectorMsg::Beat { no: WatchNo(9) }));
    let mut to_two = sends(&one.receive(2, 1, 1, Body::Detector(DetectorMsg::Beat { no: WatchNo(9) })), 2);
    for _ in 0..20 {
        let to_one: Vec<_> =
            to_two.drain(..).flat_map(|frame| sends(&two.input(Input::Frame(frame)), 1)).collect();
        to_two = to_one.into_iter().flat_map(|frame| sends(&one.input(Input::Frame(frame)), 2)).collect();
    }
    assert_eq!(to_two, [], "silence, not a storm");
    assert_eq!((one.node.incarnation(), two.node.incarnation()), (Incarnation(1), Incarnation(6)));
}

#[test]
fn the_last_incarnation_is_no_reason_to_panic() {
    let mut rig = Rig::of(Protocol::AsyncBully, DetectorKind::Heartbeat, Variant::Repaired, 2, u64::MAX);
    rig.input(Input::Start);
    assert_eq!(rig.receive(1, 1, 1, outlived(u64::MAX)), [], "there is nothing above");
    rig.receive(1, u64::MAX, 1, halt(1, u64::MAX));
    rig.receive(1, u64::MAX, u64::MAX, ldr(1, u64::MAX));
    rig.receive(1, 1, 1, halt(1, 1));
    rig.run(50);
}

#[test]
fn election_messages_carry_the_beat_that_the_receiver_waits_for() {
    let mut rig = Rig::started(1);
    let subscribe = DetectorMsg::Subscribe { no: WatchNo(4), period: TAU };
    rig.receive(2, 1, 1, Body::Detector(subscribe));
    let t = rig.elid();
    let outputs = rig.receive(2, 1, 2, Body::Election(AnyMsg::AsyncBully(Msg::Ack(t))));
    assert!(!outputs.is_empty());
    rig.receive(3, 1, 1, Body::Election(AnyMsg::AsyncBully(Msg::Rej(t))));
    assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(1)));
    rig.now = rig.node.deadline().expect("Norm? is due") + TAU;
    let outputs = rig.input(Input::Deadline);
    let to_two = sends(&outputs, 2);
    assert_eq!(to_two.len(), 1, "Norm? and no beat of its own: {to_two:?}");
    assert_eq!(to_two[0].rides, Some(WatchNo(4)));
    assert!(sends(&outputs, 3).iter().all(|frame| frame.rides.is_none()), "3 does not wait for beats");
}

#[test]
fn a_ride_is_a_sign_of_life() {
    let mut rig = Rig::started(2);
    rig.receive(1, 1, 1, halt(1, 1));
    rig.receive(1, 1, 2, ldr(1, 1));
    // The second watch of 1: Halt began the first.
    for seq in 3..40 {
        let body = Body::Election(AnyMsg::AsyncBully(Msg::NormQ(elid(1, 1), 1, Membership::Member)));
        let frame =
            Frame { from: NodeId(1), incarnation: Incarnation(1), seq, rides: Some(WatchNo(2)), body };
        rig.input(Input::Frame(frame));
        rig.advance(TAU);
    }
    assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(1)));
    rig.advance(DELTA);
    assert_ne!(rig.node.opinion().normal_leader(), Some(NodeId(1)), "it fell silent");
}

/// The peer's death is reported before its new incarnation's message is taken.
#[test]
fn a_new_incarnation_is_reported_before_its_message_is_taken() {
    let mut rig = Rig::started(2);
    rig.receive(1, 1, 1, halt(1, 1));
    rig.receive(1, 1, 2, ldr(1, 1));
    rig.receive(1, 1, 3, Body::Detector(DetectorMsg::Beat { no: WatchNo(2) }));
    let outputs = rig.receive(1, 2, 1, halt(1, 2));
    let down = outputs.iter().position(|output| *output == Output::Event(Event::Down(NodeId(1))));
    let ack = outputs.iter().position(|output| {
        matches!(output, Output::Send { frame, .. }
            if frame.body == Body::Election(AnyMsg::AsyncBully(Msg::Ack(elid(1, 2)))))
    });
    assert!(down.expect("reported") < ack.expect("obeyed"));
}

#[test]
fn gone_counts_only_for_the_incarnation_it_belonged_to() {
    let mut rig = Rig::started(2);
    rig.receive(1, 3, 1, halt(1, 3));
    rig.receive(1, 3, 2, Body::Detector(DetectorMsg::Beat { no: WatchNo(1) }));
    let gone = |peer, incarnation| Input::Gone { peer: NodeId(peer), incarnation: Incarnation(incarnation) };
    assert_eq!(rig.input(gone(1, 2)), [], "an earlier incarnation's connection");
    assert_eq!(rig.input(gone(99, 3)), []);
    assert_eq!(rig.input(gone(2, 1)), [], "oneself");
    assert!(!rig.input(gone(1, 3)).is_empty(), "probed");
}

#[test]
fn early_late_and_repeated_deadlines_are_harmless() {
    for kind in DetectorKind::ALL {
        let mut rig = Rig::of(Protocol::AsyncBully, kind, Variant::Repaired, 3, 1);
        assert_eq!(rig.input(Input::Deadline), [], "{kind:?}: before Start");
        rig.input(Input::Start);
        for _ in 0..200 {
            rig.now = rig.now + Span::millis(3);
            rig.input(Input::Deadline);
            let form = rig.form();
            assert_eq!(rig.input(Input::Deadline), [], "{kind:?}: repeated");
            assert_eq!(rig.form(), form, "{kind:?}");
        }
        rig.now = rig.now + Span::secs(1_000);
        rig.input(Input::Deadline);
        assert_eq!(rig.node.opinion().normal_leader(), Some(NodeId(3)), "{kind:?}: alone, it leads");
    }
}

#[test]
fn a_deadline_never_stands_still() {
    for protocol in Protocol::ALL {
        for kind in DetectorKind::ALL {
            for me in 1..=3 {
                let mut rig = Rig::of(protocol, kind, Variant::Repaired, me, 1);
                rig.input(Input::Start);
                for _ in 0..500 {
                    let Some(deadline) = rig.node.deadline() else { break };
                    rig.now = rig.now.max(deadline);
                    rig.input(Input::Deadline);
                    let next = rig.node.deadline();
                    assert!(
                        next.is_none_or(|next| next > rig.now),
                        "{protocol:?} {kind:?} {me} at {}",
                        rig.now
                    );
                }
            }
        }
    }
}

#[test]
fn the_canonical_form_knows_no_absolute_time() {
    for kind in DetectorKind::ALL {
        let form_when = |begin: Time| {
            let mut rig = Rig::of(Protocol::AsyncBully, kind, Variant::Repaired, 2, 1);
            rig.now = begin;
            rig.node = Node::new(rig.node.setup.clone(), rig.node.detector_config, begin);
            rig.input(Input::Start);
            rig.receive(1, 1, 1, halt(1, 1));
            rig.receive(1, 1, 2, Body::Detector(DetectorMsg::Subscribe { no: WatchNo(1), period: TAU }));
            rig.now = rig.now + DELTA;
            rig.form()
        };
        assert_eq!(form_when(Time::ZERO), form_when(Time::ZERO + Span::secs(77)), "{kind:?}");
    }
}

#[test]
fn the_canonical_form_tells_states_apart() {
    for kind in DetectorKind::ALL {
        let mut rig = Rig::of(Protocol::AsyncBully, kind, Variant::Repaired, 2, 1);
        let mut forms = Vec::from([rig.form()]);
        rig.input(Input::Start);
        forms.push(rig.form());
        rig.receive(1, 1, 1, halt(1, 1));
        forms.push(rig.form());
        rig.receive(1, 1, 2, ldr(1, 1));
        forms.push(rig.form());
        for (at, form) in forms.iter().enumerate() {
            assert!(!forms[at + 1..].contains(form), "{kind:?}: {at}");
        }
    }
}

#[test]
fn the_canonical_form_keeps_only_the_order_of_counters() {
    let form_in = |incarnation, seq| {
        let mut rig =
            Rig::of(Protocol::AsyncBully, DetectorKind::Heartbeat, Variant::Repaired, 2, incarnation);
        rig.input(Input::Start);
        rig.receive(1, incarnation, seq, halt(1, incarnation));
        rig.form()
    };
    assert_eq!(form_in(1, 1), form_in(9, 1));
    assert_eq!(form_in(1, 1), form_in(1, 700));
}

/// A ring that goes round and round comes back to the same state.
#[test]
fn the_rounds_of_a_ring_are_a_counter() {
    let mut rig = Rig::of(Protocol::AsyncBully, DetectorKind::Ring, Variant::Repaired, 2, 1);
    rig.input(Input::Start);
    rig.receive(1, 1, 1, halt(1, 1));
    rig.receive(1, 1, 2, ldr(1, 1));
    let mut form_after = |round: u64| {
        let stamps = [1, 3].map(|node| crate::detector::Stamp { node: NodeId(node), round }).to_vec();
        let (origin, incarnation) = (NodeId(1), Incarnation(1));
        let token =
            DetectorMsg::Token(Box::new(Token { origin, incarnation, round, stamps, absent: Vec::new() }));
        rig.receive(1, 1, round + 2, Body::Detector(token));
        rig.form()
    };
    form_after(10);
    assert_eq!(form_after(11), form_after(12));
}

#[test]
fn frames_in_flight_differ_by_their_ends() {
    let frame = |from| Frame {
        from: NodeId(from),
        incarnation: Incarnation(1),
        seq: 1,
        rides: None,
        body: halt(1, 1),
    };
    let form = |from, to| {
        let mut form = Form::new();
        frame(from).canonical(NodeId(to), &mut form);
        form.timed()
    };
    assert_ne!(form(2, 1), form(3, 1));
    assert_ne!(form(2, 1), form(2, 3));
}

#[test]
fn what_outlived_says_is_an_incarnation_of_its_receiver() {
    let in_world = |known: u64| {
        let mut form = Form::new();
        form.incarnation(NodeId(2), Incarnation(5));
        let (from, incarnation, body) = (NodeId(1), Incarnation(5), outlived(known));
        Frame { from, incarnation, seq: 1, rides: None, body }.canonical(NodeId(2), &mut form);
        form.timed()
    };
    assert_ne!(in_world(4), in_world(5));
    assert_ne!(in_world(5), in_world(6));
}

/// Random frames from peers and clocks: whatever comes, the node goes on and Persist precedes what depends on it.
#[test]
fn nothing_that_arrives_breaks_a_node() {
    for protocol in Protocol::ALL {
        for kind in DetectorKind::ALL {
            for variant in Variant::ALL {
                for seed in 0..20 {
                    storm(protocol, kind, variant, seed);
                }
            }
        }
    }
}

fn storm(protocol: Protocol, kind: DetectorKind, variant: Variant, seed: u64) {
    let mut rig = Rig::of(protocol, kind, variant, 2, 1);
    rig.input(Input::Start);
    let mut random = Random(seed);
    let mut durable = Incarnation(1);
    for _ in 0..400 {
        let mut frame = random.frame();
        frame.from = NodeId(random.below(5) as u32);
        if matches!(frame.body, Body::Election(_)) {
            frame.body = Body::Election(message_of(protocol, random.below(PER_ALGORITHM), random.number()));
        }
        rig.now = rig.now + Span::micros(random.below(30_000));
        let input = if random.below(3) == 0 { Input::Deadline } else { Input::Frame(frame) };
        for output in rig.input(input) {
            match output {
                Output::Persist(Durable { incarnation, .. }) => durable = incarnation,
                Output::Send { to, frame } => {
                    assert_eq!(frame.incarnation, durable, "sent in an incarnation that is not durable");
                    assert_ne!(to, NodeId(2));
                }
                Output::Broadcast(frame) => {
                    assert_eq!(frame.incarnation, durable, "sent in an incarnation that is not durable");
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
        rig.form();
    }
}

mod forms;
mod members;
mod queue;
mod strangers;
mod writes;

// The harness.

struct Rig {
    node: Node<AnyElection>,
    now: Time,
}

impl Rig {
    fn of(protocol: Protocol, kind: DetectorKind, variant: Variant, me: u32, incarnation: u64) -> Self {
        let setup = Setup {
            protocol,
            variant,
            roster: match protocol.spec().peers {
                Peers::Listed => Roster::new(NodeId(me), (1..=3).map(NodeId), Priority::LowestId),
                Peers::Met => Roster::new(NodeId(me), [NodeId(me)], Priority::LowestId),
            },
            incarnation: Incarnation(incarnation),
            count: 5,
            t: 1,
            timing: Timing { delta: DELTA, tau: TAU, step: DELTA },
            choices: Choices::default(),
        };
        let detector = DetectorConfig {
            kind,
            period: TAU,
            delta: DELTA,
            step: DELTA,
            reporters: 1,
            reports_new_incarnations: variant == Variant::Repaired,
        };
        let mut rig = Self { node: Node::new(setup, detector, Time::ZERO), now: Time::ZERO };
        if kind == DetectorKind::Perfect {
            for peer in (1..=3).filter(|peer| *peer != me).map(NodeId) {
                rig.input(Input::Oracle { peer, alive: None });
            }
        }
        rig
    }

    /// The repaired algorithm with heartbeats, in its first incarnation.
    fn started(me: u32) -> Self {
        let mut rig = Self::of(Protocol::AsyncBully, DetectorKind::Heartbeat, Variant::Repaired, me, 1);
        rig.input(Input::Start);
        rig
    }

    fn input(&mut self, input: Input<AnyMsg>) -> Vec<Output<AnyMsg>> {
        let mut out = Outbox::new();
        self.node.handle(self.now, input, &mut out);
        out.drain().collect()
    }

    fn receive(&mut self, from: u32, incarnation: u64, seq: u64, body: Body<AnyMsg>) -> Vec<Output<AnyMsg>> {
        let (from, incarnation) = (NodeId(from), Incarnation(incarnation));
        self.input(Input::Frame(Frame { from, incarnation, seq, rides: None, body }))
    }

    /// Sleeps through the deadlines until `span` has passed.
    fn advance(&mut self, span: Span) {
        let until = self.now + span;
        while let Some(deadline) = self.node.deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.input(Input::Deadline);
        }
        self.now = until;
    }

    fn run(&mut self, deadlines: usize) {
        for _ in 0..deadlines {
            if let Some(deadline) = self.node.deadline() {
                self.now = self.now.max(deadline);
                self.input(Input::Deadline);
            }
        }
    }

    fn elid(&self) -> ElectionId {
        self.node.opinion().group.expect("Stoller's nodes are in a group").0
    }

    fn form(&self) -> Vec<u64> {
        let mut form = Form::new();
        self.node.canonical(self.now, &mut form);
        form.timed()
    }
}

fn sends(outputs: &[Output<AnyMsg>], to: u32) -> Vec<Frame<AnyMsg>> {
    let frames = outputs.iter().filter_map(|output| match output {
        Output::Send { to: receiver, frame } if *receiver == NodeId(to) => Some(frame.clone()),
        _ => None,
    });
    frames.collect()
}

fn elid(node: u32, incarnation: u64) -> ElectionId {
    ElectionId { node: NodeId(node), incarnation: Incarnation(incarnation), seq: 1 }
}

fn halt(node: u32, incarnation: u64) -> Body<AnyMsg> {
    Body::Election(AnyMsg::AsyncBully(Msg::Halt(elid(node, incarnation))))
}

fn ldr(node: u32, incarnation: u64) -> Body<AnyMsg> {
    Body::Election(AnyMsg::AsyncBully(Msg::Ldr(elid(node, incarnation))))
}

fn outlived(known: u64) -> Body<AnyMsg> {
    Body::Link(LinkMsg::Outlived { known: Incarnation(known) })
}
