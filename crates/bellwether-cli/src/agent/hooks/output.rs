//! What a program prints, as lines of the log.

use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;

use super::Happening;

/// So many lines of a run are logged, each of so many bytes at most.
const LINES_MAX: usize = 100;
const LINE_MAX: usize = 1024;

/// What a run has printed so far.
#[derive(Debug, Default)]
struct Output {
    line: Vec<u8>,
    lines: usize,
    left_out: usize,
}

/// Logs what comes until the end. More than may be is read, too, so that nobody waits for being read.
pub(super) async fn log(mut pipe: Receiver, happening: &Happening) {
    let (mut output, mut bytes) = (Output::default(), [0; 4096]);
    let say = |line: &str| {
        tracing::info!(election = %happening.election, event = happening.event.name(), said = ?line, "a hook says");
    };
    while let Ok(read @ 1..) = pipe.read(&mut bytes).await {
        output.take(&bytes[..read], say);
    }
    output.finish(say);
    if output.left_out > 0 {
        tracing::warn!(
            election = %happening.election,
            event = happening.event.name(),
            bytes = output.left_out,
            "a hook says more than is logged"
        );
    }
}

impl Output {
    fn take(&mut self, bytes: &[u8], mut say: impl FnMut(&str)) {
        for byte in bytes {
            match byte {
                b'\n' => self.finish(&mut say),
                byte if self.lines < LINES_MAX && self.line.len() < LINE_MAX => self.line.push(*byte),
                _ => self.left_out += 1,
            }
        }
    }

    /// A line has ended.
    fn finish(&mut self, mut say: impl FnMut(&str)) {
        if !self.line.is_empty() {
            say(&String::from_utf8_lossy(&self.line));
            self.line.clear();
            self.lines += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are logged, and how many bytes are left out.
    fn logged(pieces: &[&[u8]]) -> (Vec<String>, usize) {
        let (mut output, mut lines) = (Output::default(), Vec::new());
        pieces.iter().for_each(|piece| output.take(piece, |line| lines.push(line.to_owned())));
        output.finish(|line| lines.push(line.to_owned()));
        (lines, output.left_out)
    }

    #[test]
    fn lines_are_put_together_and_the_last_needs_no_end() {
        let (lines, left_out) = logged(&[b"one\ntw", b"o\n\nthree ", b"\xff"]);
        assert_eq!((lines, left_out), (["one", "two", "three \u{fffd}"].map(str::to_owned).into(), 0));
    }

    #[test]
    fn what_is_too_much_is_counted() {
        let (lines, left_out) = logged(&[&[b'x'; LINE_MAX + 5], b"\ny\n"]);
        assert_eq!((lines.len(), lines[0].len(), left_out), (2, LINE_MAX, 5));
        let (lines, left_out) = logged(&[&b"x\n".repeat(LINES_MAX + 3)]);
        assert_eq!((lines.len(), left_out), (LINES_MAX, 3));
    }
}
