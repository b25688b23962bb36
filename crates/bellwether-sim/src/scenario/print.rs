//! Writes scenario files: what a person would write, without what is the default anyway.

use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write;

use bellwether_proto::election::Variant;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};

use super::{
    Disk, Exclusive, Expect, Fault, Latency, LinkRule, Mishap, Model, ModelKey, Planned, Policy, Scenario,
    defaults,
};

impl Scenario {
    /// The scenario as a file that [`Scenario::parse`] reads back as the same.
    pub fn to_toml(&self) -> String {
        let mut file = File::default();
        self.print_head(&mut file);
        self.print_exclusive(&mut file);
        self.print_disk(&mut file);
        self.print_network(&mut file);
        self.print_timing(&mut file);
        self.print_detector(&mut file);
        self.print_parameters(&mut file);
        self.print_clock(&mut file);
        self.events.iter().for_each(|event| event.print(&mut file));
        self.expect.print(&mut file);
        file.text
    }

    fn print_head(&self, file: &mut File) {
        file.key("name", string(&self.name));
        file.key("protocol", string(self.protocol.name()));
        file.key_unless(self.variant == Variant::Repaired, "variant", string(self.variant.name()));
        file.key("nodes", self.nodes);
        file.key_unless(self.seed == defaults::SEED, "seed", self.seed);
        file.key("until", time(self.until));
        file.key_unless(!self.agent, "agent", self.agent);
        if self.agent {
            self.print_policy(file);
        }
        file.key_unless(self.exclusive.is_none(), "mode", string("exclusive"));
    }

    fn print_policy(&self, file: &mut File) {
        let Policy { priority, preempt, min_peers, release_timeout, resign_hold } = &self.policy;
        let default = Policy::default();
        let priorities = priority.iter().map(|(node, priority)| (node.to_string(), priority.to_string()));
        file.key_unless(priority.is_empty(), "priority", table(priorities));
        let delays = preempt.iter().map(|(node, delay)| (node.to_string(), quoted(delay)));
        file.key_unless(preempt.is_empty(), "preempt", table(delays));
        file.key_unless(*min_peers == default.min_peers, "min_peers", min_peers);
        let mut time = |key: &str, given: Span, default: Span| {
            file.key_unless(given == default, key, quoted(given));
        };
        time("release_timeout", *release_timeout, default.release_timeout);
        time("resign_hold", *resign_hold, default.resign_hold);
    }

    fn print_exclusive(&self, file: &mut File) {
        let Some(Exclusive { ttl, drift, kind, voters, witnesses }) = &self.exclusive else { return };
        let default = Exclusive::of(self.nodes);
        let list = |members: &BTreeSet<NodeId>| nodes(&members.iter().copied().collect::<Vec<_>>());
        file.section("[exclusive]");
        file.key_unless(*ttl == default.ttl, "ttl", quoted(ttl));
        file.key_unless(*drift == default.drift, "drift_ppm", drift.0);
        file.key_unless(*kind == default.kind, "kind", string(kind.name()));
        file.key_unless(*voters == default.voters, "voters", list(voters));
        file.key_unless(witnesses.is_empty(), "witnesses", list(witnesses));
    }

    fn print_disk(&self, file: &mut File) {
        let Disk { latency, slow } = &self.disk;
        if self.disk == Disk::default() {
            return;
        }
        file.section("[disk]");
        file.key_unless(*latency == Span::ZERO, "latency", quoted(latency));
        let slow = slow.iter().map(|(node, latency)| (node.to_string(), quoted(latency)));
        file.key_unless(self.disk.slow.is_empty(), "slow", table(slow));
    }

    fn print_network(&self, file: &mut File) {
        file.section("[network]");
        for (key, value) in self.network.base.changes(&LinkRule::default()) {
            file.key(key, value);
        }
        if let Some(resend) = self.network.resend {
            file.key("resend", quoted(resend));
        }
        for (from, to, rule) in &self.network.links {
            file.section("[[network.link]]");
            file.key("from", from);
            file.key("to", to);
            for (key, value) in rule.changes(&self.network.base) {
                file.key(key, value);
            }
        }
        if let Some(model) = &self.network.model {
            self.print_model(model, file);
        }
    }

    fn print_model(&self, model: &Model, file: &mut File) {
        file.section("[network.model]");
        file.key("kind", string(model.kind.name()));
        for key in model.kind.keys() {
            let (default, value) = match key {
                ModelKey::Source => (model.source == NodeId(1), model.source.to_string()),
                ModelKey::T => {
                    (model.t == defaults::model_t(self.nodes, &self.parameters), model.t.to_string())
                }
                ModelKey::Gst => (model.gst == Time::ZERO, time(model.gst)),
                ModelKey::Delta => {
                    let default = defaults::model_delta(model.kind, self.network.base.latency);
                    (model.delta == default, quoted(model.delta))
                }
                ModelKey::Loss => (model.loss == defaults::MODEL_LOSS, format!("{:?}", model.loss)),
            };
            file.key_unless(default, key.name(), value);
        }
    }

