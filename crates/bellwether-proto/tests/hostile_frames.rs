//! Five million hostile frames: random bytes, and valid frames with random damage. The decoder answers each with a frame
//! or an error, never panics, and never makes room for what it has not read.
//!
//! The cap: decoding holds at most one list of stamps and one of absent nodes. An entry takes at least two bytes (a
//! stamp) or one (a node id) of the frame, and at most [`size_of::<Stamp>()`](Stamp) or four bytes of memory; a vector
//! that grows by doubling has at most twice the room it needs, and while it moves the old room as well, three times.
//! [`STAMPS_MAX`] bounds the entries of either, whatever the frame claims.

#![allow(unsafe_code, reason = "a global allocator that counts cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bellwether_proto::detector::{DetectorMsg, STAMPS_MAX, Stamp, Token, WatchNo};
use bellwether_proto::election::bully::{self, Answer};
use bellwether_proto::election::calls::CallNo;
use bellwether_proto::election::mmrt::{QueryNo, RecFrom};
use bellwether_proto::election::souto_bully;
use bellwether_proto::election::stoller::{Membership, Msg};
use bellwether_proto::election::{
    AnyMsg, SuspicionCount, SuspicionCounts, adft, fjr, invitation, lfa, lockstep, mmrt, souto_invitation,
};
use bellwether_proto::ident::{ElectionId, GroupId, Incarnation, NodeId};
use bellwether_proto::leadership::LeadershipMsg;
use bellwether_proto::link::LinkMsg;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::time::Span;
use bellwether_proto::wire::{Channel, FRAME_MAX, decode, encode};

const FRAMES: u32 = 5_000_000;
const CHANNEL: Channel = Channel { cluster: 1, election: 0 };

/// Room for the longest list of stamps, doubled by growth. Below two bytes of memory for each byte of [`FRAME_MAX`].
const LARGEST_MAX: usize = 2 * STAMPS_MAX * size_of::<Stamp>();
/// One such list moving to larger room, and a finished list of node ids.
const LIVE_MAX: usize = 3 * STAMPS_MAX * size_of::<Stamp>() + 2 * STAMPS_MAX * size_of::<NodeId>();

const _: () = assert!(LARGEST_MAX <= 2 * FRAME_MAX && LIVE_MAX <= 4 * FRAME_MAX);

/// One test, so that nothing else allocates meanwhile.
#[test]
fn millions_of_hostile_frames_cost_nothing_but_their_reading() {
    let mut random = Random(0x6265_6c6c);
    let seeds = valid_frames();
    let mut bytes = Vec::with_capacity(2 * FRAME_MAX);
    let (mut frames, mut errors) = (0_u32, 0_u32);
    for case in 0..FRAMES {
        match case % 4 {
            0 => random.noise(&mut bytes),
            _ => random.damaged(&seeds, &mut bytes),
        }
        match decode_measured(&bytes) {
            true => frames += 1,
            false => errors += 1,
        }
    }
    assert!(
        frames > FRAMES / 100 && errors > FRAMES / 100,
        "{frames} frames, {errors} errors: a lame attack"
    );
    // The worst that is allowed, and the worst that is claimed.
    for len in [1, 100, STAMPS_MAX, STAMPS_MAX + 1, 3 * STAMPS_MAX] {
        let stamps = vec![Stamp { node: NodeId(1), round: 1 }; len];
        bytes = encode(CHANNEL, &frame(token(stamps, vec![NodeId(1); len.min(STAMPS_MAX)])));
        assert_eq!(decode_measured(&bytes), len <= STAMPS_MAX);
    }
    assert!(LARGEST.load(Relaxed) >= STAMPS_MAX * size_of::<Stamp>(), "the counting allocator sees nothing");
}

