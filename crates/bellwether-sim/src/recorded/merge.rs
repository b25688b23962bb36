//! One trace of many, in order of time.

use std::collections::BTreeMap;

use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{MsgRef, Program, TraceEvent, What};

use super::clocks;
use crate::trace_file::TraceFile;

/// All events in order of time, the first at zero. At one instant the truth comes first, then the files as they were
/// given.
pub(super) fn all(traces: &[TraceFile], truth: Option<&TraceFile>) -> Vec<TraceEvent> {
    let truth = truth.into_iter().flat_map(|truth| &truth.events).filter(|event| befalls(&event.what));
    let mut events: Vec<_> = truth.copied().collect();
    let befell = events.len();
    for trace in traces {
        let from = events.len();
        events.extend(&trace.events);
        let (before, told) = events.split_at_mut(from);
        clocks::straighten(told, &before[..befell]);
    }
    events.sort_by_key(|event| event.at);
    let start = events.first().map_or(Time::ZERO, |event| event.at);
    for event in &mut events {
        event.at = Time::ZERO + event.at.since(start);
        if let What::Program(Program::Valid { until, .. }) = &mut event.what {
            *until = until.as_deadline().map_or(Time::NEVER, |until| Time::ZERO + until.since(start));
        }
    }
    date_arrivals(&mut events);
    events
}

/// Whether it is something that happens to a node, and not what the node does.
pub(super) fn befalls(what: &What) -> bool {
    match what {
        What::Crash
        | What::Recover
        | What::Pause
        | What::Resume
        | What::Cut(_)
        | What::Mend(_)
        | What::Slow(_) => true,
        What::Send(_)
        | What::Recv(..)
        | What::Drop(..)
        | What::Late(_)
        | What::HeldUp(_)
        | What::Deadline
        | What::Persist(_)
        | What::Unlinked(_)
        | What::Program(_)
        | What::Node(_) => false,
    }
}

/// Finds out when each message that arrived was sent. A message is identified by its number, from one sender to
/// one receiver. Numbers may begin anew with an incarnation, so the last such message before counts. If the
/// sender's trace is missing, no message counts as late.
fn date_arrivals(events: &mut [TraceEvent]) {
    let mut sent: BTreeMap<(NodeId, NodeId, u64), Vec<Time>> = BTreeMap::new();
    for event in events.iter() {
        if let What::Send(msg) = &event.what {
            sent.entry(key(msg)).or_default().push(event.at);
        }
    }
    for event in events {
        if let What::Recv(msg, at) = &mut event.what {
            let before = sent.get(&key(msg)).and_then(|sent| {
                let after = sent.partition_point(|sent| *sent <= event.at);
                sent.get(after.checked_sub(1)?).copied()
            });
            *at = before.unwrap_or(event.at);
        }
    }
}

/// The same events. Each sender numbers its messages, and here no two messages have the same number.
pub(super) fn numbered(mut events: Vec<TraceEvent>) -> Vec<TraceEvent> {
    let (mut known, mut last) = (BTreeMap::new(), 0);
    for event in &mut events {
        match &mut event.what {
            What::Send(msg) => {
                last += 1;
                known.insert(key(msg), last);
                msg.id = last;
            }
            What::Recv(msg, _) | What::Drop(msg, _) | What::Late(msg) => {
                msg.id = *known.entry(key(msg)).or_insert_with(|| {
                    last += 1;
                    last
                });
            }
            _ => {}
        }
    }
    events
}

fn key(msg: &MsgRef) -> (NodeId, NodeId, u64) {
    (msg.from, msg.to, msg.id)
}

/// Half of the time that the events take.
pub(super) fn half_time(events: &[TraceEvent]) -> Time {
    let end: Span = events.last().map_or(Span::ZERO, |event| event.at.since(Time::ZERO));
    Time::ZERO + end / 2
}

#[cfg(test)]
mod tests {
    use bellwether_proto::ident::Incarnation;

    use super::*;

    /// What is valid until a time is on the same clock as all else.
    #[test]
    fn deadlines_move_with_the_events() {
        let valid = |at, until| {
            let what = What::Program(Program::Valid { epoch: 1, until });
            TraceEvent { at: Time::from_micros(at), node: NodeId(1), incarnation: Incarnation(1), what }
        };
        let events = vec![valid(1_000, Time::from_micros(1_500)), valid(1_200, Time::NEVER)];
        let merged = all(&[TraceFile { events, ..TraceFile::default() }], None);
        assert_eq!(merged, [valid(0, Time::from_micros(500)), valid(200, Time::NEVER)]);
    }
}
