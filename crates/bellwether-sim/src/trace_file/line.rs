//! One line of a trace.

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Timing, Variant};
use bellwether_proto::group::{Ballot, GroupEvent, OpId, RecordDigest, TaskDigest, Unwilling};
use bellwether_proto::ident::{GroupId, Incarnation, NoGroup, NodeId};
use bellwether_proto::io::{Event, Refusal, Turn};
use bellwether_proto::leadership::{Announcement, Cause};
use bellwether_proto::members::Members;
use bellwether_proto::message::Kind;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::tenure::{Command, Hold, Refused, Ticket};
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What, Written, kinds};
use serde::Deserialize;

use super::Setup;

/// The only version there is.
const VERSION: u32 = 1;

pub(super) enum Line {
    Event(TraceEvent),
    Setup(Setup),
}

#[derive(Deserialize)]
struct Raw {
    v: u32,
    t_us: u64,
    node: u32,
    /// The author of a truth need not know a node's incarnation.
    #[serde(default)]
    inc: u64,
    ev: String,
    msg: Option<RawMsg>,
    peer: Option<u32>,
    reason: Option<String>,
    post: Option<RawView>,
    leader: Option<u32>,
    epoch: Option<u64>,
    cause: Option<String>,
    successor: Option<u32>,
    task: Option<String>,
    peer_inc: Option<u64>,
    seen: Option<u64>,
    members: Option<String>,
    pending: Option<bool>,
    record: Option<String>,
    group: Option<String>,
    op: Option<u64>,
    attempt: Option<u64>,
    ticket: Option<u64>,
    command: Option<String>,
    hold: Option<String>,
    done: Option<bool>,
    token: Option<u64>,
    round: Option<u64>,
    by: Option<u32>,
    of: Option<u64>,
    write: Option<u64>,
    until_us: Option<u64>,
    for_us: Option<u64>,
    setup: Option<RawSetup>,
}

#[derive(Deserialize)]
struct RawMsg {
    id: u64,
    kind: String,
    from: u32,
    to: u32,
}

#[derive(Deserialize)]
struct RawView {
    status: String,
    leader: Option<u32>,
    group: Option<String>,
}

#[derive(Deserialize)]
struct RawSetup {
    cluster: String,
    protocol: String,
    variant: String,
    nodes: Vec<u32>,
    delta_us: u64,
    tau_us: u64,
    step_us: u64,
    detector: Option<String>,
    /// Traces of earlier versions do not have it.
    release_timeout_us: Option<u64>,
}

impl Line {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let raw: Raw = serde_json::from_slice(bytes).map_err(|error| in_words(&error))?;
        if raw.v != VERSION {
            return Err(format!("found version {}, expected {VERSION}", raw.v));
        }
        if raw.node == 0 {
            return Err("found node 0, expected an id of 1 or more".to_owned());
        }
        match &raw.setup {
            Some(setup) if raw.ev == "setup" => setup.read().map(Self::Setup),
            _ => raw.event().map(Self::Event),
        }
    }
}

/// The JSON reader counts lines and columns of its own, from the beginning of this line.
fn in_words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("{what}, expected an event of a trace as JSON")
}

impl Raw {
    fn event(&self) -> Result<TraceEvent, String> {
        Ok(TraceEvent {
            at: Time::from_micros(self.t_us),
            node: NodeId(self.node),
            incarnation: Incarnation(self.inc),
            what: self.what()?,
        })
    }

    fn what(&self) -> Result<What, String> {
        Ok(match self.ev.as_str() {
            "send" => What::Send(self.msg()?),
            // When it was sent is in the sender's trace.
            "recv" => What::Recv(self.msg()?, Time::from_micros(self.t_us)),
            "drop" => What::Drop(self.msg()?, self.reason(&DROPS, DropReason::name)?),
            "late" => What::Late(self.msg()?),
            "deadline" => What::Deadline,
            "persist" => What::Persist(Written { incarnation: Incarnation(self.inc), ..Written::default() }),
            "crash" => What::Crash,
            "recover" => What::Recover,
            "pause" => What::Pause,
            "resume" => What::Resume,
            "held-up" => What::HeldUp(self.held_up()?),
            "cut" => What::Cut(self.peer()?),
            "mend" => What::Mend(self.peer()?),
            "slow" => What::Slow(self.peer()?),
            "unlinked" => What::Unlinked(self.peer()?),
            "asked" | "answered" | "work-begins" | "asked-back" | "work-ends" | "valid" | "left" => {
                What::Program(self.program()?)
            }
            _ => What::Node(self.reported()?),
        })
    }

