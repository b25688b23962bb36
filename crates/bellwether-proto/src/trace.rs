//! What happened, as data: the record that checkers judge, hashes compare and people read.
//!
//! One vocabulary for simulated and live runs. The binary form feeds the trace hash; the JSON line is for people and
//! tools.

mod groups;
mod program;
mod setup;

use core::fmt;

use crate::detector;
use crate::election::Protocol;
use crate::exclusive;
use crate::group::{self, GroupEvent};
use crate::ident::{Incarnation, NodeId};
use crate::io::{Durable, Event, Turn};
use crate::leadership::{self, Announcement};
use crate::link;
use crate::members::Members;
use crate::message::Kind;
use crate::opinion::Opinion;
use crate::time::{Span, Time};

pub use program::Program;
pub use setup::{Setup, setup_json};

/// One thing that happened at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceEvent {
    /// When, on the observer's clock.
    pub at: Time,
    /// The node.
    pub node: NodeId,
    /// The node's incarnation.
    pub incarnation: Incarnation,
    /// What.
    pub what: What,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The node sent a message.
    Send(MsgRef),
    /// The node received one that was sent then.
    Recv(MsgRef, Time),
    /// A message was lost; the node is its sender if the network lost it, its receiver if that was down.
    Drop(MsgRef, DropReason),
    /// The network holds up a message that the node just sent: it will arrive, but later than δ. Known to a
    /// simulator when it happens; in a live trace only the late arrival shows.
    Late(MsgRef),
    /// The node's deadline was reached and something followed from it.
    Deadline,
    /// The node wrote to stable storage.
    Persist(Written),
    /// Something the node itself reports.
    Node(Event),
    /// The node crashed.
    Crash,
    /// The node came up again, or for the first time.
    Recover,
    /// The node stopped running.
    Pause,
    /// The node went on.
    Resume,
    /// The node did nothing for that long, though something was due: its machine had not let it run. A live node tells
    /// it of itself, afterwards; what a simulator holds up it pauses.
    HeldUp(Span),
    /// Messages from the node to the peer are lost from now on.
    Cut(NodeId),
    /// They are not any more.
    Mend(NodeId),
    /// Messages from the node to the peer now take longer, or again as long as before.
    Slow(NodeId),
    /// The node's connection with the peer ended with a goodbye.
    Unlinked(NodeId),
    /// Something between the node and the program that it serves.
    Program(Program),
}

/// What a node wrote to stable storage: [`Durable`], with a number for what may be long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The latest incarnation of the node.
    pub incarnation: Incarnation,
    /// How often it has been suspected.
    pub count: u64,
    /// The largest epoch that it has seen.
    pub epoch: u64,
    /// Tells apart what its group layer keeps; 0 if that is nothing.
    pub group: u64,
}

impl From<&Durable> for Written {
    fn from(durable: &Durable) -> Self {
        let Durable { incarnation, count, epoch, group } = durable;
        let group = group.as_ref().map_or(0, |kept| kept.digest());
        Self { incarnation: *incarnation, count: *count, epoch: *epoch, group }
    }
}

/// Every kind of message, of all algorithms and layers.
pub fn kinds() -> impl Iterator<Item = Kind> {
    let elections = Protocol::ALL.into_iter().flat_map(|protocol| protocol.spec().kinds);
    let watching = detector::KINDS.iter().chain(link::KINDS);
    let leading = leadership::KINDS.iter().chain(exclusive::message::KINDS).chain(group::RESTRICTED_KINDS);
    elections.chain(watching).chain(leading).copied()
}

/// A message in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsgRef {
    /// Tells messages of one run apart; both copies of a duplicated one have the same.
    pub id: u64,
    /// Its kind.
    pub kind: Kind,
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

/// Why a message was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// By chance.
    Lost,
    /// On purpose, by a scenario.
    Dropped,
    /// The link is cut.
    Cut,
    /// The receiver is down.
    Down,
}

impl DropReason {
    /// The word used in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Dropped => "dropped",
            Self::Cut => "cut",
            Self::Down => "down",
        }
    }
}

impl TraceEvent {
    /// The binary form: the same on every machine, distinct for distinct events.
    #[inline]
    pub fn binary(&self) -> [u64; 8] {
        let (code, [a, b, c, d]) = self.what.binary();
        [self.at.as_micros(), u64::from(self.node.0), self.incarnation.0, code, a, b, c, d]
    }

