//! The arguments of `compare`.

use std::path::PathBuf;

use bellwether_proto::election::Protocol;
use bellwether_proto::time::{ParseSpanError, Span};
use bellwether_sim::plan::FaultClass;
use bellwether_sim::scenario::Latency;
use clap::ArgGroup;

use super::check::{Sizes, fault};
use super::{protocol, seed};

#[derive(Debug, clap::Args)]
#[command(group(ArgGroup::new("what").args(["models", "families", "scenario", "nodes"])))]
#[command(group(ArgGroup::new("compared").args(["scenario", "nodes"])))]
pub(crate) struct CompareArgs {
    /// Play FILE with every protocol, one row for each
    #[arg(long, value_name = "FILE")]
    pub(crate) scenario: Option<PathBuf>,
    /// Measure clusters of these sizes: 5, 3,5,9 or 3..=5; one row for each protocol and size
    #[arg(long, value_name = "N", value_parser = Sizes::parse)]
    pub(crate) nodes: Option<Sizes>,
    /// Measure the eventual leader protocols in every network model; `compare` without arguments does this
    #[arg(long)]
    pub(crate) models: bool,
    /// Count the messages that a leader's crash costs in Garcia-Molina's family and in Stoller's, at 4 to 64 nodes
    #[arg(long)]
    pub(crate) families: bool,
    /// Which protocols; by default those for real networks
    #[arg(long, value_name = "P", value_delimiter = ',', value_parser = protocol(), requires = "compared", conflicts_with_all = ["models", "families"])]
    pub(crate) protocols: Option<Vec<Protocol>>,
    #[command(flatten)]
    pub(crate) figures: FiguresArgs,
    /// How many runs of each, at different moments and with different seeds; by default 100, with --models 5, with
    /// --families 20 orders
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) runs: Option<u32>,
    /// The seed of the first run; the others follow it. By default the file's, or 1
    #[arg(long, value_name = "S", value_parser = seed, allow_negative_numbers = true, requires = "compared", conflicts_with_all = ["models", "families"])]
    pub(crate) seed: Option<u64>,
    /// How many runs at a time; by default one for each core. The result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024), requires = "compared", conflicts_with_all = ["models", "families"])]
    pub(crate) threads: Option<u16>,
    /// Draw the figures, for a slide
    #[arg(long, value_name = "FILE.svg", requires = "compared", conflicts_with_all = ["models", "families"])]
    pub(crate) plot: Option<PathBuf>,
    /// Write the figures as CSV, one line for each row
    #[arg(long, value_name = "FILE.csv", requires = "compared", conflicts_with_all = ["models", "families"])]
    pub(crate) csv: Option<PathBuf>,
    /// Also write the output of --models or --families to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "compared")]
    pub(crate) out: Option<PathBuf>,
    /// Print one JSON object for each row, one per line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The user's own network. (Both `requires` and `conflicts_with` are needed: clap accepts an option whose required
/// option is excluded.)
#[derive(Debug, clap::Args)]
pub(crate) struct FiguresArgs {
    /// Which faults happen in every run: crash (of the leader, once), and after that at random recover
    /// (restarts), loss, duplicate, delay, pause, partition
    #[arg(
        long,
        value_name = "FAULTS",
        value_delimiter = ',',
        default_value = "crash,recover",
        value_parser = fault(),
        hide_possible_values = true,
        requires = "nodes", conflicts_with_all = ["scenario", "models", "families"]
    )]
    pub(crate) faults: Vec<FaultClass>,
    /// How long a message takes one way: one time, or a range from which times are drawn evenly
    #[arg(long, value_name = "TIME", default_value = "1ms..5ms", value_parser = latency, requires = "nodes", conflicts_with_all = ["scenario", "models", "families"])]
    pub(crate) latency: Latency,
    /// The probability that a message is lost
    #[arg(long, value_name = "P", default_value = "0", value_parser = loss, allow_negative_numbers = true, requires = "nodes", conflicts_with_all = ["scenario", "models", "families"])]
    pub(crate) loss: f64,
    /// How often the leader sends a sign of life
    #[arg(long, value_name = "TIME", default_value = "50ms", value_parser = period, requires = "nodes", conflicts_with_all = ["scenario", "models", "families"])]
    pub(crate) period: Span,
    /// Run nodes as an agent does: with connections, so that the death of a process is noticed at once, and with
    /// announcements of the leader
    #[arg(long, requires = "nodes", conflicts_with_all = ["scenario", "models", "families"])]
    pub(crate) agent: bool,
}

fn latency(text: &str) -> Result<Latency, String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let (low, high) = (span(low)?, span(high)?);
    if low > high {
        return Err(format!("the range is upside down, expected {high}..{low}"));
    }
    // A run is hundreds of timeouts, and the clock must not come to its end.
    within("a latency", high)?;
    Ok(Latency { low, high })
}

fn period(text: &str) -> Result<Span, String> {
    match span(text)? {
        Span::ZERO => Err("found no time at all, expected a period such as 50ms".to_owned()),
        period => within("a period", period),
    }
}

fn span(text: &str) -> Result<Span, String> {
    text.parse().map_err(|error: ParseSpanError| error.to_string())
}

fn within(what: &str, span: Span) -> Result<Span, String> {
    let most = Span::secs(3_600);
    if span > most { Err(format!("found {span}, expected {what} of at most {most}")) } else { Ok(span) }
}

fn loss(text: &str) -> Result<f64, String> {
    let loss: Option<f64> = text.parse().ok();
    loss.filter(|loss| (0.0..1.0).contains(loss))
        .ok_or_else(|| "expected a probability from 0 to less than 1, such as 0.01".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_people_write_them() {
        let ms = Span::millis;
        assert_eq!(latency("2ms"), Ok(Latency::constant(ms(2))));
        assert_eq!(latency("1ms..5ms"), Ok(Latency { low: ms(1), high: ms(5) }));
        assert_eq!(latency("0ms"), Ok(Latency::constant(Span::ZERO)));
        assert_eq!(latency("5ms..1ms").unwrap_err(), "the range is upside down, expected 1ms..5ms");
        assert!(latency("..").is_err() && latency("1ms..").is_err() && latency("5").is_err());
        assert!(latency("2h").is_err() && period("0ms").is_err() && period("-1ms").is_err());
        assert_eq!((loss("0"), loss("0.25")), (Ok(0.0), Ok(0.25)));
        assert!(["1", "-0.1", "NaN", "x", "1e999"].into_iter().all(|text| loss(text).is_err()));
    }
}
