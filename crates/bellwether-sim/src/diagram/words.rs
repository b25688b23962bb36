//! What is written into the picture, and how wide it is.

use std::collections::BTreeSet;

use bellwether_proto::ident::NodeId;
use bellwether_proto::leadership::Announcement;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::tenure::Command;
use bellwether_proto::time::{Span, Time};

use super::drawing::{Condition, End, Fate, LinkChange, Message, Note};

/// The time of day of a run.
pub(super) fn clock(at: Time) -> String {
    format!("{} s", decimal(at.as_micros(), 1_000_000))
}

/// How long something took.
pub(super) fn length(span: Span) -> String {
    match span.as_micros() {
        us @ ..1_000 => format!("{us} µs"),
        us @ ..1_000_000 => format!("{} ms", decimal(us, 1_000)),
        us => format!("{} s", decimal(us - us % 1_000, 1_000_000)),
    }
}

/// A fraction with a power of ten below it, without zeros at its end.
fn decimal(part: u64, whole: u64) -> String {
    let digits = whole.ilog10() as usize;
    let all = format!("{}.{:0digits$}", part / whole, part % whole);
    all.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// `1 message`, `2 messages`.
pub(super) fn count(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// A note, for the margin of a lane. `None` if the picture shows it already.
pub(super) fn note(node: NodeId, note: &Note, announces: bool) -> Option<String> {
    Some(match *note {
        Note::Crashed => "crashes".to_owned(),
        Note::CameUp(incarnation) if incarnation.0 <= 1 => return None,
        Note::CameUp(incarnation) => format!("recovers, incarnation {incarnation}"),
        Note::Paused => "paused".to_owned(),
        Note::Resumed => "goes on".to_owned(),
        Note::Showed(opinion) => shown(node, &opinion, announces),
        Note::Announced(Announcement { leader: None, cause, .. }) => {
            format!("no leader: {}", cause.name())
        }
        Note::Announced(Announcement { leader: Some(leader), epoch, .. }) if leader == node => {
            format!("★ leads, epoch {epoch}")
        }
        Note::Announced(Announcement { leader: Some(leader), epoch, .. }) => {
            format!("follows {leader}, epoch {epoch}")
        }
        Note::Granted(token, Some(to)) => format!("token {token} to {to}"),
        Note::Granted(token, None) => format!("token {token} given back"),
        Note::Suspected(peer) => format!("DownSig {peer}"),
        Note::GivenUp => "gives its work up".to_owned(),
        Note::Operation(op, outcome) => format!("operation {op}: {outcome}"),
        Note::Reborn(incarnation) => format!("reborn, incarnation {incarnation}"),
        Note::Asked(Command::Transfer { to }) => format!("asked to transfer to {to}"),
        Note::Asked(command) => format!("asked to {}", command.name()),
        Note::Answered(None) => "done".to_owned(),
        Note::Answered(Some(why)) => format!("refuses: {why}"),
        Note::Unlinked(peer) => format!("unlinked from {peer}"),
        Note::Work(words) => words.to_owned(),
        Note::Left => "leaves".to_owned(),
        Note::PlaysDead => "plays dead".to_owned(),
        Note::PlaysAlive => return None,
    })
}

/// A node's opinion. If leaders are announced, being named by an election is shown as less than that.
pub(super) fn shown(node: NodeId, opinion: &Opinion, announces: bool) -> String {
    let name = match (opinion.status, opinion.leader) {
        (Status::Normal, Some(leader)) if announces && leader == node => "names itself".to_owned(),
        (Status::Normal, Some(leader)) if announces => format!("names {leader}"),
        (Status::Normal, None) if announces => "names nobody".to_owned(),
        (Status::Normal, Some(leader)) if leader == node => "★ leads".to_owned(),
        (Status::Normal, Some(leader)) => format!("follows {leader}"),
        (Status::Normal, None) => "no leader".to_owned(),
        // It runs, and shows that it is not there.
        (Status::Down, _) => "stands aside".to_owned(),
        (status, _) => status.name().to_owned(),
    };
    opinion.group.map_or(name.clone(), |group| format!("{name} · {group}"))
}

/// All about a node's condition, for the tooltip.
pub(super) fn condition(condition: &Condition) -> String {
    if !condition.up {
        return "down".to_owned();
    }
    let Opinion { status, leader, group } = condition.opinion;
    let mut leader = leader.map_or("nobody".to_owned(), |leader| format!("node {leader}"));
    if let Some(announced) = condition.announced {
        leader.push_str(&format!(", announced node {announced}"));
    }
    let group = group.map_or(String::new(), |group| format!(", group {group}"));
    let paused = if condition.paused { ", paused" } else { "" };
    format!("{status}, leader {leader}{group}{paused}")
}

/// All about a message, for the tooltip.
pub(super) fn message(message: &Message) -> String {
    let Message { id, kind, from, to, sent, ends, .. } = message;
    let (from, to) = (from + 1, to + 1);
    let end = |End { at, fate }: &End| {
        let took = length(at.since(*sent));
        match fate {
            Fate::Received => format!("received {} ({took})", clock(*at)),
            Fate::Refused(why) => format!("received {} ({took}) and refused: {}", clock(*at), why.name()),
            Fate::Lost(reason) => format!("lost {} ({})", clock(*at), reason.name()),
        }
    };
    let ends = if ends.is_empty() {
        "still under way".to_owned()
    } else {
        ends.iter().map(end).collect::<Vec<_>>().join(", ")
    };
    format!("{kind} #{id} from {from} to {to}: sent {}, {ends}", clock(*sent))
}

/// The state of the links: all whole, split into blocks, or some pairs cut.
pub(super) fn links(nodes: u32, cut: &BTreeSet<(NodeId, NodeId)>) -> String {
    if cut.is_empty() {
        return "whole".to_owned();
    }
    if let Some(blocks) = blocks(nodes, cut) {
        let names = |block: &Vec<NodeId>| block.iter().map(NodeId::to_string).collect::<Vec<_>>().join(" ");
        return blocks.iter().map(names).collect::<Vec<_>>().join(" | ");
    }
    let pair = |(from, to): &(NodeId, NodeId)| match (cut.contains(&(*to, *from)), from < to) {
        (true, true) => Some(format!("{from}–{to}")),
        (true, false) => None,
        (false, _) => Some(format!("{from}→{to}")),
    };
    format!("cut {}", cut.iter().filter_map(pair).collect::<Vec<_>>().join(", "))
}

/// The blocks, if the cuts are just those between them and there is more than one node in one of them.
fn blocks(nodes: u32, cut: &BTreeSet<(NodeId, NodeId)>) -> Option<Vec<Vec<NodeId>>> {
    let mut blocks: Vec<Vec<NodeId>> = Vec::new();
    for node in (1..=nodes).map(NodeId) {
        match blocks.iter_mut().find(|block| !cut.contains(&(block[0], node))) {
            Some(block) => block.push(node),
            None => blocks.push(vec![node]),
        }
    }
    let block_of = |node: NodeId| blocks.iter().position(|block| block.contains(&node));
    let apart = |a: NodeId, b: NodeId| block_of(a) != block_of(b);
    let all = (1..=nodes).flat_map(|a| (1..=nodes).map(move |b| (NodeId(a), NodeId(b))));
    let exact = all.filter(|(a, b)| a != b).all(|(a, b)| apart(a, b) == cut.contains(&(a, b)));
    exact.then_some(blocks)
}

/// Takes note of a change of the links.
pub(super) fn apply(cut: &mut BTreeSet<(NodeId, NodeId)>, change: LinkChange) {
    match change {
        LinkChange::Cut(from, to) => {
            cut.insert((from, to));
        }
        LinkChange::Mended(from, to) => {
            cut.remove(&(from, to));
        }
        LinkChange::Delayed(..) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_long_as_they_must_be() {
        let at = |us| clock(Time::from_micros(us));
        assert_eq!([at(0), at(1_000), at(5_200_270)], ["0 s", "0.001 s", "5.20027 s"]);
        let took = |us| length(Span::micros(us));
        assert_eq!([took(7), took(1_250), took(9_200_001)], ["7 µs", "1.25 ms", "9.2 s"]);
    }

    #[test]
    fn cuts_are_told_as_blocks_where_they_are() {
        let both = |pairs: &[(u32, u32)]| -> BTreeSet<_> {
            pairs.iter().flat_map(|(a, b)| [(NodeId(*a), NodeId(*b)), (NodeId(*b), NodeId(*a))]).collect()
        };
        assert_eq!(links(3, &BTreeSet::new()), "whole");
        assert_eq!(links(3, &both(&[(1, 2), (1, 3)])), "1 | 2 3");
        assert_eq!(links(3, &both(&[(1, 3)])), "cut 1–3");
        assert_eq!(links(3, &BTreeSet::from([(NodeId(2), NodeId(1))])), "cut 2→1");
    }
}
