//! Writes a run in the format of ShiViz, which draws traces of distributed systems in a browser.
//!
//! A file for upload begins with the regular expression by which ShiViz reads events, and a line for another that would
//! tell several runs apart, which is empty. Then each event has two lines: where, with its vector clock, and what.
//!
//! ```text
//! (?<host>\S*) (?<clock>\{.*\})\n(?<event>.*)
//!
//! node2 {"node1":3, "node2":7}
//! 0.001s receives Halt #4 from 1
//! ```
//!
//! An event counts in its node's own place of the clock, one at a time, and the arrival of a message takes over what its
//! sender knew. Deadlines, disk writes and what detectors are told to watch are left out; they count nothing.

use std::collections::BTreeMap;
use std::fmt::Write;

use bellwether_proto::group::GroupEvent;
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::tenure::Command;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, MsgRef, Program, TraceEvent, What};

/// What a file begins with.
pub const HEADER: &str = "(?<host>\\S*) (?<clock>\\{.*\\})\\n(?<event>.*)\n\n";

/// Writes one run, event by event.
#[derive(Debug, Default)]
pub struct Shiviz {
    /// By node: how much of everybody's events it can know of.
    clocks: BTreeMap<NodeId, Clock>,
    /// By message: what its sender knew. Kept for good, since a message may arrive once more.
    sent: BTreeMap<u64, Clock>,
}

/// How many events of each node happened before.
type Clock = BTreeMap<NodeId, u64>;

impl Shiviz {
    /// The lines of the next event; `None` if it is one of those that are left out.
    pub fn lines(&mut self, event: &TraceEvent) -> Option<String> {
        let what = describe(event)?;
        let TraceEvent { at, node, .. } = *event;
        let clock = self.clocks.entry(node).or_default();
        *clock.entry(node).or_default() += 1;
        match event.what {
            What::Send(msg) => {
                self.sent.insert(msg.id, clock.clone());
            }
            What::Recv(msg, _) => {
                for (known, count) in self.sent.get(&msg.id).into_iter().flatten() {
                    let here = clock.entry(*known).or_default();
                    *here = (*here).max(*count);
                }
            }
            // Lost by the network, so no copy of it arrives.
            What::Drop(msg, DropReason::Lost | DropReason::Dropped | DropReason::Cut) => {
                self.sent.remove(&msg.id);
            }
            _ => {}
        }
        Some(format!("node{node} {}\n{} {what}\n", json(clock), second(at)))
    }
}

fn json(clock: &Clock) -> String {
    let mut json = String::from("{");
    for (place, (node, count)) in clock.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        let _ = write!(json, "{comma}\"node{node}\":{count}");
    }
    json + "}"
}

fn second(at: Time) -> String {
    let all = format!("{}.{:06}", at.as_micros() / 1_000_000, at.as_micros() % 1_000_000);
    format!("{}s", all.trim_end_matches('0').trim_end_matches('.'))
}

fn describe(event: &TraceEvent) -> Option<String> {
    Some(match event.what {
        What::Send(MsgRef { id, kind, to, .. }) => format!("sends {kind} #{id} to {to}"),
        What::Recv(MsgRef { id, kind, from, .. }, _) => format!("receives {kind} #{id} from {from}"),
        What::Drop(MsgRef { id, kind, from, .. }, DropReason::Down) => {
            format!("is down: {kind} #{id} from {from} is lost")
        }
        What::Drop(MsgRef { id, kind, to, .. }, reason) => {
            format!("{kind} #{id} to {to} is lost ({})", reason.name())
        }
        What::Crash => "crashes".to_owned(),
        What::Recover => format!("comes up, incarnation {}", event.incarnation),
        What::Pause => "is paused".to_owned(),
        What::Resume => "goes on".to_owned(),
        What::HeldUp(by) => format!("was held up for {by}"),
        What::Cut(peer) => format!("is cut off from {peer}"),
        What::Mend(peer) => format!("reaches {peer} again"),
        What::Slow(peer) => format!("has another delay to {peer}"),
        What::Node(event) => reported(&event)?,
        What::Unlinked(peer) => format!("is no longer connected with {peer}"),
        What::Program(told) => between(told),
        What::Late(_) | What::Deadline | What::Persist(_) => return None,
    })
}

