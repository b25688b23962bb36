//! The bytes of every message, as they were when members first spoke them. A member of another build reads them.
//!
//! `elections.hex` was written by the build before exclusive leadership. Its lines stay as they are while the version is 1, and what
//! is added has lines of its own. `REWRITE=1 cargo test -p bellwether-proto --lib golden` adds those, and writes `exclusive.hex`
//! anew.

extern crate std;

use alloc::format;
use alloc::string::String;
use std::path::PathBuf;
use std::{env, fs};

use super::exclusively::asked_and_said;
use super::*;

#[test]
fn messages_of_elections_are_golden() {
    let frames = one_of_each().into_iter().chain([of(Body::Leadership(leadership(7, 9)))]);
    compare("elections.hex", Lines::Stay, &frames.collect::<Vec<_>>());
}

#[test]
fn messages_of_exclusive_leadership_are_golden() {
    compare("exclusive.hex", Lines::MayChange, &asked_and_said().into_iter().map(of).collect::<Vec<_>>());
}

/// Whether lines may be written anew.
#[derive(PartialEq)]
enum Lines {
    Stay,
    /// No version with these messages was published yet.
    MayChange,
}

fn of(body: Body<AnyMsg>) -> Frame<AnyMsg> {
    Frame { from: NodeId(2), incarnation: Incarnation(300), seq: 5, rides: None, body }
}

fn compare(file: &str, may: Lines, frames: &[Frame<AnyMsg>]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    let rewrite = env::var_os("REWRITE").is_some();
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let kept = if rewrite && may == Lines::MayChange { String::new() } else { kept };
    let mut lines = kept.lines();
    let mut all = String::new();
    for (no, frame) in frames.iter().enumerate() {
        let bytes = encode(CHANNEL, frame);
        assert_eq!(decode(CHANNEL, &bytes).as_ref(), Ok(frame), "{file}:{}", no + 1);
        let line = format!("{} {}", frame.body.kind().name(), hex(&bytes));
        match lines.next() {
            Some(golden) => {
                assert_eq!(golden, line, "{file}:{}: the bytes of {frame:?} have changed", no + 1)
            }
            None => assert!(rewrite, "{file} lacks line {}: {line}", no + 1),
        }
        all += &line;
        all.push('\n');
    }
    assert_eq!(lines.next(), None, "{file} has more lines than there are messages");
    if all != kept {
        fs::write(&path, all).expect("it can be written");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
