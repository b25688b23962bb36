//! The request, checked before anything is done.

use std::path::{Path, PathBuf};

use bellwether_rain::code::{BadCode, Code};
use bellwether_rain::job::Job;

use super::script::Story;
use crate::args::demo::{RainArgs, StoryArgs};
use crate::trouble::Trouble;

/// A demonstration that can be given.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) job: Job,
    pub(super) pace: f64,
    pub(super) seed: u64,
    pub(super) story: Story,
    pub(super) out: PathBuf,
    pub(super) json: bool,
    pub(super) dir: Option<PathBuf>,
}

impl Request {
    pub(super) fn check(args: &RainArgs) -> Result<Self, Trouble> {
        let data = args.data.unwrap_or(args.nodes.saturating_mul(2) / 3);
        let code = Code::new(args.nodes, data).map_err(|error| match error {
            BadCode::Nodes(_) => format!("--nodes: {error}"),
            BadCode::NoData { .. } | BadCode::NoneSpare { .. } => format!("--data: {error}"),
        })?;
        let story = story(args.story);
        let left = args.nodes - third(args.nodes);
        if story == Story::NoReturn && left < needed(&code) {
            let needed = needed(&code);
            return Err(Trouble::wrong(format!(
                "--no-return: of {} workers a third is killed, and {left} are left; {needed} are needed",
                args.nodes
            )));
        }
        writable_place(&args.out)?;
        Ok(Self {
            job: Job { picture: args.size, code },
            pace: args.pace,
            seed: args.seed,
            story,
            out: args.out.clone(),
            json: args.json,
            dir: args.dir.clone(),
        })
    }
}

/// How many are a third, rounded down.
pub(super) fn third(nodes: u32) -> u32 {
    nodes / 3
}

/// How many workers must be left so that the picture can go on: enough to rebuild a row, and a majority, without which
/// there is no view.
pub(super) fn needed(code: &Code) -> u32 {
    code.data().max(code.nodes() / 2 + 1)
}

fn story(args: StoryArgs) -> Story {
    match args {
        StoryArgs { calm: true, .. } => Story::Calm,
        StoryArgs { no_return: true, .. } => Story::NoReturn,
        StoryArgs { by_hand: true, .. } => Story::ByHand,
        StoryArgs { .. } => Story::Whole,
    }
}

/// A picture that could not be written at the end would be a pity.
fn writable_place(out: &Path) -> Result<(), String> {
    let dir = out.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if out.is_dir() || out.file_name().is_none() {
        return Err(format!("--out: {} is a directory, expected a file", out.display()));
    }
    if !out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("png")) {
        return Err(format!("--out: {} does not end in .png, and the picture is a PNG file", out.display()));
    }
    if !dir.is_dir() {
        return Err(format!("--out: there is no directory {}", dir.display()));
    }
    Ok(())
}
