//! The report of a run: the object that `bellwether sim --json` prints.

use std::collections::BTreeMap;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::message::Layer;
use bellwether_proto::opinion::{Opinion, Status};
use bellwether_proto::promise::Property;
use bellwether_proto::time::Time;
use serde::{Serialize, Serializer};

use crate::check::{Finding, Violation};
use crate::environment::promises_ever;
use crate::journal::Accounts;
use crate::operations::Operation;
use crate::scenario::Scenario;

/// The outcome of one scenario. Field names are a stable format.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub scenario: String,
    /// The algorithm.
    #[serde(serialize_with = "name")]
    pub protocol: Protocol,
    /// Repaired or printed.
    #[serde(serialize_with = "name")]
    pub variant: Variant,
    /// How many nodes.
    pub nodes: u32,
    /// The seed.
    pub seed: u64,
    /// When the run ended, in microseconds.
    pub ended_at_us: u64,
    /// Each node at the end.
    #[serde(rename = "final")]
    pub last: Vec<FinalNode>,
    /// Its messages.
    pub messages: Messages,
    /// The outcome of each restricted operation that was asked for.
    pub operations: Vec<Operation>,
    /// How often a node began to lead, the first time not counted.
    pub leader_changes: u64,
    /// The verdict on each property that applied.
    pub properties: Vec<Judged>,
    /// The verdict on each expectation of the file.
    pub expectations: Vec<Expectation>,
    /// The hash over the binary form of the trace.
    pub trace_hash: String,
}

/// A node at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FinalNode {
    /// Its id.
    pub node: u32,
    /// Whether it is up.
    pub up: bool,
    /// Its status.
    #[serde(serialize_with = "name")]
    pub status: Status,
    /// The leader it names.
    pub leader: Option<u32>,
    /// Its group.
    pub group: Option<String>,
    /// The leader that it announces, and the epoch, if nodes run as agents.
    #[serde(skip)]
    pub announced: Option<(u32, u64)>,
}

/// The messages of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Messages {
    /// Sent.
    pub sent: u64,
    /// Received.
    pub delivered: u64,
    /// Lost.
    pub lost: u64,
    /// Sent by the election algorithm.
    pub protocol: u64,
    /// Sent by the failure detector and the link.
    pub detector: u64,
    /// Sent, by kind.
    pub by_kind: BTreeMap<&'static str, u64>,
}

/// The verdict on a property.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// Which.
    #[serde(rename = "name", serialize_with = "name")]
    pub property: Property,
    /// Whether it held.
    pub holds: bool,
    /// If not, how it was first broken.
    pub violation: Option<String>,
}

/// The verdict on an expectation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Expectation {
    /// Which: `leader`, `group`, `outcome`, `epoch`, `holds`, `violates` or `messages`.
    pub what: &'static str,
    /// Whether it was met.
    pub met: bool,
    /// If not, why.
    pub detail: Option<String>,
}

/// What a run leaves behind to report on.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) last: Vec<FinalNode>,
    pub(crate) accounts: Accounts,
    pub(crate) leader_changes: u64,
    pub(crate) operations: Vec<Operation>,
    pub(crate) hash: u64,
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    pub(crate) fn new(scenario: &Scenario, played: Played) -> Self {
        let expectations = expectations(scenario, &played);
        let Played { last, accounts, leader_changes, operations, hash, findings } = played;
        Self {
            scenario: scenario.name.clone(),
            protocol: scenario.protocol,
            variant: scenario.variant,
            nodes: scenario.nodes,
            seed: scenario.seed,
            ended_at_us: scenario.until.as_micros(),
            messages: Messages::new(&accounts),
            operations,
            leader_changes,
            properties: findings.iter().map(Judged::new).collect(),
            expectations,
            last,
            trace_hash: format!("{hash:016x}"),
        }
    }

    /// Whether every expectation was met and nothing broke that the file does not say must break.
    pub fn passed(&self, scenario: &Scenario) -> bool {
        let unexpected =
            |judged: &&Judged| !judged.holds && !scenario.expect.violates.contains(&judged.property);
        self.expectations.iter().all(|expectation| expectation.met)
            && !self.properties.iter().any(|j| unexpected(&j))
    }
}

impl FinalNode {
    pub(crate) fn new(id: NodeId, opinion: &Opinion, announced: Option<(NodeId, u64)>) -> Self {
        Self {
            node: id.0,
            up: *opinion != Opinion::DOWN,
            status: opinion.status,
            leader: opinion.leader.map(|leader| leader.0),
            group: opinion.group.map(|group| group.to_string()),
            announced: announced.map(|(leader, epoch)| (leader.0, epoch)),
        }
    }
}

impl Messages {
    fn new(accounts: &Accounts) -> Self {
        Self {
            sent: accounts.sent,
            delivered: accounts.delivered,
            lost: accounts.lost,
            protocol: accounts.of_layer(Layer::Protocol),
            detector: accounts.of_layer(Layer::Overhead),
            by_kind: accounts.by_kind(),
        }
    }
}

