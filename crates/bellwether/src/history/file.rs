//! The file with the history.
//!
//! It has a line per change: number, microseconds since 1970, incarnation, leader, epoch, cause, the member that the cause
//! is about, successor; `-` means nobody. The file is only for people to read: it is not synced, and a line that cannot be
//! read is left out.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::Cause;

use super::HISTORY_MAX;
use crate::status::Change;

/// No member sees this many changes. A file that says so is damaged.
const NO_MAX: u64 = 1 << 48;

/// How many more the file may hold before it is written anew.
const FILE_SLACK: usize = 1_000;

/// No line that was written here is longer.
const LINE_MAX: usize = 160;

/// So much of a file is read, from its end. A file of ours is never longer.
const FILE_MAX: u64 = ((HISTORY_MAX + FILE_SLACK) * LINE_MAX) as u64;

/// So many changes wait for a disk that hangs.
const WAITING_MAX: usize = HISTORY_MAX;

#[derive(Debug)]
pub(crate) struct HistoryFile {
    path: PathBuf,
    file: Option<File>,
    /// How many lines it has.
    lines: usize,
}

/// Where changes go that are to be written.
#[derive(Debug)]
pub(crate) struct Writer(SyncSender<Change>);

/// A writer, and what is written to it.
pub(crate) fn writer() -> (Writer, Receiver<Change>) {
    let (writer, changes) = mpsc::sync_channel(WAITING_MAX);
    (Writer(writer), changes)
}

impl Writer {
    /// Nobody waits for it: the election does not depend on it.
    pub(crate) fn write(&self, change: Change) {
        if self.0.try_send(change).is_err() {
            tracing::warn!("the disk hangs: a change of leader is missing from the history file");
        }
    }
}

impl HistoryFile {
    /// The file in that directory, and what it holds.
    pub(crate) fn open(dir: &Path) -> (Self, VecDeque<Change>) {
        let mut file = Self { path: dir.join("history"), file: None, lines: 0 };
        let changes = file.tidy_up();
        (file, changes)
    }

    /// Writes behind, on a thread for what blocks, until the writer is dropped and all is written. `kept` lives as long.
    ///
    /// Must be called inside a tokio runtime.
    pub(crate) fn write_behind(mut self, kept: impl Send + 'static) -> Writer {
        let (writer, changes) = writer();
        tokio::task::spawn_blocking(move || {
            let _kept = kept;
            changes.iter().for_each(|change| self.append(&change));
        });
        writer
    }

    fn append(&mut self, change: &Change) {
        if self.lines >= HISTORY_MAX + FILE_SLACK {
            self.tidy_up();
        }
        if let Err(error) = self.write(&print(change)) {
            tracing::warn!(path = %self.path.display(), %error, "cannot write the history");
        }
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(OpenOptions::new().create(true).append(true).open(&self.path)?);
        }
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes())?;
            self.lines += 1;
        }
        Ok(())
    }

    /// Reads the last changes, and writes the file anew if it holds more than them, or half a line that the next must not run into.
    fn tidy_up(&mut self) -> VecDeque<Change> {
        // Whatever is in it: what cannot be read is left out, and the rest goes on being numbered.
        let (bytes, whole) = read_end(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut changes: VecDeque<Change> = text.lines().filter_map(parse).collect();
        changes.drain(..changes.len().saturating_sub(HISTORY_MAX));
        self.lines = text.lines().count();
        let cut_off = !text.is_empty() && !text.ends_with('\n');
        if cut_off || whole == Whole::No || self.lines >= HISTORY_MAX + FILE_SLACK {
            self.write_anew(&changes);
        }
        changes
    }

    fn write_anew(&mut self, changes: &VecDeque<Change>) {
        let text: String = changes.iter().map(print).collect();
        let new = self.path.with_extension("new");
        self.file = None;
        match fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path)) {
            Ok(()) => self.lines = changes.len(),
            Err(error) => tracing::warn!(path = %self.path.display(), %error, "cannot write the history"),
        }
    }
}

/// Whether all of a file was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Whole {
    #[default]
    Yes,
    No,
}

/// The last bytes of a file, which hold the latest changes. Something that is no file is not waited for.
fn read_end(path: &Path) -> io::Result<(Vec<u8>, Whole)> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut file = File::open(path)?;
    let skipped = file.metadata()?.len().saturating_sub(FILE_MAX);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(FILE_MAX).read_to_end(&mut bytes)?;
    if skipped == 0 {
        return Ok((bytes, Whole::Yes));
    }
    // The first line is not whole, most likely.
    let begin = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |end| end + 1);
    Ok((bytes.split_off(begin), Whole::No))
}

