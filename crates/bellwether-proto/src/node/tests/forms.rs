//! What a search may rely on: what differs has forms that differ.

use super::members::member;
use super::*;
use crate::message::Message;
use crate::wire::tests::{MESSAGES, body};

#[test]
fn bodies_that_differ_have_forms_that_differ() {
    for protocol in Protocol::ALL {
        let of_election = (0..PER_ALGORITHM).flat_map(|which| (0..6).map(move |n| (which, n)));
        let of_election = of_election.map(|(which, n)| Body::Election(message_of(protocol, which, n)));
        let of_others = (0..MESSAGES).flat_map(|which| (0..6).map(move |n| body(which, n)));
        let of_others = of_others.filter(|body| !matches!(body, Body::Election(_)));
        // What a token says is reduced to what matters of it; the rings' own tests are about that.
        let of_others = of_others.filter(|body| !matches!(body, Body::Detector(DetectorMsg::Token(_))));
        let mut bodies: Vec<Body<AnyMsg>> = Vec::new();
        for body in of_election.chain(of_others) {
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        }
        let forms: Vec<_> = bodies.iter().cloned().map(form_of).collect();
        for (at, form) in forms.iter().enumerate() {
            let twin = forms[at + 1..].iter().position(|other| other == form);
            let twin = twin.map(|place| &bodies[at + 1 + place]);
            assert_eq!(twin, None, "{}: {:?}", protocol.name(), bodies[at]);
        }
    }
}

fn form_of(body: Body<AnyMsg>) -> Vec<u64> {
    let frame = Frame { from: NodeId(1), incarnation: Incarnation(1), seq: 1, rides: None, body };
    let (mut form, mut words) = (Form::new(), Vec::new());
    frame.canonical(NodeId(2), &mut form);
    form.write_exact(&mut words);
    words
}

/// A stamp counts as fresh in the round after its own; how old an older one is does not matter.
#[test]
fn the_form_of_a_token_tells_fresh_stamps_from_old_ones() {
    let stamped = |round: u64| {
        let stamps = [crate::detector::Stamp { node: NodeId(1), round }].to_vec();
        let (origin, incarnation, absent) = (NodeId(1), Incarnation(1), Vec::new());
        let token = Token { origin, incarnation, round: 10, stamps, absent };
        form_of(Body::Detector(DetectorMsg::Token(Box::new(token))))
    };
    assert_ne!(stamped(10), stamped(9));
    assert_ne!(stamped(9), stamped(8));
    assert_eq!(stamped(8), stamped(3));
}

/// Each of these changes what the layer will do.
#[test]
fn what_happens_to_a_member_shows_in_the_form_of_its_leadership() {
    let mut rig = member(Protocol::Fjr);
    let form = |rig: &Rig| {
        let (mut form, mut words) = (Form::new(), Vec::new());
        rig.node.leadership.as_ref().expect("it is a member").canonical(rig.now, &mut form);
        form.write_exact(&mut words);
        words
    };
    let mut last = form(&rig);
    let mut differs = |rig: &Rig, what: &str| {
        let now = form(rig);
        assert_ne!(now, last, "{what}");
        last = now;
    };
    rig.input(Input::Start);
    rig.input(Input::Connected { peer: NodeId(1), incarnation: Incarnation(1) });
    differs(&rig, "connected");
    rig.receive(1, 1, 1, Body::Leadership(LeadershipMsg::Claim { round: 1, epoch: 1 }));
    differs(&rig, "a claim");
    rig.receive(1, 1, 2, Body::Leadership(LeadershipMsg::Lead { round: 1, epoch: 9, followers: 0 }));
    differs(&rig, "a leader");
    rig.receive(1, 1, 3, Body::Leadership(LeadershipMsg::Aside { next: None }));
    differs(&rig, "who stands aside");
    rig.input(Input::Disconnected { peer: NodeId(1) });
    differs(&rig, "disconnected");
    rig.advance(TAU * 10);
    differs(&rig, "leads itself");
}

#[test]
fn the_largest_counter_of_a_message_is_told() {
    for protocol in Protocol::ALL {
        let told: Vec<_> =
            (0..PER_ALGORITHM).map(|which| message_of(protocol, which, 7).largest_counter()).collect();
        assert!(told.iter().all(|counter| [0, 7].contains(counter)), "{}: {told:?}", protocol.name());
        let views = matches!(protocol, Protocol::Phi | Protocol::Psi | Protocol::FbOmega);
        let grow =
            views || matches!(protocol, Protocol::Adft | Protocol::Mmrt | Protocol::Fjr | Protocol::Lockstep);
        assert_eq!(told.contains(&7), grow, "{}: {told:?}", protocol.name());
    }
}
