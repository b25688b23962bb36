//! Reads scenario files.
//!
//! | step | file | an error says |
//! |---|---|---|
//! | text to tables | `bellwether-toml` | where the TOML is broken |
//! | tables to values | `raw.rs`, `values.rs` | which key is unknown, which value has the wrong shape |
//! | values to a scenario | `cluster.rs`, and a file for each section | what cannot be in *this* cluster |
//!
//! Every error names the line, and what would have been right.

pub(crate) mod cluster;
mod events;
mod exclusive;
mod expect;
mod model;
mod policy;
mod raw;
pub(crate) mod values;
mod world;

use std::path::Path;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::time::{Span, Time};
use bellwether_toml::{FileError, Spanned, Wrong};

use super::{NODES_MAX, Scenario, UNTIL_MAX, defaults};
use cluster::{Cluster, named, positive, within};
use raw::RawScenario;
use values::{Duration, Whole};

/// What a command line may put in place of what a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// The algorithm.
    pub protocol: Option<Protocol>,
    /// Repaired or printed.
    pub variant: Option<Variant>,
    /// The seed.
    pub seed: Option<u64>,
}

impl Scenario {
    /// Reads a scenario. `file` is the name to use in messages; its stem names a scenario that has no name.
    pub fn parse(file: &str, text: &str) -> Result<Self, FileError> {
        Self::parse_with(file, text, &Overrides::default())
    }

    /// As [`Scenario::parse`], with the overrides in place before defaults are derived: another protocol may bring
    /// another detector. The file must be valid in what it says itself, too.
    pub fn parse_with(file: &str, text: &str, overrides: &Overrides) -> Result<Self, FileError> {
        let raw = bellwether_toml::read(text);
        raw.and_then(|raw| scenario(file, raw, overrides)).map_err(|wrong| wrong.locate(file, text))
    }
}

fn scenario(file: &str, raw: RawScenario, overrides: &Overrides) -> Result<Scenario, Wrong> {
    let cluster = Cluster {
        protocol: protocol(&raw.protocol, overrides)?,
        nodes: within("nodes", &raw.nodes, 1..=NODES_MAX)?,
        until: end(&raw.until)?,
        agent: raw.agent.unwrap_or(false),
    };
    if let Some(most) = cluster.protocol.spec().nodes_max().filter(|most| cluster.nodes as usize > *most) {
        let (found, name) = (cluster.nodes, cluster.protocol.name());
        let message = format!(
            "`nodes` is {found}, expected at most {most} with {name}, whose views name their members"
        );
        return Err(Wrong::at(raw.nodes.span(), message));
    }
    let policy = cluster.policy(&raw)?;
    let exclusive = cluster.exclusive(&raw)?;
    let disk = cluster.disk(&raw.disk.0)?;
    let parameters = cluster.parameters(&raw.parameters.0)?;
    let network = cluster.network(raw.network.0, &parameters)?;
    let timing = cluster.timing(&raw.timing.0, &network)?;
    let drift_ppm = cluster.drift_ppm(&raw.clock.0)?;
    let events = cluster.events(raw.event)?;
    let expect = cluster.expect(raw.expect.0, &events)?;
    Ok(Scenario {
        name: raw.name.unwrap_or_else(|| stem(file)),
        protocol: cluster.protocol,
        variant: variant(raw.variant.as_ref(), overrides)?,
        nodes: cluster.nodes,
        seed: seed(raw.seed.as_ref(), overrides)?,
        until: cluster.until,
        agent: cluster.agent,
        policy,
        exclusive,
        disk,
        network,
        timing,
        detector: cluster.detector(&raw.detector.0, timing.tau)?,
        parameters,
        drift_ppm,
        events,
        expect,
    })
}

/// When the run ends.
fn end(given: &Spanned<Duration>) -> Result<Time, Wrong> {
    let until = positive("until", given)?;
    if until > UNTIL_MAX {
        let hours = UNTIL_MAX.as_micros() / Span::secs(60 * 60).as_micros();
        let message = format!("`until` is {until}, expected at most \"{hours}h\"");
        return Err(Wrong::at(given.span(), message));
    }
    Ok(Time::ZERO + until)
}

fn protocol(given: &Spanned<String>, overrides: &Overrides) -> Result<Protocol, Wrong> {
    let given = named("protocol", given, Protocol::by_name, &Protocol::ALL.map(Protocol::name))?;
    Ok(overrides.protocol.unwrap_or(given))
}

fn variant(given: Option<&Spanned<String>>, overrides: &Overrides) -> Result<Variant, Wrong> {
    let names = Variant::ALL.map(Variant::name);
    let given = given.map(|given| named("variant", given, Variant::by_name, &names)).transpose()?;
    Ok(overrides.variant.or(given).unwrap_or(Variant::Repaired))
}

fn seed(given: Option<&Spanned<Whole>>, overrides: &Overrides) -> Result<u64, Wrong> {
    let given = given.map(|seed| within("seed", seed, 0..=u64::MAX)).transpose()?;
    Ok(overrides.seed.or(given).unwrap_or(defaults::SEED))
}

fn stem(file: &str) -> String {
    Path::new(file).file_stem().map_or_else(|| file.to_owned(), |stem| stem.to_string_lossy().into_owned())
}