/// Decodes, and asserts that it stayed within the cap. True for a frame.
fn decode_measured(bytes: &[u8]) -> bool {
    LARGEST.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    LIVE.store(0, Relaxed);
    let decoded = decode(CHANNEL, bytes);
    let (largest, peak) = (LARGEST.load(Relaxed), PEAK.load(Relaxed));
    assert!(largest <= LARGEST_MAX, "one allocation of {largest} bytes for a frame of {}", bytes.len());
    assert!(peak <= LIVE_MAX, "{peak} bytes live for a frame of {}", bytes.len());
    // Nothing ahead of what was read: growth starts at four entries, and an entry takes a byte or more.
    let proportional = 3 * size_of::<Stamp>() * bytes.len().max(4);
    assert!(peak <= proportional, "{peak} bytes live for a frame of {}", bytes.len());
    decoded.is_ok()
}

fn valid_frames() -> Vec<Vec<u8>> {
    let t = ElectionId { node: NodeId(3), incarnation: Incarnation(300), seq: 70_000 };
    let (no, n) = (WatchNo(9), 1_000_000);
    let stamp = |node| Stamp { node: NodeId(node), round: 12 };
    let detector = [
        DetectorMsg::Ping { no, n },
        DetectorMsg::Pong { no, n },
        DetectorMsg::Subscribe { no, period: Span::millis(100) },
        DetectorMsg::Unsubscribe { no },
        DetectorMsg::Beat { no },
        token((1..6).map(stamp).collect(), vec![NodeId(7)]),
        token((1..200).map(stamp).collect(), (200..300).map(NodeId).collect()),
        DetectorMsg::Poll { no, poll: 3, suspect: NodeId(2) },
        DetectorMsg::Vote { no, poll: 3, suspect: NodeId(2), unreachable: true },
        DetectorMsg::Probe { watcher: NodeId(2), n },
        DetectorMsg::ProbeReply { n },
    ];
    let election = [
        Msg::Halt(t),
        Msg::Ack(t),
        Msg::Rej(t),
        Msg::Ldr(t),
        Msg::NormQ(t, 3, Membership::Stranger),
        Msg::NotNorm(t, 3),
    ];
    let mut frames: Vec<_> = detector.map(frame).into();
    frames.extend(election.map(|msg| with(Body::Election(AnyMsg::AsyncBully(msg)))));
    frames.extend(election.map(|msg| with(Body::Election(AnyMsg::BullyFd(msg)))));
    let counts =
        |n| SuspicionCounts::of((0..n).map(|k| SuspicionCount { incarnation: Incarnation(k), count: k * k }));
    let no = QueryNo { incarnation: Incarnation(300), sn: 70_000 };
    let raynal = [
        AnyMsg::Lfa(lfa::Msg::Alive),
        AnyMsg::Adft(adft::Msg::Alive(counts(300))),
        AnyMsg::Adft(adft::Msg::Suspect(NodeId(3))),
        AnyMsg::Mmrt(mmrt::Msg::QueryAlive(no, counts(5))),
        AnyMsg::Mmrt(mmrt::Msg::Response(no, RecFrom::of((1..300).map(NodeId)))),
        AnyMsg::Fjr(fjr::Msg::Heartbeat { count: 3, np_sn: 4 }),
        AnyMsg::Fjr(fjr::Msg::StopLeader { count: 3, np_sn: 4 }),
        AnyMsg::Fjr(fjr::Msg::Suspicion { count: 3, silent: NodeId(1) }),
        AnyMsg::Lockstep(lockstep::Msg::Round(12)),
    ];
    frames.extend(raynal.map(|msg| with(Body::Election(msg))));
    let call = CallNo::new(NodeId(3), Incarnation(300), 70_000);
    let calls = [
        bully::Msg::AreYouThere(call),
        bully::Msg::AreYouNormalReply(call, Answer::No),
        bully::Msg::Halt(call, t),
        bully::Msg::NewCoordinator(call, t),
        bully::Msg::NewCoordinatorReply(call, Answer::Yes),
    ];
    frames.extend(calls.map(|msg| with(Body::Election(AnyMsg::Bully(msg)))));
    let souto = [
        souto_bully::Msg::AreUThere(t),
        souto_bully::Msg::Halt { election: t, answers: Some(t) },
        souto_bully::Msg::NewLeader(t),
    ];
    frames.extend(souto.map(|msg| with(Body::Election(AnyMsg::SoutoBully(msg)))));
    let group = GroupId(t);
    let invitations = [
        AnyMsg::Invitation(invitation::Msg::AreYouCoordinator { call, group, member: true, members: 2 }),
        AnyMsg::Invitation(invitation::Msg::AcceptReply { call, taken: false }),
        AnyMsg::SoutoInvitation(souto_invitation::Msg::Ready(group)),
    ];
    frames.extend(invitations.map(|msg| with(Body::Election(msg))));
    frames.push(with(Body::Link(LinkMsg::Outlived { known: Incarnation(5) })));
    let (round, epoch, to) = (1 << 40, 70_000, NodeId(3));
    let leadership = [
        LeadershipMsg::Claim { round, epoch: 1 },
        LeadershipMsg::Lead { round, epoch, followers: 0 },
        LeadershipMsg::Follow { round, epoch, of: Some(to), priority: 10, count: 0 },
        LeadershipMsg::Cede,
        LeadershipMsg::Aside { next: Some(NodeId(2)) },
        LeadershipMsg::HandOver { to },
        LeadershipMsg::Seen { epoch, of: Some(to) },
        LeadershipMsg::Elsewhere { leader: to, followers: 2 },
    ];
    frames.extend(leadership.map(|msg| with(Body::Leadership(msg))));
    frames.iter().map(|frame| encode(CHANNEL, frame)).collect()
}