    fn print_timing(&self, file: &mut File) {
        let timing = self.timing;
        file.section("[timing]");
        file.key_unless(timing.delta == defaults::delta(&self.network), "delta", quoted(timing.delta));
        file.key_unless(timing.tau == defaults::TAU, "tau", quoted(timing.tau));
        file.key_unless(timing.step == timing.delta, "step", quoted(timing.step));
    }

    fn print_detector(&self, file: &mut File) {
        let detector = self.detector;
        file.section("[detector]");
        file.key_unless(
            detector.kind == defaults::detector(self.protocol, self.agent),
            "kind",
            string(detector.kind.name()),
        );
        file.key_unless(detector.period == self.timing.tau, "period", quoted(detector.period));
        file.key_unless(detector.reporters == defaults::reporters(self.nodes), "k", detector.reporters);
    }

    fn print_parameters(&self, file: &mut File) {
        file.section("[parameters]");
        if let Some(t) = self.parameters.t {
            file.key("t", t);
        }
        if let Some(candidates) = &self.parameters.candidates {
            file.key("candidates", nodes(candidates));
        }
        if let Some(primary) = self.parameters.primary {
            file.key("primary", quoted(primary.name()));
        }
    }

    fn print_clock(&self, file: &mut File) {
        file.section("[clock]");
        let drifts = self.drift_ppm.iter().map(|(node, ppm)| (node.to_string(), ppm.to_string()));
        file.key_unless(self.drift_ppm.is_empty(), "drift_ppm", table(drifts));
    }
}

impl Planned {
    /// The event as it stands in a file, which may be added at the end of one.
    pub fn to_toml(&self) -> String {
        let mut file = File::default();
        self.print(&mut file);
        file.text
    }

    fn print(&self, file: &mut File) {
        file.section("[[event]]");
        file.key("at", time(self.at));
        let (action, value) = self.fault.entry();
        file.key(action, value);
    }
}

impl Fault {
    /// The key and the value that ask for it.
    fn entry(&self) -> (&'static str, String) {
        match self {
            Self::Crash(who) => ("crash", nodes(who)),
            Self::Recover(who) => ("recover", nodes(who)),
            Self::Pause(who) => ("pause", nodes(who)),
            Self::Resume(who) => ("resume", nodes(who)),
            Self::Cut(links) => ("cut", pairs(links)),
            Self::CutOneWay(links) => ("cut_one_way", pairs(links)),
            Self::Mend(links) => ("mend", pairs(links)),
            Self::Heal => ("heal", "true".to_owned()),
            Self::Partition(blocks) => ("partition", list(blocks.iter().map(|block| nodes(block)))),
            Self::Slow { from, to, latency } => {
                ("slow", format!("{{ from = {from}, to = {to}, latency = {} }}", delay(latency)))
            }
            Self::DropNext { from, to, kind } => {
                ("drop_next", format!("{{ from = {from}, to = {to}, kind = {} }}", string(kind)))
            }
            Self::Message { from, to, kind, nth, mishap } => {
                let nth = if *nth == 1 { String::new() } else { format!(", nth = {nth}") };
                let kind = string(kind);
                ("message", format!("{{ from = {from}, to = {to}, kind = {kind}{nth}, {} }}", mishap.entry()))
            }
            Self::CrashBeforeSend { node, kind } => {
                ("crash_before_send", format!("{{ node = {node}, kind = {} }}", string(kind)))
            }
            Self::Perform { node, op } => ("perform", format!("{{ node = {node}, op = {op} }}")),
            Self::Resign(who) => ("resign", nodes(who)),
            Self::ResignFor { node, hold } => {
                let hold = hold.map_or_else(|| string("until-told"), quoted);
                ("resign_for", format!("{{ node = {node}, hold = {hold} }}"))
            }
            Self::Stand(who) => ("stand", nodes(who)),
            Self::Transfer { from, to } => ("transfer", format!("{{ from = {from}, to = {to} }}")),
            Self::AddVoter(node) => ("add_voter", node.to_string()),
            Self::RemoveVoter(node) => ("remove_voter", node.to_string()),
            Self::Leave(who) => ("leave", nodes(who)),
            Self::Unlink(links) => ("unlink", pairs(links)),
            Self::Refuse(links) => ("refuse", pairs(links)),
            Self::Accept(links) => ("accept", pairs(links)),
            Self::Work { node, ends_after } => {
                let after = ends_after.map_or_else(|| string("never"), quoted);
                ("work", format!("{{ node = {node}, ends_after = {after} }}"))
            }
            Self::Stall { node, lasts } => {
                ("stall", format!("{{ node = {node}, lasts = {} }}", quoted(lasts)))
            }
            Self::Network { latency, loss, duplicate, fifo } => {
                ("network", table(rule_entries(*latency, *loss, *duplicate, *fifo)))
            }
        }
    }
}

