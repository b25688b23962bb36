//! All lines below the prefix: read once, and kept up by one watch, however many names there are.

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;

use http_body_util::BodyExt;
use serde_json::json;

use super::gateway::Gateway;
use super::said::{Event, KeyValue, Kind, Ranged, Streamed, Watched, bounds, range_of};
use super::ticket_of;
use crate::arbiter::{Line, News, Ticket, Trouble};
use crate::elections::Name;

/// No event is longer: a batch of what one revision changed, such as a lease with a hundred thousand keys that ends.
const EVENT_MAX: usize = 64 << 20;

/// Those in a line with what they proclaim, by when their keys were created.
type Places = BTreeMap<u64, (Ticket, Arc<[u8]>)>;

/// Who is in which line.
#[derive(Debug, Default)]
pub(super) struct Mirror {
    prefix: String,
    lines: BTreeMap<Name, Places>,
    /// Of each key, which name and which of those in line.
    keys: BTreeMap<Vec<u8>, (Name, u64)>,
    /// As of this revision.
    at: u64,
}

impl Mirror {
    /// As it was read.
    pub(super) fn of(prefix: &str, there: Ranged) -> Self {
        let mut mirror = Self { prefix: prefix.to_owned(), at: there.header.revision, ..Self::default() };
        for there in there.kvs {
            mirror.put(there);
        }
        mirror
    }

    /// What changed; whose line it is.
    fn apply(&mut self, event: Event) -> Option<Name> {
        self.at = self.at.max(event.kv.mod_revision);
        match event.kind {
            Kind::Put => self.put(event.kv),
            Kind::Delete => self.delete(&event.kv.key),
        }
    }

    fn put(&mut self, there: KeyValue) -> Option<Name> {
        let (name, ticket) = ticket_of(&self.prefix, &there)?;
        let line = self.lines.entry(name.clone()).or_default();
        line.insert(there.create_revision, (ticket, there.value.into()));
        self.keys.insert(there.key, (name.clone(), there.create_revision));
        Some(name)
    }

    fn delete(&mut self, key: &[u8]) -> Option<Name> {
        let (name, created) = self.keys.remove(key)?;
        let line = self.lines.get_mut(&name)?;
        line.remove(&created);
        if line.is_empty() {
            self.lines.remove(&name);
        }
        Some(name)
    }

    pub(super) fn line(&self, name: &Name) -> Option<Line> {
        let line = self.lines.get(name)?;
        let (token, (_, value)) = line.first_key_value()?;
        let tickets = line.values().map(|(ticket, _)| ticket.clone()).collect();
        Some(Line { at: self.at, tickets, token: *token, value: Arc::clone(value) })
    }
}

/// Reads all lines, and tells what becomes of them, until the watch ends or another endpoint is asked.
pub(super) async fn follow(gateway: &Gateway, prefix: &str, news: &News) -> Result<Infallible, Trouble> {
    let at = gateway.at();
    let mut mirror = Mirror::of(prefix, gateway.ask("/v3/kv/range", &range_of(prefix)).await?);
    let lines = mirror.lines.keys().filter_map(|name| Some((name.clone(), mirror.line(name)?))).collect();
    let (key, range_end) = bounds(prefix);
    let from = (mirror.at + 1).to_string();
    let create = json!({ "create_request": { "key": key, "range_end": range_end, "start_revision": from } });
    let mut body = gateway.stream(at, "/v3/watch", &create).await?;
    news.all(lines, mirror.at);
    let mut pieces = Pieces::default();
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame.ok_or_else(|| gateway.unreachable(at, "the watch ended"))?,
            () = gateway.turns_from(at) => return Err(gateway.unreachable(at, "another endpoint is asked")),
        };
        let frame = frame.map_err(|error| gateway.unreachable(at, error))?;
        let Some(data) = frame.data_ref() else { continue };
        pieces.take(data);
        while let Some(line) = pieces.line() {
            let told: Streamed<Watched> = serde_json::from_slice(&line)
                .map_err(|error| gateway.unreachable(at, format_args!("a watch that {error}")))?;
            if told.result.canceled {
                return Err(gateway.unreachable(at, told.result.cancel_reason));
            }
            let changed: BTreeSet<Name> =
                told.result.events.into_iter().filter_map(|event| mirror.apply(event)).collect();
            for name in changed {
                let empty = Line { at: mirror.at, ..Line::default() };
                let line = mirror.line(&name).unwrap_or(empty);
                news.line(name, line);
            }
        }
        if pieces.bytes.len() > EVENT_MAX {
            return Err(gateway.unreachable(at, "an event without end"));
        }
    }
}

/// Makes lines of bytes.
#[derive(Debug, Default)]
struct Pieces {
    bytes: Vec<u8>,
    /// So far there is no end of a line.
    looked: usize,
}

impl Pieces {
    fn take(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    fn line(&mut self) -> Option<Vec<u8>> {
        let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') else {
            self.looked = self.bytes.len();
            return None;
        };
        let rest = self.bytes.split_off(self.looked + end + 1);
        self.looked = 0;
        Some(std::mem::replace(&mut self.bytes, rest))
    }
}
