//! The arguments of `check`.

use std::path::PathBuf;

use bellwether_proto::election::NOMINATES;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::explore::{judgeable, judgeable_of_agents};
use bellwether_sim::plan::FaultClass;
use bellwether_sim::scenario::NODES_MAX;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{protocol, seed, variant};

#[derive(Debug, clap::Args)]
#[group(id = "what", required = true, multiple = false, args = ["searched", "all", "trace"])]
pub(crate) struct CheckArgs {
    /// Search this algorithm for violations of its promises; or `exclusive`, the mode in which at most one leads at a time
    #[arg(value_name = "PROTOCOL", value_parser = searched())]
    pub(crate) searched: Option<Subject>,
    /// Search every algorithm
    #[arg(long)]
    pub(crate) all: bool,
    /// Judge the traces of one recorded run, one or more files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "for_searches")]
    pub(crate) trace: Vec<PathBuf>,
    /// How many nodes: 5, 3,5,7 or 3..=5; each plan draws one of these. For traces: if they do not say it
    #[arg(long, value_name = "N", value_parser = Sizes::parse)]
    pub(crate) nodes: Option<Sizes>,
    #[command(flatten)]
    pub(crate) search: SearchArgs,
    /// What was done to the nodes and links of a recorded run: crashes, recoveries, pauses and cuts, in the format of a
    /// trace
    #[arg(long, value_name = "FILE.jsonl", conflicts_with_all = ["searched", "all"])]
    pub(crate) truth: Option<PathBuf>,
    /// The algorithm of a recorded run, if its traces do not say it
    #[arg(long, value_name = "P", value_parser = protocol(), conflicts_with_all = ["searched", "all"])]
    pub(crate) protocol: Option<Protocol>,
    /// Print one JSON object for each algorithm, or for the recorded run
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) bounds: BoundsArgs,
}

/// What is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Algorithm(Protocol),
    /// Members of which at most one leads at a time.
    Exclusive,
}

impl Subject {
    /// The name of the mode, beside those of algorithms.
    pub(crate) const EXCLUSIVE: &str = "exclusive";

    /// The algorithm that runs.
    pub(crate) fn protocol(self) -> Protocol {
        match self {
            Self::Algorithm(protocol) => protocol,
            Self::Exclusive => NOMINATES,
        }
    }
}

fn searched() -> impl TypedValueParser<Value = Subject> {
    let names = Protocol::ALL.map(Protocol::name).into_iter().chain([Subject::EXCLUSIVE]);
    PossibleValuesParser::new(names)
        .map(|name| Protocol::by_name(&name).map_or(Subject::Exclusive, Subject::Algorithm))
}

#[derive(Debug, clap::Args)]
#[group(id = "for_searches", multiple = true)]
pub(crate) struct SearchArgs {
    /// How many plans to play
    #[arg(long, value_name = "R", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: u64,
    /// The seed of the first plan; the others follow it
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub(crate) seed: u64,
    /// Which faults may happen: crash, recover, loss, duplicate, delay, pause, partition; by default all under
    /// which the algorithm promises something
    #[arg(long, value_name = "FAULTS", value_delimiter = ',', value_parser = fault(), hide_possible_values = true)]
    pub(crate) faults: Option<Vec<FaultClass>>,
    /// Which variant: repaired, judged by our promises, or printed, judged by the paper's claims
    #[arg(long, value_name = "V", default_value = "repaired", value_parser = variant())]
    pub(crate) variant: Variant,
    /// Run nodes as an agent does: with connections, and with announcements of the leader
    #[arg(long)]
    pub(crate) agent: bool,
    /// Run agents of which at most one leads at a time (fjr)
    #[arg(long, conflicts_with_all = ["agent", "exhaustive"])]
    pub(crate) exclusive: bool,
    /// Look at every state within bounds, instead of random plans
    #[arg(long, conflicts_with_all = ["runs", "seed", "faults"])]
    pub(crate) exhaustive: bool,
    /// Write the scenario, the trace and a picture of each violation to this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Draw the first violation, if there is one
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) diagram: Option<PathBuf>,
    /// How many plans to play at a time; by default one for each core. The result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_024))]
    pub(crate) threads: Option<u16>,
}