    /// What passed between a member and its program.
    fn program(&self) -> Result<Program, String> {
        Ok(match self.ev.as_str() {
            "asked" => Program::Asked { ticket: self.ticket()?, command: self.command()? },
            "answered" => Program::Answered { ticket: self.ticket()?, refused: self.refused()? },
            "work-begins" => Program::WorkBegins { epoch: self.epoch()? },
            "asked-back" => Program::AskedBack { epoch: self.epoch()? },
            "work-ends" => Program::WorkEnds,
            "valid" => Program::Valid { epoch: self.epoch()?, until: self.until()? },
            _ => Program::Left,
        })
    }

    fn reported(&self) -> Result<Event, String> {
        Ok(match self.ev.as_str() {
            "state" => Event::Opinion(self.post.as_ref().ok_or_else(|| self.without("post"))?.read()?),
            "task" => Event::Group(GroupEvent::Installed(self.task()?)),
            "recorded" => Event::Group(GroupEvent::Recorded { group: self.group()?, record: self.record()? }),
            "member" => Event::Group(GroupEvent::Member(self.peer()?)),
            "parent" => Event::Group(GroupEvent::Parent(self.group()?)),
            "voted" => Event::Group(GroupEvent::Voted { op: self.op()?, ballot: self.ballot()? }),
            "committed" => Event::Group(GroupEvent::Committed { op: self.op()?, ballot: self.ballot()? }),
            "aborted" => Event::Group(GroupEvent::Aborted { op: self.op()?, ballot: self.ballot()? }),
            "declined" => Event::Group(GroupEvent::Declined {
                op: self.op()?,
                why: self.reason(&Unwilling::ALL, Unwilling::name)?,
            }),
            "announce" => Event::Announced(self.announced()?),
            "granted" => self.granted()?,
            "link-up" | "link-down" => Event::Link(self.turn()?),
            "members" => Event::ViewInstalled(self.members()?),
            "pending" => Event::Pending(self.pending.ok_or_else(|| self.without("pending"))?),
            "given-up" => Event::GivenUp,
            "reborn" => Event::Reborn(Incarnation(self.inc)),
            "watch" => Event::Watch(self.peer()?),
            "unwatch" => Event::Unwatch(self.peer()?),
            "unwatch-all" => Event::UnwatchAll,
            "downsig" => Event::Down(self.peer()?),
            "play-dead" => Event::PlayDead,
            "play-alive" => Event::PlayAlive,
            "refused" => Event::Refused { from: self.peer()?, why: self.reason(&REFUSALS, Refusal::name)? },
            "setup" => return Err(self.without("setup")),
            unknown => return Err(format!("found the event {unknown:?}, which no trace has")),
        })
    }

    fn task(&self) -> Result<TaskDigest, String> {
        self.digest("task", self.task.as_ref()).map(TaskDigest)
    }

    fn record(&self) -> Result<RecordDigest, String> {
        self.digest("record", self.record.as_ref()).map(RecordDigest)
    }

    fn digest(&self, key: &str, digest: Option<&String>) -> Result<u64, String> {
        let digest = digest.ok_or_else(|| self.without(key))?;
        u64::from_str_radix(digest, 16)
            .map_err(|_| format!("found the {key} {digest:?}, expected 16 hexadecimal digits"))
    }

    fn group(&self) -> Result<GroupId, String> {
        group(self.group.as_ref().ok_or_else(|| self.without("group"))?)
    }

    fn ballot(&self) -> Result<Ballot, String> {
        let attempt = self.attempt.ok_or_else(|| self.without("attempt"))?;
        Ok(Ballot { group: self.group()?, attempt })
    }

    fn op(&self) -> Result<OpId, String> {
        self.op.map(OpId).ok_or_else(|| self.without("op"))
    }

    fn turn(&self) -> Result<Turn, String> {
        Ok(Turn {
            peer: self.peer()?,
            incarnation: Incarnation(self.peer_inc.ok_or_else(|| self.without("peer_inc"))?),
            seen: self.seen.ok_or_else(|| self.without("seen"))?,
        })
    }

    fn members(&self) -> Result<Members, String> {
        let bits = self.members.as_ref().ok_or_else(|| self.without("members"))?;
        let number = u128::from_str_radix(bits, 16);
        number.map(Members).map_err(|_| format!("found the members {bits:?}, expected hexadecimal digits"))
    }

    fn announced(&self) -> Result<Announcement, String> {
        let name = self.cause.as_ref().ok_or_else(|| self.without("cause"))?;
        let cause = Cause::by_name(name, self.peer.map(NodeId), self.successor.map(NodeId));
        Ok(Announcement {
            leader: self.leader.map(NodeId),
            epoch: self.epoch()?,
            cause: cause.ok_or_else(|| format!("found the cause {name:?}, which no change has"))?,
        })
    }

