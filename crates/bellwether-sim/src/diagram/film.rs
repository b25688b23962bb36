//! A run as a film: every event in order, what became of each message, and how each node was after it, in words. A viewer can
//! stop it anywhere without knowing anything of protocols.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Status;
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, TraceEvent, What};

use super::drawing::{Condition, LinkChange, Note, Telling, Weight, lane};
use super::words;

/// A run, event by event.
#[derive(Debug, Default)]
pub struct Film {
    /// How many nodes there are. Their ids are 1 to this.
    pub nodes: u32,
    /// When it ended.
    pub ended: Time,
    /// All events, in order.
    pub frames: Vec<Frame>,
    /// All messages, in the order in which they were sent; a copy follows when it arrives.
    pub trips: Vec<Trip>,
    /// How nodes came to be, in order.
    pub poses: Vec<Pose>,
    /// What became of links, in order.
    pub links: Vec<LinkTurn>,
}

/// One event.
#[derive(Debug)]
pub struct Frame {
    /// When.
    pub at: Time,
    /// At which node.
    pub node: u32,
    /// The word for it.
    pub what: &'static str,
    /// The message that it is about: its place among the trips.
    pub trip: Option<usize>,
    /// What there is to say about it, if more than that.
    pub words: Option<String>,
}

/// The way of one message, or of one copy of it.
#[derive(Debug)]
pub struct Trip {
    /// Its number; copies have the same.
    pub id: u64,
    /// The name of its kind.
    pub kind: &'static str,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// The event in which it was sent. A recorded run may only have the one in which it arrived.
    pub sent: usize,
    /// The event in which it ended.
    pub end: Option<usize>,
    /// How it ended.
    pub fate: Fate,
    /// Whether something changed because of it, or it tells of a change, or one of the two answers the other.
    pub matters: bool,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is under way at the end.
    UnderWay,
    /// It arrived.
    Received,
    /// It arrived, and had no effect.
    Refused,
    /// It was lost, for this reason.
    Lost(DropReason),
}

/// How a node is from an event on.
#[derive(Debug)]
pub struct Pose {
    /// From which event on.
    pub from: usize,
    /// The node.
    pub node: u32,
    /// One word: `leads`, `paused`, or its status.
    pub state: &'static str,
    /// All about it.
    pub words: String,
}

/// What became of one direction of a link.
#[derive(Debug)]
pub struct LinkTurn {
    /// In which event.
    pub event: usize,
    /// From whom.
    pub from: u32,
    /// To whom.
    pub to: u32,
    /// Whether it is cut from then on.
    pub cut: bool,
}

impl Film {
    /// The film of a trace of these many nodes, whose ids are 1 to that, that ended then.
    ///
    /// # Panics
    /// If something happened at a node that there is not.
    pub fn of(nodes: u32, ended: Time, events: &[TraceEvent]) -> Self {
        let mut shooting = Shooting { film: Self { nodes, ended, ..Self::default() }, ..Shooting::default() };
        let mut telling = Telling::new(nodes as usize);
        for event in events {
            telling.note(event);
            shooting.shoot(event, &telling);
        }
        shooting.finish(telling)
    }
}

#[derive(Default)]
struct Shooting {
    film: Film,
    /// By number of the message: its first trip.
    known: BTreeMap<u64, usize>,
    /// The trip that ended last, at which node.
    arrived: Option<usize>,
    /// How many notes, conditions and changes of links have been seen, by lane and of links.
    seen: BTreeMap<usize, (usize, usize)>,
    links: usize,
    /// What is said when all is known.
    notes: Vec<(usize, u32, Note)>,
    conditions: Vec<(usize, u32, Condition)>,
}

impl Shooting {
    fn shoot(&mut self, event: &TraceEvent, telling: &Telling) {
        let place = self.film.frames.len();
        let trip = match event.what {
            What::Send(msg) => Some(self.sent(place, msg.id, event)),
            What::Recv(msg, _) => {
                let trip = self.ended(place, msg.id, event, Fate::Received);
                self.arrived = Some(trip);
                Some(trip)
            }
            What::Drop(msg, reason) => Some(self.ended(place, msg.id, event, Fate::Lost(reason))),
            What::Late(msg) => self.known.get(&msg.id).copied(),
            What::Node(Event::Refused { .. }) => {
                if let Some(trip) = self.arrived {
                    self.film.trips[trip].fate = Fate::Refused;
                }
                self.arrived
            }
            _ => None,
        };
        let (at, node, what) = (event.at, event.node.0, event.what.name());
        self.film.frames.push(Frame { at, node, what, trip, words: None });
        self.watch(place, node, telling);
    }

    fn sent(&mut self, place: usize, id: u64, event: &TraceEvent) -> usize {
        let trip = self.begin(place, id, event);
        self.known.insert(id, trip);
        trip
    }

    fn ended(&mut self, place: usize, id: u64, event: &TraceEvent, fate: Fate) -> usize {
        let trip = match self.known.get(&id).copied() {
            Some(first) if self.film.trips[first].end.is_none() => first,
            Some(first) => {
                let sent = self.film.trips[first].sent;
                self.begin(sent, id, event)
            }
            None => self.sent(place, id, event),
        };
        let ended = &mut self.film.trips[trip];
        (ended.end, ended.fate) = (Some(place), fate);
        trip
    }

