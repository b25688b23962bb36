//! The last changes of leader, with their causes: in memory, and in a file that outlives the process.
//!
//! The file has a line per change: number, microseconds since 1970, incarnation, leader, epoch, cause, the member that the cause
//! is about, successor; `-` means nobody. The file is only for people to read: it is not synced, and a line that cannot be
//! read is left out.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::leadership::{Announcement, Cause};

use crate::status::Change;

/// How many changes are remembered.
pub(crate) const HISTORY_MAX: usize = 1_000;

/// No member sees this many changes. A file that says so is damaged.
const NO_MAX: u64 = 1 << 48;

/// How many more the file may hold before it is written anew.
const FILE_SLACK: usize = 1_000;

/// No line that was written here is longer.
const LINE_MAX: usize = 160;

/// So much of a file is read, from its end. A file of ours is never longer.
const FILE_MAX: u64 = ((HISTORY_MAX + FILE_SLACK) * LINE_MAX) as u64;

#[derive(Debug)]
pub(crate) struct History {
    changes: VecDeque<Change>,
    /// The number of the last change of earlier processes: what comes after it is news.
    past: u64,
    path: PathBuf,
    file: Option<File>,
    /// How many lines the file has.
    lines: usize,
}

/// A change that has just happened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occurrence {
    pub(crate) at: SystemTime,
    pub(crate) incarnation: Incarnation,
    pub(crate) announced: Announcement,
}

impl History {
    /// What the file in that directory holds.
    pub(crate) fn open(dir: &Path) -> Self {
        let path = dir.join("history");
        // Whatever is in it: what cannot be read is left out, and the rest goes on being numbered.
        let (bytes, whole) = read_end(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines = text.lines().count();
        let mut changes: VecDeque<Change> = text.lines().filter_map(parse).collect();
        changes.drain(..changes.len().saturating_sub(HISTORY_MAX));
        let past = changes.back().map_or(0, |change| change.no);
        let mut history = Self { changes, past, path, file: None, lines };
        // A last line that was cut off must not run into the next.
        let cut_off = !text.is_empty() && !text.ends_with('\n');
        if cut_off || whole == Whole::No || lines > HISTORY_MAX + FILE_SLACK {
            history.write_anew();
        }
        history
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    /// The first change after that number that this process has seen.
    pub(crate) fn after(&self, no: u64) -> Option<&Change> {
        let no = no.max(self.past);
        self.changes.get(self.changes.partition_point(|change| change.no <= no))
    }

    /// The number of the last change.
    pub(crate) fn last_no(&self) -> u64 {
        self.changes.back().map_or(0, |change| change.no)
    }

    /// Adds a change, with the next number.
    pub(crate) fn push(&mut self, Occurrence { at, incarnation, announced }: Occurrence) {
        let Announcement { leader, epoch, cause } = announced;
        let no = self.last_no().saturating_add(1);
        let change = Change { no, at, incarnation, leader, epoch, cause };
        if self.changes.len() == HISTORY_MAX {
            self.changes.pop_front();
        }
        let line = print(&change);
        self.changes.push_back(change);
        if self.lines >= HISTORY_MAX + FILE_SLACK {
            self.write_anew();
        } else {
            self.append(&line);
        }
    }

    fn append(&mut self, line: &str) {
        if self.file.is_none() {
            self.file = OpenOptions::new().create(true).append(true).open(&self.path).ok();
        }
        let written = self.file.as_mut().is_some_and(|file| file.write_all(line.as_bytes()).is_ok());
        if written {
            self.lines += 1;
        } else {
            // The election does not depend on it.
            tracing::warn!(path = %self.path.display(), "cannot write the history");
        }
    }

    fn write_anew(&mut self) {
        let text: String = self.changes.iter().map(print).collect();
        let new = self.path.with_extension("new");
        self.file = None;
        match fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path)) {
            Ok(()) => self.lines = self.changes.len(),
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
    use super::*;

    fn push(history: &mut History, epoch: u64) {
        let at = SystemTime::UNIX_EPOCH + Duration::from_micros(1_700_000_000_000_000 + epoch);
        let (leader, cause) = (Some(NodeId(3)), Cause::HandedOver(NodeId(1), NodeId(3)));
        let announced = Announcement { leader, epoch, cause };
        history.push(Occurrence { at, incarnation: Incarnation(5), announced });
    }

    #[test]
    fn what_was_written_is_read_again_and_numbers_go_on() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(dir.path());
        let announced = Announcement { leader: None, epoch: 0, cause: Cause::Started };
        history.push(Occurrence { at: SystemTime::UNIX_EPOCH, incarnation: Incarnation(5), announced });
        push(&mut history, 7);
        let written: Vec<Change> = history.iter().cloned().collect();
        let mut history = History::open(dir.path());
        assert_eq!(history.iter().cloned().collect::<Vec<_>>(), written);
        push(&mut history, 8);
        assert_eq!(history.last_no(), 3);
        assert_eq!(history.after(0).map(|change| change.no), Some(3), "what was before is no news");
        push(&mut history, 9);
        assert_eq!(history.after(3).map(|change| change.no), Some(4));
        assert_eq!(history.after(4), None);
    }

    #[test]
    fn it_is_bounded_in_memory_and_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut history = History::open(dir.path());
        (0..3 * HISTORY_MAX as u64).for_each(|epoch| push(&mut history, epoch));
        assert_eq!(history.iter().count(), HISTORY_MAX);
        let lines = fs::read_to_string(dir.path().join("history")).unwrap().lines().count();
        assert!(lines <= HISTORY_MAX + FILE_SLACK, "{lines}");
        assert_eq!(History::open(dir.path()).last_no(), 3 * HISTORY_MAX as u64);
    }

    #[test]
    fn a_file_that_is_too_long_is_read_from_its_end() {
        let dir = tempfile::tempdir().unwrap();
        push(&mut History::open(dir.path()), 7);
        let path = dir.path().join("history");
        let good = fs::read_to_string(&path).unwrap();
        // Eight gigabytes, most of which are not there.
        let mut file = File::options().write(true).truncate(true).open(&path).unwrap();
        file.set_len(1 << 33).unwrap();
        file.seek(SeekFrom::End(0)).unwrap();
        write!(file, "\n{good}").unwrap();
        assert_eq!(History::open(dir.path()).iter().map(|change| change.epoch).collect::<Vec<_>>(), [7]);
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
        push(&mut History::open(dir.path()), 1);
        let path = dir.path().join("history");
        let good = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("nonsense\n{good}2 17000")).unwrap();
        let mut history = History::open(dir.path());
        push(&mut history, 2);
        assert_eq!(History::open(dir.path()).iter().map(|change| change.epoch).collect::<Vec<_>>(), [1, 2]);
    }
}
