//! The codec: what is written is read, and whatever else is read is refused in words.

mod exclusively;
mod golden;
mod sample;

use alloc::boxed::Box;
use alloc::collections::BTreeSet;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::detector::{DetectorMsg, STAMPS_MAX, Stamp, Token};
use crate::election::Protocol;
use crate::election::stoller::Msg;
use crate::group::{Ballot, Content, GroupMsg, Lineage, OpId, Outcome, Past, Record, Task};
use crate::ident::{ElectionId, GroupId};
use crate::leadership::LeadershipMsg;
use crate::link::LinkMsg;
use crate::time::Span;
use sample::sample;

const CHANNEL: Channel = Channel { cluster: 0xfeed, election: 3 };

proptest! {
    #[test]
    fn what_is_written_is_read(seed: u64, cluster: u64, election: u32) {
        let channel = Channel { cluster, election };
        let frame = Random(seed).frame();
        prop_assert_eq!(decode(channel, &encode(channel, &frame)), Ok(frame));
    }

    #[test]
    fn arbitrary_bytes_are_a_frame_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = decode(CHANNEL, &bytes);
        let mut versioned = vec![VERSION];
        versioned.extend(bytes);
        let _ = decode(CHANNEL, &versioned);
    }
}

#[test]
fn every_message_of_every_layer_survives_the_trip_at_its_extremes() {
    for frame in one_of_each() {
        assert_eq!(decode(CHANNEL, &encode(CHANNEL, &frame)), Ok(frame));
    }
}