    /// The event as a line of JSON, without the line's end.
    pub fn json(&self) -> impl fmt::Display {
        Json(*self)
    }
}

impl What {
    /// The word used in traces.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Send(_) => "send",
            Self::Recv(..) => "recv",
            Self::Drop(..) => "drop",
            Self::Late(_) => "late",
            Self::Deadline => "deadline",
            Self::Persist(_) => "persist",
            Self::Crash => "crash",
            Self::Recover => "recover",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::HeldUp(_) => "held-up",
            Self::Cut(_) => "cut",
            Self::Mend(_) => "mend",
            Self::Slow(_) => "slow",
            Self::Unlinked(_) => "unlinked",
            Self::Program(told) => program::name(told),
            Self::Node(event) => match event {
                Event::Opinion(_) => "state",
                Event::Group(event) => groups::name(event),
                Event::Announced(_) => "announce",
                Event::Granted { .. } => "granted",
                Event::GivenUp => "given-up",
                Event::Reborn(_) => "reborn",
                Event::Watch(_) => "watch",
                Event::Unwatch(_) => "unwatch",
                Event::UnwatchAll => "unwatch-all",
                Event::Down(_) => "downsig",
                Event::PlayDead => "play-dead",
                Event::PlayAlive => "play-alive",
                Event::Link(turn) if turn.is_up() => "link-up",
                Event::Link(_) => "link-down",
                Event::ViewInstalled(_) => "members",
                Event::Pending(_) => "pending",
                Event::Refused { .. } => "refused",
            },
        }
    }

    /// Whoever records a message knows what happened to it: nothing else is looked at then.
    #[inline(always)]
    fn binary(&self) -> (u64, [u64; 4]) {
        match *self {
            Self::Send(msg) => (1, msg.binary(0)),
            Self::Recv(msg, sent) => (2, msg.binary(sent.as_micros())),
            Self::Drop(msg, reason) => (3, msg.binary(reason as u64)),
            Self::Deadline => (4, [0; 4]),
            Self::Persist(written) => {
                (5, [written.incarnation.0, written.count, written.epoch, written.group])
            }
            Self::Crash => (6, [0; 4]),
            Self::Recover => (7, [0; 4]),
            Self::Pause => (8, [0; 4]),
            Self::Resume => (9, [0; 4]),
            Self::Cut(to) => (10, [u64::from(to.0), 0, 0, 0]),
            Self::Mend(to) => (11, [u64::from(to.0), 0, 0, 0]),
            Self::Slow(to) => (12, [u64::from(to.0), 0, 0, 0]),
            Self::Late(msg) => (13, msg.binary(0)),
            Self::HeldUp(by) => (15, [by.as_micros(), 0, 0, 0]),
            Self::Unlinked(peer) => (14, [u64::from(peer.0), 0, 0, 0]),
            Self::Program(told) => program::binary(told),
            Self::Node(event) => match event {
                Event::Opinion(opinion) => (20, opinion_binary(&opinion)),
                Event::Reborn(incarnation) => (21, [incarnation.0, 0, 0, 0]),
                Event::Watch(peer) => (22, [u64::from(peer.0), 0, 0, 0]),
                Event::Unwatch(peer) => (23, [u64::from(peer.0), 0, 0, 0]),
                Event::UnwatchAll => (24, [0; 4]),
                Event::Down(peer) => (25, [u64::from(peer.0), 0, 0, 0]),
                Event::PlayDead => (26, [0; 4]),
                Event::PlayAlive => (27, [0; 4]),
                Event::Announced(announced) => (29, announced_binary(&announced)),
                Event::GivenUp => (30, [0; 4]),
                Event::Granted { token, to, round, by, of, write } => {
                    let to = to.map_or(0, |to| u64::from(to.0) + 1);
                    (31, [token, to | u64::from(by.0) << 33, round << 32 | write, of.0])
                }
                Event::Group(event) => groups::binary(event),
                Event::Link(Turn { peer, incarnation, seen }) => {
                    (40, [u64::from(peer.0), incarnation.0, seen, 0])
                }
                Event::ViewInstalled(Members(bits)) => (41, [bits as u64, (bits >> 64) as u64, 0, 0]),
                Event::Pending(pending) => (42, [u64::from(pending), 0, 0, 0]),
                Event::Refused { from, why } => (28, [u64::from(from.0), why as u64, 0, 0]),
            },
        }
    }

    fn msg(&self) -> Option<&MsgRef> {
        match self {
            Self::Send(msg) | Self::Recv(msg, _) | Self::Drop(msg, _) | Self::Late(msg) => Some(msg),
            _ => None,
        }
    }

    fn peer(&self) -> Option<NodeId> {
        match *self {
            Self::Cut(peer) | Self::Mend(peer) | Self::Slow(peer) | Self::Unlinked(peer) => Some(peer),
            Self::Node(
                Event::Watch(peer)
                | Event::Unwatch(peer)
                | Event::Down(peer)
                | Event::Group(GroupEvent::Member(peer)),
            ) => Some(peer),
            Self::Node(Event::Refused { from, .. }) => Some(from),
            Self::Node(Event::Link(turn)) => Some(turn.peer),
            Self::Program(told) => program::peer(told),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Drop(_, reason) => Some(reason.name()),
            Self::Node(Event::Refused { why, .. }) => Some(why.name()),
            Self::Node(Event::Group(GroupEvent::Declined { why, .. })) => Some(why.name()),
            Self::Program(Program::Answered { refused, .. }) => *refused,
            _ => None,
        }
    }
}