impl Judged {
    fn new(finding: &Finding) -> Self {
        let tell = |at: Time, what: &str| format!("at {at}: {what}");
        Self {
            property: finding.property,
            holds: finding.violation.is_none(),
            violation: finding.violation.as_ref().map(|violation| tell(violation.at, &violation.what)),
        }
    }
}

/// One entry for each key of `[expect]` that the file has.
fn expectations(scenario: &Scenario, played: &Played) -> Vec<Expectation> {
    let Played { last, accounts, operations, findings, .. } = played;
    let expect = &scenario.expect;
    let verdict = |property: &Property| findings.iter().find(|finding| finding.property == *property);
    let at_end = |node: &NodeId| last.iter().find(|last| last.node == node.0);
    let leaders = expect.leader.iter().filter_map(|(node, leader)| {
        let FinalNode { leader: found, status, .. } = at_end(node)?;
        (*found != Some(leader.0)).then(|| match found {
            Some(other) => format!("node {node} names {other}, not {leader}"),
            None => format!("node {node} names nobody ({status}), not {leader}"),
        })
    });
    let groups = expect.group.iter().filter_map(|(node, group)| {
        let found = at_end(node)?.group.as_deref();
        (found != Some(&group.to_string())).then(|| match found {
            Some(other) => format!("node {node} is in {other}, not in {group}"),
            None => format!("node {node} is in no group, not in {group}"),
        })
    });
    let fates = expect.outcome.iter().filter_map(|(op, expected)| {
        let found = operations.iter().find(|operation| operation.op == op.0)?.outcome;
        (found != *expected).then(|| format!("operation {op} is {found}, not {expected}"))
    });
    let epochs = expect.epoch.iter().filter_map(|(node, epoch)| {
        let found = at_end(node)?.announced;
        (found.map(|(_, found)| found) != Some(*epoch)).then(|| match found {
            Some((leader, found)) => {
                format!("node {node} announces {leader} with epoch {found}, not {epoch}")
            }
            None => format!("node {node} announces nobody, not epoch {epoch}"),
        })
    });
    // A file may be run with another algorithm than it was written for.
    let foreign = |property: &Property| match promises_ever(scenario, *property) {
        true => String::new(),
        false => format!("; {} never promises {property}", scenario.protocol.name()),
    };
    let nothing = |property| format!("{property} had nothing to judge in this run{}", foreign(property));
    let holds = expect.holds.iter().filter_map(|property| match verdict(property) {
        None => Some(nothing(property)),
        Some(finding) => {
            let broken =
                |violation: &Violation| format!("{property}: {}{}", violation.what, foreign(property));
            finding.violation.as_ref().map(broken)
        }
    });
    let violates = expect.violates.iter().filter_map(|property| match verdict(property) {
        None => Some(nothing(property)),
        Some(finding) if finding.violation.is_none() => {
            Some(format!("{property} holds{}", foreign(property)))
        }
        Some(_) => None,
    });
    let messages = expect.messages.iter().filter_map(|(what, bound)| {
        let count = count(what, accounts);
        (!bound.admits(count)).then(|| {
            format!("{what}: {count} messages, expected {} {}", bound.relation.symbol(), bound.value)
        })
    });
    [
        Expectation::new("leader", !expect.leader.is_empty(), leaders.collect()),
        Expectation::new("group", !expect.group.is_empty(), groups.collect()),
        Expectation::new("outcome", !expect.outcome.is_empty(), fates.collect()),
        Expectation::new("epoch", !expect.epoch.is_empty(), epochs.collect()),
        Expectation::new("holds", !expect.holds.is_empty(), holds.collect()),
        Expectation::new("violates", !expect.violates.is_empty(), violates.collect()),
        Expectation::new("messages", !expect.messages.is_empty(), messages.collect()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

impl Expectation {
    fn new(what: &'static str, given: bool, unmet: Vec<String>) -> Option<Self> {
        let detail = (!unmet.is_empty()).then(|| unmet.join("; "));
        given.then_some(Self { what, met: detail.is_none(), detail })
    }
}

/// What stands in a report by its name.
trait Named: Copy {
    fn name(self) -> &'static str;
}

impl Named for Protocol {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Named for Variant {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Named for Status {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

impl Named for Property {
    fn name(self) -> &'static str {
        Self::name(self)
    }
}

fn name<T: Named, S: Serializer>(named: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(named.name())
}

fn count(what: &str, accounts: &Accounts) -> u64 {
    match what {
        "total" => accounts.sent,
        "protocol" => accounts.of_layer(Layer::Protocol),
        "detector" => accounts.of_layer(Layer::Overhead),
        kind => accounts.of_kind(kind),
    }
}