impl Mishap {
    fn entry(self) -> String {
        match self {
            Self::Drop => "drop = true".to_owned(),
            Self::Delay(by) => format!("delay = {}", quoted(by)),
            Self::Duplicate => "duplicate = true".to_owned(),
        }
    }
}

impl LinkRule {
    /// The keys that make this of `base`.
    fn changes(&self, base: &Self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        rule_entries(
            (self.latency != base.latency).then_some(self.latency),
            (self.loss != base.loss).then_some(self.loss),
            (self.duplicate != base.duplicate).then_some(self.duplicate),
            (self.fifo != base.fifo).then_some(self.fifo),
        )
    }
}

impl Expect {
    fn print(&self, file: &mut File) {
        file.section("[expect]");
        let leaders = self.leader.iter().map(|(node, leader)| (node.to_string(), leader.to_string()));
        file.key_unless(self.leader.is_empty(), "leader", table(leaders));
        let groups = self.group.iter().map(|(node, group)| (node.to_string(), string(&group.to_string())));
        file.key_unless(self.group.is_empty(), "group", table(groups));
        let epochs = self.epoch.iter().map(|(node, epoch)| (node.to_string(), epoch.to_string()));
        file.key_unless(self.epoch.is_empty(), "epoch", table(epochs));
        let fates = self.outcome.iter().map(|(op, outcome)| (op.to_string(), string(outcome.name())));
        file.key_unless(self.outcome.is_empty(), "outcome", table(fates));
        for (key, properties) in [("holds", &self.holds), ("violates", &self.violates)] {
            let names = properties.iter().map(|property| string(property.name()));
            file.key_unless(properties.is_empty(), key, list(names));
        }
        let bounds = self
            .messages
            .iter()
            .map(|(name, bound)| (key(name), format!("\"{} {}\"", bound.relation.symbol(), bound.value)));
        file.key_unless(self.messages.is_empty(), "messages", table(bounds));
    }
}

/// The text so far, and a heading that waits for its first key: a section without keys is not written.
#[derive(Debug, Default)]
struct File {
    text: String,
    heading: Option<&'static str>,
}

impl File {
    /// Begins a section. One that must stand even if empty has a key of its own.
    fn section(&mut self, heading: &'static str) {
        self.heading = Some(heading);
    }

    fn key(&mut self, key: &str, value: impl fmt::Display) {
        if let Some(heading) = self.heading.take() {
            self.line(format_args!("\n{heading}"));
        }
        self.line(format_args!("{key} = {value}"));
    }

    fn key_unless(&mut self, default: bool, key: &str, value: impl fmt::Display) {
        if !default {
            self.key(key, value);
        }
    }

    fn line(&mut self, line: fmt::Arguments<'_>) {
        writeln!(self.text, "{line}").expect("a String takes everything");
    }
}

fn rule_entries(
    latency: Option<Latency>,
    loss: Option<f64>,
    duplicate: Option<f64>,
    fifo: Option<bool>,
) -> impl Iterator<Item = (&'static str, String)> {
    // `{:?}` always shows a float as one, in as many digits as tell it from its neighbours.
    let entries = [
        latency.map(|latency| ("latency", delay(&latency))),
        loss.map(|loss| ("loss", format!("{loss:?}"))),
        duplicate.map(|duplicate| ("duplicate", format!("{duplicate:?}"))),
        fifo.map(|fifo| ("fifo", fifo.to_string())),
    ];
    entries.into_iter().flatten()
}

fn delay(latency: &Latency) -> String {
    if latency.low == latency.high {
        quoted(latency.low)
    } else {
        list([quoted(latency.low), quoted(latency.high)])
    }
}

fn time(time: Time) -> String {
    quoted(time.since(Time::ZERO))
}

fn nodes(nodes: &[NodeId]) -> String {
    list(nodes.iter().map(NodeId::to_string))
}

fn pairs(pairs: &[(NodeId, NodeId)]) -> String {
    list(pairs.iter().map(|(one, other)| nodes(&[*one, *other])))
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn table(entries: impl Iterator<Item = (impl fmt::Display, String)>) -> String {
    let entries: Vec<_> = entries.map(|(key, value)| format!("{key} = {value}")).collect();
    format!("{{ {} }}", entries.join(", "))
}

/// In quotes, for what needs no escapes.
fn quoted(value: impl fmt::Display) -> String {
    format!("\"{value}\"")
}

fn string(text: &str) -> String {
    bellwether_toml::quoted(text)
}

fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if name.bytes().all(bare) { name.to_owned() } else { string(name) }
}