#[test]
fn a_frame_cut_short_is_an_error_at_every_cut() {
    for frame in one_of_each() {
        let bytes = encode(CHANNEL, &frame);
        for cut in 0..bytes.len() {
            assert!(decode(CHANNEL, &bytes[..cut]).is_err(), "{frame:?} cut at {cut}");
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_another_frame() {
    for frame in one_of_each() {
        let bytes = encode(CHANNEL, &frame);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            if let Ok(other) = decode(CHANNEL, &flipped) {
                assert_ne!(other, frame, "bit {bit} means nothing");
            }
        }
    }
}

#[test]
fn every_error_is_reached_and_readable() {
    let good = encode(CHANNEL, &one_of_each()[0]);
    let other = |channel| encode(channel, &one_of_each()[0]);
    let mut trailing = good.clone();
    trailing.extend([0, 0]);
    let cases = [
        (vec![], WireError::Empty, "an empty frame"),
        (
            vec![VERSION; FRAME_MAX + 1],
            WireError::TooLong { len: FRAME_MAX + 1 },
            "a frame of 65537 bytes; the longest allowed is 65536",
        ),
        (vec![9], WireError::Version { found: 9 }, "wire version 9; this build speaks 1"),
        (vec![VERSION], WireError::Header, "the header is malformed"),
        (
            good[..good.len() - 1].to_vec(),
            WireError::Malformed { part: "link message" },
            "the link message is malformed",
        ),
        (
            other(Channel { cluster: 0xbad, ..CHANNEL }),
            WireError::Cluster { found: 0xbad },
            "a frame of another cluster (0000000000000bad)",
        ),
        (
            other(Channel { election: 4, ..CHANNEL }),
            WireError::Election { found: 4 },
            "a frame of election 4",
        ),
        (with_body(77, &[]), WireError::Tag { found: 77 }, "unknown tag 77"),
        (trailing, WireError::Trailing { extra: 2 }, "2 bytes after the end of the message"),
    ];
    for (bytes, error, words) in cases {
        assert_eq!(decode(CHANNEL, &bytes), Err(error));
        assert_eq!(error.to_string(), words);
    }
    let layers = [(tag::DETECTOR, "detector message"), (tag::LEADERSHIP, "leadership message")];
    for (tag, part) in TAGS.into_iter().map(|tag| (tag, "election message")).chain(layers) {
        assert_eq!(decode(CHANNEL, &with_body(tag, &[0xff])), Err(WireError::Malformed { part }));
    }
}

#[test]
fn a_list_that_claims_to_be_huge_is_refused_without_room_being_made_for_it() {
    // Token, origin 1, incarnation 1, round 1, and then a length of u64::MAX.
    let mut body = vec![5, 1, 1, 1];
    body.extend([0xff; 9]);
    body.push(1);
    let part = "detector message";
    assert_eq!(decode(CHANNEL, &with_body(tag::DETECTOR, &body)), Err(WireError::Malformed { part }));
    for (len, fits) in [(STAMPS_MAX, true), (STAMPS_MAX + 1, false)] {
        let stamps = vec![Stamp { node: NodeId(1), round: 1 }; len];
        let frame = token(stamps, vec![]);
        assert_eq!(decode(CHANNEL, &encode(CHANNEL, &frame)).is_ok(), fits, "{len} stamps");
        let frame = token(vec![], vec![NodeId(1); len]);
        assert_eq!(decode(CHANNEL, &encode(CHANNEL, &frame)).is_ok(), fits, "{len} absent");
    }
}

#[test]
fn the_longest_frame_is_still_looked_at() {
    assert_ne!(decode(CHANNEL, &vec![VERSION; FRAME_MAX]), Err(WireError::TooLong { len: FRAME_MAX }));
}

#[test]
fn a_clusters_name_decides_its_channel() {
    assert_eq!(Channel::of_cluster("a"), Channel { cluster: 0xaf63_dc4c_8601_ec8c, election: 0 });
    assert_ne!(Channel::of_cluster("a"), Channel::of_cluster("b"));
}

/// The format is spoken between builds: these bytes must never change while the version is 1.
#[test]
fn the_format_is_what_it_was() {
    let t = ElectionId { node: NodeId(2), incarnation: Incarnation(3), seq: 300 };
    let frame = Frame {
        from: NodeId(2),
        incarnation: Incarnation(3),
        seq: 5,
        rides: Some(WatchNo(7)),
        body: Body::Election(AnyMsg::AsyncBully(Msg::Halt(t))),
    };
    let channel = Channel { cluster: 1, election: 0 };
    assert_eq!(encode(channel, &frame), [1, 1, 0, 2, 3, 5, 1, 7, 17, 0, 2, 3, 0xac, 2]);
    let follow = LeadershipMsg::Follow { round: 300, epoch: 9, of: Some(NodeId(4)), priority: 10, count: 6 };
    let frame = Frame { rides: None, body: Body::Leadership(follow), ..frame };
    assert_eq!(encode(channel, &frame), [1, 1, 0, 2, 3, 5, 0, 2, 2, 0xac, 2, 9, 1, 4, 10, 6]);
}

fn with_body(tag: u8, body: &[u8]) -> Vec<u8> {
    let header = Header {
        cluster: CHANNEL.cluster,
        election: CHANNEL.election,
        sender: NodeId(1),
        incarnation: Incarnation(1),
        seq: 1,
        rides: None,
        tag,
    };
    let mut bytes = append(vec![VERSION], &header);
    bytes.extend(body);
    bytes
}

fn token(stamps: Vec<Stamp>, absent: Vec<NodeId>) -> Frame<AnyMsg> {
    let body = DetectorMsg::Token(Box::new(Token {
        origin: NodeId(1),
        incarnation: Incarnation(1),
        round: 1,
        stamps,
        absent,
    }));
    Frame { from: NodeId(1), incarnation: Incarnation(1), seq: 1, rides: None, body: Body::Detector(body) }
}

/// Every message once with small and once with the largest numbers.
fn one_of_each() -> Vec<Frame<AnyMsg>> {
    let frames = [1, u64::MAX].into_iter().flat_map(|n| {
        (0..MESSAGES).map(move |which| Frame {
            from: NodeId(n as u32),
            incarnation: Incarnation(n).min(Incarnation::MAX),
            seq: n,
            rides: (n > 1).then_some(WatchNo(n)),
            body: body(which, n),
        })
    });
    frames.collect()
}

/// How many messages [`body`] knows.
pub(crate) const MESSAGES: u64 = 28 + PER_ALGORITHM * Protocol::ALL.len() as u64;

/// As many messages as any algorithm has.
pub(crate) const PER_ALGORITHM: u64 = 8;

/// A message with every number `n`.
pub(crate) fn body(which: u64, n: u64) -> Body<AnyMsg> {
    let (no, id) = (WatchNo(n), NodeId(n as u32));
    let detector = Body::Detector;
    match which {
        0 => Body::Link(LinkMsg::Outlived { known: Incarnation(n) }),
        1 => detector(DetectorMsg::Ping { no, n }),
        2 => detector(DetectorMsg::Pong { no, n }),
        3 => detector(DetectorMsg::Subscribe { no, period: Span::micros(n) }),
        4 => detector(DetectorMsg::Unsubscribe { no }),
        5 => detector(DetectorMsg::Beat { no }),
        6 => {
            let stamps = vec![Stamp { node: id, round: n }; (n % 7) as usize];
            let absent = vec![id; (n % 4) as usize];
            detector(DetectorMsg::Token(Box::new(Token {
                origin: id,
                incarnation: Incarnation(n),
                round: n,
                stamps,
                absent,
            })))
        }
        7 => detector(DetectorMsg::Poll { no, poll: n, suspect: id }),
        8 => detector(DetectorMsg::Vote { no, poll: n, suspect: id, unreachable: n.is_multiple_of(2) }),
        9 => detector(DetectorMsg::Probe { watcher: id, n }),
        10 => detector(DetectorMsg::ProbeReply { n }),
        11..18 => Body::Leadership(leadership(which - 11, n)),
        18..26 => Body::Group(Box::new(group(which - 18, n))),
        26 => {
            let protocol = Protocol::ALL[(n % Protocol::ALL.len() as u64) as usize];
            let msg = message_of(protocol, n % PER_ALGORITHM, n);
            Body::Join(Box::new(Joining { msg, past: past(n) }))
        }
        27 => Body::Consistent(Box::new(on_link(n))),
        which => {
            let protocol = Protocol::ALL[((which - 28) / PER_ALGORITHM) as usize];
            Body::Election(message_of(protocol, (which - 28) % PER_ALGORITHM, n))
        }
    }
}

macro_rules! samples {
    ($($document:literal $module:ident::$name:ident = $tag:literal,)*) => {
        /// A message of that algorithm with every number `n`: the first of so many, and so on, some more than once.
        pub(crate) fn message_of(protocol: Protocol, which: u64, n: u64) -> AnyMsg {
            match protocol {
                $(Protocol::$name => AnyMsg::$name(sample(which, n)),)*
            }
        }

        const TAGS: [u8; Protocol::ALL.len()] = [$($tag),*];
    };
}

protocols!(samples);

/// A tag that two layers or algorithms share would have one read the other's messages. Those of the algorithms begin at 16.
#[test]
fn every_tag_is_of_one_algorithm() {
    let different: BTreeSet<u8> = TAGS.into_iter().collect();
    assert_eq!(different.len(), TAGS.len(), "{TAGS:?}");
    assert!(different.first() >= Some(&16), "{TAGS:?}");
    let found = |name: &str| Protocol::ALL.iter().zip(TAGS).find(|(protocol, _)| protocol.name() == name);
    for (name, tag) in SPOKEN {
        assert_eq!(found(name).map(|(_, tag)| tag), Some(*tag), "{name}");
    }
}

/// Tags that builds speak already. An algorithm that joins later has no line yet.
const SPOKEN: &[(&str, u8)] = &[
    ("bully-fd", 16),
    ("async-bully", 17),
    ("lfa", 18),
    ("adft", 19),
    ("mmrt", 20),
    ("fjr", 21),
    ("lockstep", 22),
    ("bully", 23),
    ("invitation", 24),
    ("souto-bully", 25),
    ("souto-invitation", 26),
    ("gamma", 27),
    ("phi", 28),
    ("psi", 29),
    ("fb-omega", 30),
];

fn leadership(which: u64, n: u64) -> LeadershipMsg {
    let (round, epoch, id) = (n, n, NodeId(n as u32));
    let all = [
        LeadershipMsg::Claim { round, epoch },
        LeadershipMsg::Lead { round, epoch, followers: 0 },
        LeadershipMsg::Follow {
            round,
            epoch,
            of: (!n.is_multiple_of(2)).then_some(id),
            priority: n as u32,
            count: n,
        },
        LeadershipMsg::Cede,
        LeadershipMsg::Aside { next: (!n.is_multiple_of(2)).then_some(id) },
        LeadershipMsg::HandOver { to: id },
        LeadershipMsg::Seen { epoch, of: (!n.is_multiple_of(2)).then_some(id) },
        LeadershipMsg::Elsewhere { leader: id, followers: 2 },
    ];
    all[which as usize]
}

fn group(which: u64, n: u64) -> GroupMsg {
    let call = ElectionId { node: NodeId(n as u32), incarnation: Incarnation(n), seq: n };
    let content = vec![n as u8; (n % 9) as usize];
    let (op, ballot) = attempt(n);
    let outcome = [Outcome::Committed, Outcome::Aborted, Outcome::Forgotten][(n % 3) as usize];
    let all = [
        GroupMsg::Ready {
            group: (!n.is_multiple_of(2)).then_some(GroupId(call)),
            task: Task::new(call, Content::new(content).expect("it is short")),
            lineage: lineage(n),
        },
        GroupMsg::ReadyReply { call, in_place: n.is_multiple_of(2) },
        GroupMsg::Prepare(op, ballot),
        GroupMsg::PrepareReply { op, ballot, yes: n.is_multiple_of(2) },
        GroupMsg::Decide { op, ballot, outcome },
        GroupMsg::Inquire(op, ballot),
        GroupMsg::Member { group: (!n.is_multiple_of(2)).then_some(GroupId(call)), past: Box::new(past(n)) },
        GroupMsg::InService { call },
    ];
    all[which as usize].clone()
}

fn on_link(n: u64) -> ConsistentMsg<Letter<AnyMsg>> {
    let protocol = Protocol::ALL[(n % Protocol::ALL.len() as u64) as usize];
    let view = ElectionId { node: NodeId(n as u32), incarnation: Incarnation(n), seq: n };
    ConsistentMsg {
        to: Incarnation(n),
        seen: n,
        no: n,
        echo: n,
        taken: n,
        membership: Membership {
            view: (!n.is_multiple_of(3)).then_some(GroupId(view)),
            dead: n.is_multiple_of(2),
        },
        carries: (n > 0).then(|| Carried { nth: n, msg: letter(protocol, n) }),
    }
}

fn letter(protocol: Protocol, n: u64) -> Letter<AnyMsg> {
    match n % 7 {
        6 => Letter::Group(Box::new(group(n % 7, n))),
        which => Letter::Election(message_of(protocol, which, n)),
    }
}

fn attempt(n: u64) -> (OpId, Ballot) {
    let id = ElectionId { node: NodeId(n as u32), incarnation: Incarnation(n), seq: n };
    (OpId(n), Ballot { group: GroupId(id), attempt: n })
}

/// A graph of a group or none, whose content is of any kind.
fn lineage(n: u64) -> Lineage {
    let (_, Ballot { group, .. }) = attempt(n);
    let id = NodeId(n as u32);
    let members = vec![id; (n % 4) as usize];
    let parents = vec![group; (n % 3) as usize];
    let record = Record { group, coordinator: id, generation: n, members, parents };
    Lineage::of((!n.is_multiple_of(2)).then_some(record))
}

fn past(n: u64) -> Past {
    let (op, ballot) = attempt(n);
    let head = (!n.is_multiple_of(2)).then_some(ballot.group);
    Past {
        head,
        away: n.is_multiple_of(2),
        lineage: lineage(n),
        doubts: vec![(op, ballot); (n % 3) as usize],
    }
}

/// Splitmix64: small, and the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Any message of any layer, with numbers that are often small, so that some of them fit the receiver's state.
    pub(crate) fn frame(&mut self) -> Frame<AnyMsg> {
        let which = self.below(MESSAGES);
        let rides = self.number();
        Frame {
            from: NodeId(self.number() as u32),
            incarnation: Incarnation(self.number()).min(Incarnation::MAX),
            seq: self.number(),
            rides: (self.below(2) == 0).then_some(WatchNo(rides)),
            body: body(which, self.number()),
        }
    }

    pub(crate) fn number(&mut self) -> u64 {
        match self.below(4) {
            0 => self.next() >> self.below(64),
            1 => u64::MAX - self.below(3),
            _ => self.below(6),
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
