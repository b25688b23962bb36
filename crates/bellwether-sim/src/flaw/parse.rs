//! Reads the files of flaws. Every error names the line, and what was expected.

use std::collections::BTreeSet;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::{Assumption, Property};
use bellwether_proto::time::Time;
use bellwether_toml::{FileError, Spanned, Wrong};
use serde::Deserialize;

use super::{Evidence, Fixed, Flaw, Hunt};
use crate::plan::limits::{NODES_MAX, NODES_MIN};
use crate::plan::{Allowed, FaultClass, Limits};
use crate::scenario::Bound;
use crate::scenario::parse::cluster::{is_kind, named, positive, unknown_kind, within};
use crate::scenario::parse::values::{
    Content, Delay, Duration, Entries, Limit, List, Probability, Table, Whole,
};
use crate::shrink::{Blame, Broken, Ends, Goal};

const RUNS_MAX: u64 = 1_000_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFlaw {
    erratum: Spanned<String>,
    title: String,
    reason: Option<Spanned<String>>,
    scenario: Option<Spanned<String>>,
    protocol: Option<Spanned<String>>,
    story: Option<Spanned<String>>,
    property: Option<Spanned<String>>,
    cost: Option<Spanned<Entries<Limit>>>,
    #[serde(default)]
    waive: List<String>,
    #[serde(default)]
    keep: List<String>,
    unrepaired: Option<Spanned<String>>,
    search: Option<Spanned<Table<RawSearch>>>,
    #[serde(default)]
    fixed: Table<RawFixed>,
    #[serde(default)]
    shows: Table<RawShows>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSearch {
    seed: Spanned<Whole>,
    runs: Spanned<Whole>,
    nodes: Option<List<Whole>>,
    rage: Option<Spanned<Duration>>,
    faults: Spanned<List<String>>,
    kinds: Option<List<String>>,
    detectors: Option<List<String>>,
}

impl Content for RawSearch {
    const EXPECTED: &'static str = "one table [search]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFixed {
    latency: Option<Delay>,
    loss: Option<Probability>,
    duplicate: Option<Probability>,
    fifo: Option<bool>,
    delta: Option<Spanned<Duration>>,
    tau: Option<Spanned<Duration>>,
    period: Option<Spanned<Duration>>,
    until: Option<Spanned<Duration>>,
    #[serde(default)]
    exact_clocks: bool,
}

impl Content for RawFixed {
    const EXPECTED: &'static str = "one table [fixed]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawShows {
    ends: Option<Spanned<String>>,
    #[serde(default)]
    messages: Entries<Limit>,
    blame: Option<Spanned<String>>,
    contrast: Option<bool>,
}

impl Content for RawShows {
    const EXPECTED: &'static str = "one table [shows]";
}

pub(super) fn flaw(file: &str, text: &str) -> Result<Flaw, FileError> {
    bellwether_toml::read(text).and_then(checked).map_err(|wrong| wrong.locate(file, text))
}

fn checked(raw: RawFlaw) -> Result<Flaw, Wrong> {
    let erratum = raw.erratum.get_ref().clone();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if erratum.is_empty() || !erratum.bytes().all(plain) {
        let message =
            format!("the erratum is `{erratum}`, expected letters, digits and dashes: it names files");
        return Err(Wrong::at(raw.erratum.span(), message));
    }
    let title = raw.title.clone();
    Ok(Flaw { erratum, title, evidence: evidence(raw)? })
}

/// Either a reason why no search shows it, or all that it takes to search.
fn evidence(raw: RawFlaw) -> Result<Evidence, Wrong> {
    let Some(reason) = &raw.reason else { return hunt(raw).map(|hunt| Evidence::Run(Box::new(hunt))) };
    let beside = [
        ("protocol", raw.protocol.as_ref().map(Spanned::span)),
        ("story", raw.story.as_ref().map(Spanned::span)),
        ("property", raw.property.as_ref().map(Spanned::span)),
        ("cost", raw.cost.as_ref().map(Spanned::span)),
        ("unrepaired", raw.unrepaired.as_ref().map(Spanned::span)),
        ("search", raw.search.as_ref().map(Spanned::span)),
    ];
    if let Some((key, Some(span))) = beside.into_iter().find(|(_, span)| span.is_some()) {
        let message = format!("`{key}` beside `reason`, expected a search or the reason why there is none");
        return Err(Wrong::at(span, message));
    }
    let scenario = raw.scenario.map(Spanned::into_inner);
    Ok(Evidence::Reason { why: reason.get_ref().clone(), scenario })
}

fn hunt(raw: RawFlaw) -> Result<Hunt, Wrong> {
    let missing = |key: &str| {
        let message = format!("no `{key}`, expected one in a file without `reason`");
        Wrong::at(raw.erratum.span(), message)
    };
    if let Some(scenario) = &raw.scenario {
        let message = "`scenario` without `reason`: the search finds its own";
        return Err(Wrong::at(scenario.span(), message));
    }
    let protocol = raw.protocol.as_ref().ok_or_else(|| missing("protocol"))?;
    let protocol = named("protocol", protocol, Protocol::by_name, &Protocol::ALL.map(Protocol::name))?;
    let story = raw.story.as_ref().ok_or_else(|| missing("story"))?.get_ref().clone();
    let search = raw.search.as_ref().ok_or_else(|| missing("search"))?;
    let broken = broken(&raw, || missing("property"))?;
    let fixed = fixed(&raw.fixed.0)?;
    if let (Broken::Cost(..), None, Some(cost)) = (&broken, fixed.until, &raw.cost) {
        let message = "a `cost` without `until` in [fixed], expected the time in which it arises";
        return Err(Wrong::at(cost.span(), message));
    }
    let goal = Goal {
        broken,
        waived: assumptions(&raw.waive)?,
        kept: assumptions(&raw.keep)?,
        contrast: raw.shows.0.contrast.unwrap_or(true),
        ends: ends(raw.shows.0.ends.as_ref())?,
        messages: messages(&raw.shows.0.messages)?,
        blame: blame(raw.shows.0.blame.as_ref())?,
    };
    let RawSearch { seed, runs, .. } = &search.get_ref().0;
    Ok(Hunt {
        protocol,
        story,
        goal,
        limits: limits(protocol, search)?,
        fixed,
        seed: within("seed", seed, 0..=u64::MAX - RUNS_MAX)?,
        runs: within("runs", runs, 1..=RUNS_MAX)?,
        unrepaired: raw.unrepaired.map(Spanned::into_inner),
    })
}

fn broken(raw: &RawFlaw, missing: impl Fn() -> Wrong) -> Result<Broken, Wrong> {
    match (&raw.property, &raw.cost) {
        (Some(property), None) => {
            let names = Property::ALL.map(Property::name);
            named("property", property, Property::by_name, &names).map(Broken::Property)
        }
        (None, Some(cost)) => {
            let mut bounds = messages(cost.get_ref())?;
            let one = bounds.pop().filter(|(_, bound)| bounds.is_empty() && bound.opposite().is_some());
            one.map(|(kind, bound)| Broken::Cost(kind, bound)).ok_or_else(|| {
                Wrong::at(cost.span(), "expected a single bound in `cost`, with one of <, <=, >= and >")
            })
        }
        (Some(_), Some(cost)) => {
            Err(Wrong::at(cost.span(), "`cost` beside `property`, expected one of them"))
        }
        (None, None) => Err(missing()),
    }
}

fn limits(protocol: Protocol, given: &Spanned<Table<RawSearch>>) -> Result<Limits, Wrong> {
    let raw = &given.get_ref().0;
    let mut limits = Limits::default();
    if let Some(nodes) = &raw.nodes {
        let nodes = nodes.0.iter().map(|nodes| within("nodes", nodes, NODES_MIN..=NODES_MAX));
        limits.nodes = nodes.collect::<Result<_, _>>()?;
    }
    if let Some(rage) = &raw.rage {
        limits.rages = vec![positive("rage", rage)?];
    }
    let classes = FaultClass::ALL.map(FaultClass::name);
    let faults = raw.faults.get_ref().0.iter();
    let faults = faults.map(|name| named("fault", name, FaultClass::by_name, &classes));
    limits.faults = Allowed::Only(faults.collect::<Result<BTreeSet<_>, _>>()?);
    if let Some(kinds) = &raw.kinds {
        limits.kinds = Some(kinds.0.iter().map(|kind| kind.get_ref().clone()).collect());
    }
    if let Some(detectors) = &raw.detectors {
        let names = DetectorKind::ALL.map(DetectorKind::name);
        let detectors = detectors.0.iter().map(|name| named("detector", name, DetectorKind::by_name, &names));
        limits.detectors = Some(detectors.collect::<Result<_, _>>()?);
    }
    let possible = limits.check(protocol, Variant::Printed);
    possible.map_err(|error| Wrong::at(raw.faults.span(), error.to_string()))?;
    Ok(limits)
}

fn fixed(raw: &RawFixed) -> Result<Fixed, Wrong> {
    let time = |key: &str, given: &Option<Spanned<Duration>>| {
        given.as_ref().map(|given| positive(key, given)).transpose()
    };
    Ok(Fixed {
        latency: raw.latency.map(|Delay(latency)| latency),
        loss: raw.loss.map(|Probability(loss)| loss),
        duplicate: raw.duplicate.map(|Probability(duplicate)| duplicate),
        fifo: raw.fifo,
        delta: time("delta", &raw.delta)?,
        tau: time("tau", &raw.tau)?,
        period: time("period", &raw.period)?,
        until: time("until", &raw.until)?.map(|span| Time::ZERO + span),
        exact_clocks: raw.exact_clocks,
    })
}

fn assumptions(names: &List<String>) -> Result<Vec<Assumption>, Wrong> {
    let known = Assumption::ALL.map(Assumption::name);
    names.0.iter().map(|name| named("assumption", name, Assumption::by_name, &known)).collect()
}

fn ends(given: Option<&Spanned<String>>) -> Result<Option<Ends>, Wrong> {
    let by_name = |name: &str| Ends::ALL.into_iter().find(|ends| ends.name() == name);
    given.map(|given| named("status", given, by_name, &Ends::ALL.map(Ends::name))).transpose()
}

fn blame(given: Option<&Spanned<String>>) -> Result<Option<Blame>, Wrong> {
    let by_name = |name: &str| match name {
        "order" => Some(Blame::Order),
        "loss" => Some(Blame::Loss),
        "recovery" => Some(Blame::Recovery),
        kind => is_kind(kind).then(|| Blame::Message(kind.to_owned())),
    };
    let names = ["order", "loss", "recovery", "a kind of message"];
    given.map(|given| named("cause", given, by_name, &names)).transpose()
}

fn messages(given: &Entries<Limit>) -> Result<Vec<(String, Bound)>, Wrong> {
    let bound = |(name, limit): &(Spanned<String>, Spanned<Limit>)| {
        if is_kind(name.get_ref()) {
            return Ok((name.get_ref().clone(), limit.get_ref().0));
        }
        Err(unknown_kind(name, "one that some algorithm has"))
    };
    given.0.iter().map(bound).collect()
}
