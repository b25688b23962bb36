//! What a member says that has proved its id, if it is broken or has been taken over. Its connection ends, and nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

use bellwether_proto::election::{AnyMsg, fjr, lfa};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::LeadershipMsg;
use bellwether_proto::link::LinkMsg;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::wire::{self, Channel};

use super::records::{self, CONTROL_MAX, RECORD_MAX, Random};
use super::siege::Siege;
use super::stranger::{self, Stranger};

/// Enough to fill whatever has no bound.
const MILLIONS: usize = 4 << 20;

#[test]
fn records_that_are_none_end_the_connection() {
    let siege = Siege::without_one();
    let (before, mut random) = (siege.refused(), Random(1));
    let mut refused = 0;
    for _ in 0..100 {
        let length = 1 + random.below(100);
        let mut body = random.bytes(length);
        // Answers that nobody waits for are no offence.
        body[0] = if body[0] == records::PONG { records::HELLO } else { body[0] };
        say(&siege, &records::record(&body));
        refused += 1;
    }
    for bytes in [
        records::hello(siege.other, incarnation(), 7),
        records::record(&[]),
        records::record(&random.bytes(RECORD_MAX as usize)),
        (RECORD_MAX + 1).to_le_bytes().to_vec(),
        u32::MAX.to_le_bytes().to_vec(),
        vec![0xff; MILLIONS],
    ] {
        say(&siege, &bytes);
        refused += 1;
    }
    siege.has_refused(before, 0, refused);
    assert!(siege.log().contains("about=Content"), "{}", siege.log());
    comes_back(siege);
}

#[test]
fn greetings_that_are_none_are_refused() {
    let siege = Siege::without_one();
    let (before, mut random) = (siege.refused(), Random(2));
    let member = stranger::member(siege.cluster.authority(), siege.other);
    let good = records::hello(siege.other, incarnation(), 7);
    let mut greetings = vec![
        records::pong(1),
        records::record(&[]),
        (CONTROL_MAX + 1).to_le_bytes().to_vec(),
        u32::MAX.to_le_bytes().to_vec(),
        vec![0xff; MILLIONS],
        // An incarnation beyond all incarnations.
        records::hello(siege.other, u64::MAX, 7),
    ];
    greetings.extend((0..20).map(|_| records::record(&random.bytes(40))));
    // What is left out, and what is too much.
    greetings.push(records::record(&good[4..good.len() - 1]));
    greetings.push(records::record(&[&good[4..], b"!"].concat()));
    for greeting in &greetings {
        let mut stranger = Stranger::dial(siege.target(), std::sync::Arc::clone(&member));
        let _ = stranger.say(greeting);
        stranger.until_closed();
    }
    siege.has_refused(before, greetings.len() as u64, 0);
    assert!(siege.log().contains("about=Greeting"), "{}", siege.log());
    comes_back(siege);
}

/// One bit is wrong, or a few. Those that make another frame that the member may send are left out, and those that it may send if it
/// is of a later version: it may.
#[test]
fn frames_that_were_tampered_with_end_the_connection() {
    let siege = Siege::without_one();
    let (before, mut random) = (siege.refused(), Random(3));
    let (mut in_anothers_name, mut refused) = (0, 0);
    for frame in frames(siege.other) {
        for _ in 0..40 {
            let mut bytes = encoded(&frame);
            for _ in 0..=random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            match wire::decode(channel(), &bytes) {
                Ok(frame) if frame.from == NodeId(siege.other) => continue,
                Ok(_) => in_anothers_name += 1,
                Err(error) if error.is_about_message() => continue,
                Err(_) => {}
            }
            say(&siege, &records::frame(&bytes));
            refused += 1;
        }
    }
    assert!(in_anothers_name > 0 && refused > 100, "{in_anothers_name} of {refused}");
    siege.has_refused(before, in_anothers_name, refused);
    comes_back(siege);
}

/// As fast as it can, in the name of an incarnation that the real member has yet to reach.
#[test]
fn a_flood_of_what_is_allowed_drowns_nobody() {
    let siege = Siege::without_one();
    let before = siege.refused();
    let foreign = AnyMsg::Lfa(lfa::Msg::Alive);
    let frames = [Body::Leadership(LeadershipMsg::Cede), Body::Election(foreign)]
        .map(|body| records::frame(&encoded(&of(siege.other, body))));
    for flood in [records::pong(1), frames[0].clone(), frames[1].clone()] {
        let mut stranger = welcomed(&siege);
        stranger.say(&flood.repeat(MILLIONS / flood.len())).expect("all of it is listened to");
        // What is wrong in the end shows that all has been read.
        let _ = stranger.say(&records::record(&[]));
        stranger.until_closed();
    }
    siege.has_refused(before, 0, 3);
    comes_back(siege);
}

/// Says these bytes as the member that is not there, and waits until the agent hangs up.
fn say(siege: &Siege, bytes: &[u8]) {
    let mut stranger = welcomed(siege);
    // It may hang up before all has been said.
    let _ = stranger.say(bytes);
    stranger.until_closed();
}

fn welcomed(siege: &Siege) -> Stranger {
    Stranger::welcomed(siege.target(), siege.cluster.authority(), siege.other, incarnation())
}

/// The member itself comes back, whatever was said in its name.
#[track_caller]
fn comes_back(mut siege: Siege) {
    siege.is_unmoved();
    let (leader, other) = (siege.leader, siege.other);
    siege.cluster.start_node(other);
    siege.cluster.wait_for("the member follows", |views| {
        views[&other].as_ref().is_some_and(|view| view["leader"] == leader)
    });
    siege.is_unmoved();
}

/// An incarnation that the member has yet to reach.
fn incarnation() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is set");
    u64::try_from(since.as_micros()).expect("it is not that late") + 1_000_000_000
}

fn channel() -> Channel {
    Channel::of_cluster("test")
}

fn encoded(frame: &Frame<AnyMsg>) -> Vec<u8> {
    wire::encode(channel(), frame)
}

fn of(id: u32, body: Body<AnyMsg>) -> Frame<AnyMsg> {
    Frame { from: NodeId(id), incarnation: Incarnation(incarnation()), seq: 1, rides: None, body }
}

/// Frames of every layer.
fn frames(id: u32) -> Vec<Frame<AnyMsg>> {
    let election = |msg| Body::Election(AnyMsg::Fjr(msg));
    let bodies = [
        election(fjr::Msg::Heartbeat { count: 1, np_sn: 1 }),
        election(fjr::Msg::StopLeader { count: 300, np_sn: 70_000 }),
        election(fjr::Msg::Suspicion { count: 1, silent: NodeId(1) }),
        Body::Leadership(LeadershipMsg::Claim { round: 1, epoch: 1 }),
        Body::Leadership(LeadershipMsg::Lead { round: 1, epoch: 1000, followers: 0 }),
        Body::Leadership(LeadershipMsg::HandOver { to: NodeId(id) }),
        Body::Link(LinkMsg::Outlived { known: Incarnation(incarnation()) }),
    ];
    bodies.into_iter().map(|body| of(id, body)).collect()
}
