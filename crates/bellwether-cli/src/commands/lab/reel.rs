//! A run as bytes that a page can draw from without reading them first: the length of a header, the header as JSON, then columns
//! of numbers, each at a multiple of eight.

use std::collections::BTreeMap;

use bellwether_proto::trace::DropReason;
use bellwether_sim::diagram::{Fate, Film};
use serde_json::{Map, Value, json};

/// The fates of messages, by their numbers in the column.
const FATES: [&str; 7] = [
    "under way",
    "received",
    "refused",
    "lost",
    "dropped",
    "lost: the link is cut",
    "lost: the node is down",
];

/// Where there is none.
const NONE: u32 = u32::MAX;

pub(super) fn encode(film: &Film) -> Vec<u8> {
    let mut reel = Reel::default();
    reel.frames(film);
    reel.trips(film);
    reel.poses(film);
    reel.links(film);
    reel.finish(film)
}

#[derive(Default)]
struct Reel {
    columns: Map<String, Value>,
    bytes: Vec<u8>,
    words: Words,
    kinds: Words,
    names: Words,
    states: Words,
}

impl Reel {
    fn frames(&mut self, film: &Film) {
        let frames = &film.frames;
        self.column("frame.at", "f64", frames.iter().flat_map(|f| (f.at.as_micros() as f64).to_le_bytes()));
        self.numbers("frame.node", frames.iter().map(|frame| frame.node));
        let names: Vec<_> = frames.iter().map(|frame| self.names.number(frame.what)).collect();
        self.numbers("frame.what", names);
        self.numbers("frame.trip", frames.iter().map(|frame| place(frame.trip)));
        let words = frames.iter().map(|frame| frame.words.as_deref());
        let words: Vec<_> = words.map(|words| words.map_or(NONE, |words| self.words.number(words))).collect();
        self.numbers("frame.words", words);
    }

    fn trips(&mut self, film: &Film) {
        let trips = &film.trips;
        self.numbers("trip.id", trips.iter().map(|trip| u32::try_from(trip.id).unwrap_or(NONE)));
        let kinds: Vec<_> = trips.iter().map(|trip| self.kinds.number(trip.kind)).collect();
        self.numbers("trip.kind", kinds);
        self.numbers("trip.from", trips.iter().map(|trip| trip.from));
        self.numbers("trip.to", trips.iter().map(|trip| trip.to));
        self.numbers("trip.sent", trips.iter().map(|trip| place(Some(trip.sent))));
        self.numbers("trip.end", trips.iter().map(|trip| place(trip.end)));
        self.numbers("trip.fate", trips.iter().map(|trip| fate(trip.fate)));
        self.numbers("trip.matters", trips.iter().map(|trip| u32::from(trip.matters)));
    }

    fn poses(&mut self, film: &Film) {
        let poses = &film.poses;
        self.numbers("pose.from", poses.iter().map(|pose| place(Some(pose.from))));
        self.numbers("pose.node", poses.iter().map(|pose| pose.node));
        let states: Vec<_> = poses.iter().map(|pose| self.states.number(pose.state)).collect();
        self.numbers("pose.state", states);
        let words: Vec<_> = poses.iter().map(|pose| self.words.number(&pose.words)).collect();
        self.numbers("pose.words", words);
    }

    fn links(&mut self, film: &Film) {
        let links = &film.links;
        self.numbers("link.event", links.iter().map(|turn| place(Some(turn.event))));
        self.numbers("link.from", links.iter().map(|turn| turn.from));
        self.numbers("link.to", links.iter().map(|turn| turn.to));
        self.numbers("link.cut", links.iter().map(|turn| u32::from(turn.cut)));
    }

    fn numbers(&mut self, name: &str, numbers: impl IntoIterator<Item = u32>) {
        self.column(name, "u32", numbers.into_iter().flat_map(u32::to_le_bytes));
    }

    fn column(&mut self, name: &str, kind: &str, bytes: impl Iterator<Item = u8>) {
        let at = self.bytes.len();
        self.bytes.extend(bytes);
        let column = json!({ "at": at, "bytes": self.bytes.len() - at, "kind": kind });
        self.columns.insert(name.to_owned(), column);
        pad(&mut self.bytes);
    }

    fn finish(self, film: &Film) -> Vec<u8> {
        let header = json!({
            "nodes": film.nodes,
            "ended": film.ended.as_micros(),
            "names": self.names.list(),
            "kinds": self.kinds.list(),
            "states": self.states.list(),
            "words": self.words.list(),
            "fates": FATES,
            "columns": self.columns,
        });
        let header = header.to_string();
        let mut reel = (header.len() as u64).to_le_bytes().to_vec();
        reel.extend(header.into_bytes());
        pad(&mut reel);
        reel.extend(self.bytes);
        reel
    }
}

fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
}

fn place(place: Option<usize>) -> u32 {
    place.and_then(|place| u32::try_from(place).ok()).unwrap_or(NONE)
}

fn fate(fate: Fate) -> u32 {
    match fate {
        Fate::UnderWay => 0,
        Fate::Received => 1,
        Fate::Refused => 2,
        Fate::Lost(DropReason::Lost) => 3,
        Fate::Lost(DropReason::Dropped) => 4,
        Fate::Lost(DropReason::Cut) => 5,
        Fate::Lost(DropReason::Down) => 6,
    }
}

/// Texts, each once, by number.
#[derive(Default)]
struct Words(BTreeMap<String, u32>);

impl Words {
    fn number(&mut self, text: &str) -> u32 {
        let texts = &mut self.0;
        if let Some(known) = texts.get(text) {
            return *known;
        }
        let number = place(Some(texts.len()));
        texts.insert(text.to_owned(), number);
        number
    }

    fn list(&self) -> Vec<&str> {
        let mut list: Vec<_> = self.0.iter().collect();
        list.sort_by_key(|(_, number)| **number);
        list.into_iter().map(|(text, _)| text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use bellwether_sim::run;
    use bellwether_sim::scenario::Scenario;

    use super::*;

    #[test]
    fn columns_are_where_the_header_says() {
        let text = "protocol = \"async-bully\"\nnodes = 2\nuntil = \"1s\"\n";
        let scenario = Scenario::parse("x", text).unwrap();
        let film = Film::of(2, scenario.until, &run::trace(&scenario));
        let reel = encode(&film);
        let length = usize::try_from(u64::from_le_bytes(reel[..8].try_into().unwrap())).unwrap();
        let header: Value = serde_json::from_slice(&reel[8..8 + length]).unwrap();
        let body = &reel[(8 + length).next_multiple_of(8)..];
        let column = |name: &str| {
            let column = &header["columns"][name];
            let [at, bytes] = ["at", "bytes"].map(|key| column[key].as_u64().unwrap() as usize);
            assert_eq!(at % 8, 0);
            &body[at..at + bytes]
        };
        assert_eq!(column("frame.at").len(), 8 * film.frames.len());
        let kinds: Vec<_> = column("trip.kind")
            .chunks(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()) as usize)
            .map(|kind| header["kinds"][kind].as_str().unwrap().to_owned())
            .collect();
        assert!(kinds.iter().eq(film.trips.iter().map(|trip| trip.kind)), "{kinds:?}");
    }
}