impl MsgRef {
    #[inline]
    fn binary(&self, last: u64) -> [u64; 4] {
        [self.id, u64::from(self.kind.id()), u64::from(self.from.0) << 32 | u64::from(self.to.0), last]
    }
}

/// Absent is 0; ids are shifted by one so that they never are.
fn opinion_binary(opinion: &Opinion) -> [u64; 4] {
    let leader = opinion.leader.map_or(0, |leader| u64::from(leader.0) + 1);
    let (node, incarnation, seq) = opinion
        .group
        .map_or((0, 0, 0), |group| (u64::from(group.0.node.0) + 1, group.0.incarnation.0, group.0.seq));
    [(opinion.status as u64) << 40 | leader, node, incarnation, seq]
}

fn announced_binary(announced: &Announcement) -> [u64; 4] {
    let id = |id: Option<NodeId>| id.map_or(0, |id| u64::from(id.0) + 1);
    let Announcement { leader, epoch, cause } = *announced;
    let kind = cause.name().bytes().fold(0, |sum, byte| sum * 31 + u64::from(byte));
    [id(leader), epoch, kind, id(cause.about()) << 32 | id(cause.successor())]
}

/// An id, or nobody's.
struct Id(Option<NodeId>);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(id) => write!(f, "{id}"),
            None => f.write_str("null"),
        }
    }
}

