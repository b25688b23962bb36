//! Reads traces: what [`TraceEvent::json`] and [`trace::setup_json`](bellwether_proto::trace::setup_json) wrote, a line
//! for each event.
//!
//! A line leaves out some facts of the event: what was made durable, and when a message that arrived was sent. The
//! latter is known if the sender's trace is read as well; see [`recorded`](crate::recorded).

mod line;

use std::fmt;
use std::io::{self, BufRead};

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Timing, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;
use bellwether_proto::trace::TraceEvent;

use line::Line;

/// The events of one file.
#[derive(Clone, Debug, Default)]
pub struct TraceFile {
    /// As they stand in the file.
    pub events: Vec<TraceEvent>,
    /// What the nodes say about how they were set up.
    pub setups: Vec<Setup>,
    /// Whether the file ends in the middle of a line, as that of a node does that was killed.
    pub torn: bool,
}

/// How a node was set up, as its trace says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The cluster's name.
    pub cluster: String,
    /// How the leader is chosen.
    pub protocol: Protocol,
    /// As repaired, or as the paper prints it.
    pub variant: Variant,
    /// All members that the node was told of.
    pub nodes: Vec<NodeId>,
    /// The timing parameters.
    pub timing: Timing,
    /// The failure detector, for algorithms that have one.
    pub detector: Option<DetectorKind>,
    /// How long the leader's work may take to end once leadership is asked back, if the trace says.
    pub release_timeout: Option<Span>,
}

/// Why a file is not a trace.
#[derive(Debug)]
pub enum TraceError {
    /// It cannot be read.
    Io(io::Error),
    /// A line is not one of a trace.
    Line {
        /// Which, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot be read: {error}"),
            Self::Line { line, problem } => write!(f, "line {line}: {problem}"),
        }
    }
}

impl std::error::Error for TraceError {}

impl TraceFile {
    /// Reads a trace to its end. Of a last line that is incomplete only that it was there is kept.
    ///
    /// # Errors
    /// Names the first line that is wrong.
    pub fn read(mut from: impl BufRead) -> Result<Self, TraceError> {
        let mut file = Self::default();
        let mut bytes = Vec::new();
        for line in 1.. {
            bytes.clear();
            if from.read_until(b'\n', &mut bytes).map_err(TraceError::Io)? == 0 {
                break;
            }
            match Line::parse(&bytes) {
                Ok(Line::Event(event)) => file.events.push(event),
                Ok(Line::Setup(setup)) => file.setups.push(setup),
                // Whoever writes a trace ends each line, so this one was not finished.
                Err(_) if bytes.last() != Some(&b'\n') => file.torn = true,
                Err(problem) => return Err(TraceError::Line { line, problem }),
            }
        }
        Ok(file)
    }
}