fn print(change: &Change) -> String {
    let id = |id: Option<NodeId>| id.map_or_else(|| "-".to_owned(), |id| id.to_string());
    let at = change.at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_micros();
    let Change { no, incarnation, leader, epoch, cause, .. } = change;
    let (about, successor) = (id(cause.about()), id(cause.successor()));
    format!("{no} {at} {incarnation} {} {epoch} {} {about} {successor}\n", id(*leader), cause.name())
}

fn parse(line: &str) -> Option<Change> {
    let id = |word: &str| match word {
        "-" => Some(None),
        word => word.parse().ok().map(|id| Some(NodeId(id))),
    };
    let words: Vec<&str> = line.split(' ').collect();
    let [no, at, incarnation, leader, epoch, cause, about, successor] = words[..] else { return None };
    Some(Change {
        no: no.parse().ok().filter(|no| *no < NO_MAX)?,
        at: SystemTime::UNIX_EPOCH.checked_add(Duration::from_micros(at.parse().ok()?))?,
        incarnation: Incarnation(incarnation.parse().ok()?),
        leader: id(leader)?,
        epoch: epoch.parse().ok()?,
        cause: Cause::by_name(cause, id(about)?, id(successor)?)?,
    })
}

#[cfg(test)]
mod tests {
    use bellwether_proto::leadership::Announcement;

    use super::super::{History, Occurrence};
    use super::*;

    /// A history and its file, without a thread between them.
    struct Kept {
        history: History,
        file: HistoryFile,
    }

    fn open(dir: &Path) -> Kept {
        let (file, changes) = HistoryFile::open(dir);
        Kept { history: History::after_those(changes), file }
    }

    impl Kept {
        fn push(&mut self, epoch: u64) {
            let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_000 + epoch);
            let (leader, cause) = (Some(NodeId(3)), Cause::HandedOver(NodeId(1), NodeId(3)));
            self.announce(at, Announcement { leader, epoch, cause });
        }

        fn announce(&mut self, at: SystemTime, announced: Announcement) {
            let change = self.history.push(Occurrence { at, incarnation: Incarnation(5), announced });
            self.file.append(&change);
        }

        fn epochs(&self) -> Vec<u64> {
            self.history.iter().map(|change| change.epoch).collect()
        }
    }

    #[test]
    fn what_was_written_is_read_again_and_numbers_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = open(dir.path());
        let announced = Announcement { leader: None, epoch: 0, cause: Cause::Started };
        kept.announce(SystemTime::UNIX_EPOCH, announced);
        kept.push(7);
        let written: Vec<Change> = kept.history.iter().cloned().collect();
        let mut kept = open(dir.path());
        assert_eq!(kept.history.iter().cloned().collect::<Vec<_>>(), written);
        kept.push(8);
        assert_eq!(kept.history.last_no(), 3);
        assert_eq!(kept.history.after(0).map(|change| change.no), Some(3), "what was before is no news");
        kept.push(9);
        assert_eq!(kept.history.after(3).map(|change| change.no), Some(4));
        assert_eq!(kept.history.after(4), None);
    }

    #[test]
    fn it_is_bounded_in_memory_and_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut kept = open(dir.path());
        (0..3 * HISTORY_MAX as u64).for_each(|epoch| kept.push(epoch));
        assert_eq!(kept.history.iter().count(), HISTORY_MAX);
        let lines = fs::read_to_string(dir.path().join("history")).unwrap().lines().count();
        assert!(lines <= HISTORY_MAX + FILE_SLACK, "{lines}");
        assert_eq!(open(dir.path()).history.last_no(), 3 * HISTORY_MAX as u64);
    }

    #[test]
    fn a_file_that_is_too_long_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path()).push(7);
        let path = dir.path().join("history");
        let good = fs::read_to_string(&path).unwrap();
        // Eight gigabytes, most of which are not there.
        let mut file = File::options().write(true).truncate(true).open(&path).unwrap();
        file.set_len(1 << 33).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        write!(file, "\n{good}").unwrap();
        assert_eq!(open(dir.path()).epochs(), [7]);
        assert_eq!(fs::read_to_string(&path).unwrap(), good);
    }

    #[test]
    fn the_longest_line_fits() {
        let change = Change {
            no: NO_MAX,
            at: SystemTime::UNIX_EPOCH + Duration::from_micros(u64::MAX),
            incarnation: Incarnation::MAX,
            leader: Some(NodeId(u32::MAX)),
            epoch: u64::MAX,
            cause: Cause::HandedOver(NodeId(u32::MAX), NodeId(u32::MAX)),
        };
        assert!(print(&change).len() <= LINE_MAX, "{}", print(&change));
    }

    #[test]
    fn lines_that_cannot_be_read_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        open(dir.path()).push(1);
        let path = dir.path().join("history");
        let good = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("nonsense\n{good}2 17000")).unwrap();
        open(dir.path()).push(2);
        assert_eq!(open(dir.path()).epochs(), [1, 2]);
    }
}