struct Json(TraceEvent);

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TraceEvent { at, node, incarnation, what } = &self.0;
        write!(
            f,
            r#"{{"v":1,"t_us":{},"node":{node},"inc":{incarnation},"ev":"{}""#,
            at.as_micros(),
            what.name()
        )?;
        if let Some(MsgRef { id, kind, from, to }) = what.msg() {
            write!(f, r#","msg":{{"id":{id},"kind":"{kind}","from":{from},"to":{to}}}"#)?;
        }
        if let Some(peer) = what.peer() {
            write!(f, r#","peer":{peer}"#)?;
        }
        if let Some(reason) = what.reason() {
            write!(f, r#","reason":"{reason}""#)?;
        }
        if let What::HeldUp(by) = what {
            write!(f, r#","for_us":{}"#, by.as_micros())?;
        }
        if let What::Node(Event::Opinion(opinion)) = what {
            write!(f, r#","post":{{"status":"{}","leader":{}"#, opinion.status, Id(opinion.leader))?;
            match opinion.group {
                Some(group) => write!(f, r#","group":"{group}"}}"#)?,
                None => f.write_str(r#","group":null}"#)?,
            }
        }
        if let What::Node(Event::Link(Turn { incarnation, seen, .. })) = what {
            write!(f, r#","peer_inc":{incarnation},"seen":{seen}"#)?;
        }
        if let What::Node(Event::ViewInstalled(members)) = what {
            let Members(bits) = *members;
            write!(f, r#","members":"{bits:x}""#)?;
        }
        if let What::Node(Event::Pending(pending)) = what {
            write!(f, r#","pending":{pending}"#)?;
        }
        if let What::Node(Event::Group(event)) = what {
            groups::write_json(event, f)?;
        }
        if let What::Node(Event::Announced(Announcement { leader, epoch, cause })) = what {
            let (leader, about, successor) = (Id(*leader), Id(cause.about()), Id(cause.successor()));
            write!(f, r#","leader":{leader},"epoch":{epoch},"cause":"{}""#, cause.name())?;
            write!(f, r#","peer":{about},"successor":{successor}"#)?;
        }
        if let What::Node(Event::Granted { token, to, round, by, of, write }) = what {
            write!(f, r#","token":{token},"peer":{},"round":{round}"#, Id(*to))?;
            write!(f, r#","by":{by},"of":{of},"write":{write}"#)?;
        }
        if let What::Program(told) = what {
            program::write_json(told, f)?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ident::{ElectionId, GroupId};
    use crate::leadership::Cause;
    use crate::opinion::Status;
    use alloc::string::ToString;

    fn event(what: What) -> TraceEvent {
        TraceEvent { at: Time::from_micros(1500), node: NodeId(2), incarnation: Incarnation(1), what }
    }

    #[test]
    fn a_line_has_the_documented_shape() {
        let msg = MsgRef { id: 7, kind: Kind::protocol("Norm?"), from: NodeId(2), to: NodeId(3) };
        assert_eq!(
            event(What::Send(msg)).json().to_string(),
            r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":"send","msg":{"id":7,"kind":"Norm?","from":2,"to":3}}"#
        );
        let group = GroupId(ElectionId { node: NodeId(2), incarnation: Incarnation(1), seq: 4 });
        let opinion = Opinion { status: Status::Normal, leader: Some(NodeId(2)), group: Some(group) };
        assert_eq!(
            event(What::Node(Event::Opinion(opinion))).json().to_string(),
            r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":"state","post":{"status":"normal","leader":2,"group":"2.1.4"}}"#
        );
        assert_eq!(
            event(What::Cut(NodeId(3))).json().to_string(),
            r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":"cut","peer":3}"#
        );
    }

    #[test]
    fn an_announcement_has_all_its_keys_whatever_there_is_to_say() {
        let announced = |leader, cause| {
            let announced = Announcement { leader, epoch: 7, cause };
            let line = event(What::Node(Event::Announced(announced))).json().to_string();
            let begins = r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":"announce","#;
            line.strip_prefix(begins).map(ToString::to_string).expect("all lines begin alike")
        };
        assert_eq!(
            announced(Some(NodeId(3)), Cause::Gone(NodeId(1))),
            r#""leader":3,"epoch":7,"cause":"gone","peer":1,"successor":null}"#
        );
        assert_eq!(
            announced(None, Cause::HandedOver(NodeId(1), NodeId(3))),
            r#""leader":null,"epoch":7,"cause":"handed-over","peer":1,"successor":3}"#
        );
        assert_eq!(
            announced(Some(NodeId(2)), Cause::Started),
            r#""leader":2,"epoch":7,"cause":"started","peer":null,"successor":null}"#
        );
        assert_eq!(
            event(What::Node(Event::GivenUp)).json().to_string(),
            r#"{"v":1,"t_us":1500,"node":2,"inc":1,"ev":"given-up"}"#
        );
    }

    fn causes(one: NodeId, other: NodeId) -> [Cause; 8] {
        [
            Cause::Started,
            Cause::Merged,
            Cause::Gone(one),
            Cause::Silent(one),
            Cause::Resigned(one),
            Cause::Outranked(one),
            Cause::Dropped(one),
            Cause::HandedOver(one, other),
        ]
    }

    #[test]
    fn distinct_events_have_distinct_binary_forms() {
        let opinion = |leader| What::Node(Event::Opinion(Opinion { leader, ..Opinion::DOWN }));
        let (least, most) = (NodeId(0), NodeId(u32::MAX));
        let announced = [None, Some(least), Some(most)].into_iter().flat_map(|leader| {
            let causes =
                [(least, most), (most, least)].into_iter().flat_map(|(a, b)| causes(a, b)[2..].to_vec());
            let causes = causes.chain([Cause::Started, Cause::Merged]);
            causes.map(move |cause| Announcement { leader, epoch: 1, cause })
        });
        let announced = announced.map(|announced| What::Node(Event::Announced(announced)));
        let mut all = alloc::vec![
            What::Crash,
            What::Recover,
            What::Cut(NodeId(0)),
            What::Mend(NodeId(0)),
            opinion(None),
            opinion(Some(NodeId(0))),
            What::Node(Event::Watch(NodeId(1))),
            What::Node(Event::Unwatch(NodeId(1))),
            What::Node(Event::GivenUp),
        ];
        all.extend(announced);
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                assert_ne!(event(*a).binary(), event(*b).binary());
            }
        }
    }
}
