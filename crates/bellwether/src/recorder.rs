//! The trace of a live member: all events as they happen, in the simulator's format.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use bellwether_proto::election::AnyMsg;
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::message::Frame;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{self, DropReason, MsgRef, TraceEvent, What};

/// Every line of a trace begins with its version.
const BEGINNING: &[u8] = br#"{"v":1,"#;

/// Appends to a trace. A member that cannot write its trace goes on without.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: Option<BufWriter<File>>,
    node: NodeId,
    /// So late the node may be with what it has to do: as long as it and a peer who is as late keep within δ.
    tolerance: Span,
}

impl Recorder {
    /// Appends to the trace in that file: a member that comes back goes on where the trace ended.
    pub(crate) fn open(path: &Path, node: NodeId) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).create(true).append(true).open(path)?;
        if !is_trace(&mut file)? {
            return Err(io::Error::other("there is something else in it, which is not overwritten"));
        }
        let whole = whole_lines(&mut file)?;
        file.set_len(whole)?;
        Ok(Self { file: Some(BufWriter::new(file)), node, tolerance: Span::ZERO })
    }

    /// The first line, which tells a reader how the member is set up.
    pub(crate) fn begin(&mut self, at: Time, incarnation: Incarnation, setup: &trace::Setup<'_>) {
        self.tolerance = setup.timing.delta / 2;
        self.line(trace::setup_json(at, self.node, incarnation, setup));
    }

    pub(crate) fn event(&mut self, at: Time, incarnation: Incarnation, what: What) {
        let event = TraceEvent { at, node: self.node, incarnation, what };
        self.line(event.json());
    }

    pub(crate) fn sent(&mut self, at: Time, frame: &Frame<AnyMsg>, to: NodeId) {
        self.event(at, frame.incarnation, What::Send(msg(frame, to)));
    }

    /// There is no connection. The trace must say that the frame did not arrive.
    pub(crate) fn lost(&mut self, at: Time, frame: &Frame<AnyMsg>, to: NodeId) {
        self.event(at, frame.incarnation, What::Drop(msg(frame, to), DropReason::Lost));
    }

    pub(crate) fn broadcast(&mut self, at: Time, frame: &Frame<AnyMsg>, connected: &BTreeSet<NodeId>) {
        connected.iter().for_each(|to| self.sent(at, frame, *to));
    }

    /// When it was sent is in its sender's trace.
    pub(crate) fn received(&mut self, at: Time, incarnation: Incarnation, frame: &Frame<AnyMsg>) {
        self.event(at, incarnation, What::Recv(msg(frame, self.node), at));
    }

    /// The node comes so late to what was due. Whoever judges the trace must know if that is much: to its peers it was silent.
    pub(crate) fn late(&mut self, at: Time, incarnation: Incarnation, by: Span) {
        if by > self.tolerance {
            self.event(at, incarnation, What::HeldUp(by));
        }
    }

    /// Writes everything so far to the file, in case the process is killed.
    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.file
            && let Err(error) = file.flush()
        {
            self.give_up(&error);
        }
    }

    fn line(&mut self, line: impl std::fmt::Display) {
        if let Some(file) = &mut self.file
            && let Err(error) = writeln!(file, "{line}")
        {
            self.give_up(&error);
        }
    }

    fn give_up(&mut self, error: &io::Error) {
        tracing::error!(%error, "the trace cannot be written and ends here");
        self.file = None;
    }
}

/// Whether the file is empty, or begins like a trace.
fn is_trace(file: &mut File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.take(BEGINNING.len() as u64).read_to_end(&mut beginning)?;
    Ok(BEGINNING.starts_with(&beginning))
}

/// Where the last whole line ends. A process that is killed may leave half a line, which the next must not run into.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut block = [0; 4096];
    while end > 0 {
        let start = end.saturating_sub(block.len() as u64);
        let block = &mut block[..usize::try_from(end - start).unwrap_or(0)];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(block)?;
        if let Some(at) = block.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

/// The numbers of frames tell those of one kind between two nodes apart.
fn msg(frame: &Frame<AnyMsg>, to: NodeId) -> MsgRef {
    MsgRef { id: frame.seq, kind: frame.body.kind(), from: frame.from, to }
}