    fn begin(&mut self, sent: usize, id: u64, event: &TraceEvent) -> usize {
        let (What::Send(msg) | What::Recv(msg, _) | What::Drop(msg, _)) = event.what else {
            unreachable!("only messages begin a trip")
        };
        let (kind, from, to) = (msg.kind.name(), msg.from.0, msg.to.0);
        let trip = Trip { id, kind, from, to, sent, end: None, fate: Fate::UnderWay, matters: false };
        self.film.trips.push(trip);
        self.film.trips.len() - 1
    }

    /// Takes what the event has added to the story.
    fn watch(&mut self, place: usize, node: u32, telling: &Telling) {
        let lane = &telling.drawing.lanes[lane(NodeId(node))];
        let (notes, conditions) = self.seen.entry(node as usize).or_default();
        self.notes.extend(lane.notes[*notes..].iter().map(|(_, note)| (place, node, *note)));
        self.conditions.extend(lane.conditions[*conditions..].iter().map(|(_, now)| (place, node, *now)));
        (*notes, *conditions) = (lane.notes.len(), lane.conditions.len());
        for (_, change) in &telling.drawing.links[self.links..] {
            let (from, to, cut) = match *change {
                LinkChange::Cut(from, to) => (from, to, true),
                LinkChange::Mended(from, to) => (from, to, false),
                LinkChange::Delayed(..) => continue,
            };
            self.film.links.push(LinkTurn { event: place, from: from.0, to: to.0, cut });
        }
        self.links = telling.drawing.links.len();
    }

    /// Whether leaders are announced is known at the end, and so are the words.
    fn finish(self, telling: Telling) -> Film {
        let Self { mut film, notes, conditions, .. } = self;
        let drawing = telling.finish();
        for (place, node, note) in notes {
            let node = NodeId(node);
            let words = words::note(node, &note, drawing.announces);
            let frame = &mut film.frames[place].words;
            *frame = match (frame.take(), words) {
                (Some(one), Some(other)) => Some(format!("{one}; {other}")),
                (one, other) => one.or(other),
            };
        }
        film.poses = conditions
            .into_iter()
            .map(|(from, node, now)| {
                let leads = drawing.leader(&now) == Some(NodeId(node));
                Pose { from, node, state: state(&now, leads), words: words::condition(&now) }
            })
            .collect();
        let weights: BTreeMap<u64, Weight> =
            drawing.messages.iter().map(|message| (message.id, message.weight)).collect();
        for trip in &mut film.trips {
            trip.matters = weights.get(&trip.id).is_some_and(|weight| *weight > Weight::Steady);
        }
        film
    }
}

/// One word for a condition, the most telling.
fn state(condition: &Condition, leads: bool) -> &'static str {
    match condition.opinion.status {
        _ if !condition.up => Status::Down.name(),
        _ if condition.paused => "paused",
        _ if leads => "leads",
        status => status.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::trace;
    use crate::scenario::Scenario;

    fn film(more: &str) -> Film {
        let text = format!("protocol = \"async-bully\"\nnodes = 3\nuntil = \"2s\"\n{more}");
        let scenario = Scenario::parse("x", &text).unwrap();
        Film::of(scenario.nodes, scenario.until, &trace(&scenario))
    }

    #[test]
    fn every_event_has_a_frame_and_every_message_a_trip() {
        let film = film("[[event]]\nat = \"1s\"\ncrash = [1]\n[[event]]\nat = \"500ms\"\ncut = [[2, 3]]\n");
        assert!(film.frames.windows(2).all(|pair| pair[0].at <= pair[1].at));
        for (place, trip) in film.trips.iter().enumerate() {
            assert_eq!(film.frames[trip.sent].trip, Some(place), "{trip:?}");
            let end = trip.end.map(|end| (end > trip.sent, film.frames[end].trip));
            assert!(end.is_none_or(|end| end == (true, Some(place))), "{trip:?}");
        }
        let sends = film.frames.iter().filter(|frame| frame.what == "send").count();
        assert_eq!(film.trips.len(), sends);
        assert_eq!(film.links.iter().filter(|turn| turn.cut).count(), 2);
        let crash = film.frames.iter().position(|frame| frame.what == "crash").unwrap();
        assert_eq!(film.frames[crash].words.as_deref(), Some("crashes"));
        let last: Vec<_> =
            (1..=3).map(|node| film.poses.iter().rfind(|pose| pose.node == node).unwrap().state).collect();
        assert_eq!(last[0], "down");
        assert!(last[1..].contains(&"leads"), "{last:?}");
    }

    #[test]
    fn a_copy_is_a_trip_of_its_own() {
        let film = film(
            "[[event]]\nat = \"1s\"\nmessage = { from = 1, to = 2, kind = \"Norm?\", duplicate = true }\n",
        );
        let twice: Vec<_> = film
            .trips
            .iter()
            .filter(|trip| film.trips.iter().filter(|other| other.id == trip.id).count() == 2)
            .collect();
        assert_eq!(twice.len(), 2);
        assert_eq!(twice[0].sent, twice[1].sent);
        assert!(twice.iter().all(|trip| matches!(trip.fate, Fate::Received | Fate::Refused)), "{twice:?}");
    }
}