/// How far a search of every state goes. Without these, what suits the algorithm.
#[derive(Debug, clap::Args)]
#[group(id = "for_exhaustive", multiple = true, conflicts_with = "trace")]
#[command(next_help_heading = "Bounds of --exhaustive")]
pub(crate) struct BoundsArgs {
    /// How often nodes crash
    #[arg(long, value_name = "N")]
    pub(crate) crashes: Option<u8>,
    /// How often nodes come back
    #[arg(long, value_name = "N")]
    pub(crate) recoveries: Option<u8>,
    /// How many messages are lost
    #[arg(long, value_name = "N")]
    pub(crate) losses: Option<u8>,
    /// How many messages arrive twice
    #[arg(long, value_name = "N")]
    pub(crate) duplicates: Option<u8>,
    /// How often a failure detector reports a node wrongly, or one end of a consistent link fails
    #[arg(long, value_name = "N")]
    pub(crate) lies: Option<u8>,
    /// How often deadlines expire, at all nodes together
    #[arg(long, value_name = "N")]
    pub(crate) expiries: Option<u8>,
    /// How often a node's clock runs on to just before its next deadline
    #[arg(long, value_name = "N")]
    pub(crate) waits: Option<u8>,
    /// With --agent: how often programs ask for something (resign, stand, leave, transfer)
    #[arg(long, value_name = "N")]
    pub(crate) commands: Option<u8>,
    /// With --agent: how many messages arrive before they must
    #[arg(long, value_name = "N")]
    pub(crate) early: Option<u8>,
    /// With --agent: the node that the others give way to, if the algorithm can hand over; 0 for none
    #[arg(long, value_name = "ID")]
    pub(crate) preferred: Option<u32>,
    /// With --agent: begin with nodes that have just started, instead of a settled group
    #[arg(long)]
    pub(crate) from_start: bool,
    /// How many messages may be under way from one node to another
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) in_flight: Option<u8>,
    /// Stop after N states. If there are more, say so, and exit with 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) states_max: Option<u64>,
    /// Judge these properties, even if they are not promised within the bounds
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = searchable(), hide_possible_values = true)]
    pub(crate) judge: Option<Vec<Property>>,
}

impl BoundsArgs {
    /// The first of them that was typed.
    pub(crate) fn typed(&self) -> Option<&'static str> {
        let Self { crashes, recoveries, losses, duplicates, lies, expiries, waits, in_flight, .. } = self;
        let counts = [
            (crashes, "--crashes"),
            (recoveries, "--recoveries"),
            (losses, "--losses"),
            (duplicates, "--duplicates"),
            (lies, "--lies"),
            (expiries, "--expiries"),
            (waits, "--waits"),
            (in_flight, "--in-flight"),
        ];
        let count = counts.into_iter().find(|(count, _)| count.is_some()).map(|(_, name)| name);
        let others = [(self.states_max.is_some(), "--states-max"), (self.judge.is_some(), "--judge")];
        let other = others.into_iter().find(|(typed, _)| *typed).map(|(_, name)| name);
        count.or(other).or_else(|| self.typed_for_agents())
    }

    /// The first of them that was typed and is for agents.
    pub(crate) fn typed_for_agents(&self) -> Option<&'static str> {
        let all = [
            (self.commands.is_some(), "--commands"),
            (self.early.is_some(), "--early"),
            (self.preferred.is_some(), "--preferred"),
            (self.from_start, "--from-start"),
        ];
        all.into_iter().find(|(typed, _)| *typed).map(|(_, name)| name)
    }
}

/// How large clusters may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<u32>);

impl Sizes {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number: Option<u32> = text.parse().ok();
            number.filter(|number| *number <= NODES_MAX).ok_or_else(|| {
                format!("expected a number up to {NODES_MAX}, a list such as 3,5,7 or a range such as 3..=5")
            })
        };
        if let Some((low, high)) = text.split_once("..=") {
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return Err(format!("the range is upside down, expected {high}..={low}"));
            }
            return Ok(Self((low..=high).collect()));
        }
        let mut sizes = text.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }

    /// As it may be typed.
    pub(crate) fn typed(sizes: &[u32]) -> String {
        match sizes {
            [low, .., high] if (*low..=*high).eq(sizes.iter().copied()) => format!("{low}..={high}"),
            sizes => sizes.iter().map(u32::to_string).collect::<Vec<_>>().join(","),
        }
    }
}

fn searchable() -> impl TypedValueParser<Value = Property> {
    let judgeable = |property: &Property| judgeable(*property) || judgeable_of_agents(*property);
    let names = Property::ALL.into_iter().filter(judgeable).map(Property::name);
    PossibleValuesParser::new(names)
        .map(|name| Property::by_name(&name).expect("only names of properties are let through"))
}

pub(super) fn fault() -> impl TypedValueParser<Value = FaultClass> {
    PossibleValuesParser::new(FaultClass::ALL.map(FaultClass::name))
        .map(|name| FaultClass::by_name(&name).expect("only names of faults are let through"))
}

#[cfg(test)]
mod tests {
    use super::Sizes;

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, sizes, typed) in [
            ("5", &[5][..], "5"),
            ("3..=5", &[3, 4, 5], "3..=5"),
            ("7,3,3", &[3, 7], "3,7"),
            ("3,4", &[3, 4], "3..=4"),
        ] {
            assert_eq!(Sizes::parse(text), Ok(Sizes(sizes.to_vec())), "{text}");
            assert_eq!(Sizes::typed(sizes), typed);
        }
        for text in ["", "x", "-1", "5..=3", "3..5", "3,,5", "4001", "1..=4294967295"] {
            assert!(Sizes::parse(text).is_err(), "{text}");
        }
    }
}