    fn granted(&self) -> Result<Event, String> {
        let number = |key: &str, given: Option<u64>| given.ok_or_else(|| self.without(key));
        Ok(Event::Granted {
            token: number("token", self.token)?,
            to: self.peer.map(NodeId),
            round: number("round", self.round)?,
            by: self.by.map(NodeId).ok_or_else(|| self.without("by"))?,
            of: Incarnation(number("of", self.of)?),
            write: number("write", self.write)?,
        })
    }

    fn until(&self) -> Result<Time, String> {
        self.until_us.map(Time::from_micros).ok_or_else(|| self.without("until_us"))
    }

    fn held_up(&self) -> Result<Span, String> {
        self.for_us.map(Span::micros).ok_or_else(|| self.without("for_us"))
    }

    fn epoch(&self) -> Result<u64, String> {
        self.epoch.ok_or_else(|| self.without("epoch"))
    }

    fn ticket(&self) -> Result<Ticket, String> {
        self.ticket.map(Ticket).ok_or_else(|| self.without("ticket"))
    }

    fn command(&self) -> Result<Command, String> {
        let name = self.command.as_ref().ok_or_else(|| self.without("command"))?;
        let hold: Result<Option<Hold>, _> = self.hold.as_ref().map(|hold| hold.parse()).transpose();
        let hold = hold.map_err(|error| error.to_string())?;
        let command = Command::by_name(name, hold, self.peer.map(NodeId));
        command.ok_or_else(|| format!("found the command {name:?}, which nobody can give"))
    }

    fn refused(&self) -> Result<Option<&'static str>, String> {
        if self.done.ok_or_else(|| self.without("done"))? {
            return Ok(None);
        }
        self.reason(&Refused::NAMES, |name| name).map(Some)
    }

    fn msg(&self) -> Result<MsgRef, String> {
        let RawMsg { id, kind, from, to } = self.msg.as_ref().ok_or_else(|| self.without("msg"))?;
        let kind =
            kind_of(kind).ok_or_else(|| format!("found the message {kind:?}, which no protocol has"))?;
        Ok(MsgRef { id: *id, kind, from: NodeId(*from), to: NodeId(*to) })
    }

    fn peer(&self) -> Result<NodeId, String> {
        self.peer.filter(|peer| *peer > 0).map(NodeId).ok_or_else(|| self.without("peer"))
    }

    fn reason<T: Copy>(&self, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
        let reason = self.reason.as_ref().ok_or_else(|| self.without("reason"))?;
        all.iter()
            .copied()
            .find(|known| name(*known) == reason)
            .ok_or_else(|| format!("found the reason {reason:?}, which a {:?} never has", self.ev))
    }

    fn without(&self, key: &str) -> String {
        format!("found a {:?} without `{key}`", self.ev)
    }
}

const DROPS: [DropReason; 4] = [DropReason::Lost, DropReason::Dropped, DropReason::Cut, DropReason::Down];

const REFUSALS: [Refusal; 5] = [
    Refusal::NotAPeer,
    Refusal::StaleIncarnation,
    Refusal::OutOfOrder,
    Refusal::ImplausibleIncarnation,
    Refusal::Parted,
];

const STATUSES: [Status; 6] =
    [Status::Down, Status::Election, Status::Waiting, Status::Reorganizing, Status::Normal, Status::Dead];

fn kind_of(name: &str) -> Option<Kind> {
    kinds().find(|kind| kind.name() == name)
}

impl RawView {
    fn read(&self) -> Result<Opinion, String> {
        let status = STATUSES.into_iter().find(|status| status.name() == self.status);
        Ok(Opinion {
            status: status.ok_or_else(|| format!("found the status {:?}, which no node has", self.status))?,
            leader: self.leader.map(NodeId),
            group: self.group.as_deref().map(group).transpose()?,
        })
    }
}

fn group(text: &str) -> Result<GroupId, String> {
    text.parse().map_err(|error: NoGroup| error.to_string())
}

impl RawSetup {
    fn read(&self) -> Result<Setup, String> {
        let unknown = |what: &str, name: &str| format!("found the {what} {name:?}, which does not exist");
        let detector = |name: &String| DetectorKind::by_name(name).ok_or_else(|| unknown("detector", name));
        if self.nodes.contains(&0) {
            return Err("found node 0, expected an id of 1 or more".to_owned());
        }
        Ok(Setup {
            cluster: self.cluster.clone(),
            protocol: Protocol::by_name(&self.protocol).ok_or_else(|| unknown("protocol", &self.protocol))?,
            variant: Variant::by_name(&self.variant).ok_or_else(|| unknown("variant", &self.variant))?,
            nodes: self.nodes.iter().copied().map(NodeId).collect(),
            timing: Timing {
                delta: Span::micros(self.delta_us),
                tau: Span::micros(self.tau_us),
                step: Span::micros(self.step_us),
            },
            detector: self.detector.as_ref().map(detector).transpose()?,
            release_timeout: self.release_timeout_us.map(Span::micros),
        })
    }
}
