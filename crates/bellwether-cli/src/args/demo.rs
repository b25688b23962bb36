//! The arguments of `demo`.

use std::path::PathBuf;
use std::time::Duration;

use bellwether::GrantKind;
use bellwether_rain::code::{NODES_MAX, NODES_MIN};
use bellwether_rain::picture::Picture;
use clap::Subcommand;

use super::{kind, seed};
use crate::duration;

#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    #[command(subcommand)]
    pub(crate) command: DemoCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DemoCommand {
    /// Workers compute a picture, some are killed, and the fault manager saves their work
    #[command(after_help = format!("{STORY}\n\n{}\n  130  it was ended before the picture was done", super::EXIT_CODES))]
    Rain(RainArgs),
    /// One of the workers of `demo rain`
    // Its name is unlike any that somebody could mistype.
    #[command(hide = true, name = "worker-of-rain")]
    RainWorker(RainWorkerArgs),
    /// The leader writes through a store that checks tokens; leaders are killed and stopped
    #[command(after_help = format!("{FENCE}\n\n{}\n  130  it was ended before anything was written", super::EXIT_CODES))]
    Writer(WriterArgs),
    /// One of the agents of `demo writer`
    #[command(hide = true, name = "agent-that-writes")]
    Pen(PenArgs),
}

const STORY: &str = "\
By default a third of the workers is killed when 20 % of the picture are done, the fault manager among them, and revived \
at 50 %; then one is paused at 65 % and resumed at 80 %.";

const FENCE: &str = "\
Whoever leads writes numbered lines. By turns a leader is killed (SIGKILL), or stopped (SIGSTOP) until another writes and then \
continued. One that was stopped wakes up with a line in its hands, and the store refuses it. At the end the file is judged: exit \
code 0 only if its tokens never go backwards, each has one writer, and no number is left out or used twice.";

#[derive(Debug, clap::Args)]
pub(crate) struct WriterArgs {
    /// What makes a leadership valid: a deadline, or the store
    #[arg(long, value_name = "K", default_value = GrantKind::Token.name(), value_parser = kind())]
    pub(crate) kind: GrantKind,
    /// How long they write; Ctrl-C ends it sooner, and what was written is judged all the same
    #[arg(long = "for", value_name = "DURATION", default_value = "20s", value_parser = duration::parse)]
    pub(crate) length: Duration,
    /// Kill and stop leaders yourself: with keys, or with `bellwether up stop 3` from another terminal
    #[arg(long)]
    pub(crate) by_hand: bool,
    /// Have the store take every token, and see what becomes of the file
    #[arg(long)]
    pub(crate) no_fence: bool,
    /// Print events as JSON objects, one per line; the last is the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep the file, configurations and logs in DIR, which is not removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PenArgs {
    /// The configuration of its agent
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// Where the store listens
    #[arg(long, value_name = "SOCKET")]
    pub(crate) store: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RainArgs {
    /// How many workers, 3 to 9
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = nodes, allow_negative_numbers = true)]
    pub(crate) nodes: u32,
    /// How many of a row's N shards rebuild it. At least that many workers, and a majority, must be left [default: two
    /// thirds of N]
    #[arg(long, value_name = "K", value_parser = data, allow_negative_numbers = true)]
    pub(crate) data: Option<u32>,
    /// The size of the picture
    #[arg(long, value_name = "WxH", default_value = "480x320", value_parser = size)]
    pub(crate) size: Picture,
    /// How many rows of a tile a worker computes per second, as if it had a machine of its own
    #[arg(long, value_name = "ROWS", default_value_t = 30.0, value_parser = pace, allow_negative_numbers = true)]
    pub(crate) pace: f64,
    /// Which workers are killed and paused
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) story: StoryArgs,
    /// The file for the picture
    #[arg(long, value_name = "FILE.png", default_value = "rain.png")]
    pub(crate) out: PathBuf,
    /// Print events as JSON objects, one per line; the last is the summary
    #[arg(long)]
    pub(crate) json: bool,
    /// Keep configurations, shards and logs in DIR, which is not removed at the end
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// What happens to the workers. By default a third is killed and revived, then one is paused and resumed.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct StoryArgs {
    /// Let nothing happen to the workers
    #[arg(long)]
    pub(crate) calm: bool,
    /// Kill a third of them, and do not revive them
    #[arg(long)]
    pub(crate) no_return: bool,
    /// Kill and pause workers yourself: with keys, or with `bellwether up kill 3` from another terminal
    #[arg(long)]
    pub(crate) by_hand: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RainWorkerArgs {
    /// The configuration of its agent
    #[arg(long, value_name = "FILE")]
    pub(crate) config: PathBuf,
    /// The job of all workers
    #[arg(long, value_name = "FILE")]
    pub(crate) job: PathBuf,
}

fn nodes(text: &str) -> Result<u32, String> {
    let nodes: Option<u32> = text.parse().ok();
    nodes
        .filter(|nodes| (NODES_MIN..=NODES_MAX).contains(nodes))
        .ok_or_else(|| format!("expected a whole number from {NODES_MIN} to {NODES_MAX}"))
}

/// How many there may be depends on how many workers there are.
fn data(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "expected a whole number, fewer than there are workers".to_owned())
}

fn size(text: &str) -> Result<Picture, String> {
    let numbers =
        text.split_once('x').and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let (width, height) = numbers.ok_or("expected a width and a height in pixels, as in 480x320")?;
    Picture::new(width, height).map_err(|error| error.to_string())
}

fn pace(text: &str) -> Result<f64, String> {
    let pace: Option<f64> = text.parse().ok();
    pace.filter(|pace| (0.1..=1000.0).contains(pace))
        .ok_or_else(|| "expected a number from 0.1 to 1000".to_owned())
}