/// What passes between a member and its program.
fn between(told: Program) -> String {
    match told {
        Program::Asked { command: Command::Transfer { to }, .. } => format!("is asked to transfer to {to}"),
        Program::Asked { command, .. } => format!("is asked to {}", command.name()),
        Program::Answered { refused: None, .. } => "has done as asked".to_owned(),
        Program::Answered { refused: Some(why), .. } => format!("refuses ({why})"),
        Program::WorkBegins { epoch } => format!("begins to work as the leader, epoch {epoch}"),
        Program::AskedBack { epoch } => format!("is to end its work as the leader, epoch {epoch}"),
        Program::WorkEnds => "has ended its work as the leader".to_owned(),
        Program::Valid { epoch, until } if until == Time::NEVER => format!("holds token {epoch}"),
        Program::Valid { epoch, until } => format!("holds token {epoch} until {until}"),
        Program::Left => "leaves".to_owned(),
    }
}

fn reported(event: &Event) -> Option<String> {
    Some(match *event {
        Event::Opinion(opinion) => {
            let leader = opinion.leader.map_or("nobody".to_owned(), |leader| leader.to_string());
            let group = opinion.group.map_or(String::new(), |group| format!(", group {group}"));
            format!("is {}, leader {leader}{group}", opinion.status)
        }
        Event::Group(GroupEvent::Installed(task)) => format!("has task {task} in place"),
        Event::Group(GroupEvent::Recorded { group, .. }) => format!("records group {group}"),
        Event::Group(GroupEvent::Voted { op, ballot }) => {
            format!("votes for operation {op} in group {}", ballot.group)
        }
        Event::Group(GroupEvent::Committed { op, ballot }) => {
            format!("knows that operation {op} was committed in group {}", ballot.group)
        }
        Event::Group(GroupEvent::Aborted { op, ballot }) => {
            format!("aborts operation {op} in group {}", ballot.group)
        }
        Event::Group(GroupEvent::Declined { op, why }) => format!("declines operation {op} ({})", why.name()),
        Event::Announced(Announcement { leader, epoch, cause }) => {
            let leader = leader.map_or("nobody".to_owned(), |leader| leader.to_string());
            format!("announces {leader}, epoch {epoch}: {cause}")
        }
        Event::Granted { token, to: Some(to), .. } => format!("knows that token {token} is granted to {to}"),
        Event::Granted { token, to: None, .. } => format!("knows that token {token} was given back"),
        Event::GivenUp => "gives its work up".to_owned(),
        Event::Reborn(incarnation) => format!("is reborn, incarnation {incarnation}"),
        Event::Down(peer) => format!("DownSig of {peer}"),
        Event::PlayDead => "plays dead".to_owned(),
        Event::PlayAlive => "plays alive".to_owned(),
        Event::Refused { from, why } => format!("refuses a message of {from} ({})", why.name()),
        Event::Link(turn) if turn.is_up() => format!("link to {} up", turn.peer),
        Event::Link(turn) => format!("link to {} down", turn.peer),
        Event::ViewInstalled(members) => format!("installs a view of {}", members.count()),
        Event::Pending(_) => return None,
        Event::Group(GroupEvent::Member(_))
        | Event::Group(GroupEvent::Parent(_))
        | Event::Watch(_)
        | Event::Unwatch(_)
        | Event::UnwatchAll => {
            return None;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_proto::ident::Incarnation;
    use bellwether_proto::message::Kind;

    fn at(node: u32, what: What) -> TraceEvent {
        TraceEvent { at: Time::from_micros(1_500), node: NodeId(node), incarnation: Incarnation(1), what }
    }

    fn msg(id: u64, from: u32, to: u32) -> MsgRef {
        MsgRef { id, kind: Kind::protocol("Halt"), from: NodeId(from), to: NodeId(to) }
    }

    #[test]
    fn an_arrival_takes_over_what_the_sender_knew() {
        let mut shiviz = Shiviz::default();
        let mut lines = |event| shiviz.lines(&event);
        assert_eq!(lines(at(1, What::Deadline)), None, "it counts nothing");
        assert_eq!(
            lines(at(1, What::Recover)).unwrap(),
            "node1 {\"node1\":1}\n0.0015s comes up, incarnation 1\n"
        );
        assert_eq!(
            lines(at(1, What::Send(msg(7, 1, 2)))).unwrap(),
            "node1 {\"node1\":2}\n0.0015s sends Halt #7 to 2\n"
        );
        assert!(lines(at(1, What::Crash)).unwrap().starts_with("node1 {\"node1\":3}\n"));
        let received = lines(at(2, What::Recv(msg(7, 1, 2), Time::ZERO))).unwrap();
        assert_eq!(received, "node2 {\"node1\":2, \"node2\":1}\n0.0015s receives Halt #7 from 1\n");
        let again = lines(at(2, What::Recv(msg(7, 1, 2), Time::ZERO))).unwrap();
        assert!(again.starts_with("node2 {\"node1\":2, \"node2\":2}\n"), "a duplicate arrives again");
    }
}