fn token(stamps: Vec<Stamp>, absent: Vec<NodeId>) -> DetectorMsg {
    DetectorMsg::Token(Box::new(Token {
        origin: NodeId(1),
        incarnation: Incarnation(2),
        round: 12,
        stamps,
        absent,
    }))
}

fn frame(msg: DetectorMsg) -> Frame<AnyMsg> {
    with(Body::Detector(msg))
}

fn with(body: Body<AnyMsg>) -> Frame<AnyMsg> {
    Frame { from: NodeId(2), incarnation: Incarnation(4), seq: 77, rides: Some(WatchNo(3)), body }
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Random bytes, half of them behind a good start so that they get past the envelope.
    fn noise(&mut self, bytes: &mut Vec<u8>) {
        bytes.clear();
        if self.below(2) == 0 {
            // Version, cluster, election, sender, incarnation, number, no ride; the tag and the kind are often good.
            bytes.extend([1, 1, 0, 2, 4, 7, 0]);
            bytes.push([0, 1, 1, 1, 2, 16, 17][self.below(7)]);
            bytes.push(self.below(12) as u8);
        }
        // Mostly short, now and then beyond the longest frame.
        let len = if self.below(2_000) == 0 { self.below(FRAME_MAX + 100) } else { self.below(120) };
        let high = self.below(3) == 0;
        bytes.extend((0..len).map(|_| self.next() as u8 | if high { 0x80 } else { 0 }));
    }

    /// A valid frame with one to four damages.
    fn damaged(&mut self, seeds: &[Vec<u8>], bytes: &mut Vec<u8>) {
        bytes.clear();
        let seed = self.below(seeds.len());
        bytes.extend(&seeds[seed]);
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len().max(1));
            match self.below(7) {
                0 => bytes.truncate(at),
                1 => bytes.push(self.next() as u8),
                2 => bytes.insert(at, self.next() as u8),
                3 if at < bytes.len() => drop(bytes.remove(at)),
                // A length or a number that claims to be huge.
                4 => drop(bytes.splice(at..at, [0xff; 9])),
                _ if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => {}
            }
        }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// The largest single allocation, what is live, and the most that was, since they were last reset. What was allocated
/// before a reset and is freed after it must not count below zero, hence the saturation.
static LARGEST: AtomicUsize = AtomicUsize::new(0);
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

impl Counting {
    fn took(size: usize) {
        LARGEST.fetch_max(size, Relaxed);
        let live = LIVE.fetch_add(size, Relaxed) + size;
        PEAK.fetch_max(live, Relaxed);
    }

    fn gave(size: usize) {
        let _ = LIVE.fetch_update(Relaxed, Relaxed, |live| Some(live.saturating_sub(size)));
    }
}

// SAFETY: every call is passed on unchanged to the system's allocator; counting touches nothing but atomics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        Self::gave(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may both be live while the content moves.
        Self::took(size);
        Self::gave(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
