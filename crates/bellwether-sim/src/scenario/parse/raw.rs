//! A file as it is written: the keys and the shape of their values, nothing yet about what they mean together.

use bellwether_toml::Spanned;
use serde::Deserialize;

use super::values::{
    Content, Delay, Duration, Entries, Item, Limit, List, Never, Probability, Table, TimeOr, UntilTold, Whole,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScenario {
    pub(super) name: Option<String>,
    pub(super) protocol: Spanned<String>,
    pub(super) variant: Option<Spanned<String>>,
    pub(super) nodes: Spanned<Whole>,
    pub(super) seed: Option<Spanned<Whole>>,
    pub(super) until: Spanned<Duration>,
    pub(super) agent: Option<bool>,
    pub(super) priority: Option<Spanned<Entries<Whole>>>,
    pub(super) preempt: Option<Spanned<Entries<Duration>>>,
    pub(super) release_timeout: Option<Spanned<Duration>>,
    pub(super) resign_hold: Option<Spanned<Duration>>,
    pub(super) min_peers: Option<Spanned<Whole>>,
    pub(super) mode: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) exclusive: Table<RawExclusive>,
    #[serde(default)]
    pub(super) disk: Table<RawDisk>,
    #[serde(default)]
    pub(super) network: Table<RawNetwork>,
    #[serde(default)]
    pub(super) timing: Table<RawTiming>,
    #[serde(default)]
    pub(super) detector: Table<RawDetector>,
    #[serde(default)]
    pub(super) parameters: Table<RawParameters>,
    #[serde(default)]
    pub(super) clock: Table<RawClock>,
    #[serde(default)]
    pub(super) event: List<Table<RawEvent>>,
    #[serde(default)]
    pub(super) expect: Table<RawExpect>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDisk {
    pub(super) latency: Option<Spanned<Duration>>,
    pub(super) slow: Option<Spanned<Entries<Duration>>>,
}

impl Content for RawDisk {
    const EXPECTED: &'static str = "one table [disk]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExclusive {
    pub(super) ttl: Option<Spanned<Duration>>,
    pub(super) drift_ppm: Option<Spanned<Whole>>,
    pub(super) kind: Option<Spanned<String>>,
    pub(super) voters: Option<Spanned<List<Whole>>>,
    pub(super) witnesses: Option<Spanned<List<Whole>>>,
}

impl Content for RawExclusive {
    const EXPECTED: &'static str = "one table [exclusive]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawNetwork {
    pub(super) latency: Option<Delay>,
    pub(super) loss: Option<Probability>,
    pub(super) duplicate: Option<Probability>,
    pub(super) fifo: Option<bool>,
    pub(super) resend: Option<Spanned<Duration>>,
    #[serde(default)]
    pub(super) link: List<Table<RawLink>>,
    pub(super) model: Option<Table<RawModel>>,
}

impl Content for RawNetwork {
    const EXPECTED: &'static str = "one table [network]";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawLink {
    pub(super) from: Spanned<Whole>,
    pub(super) to: Spanned<Whole>,
    pub(super) latency: Option<Delay>,
    pub(super) loss: Option<Probability>,
    pub(super) duplicate: Option<Probability>,
    pub(super) fifo: Option<bool>,
}

impl Content for RawLink {
    const EXPECTED: &'static str = "a table such as { from = 1, to = 2, latency = \"2s\" }";
}

impl Item for Table<RawLink> {
    const LIST: &'static str = "tables headed [[network.link]]";
}

/// Which keys there must and may be depends on the kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawModel {
    pub(super) kind: Spanned<String>,
    pub(super) source: Option<Spanned<Whole>>,
    pub(super) t: Option<Spanned<Whole>>,
    pub(super) gst: Option<Spanned<Duration>>,
    pub(super) delta: Option<Spanned<Duration>>,
    pub(super) loss: Option<Spanned<Probability>>,
}

impl Content for RawModel {
    const EXPECTED: &'static str = "one table [network.model]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTiming {
    pub(super) delta: Option<Spanned<Duration>>,
    pub(super) tau: Option<Spanned<Duration>>,
    pub(super) step: Option<Spanned<Duration>>,
}

impl Content for RawTiming {
    const EXPECTED: &'static str = "one table [timing]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDetector {
    pub(super) kind: Option<Spanned<String>>,
    pub(super) period: Option<Spanned<Duration>>,
    pub(super) k: Option<Spanned<Whole>>,
}

impl Content for RawDetector {
    const EXPECTED: &'static str = "one table [detector]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawParameters {
    pub(super) t: Option<Spanned<Whole>>,
    pub(super) candidates: Option<Spanned<List<Whole>>>,
    pub(super) primary: Option<Spanned<String>>,
}

impl Content for RawParameters {
    const EXPECTED: &'static str = "one table [parameters]";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawClock {
    #[serde(default)]
    pub(super) drift_ppm: Entries<Whole>,
}

impl Content for RawClock {
    const EXPECTED: &'static str = "one table [clock]";
}

/// The actions are all optional here, so that an event with none or two gets an answer that names them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawEvent {
    pub(super) at: Spanned<Duration>,
    pub(super) crash: Option<Spanned<List<Whole>>>,
    pub(super) recover: Option<Spanned<List<Whole>>>,
    pub(super) pause: Option<Spanned<List<Whole>>>,
    pub(super) resume: Option<Spanned<List<Whole>>>,
    pub(super) cut: Option<Spanned<List<List<Whole>>>>,
    pub(super) cut_one_way: Option<Spanned<List<List<Whole>>>>,
    pub(super) mend: Option<Spanned<List<List<Whole>>>>,
    pub(super) heal: Option<Spanned<bool>>,
    pub(super) partition: Option<Spanned<List<List<Whole>>>>,
    pub(super) slow: Option<Spanned<Table<RawSlow>>>,
    pub(super) drop_next: Option<Spanned<Table<RawDropNext>>>,
    pub(super) message: Option<Spanned<Table<RawMessage>>>,
    pub(super) crash_before_send: Option<Spanned<Table<RawCrashBeforeSend>>>,
    pub(super) perform: Option<Spanned<Table<RawPerform>>>,
    pub(super) resign: Option<Spanned<List<Whole>>>,
    pub(super) resign_for: Option<Spanned<Table<RawResignFor>>>,
    pub(super) stand: Option<Spanned<List<Whole>>>,
    pub(super) transfer: Option<Spanned<Table<RawTransfer>>>,
    pub(super) add_voter: Option<Spanned<Whole>>,
    pub(super) remove_voter: Option<Spanned<Whole>>,
    pub(super) leave: Option<Spanned<List<Whole>>>,
    pub(super) unlink: Option<Spanned<List<List<Whole>>>>,
    pub(super) refuse: Option<Spanned<List<List<Whole>>>>,
    pub(super) accept: Option<Spanned<List<List<Whole>>>>,
    pub(super) work: Option<Spanned<Table<RawWork>>>,
    pub(super) stall: Option<Spanned<Table<RawStall>>>,
    pub(super) network: Option<Spanned<Table<RawChange>>>,
}

impl Content for RawEvent {
    const EXPECTED: &'static str = "a table such as { at = \"10s\", crash = [1] }";
}

impl Item for Table<RawEvent> {
    const LIST: &'static str = "tables headed [[event]]";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSlow {
    pub(super) from: Spanned<Whole>,
    pub(super) to: Spanned<Whole>,
    pub(super) latency: Delay,
}

impl Content for RawSlow {
    const EXPECTED: &'static str = "a table such as { from = 1, to = 2, latency = \"2s\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawDropNext {
    pub(super) from: Spanned<Whole>,
    pub(super) to: Spanned<Whole>,
    pub(super) kind: Spanned<String>,
}

impl Content for RawDropNext {
    const EXPECTED: &'static str = "a table such as { from = 1, to = 2, kind = \"Halt\" }";
}

/// What happens is optional, so that none and two get an answer that names them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMessage {
    pub(super) from: Spanned<Whole>,
    pub(super) to: Spanned<Whole>,
    pub(super) kind: Spanned<String>,
    pub(super) nth: Option<Spanned<Whole>>,
    pub(super) drop: Option<Spanned<bool>>,
    pub(super) delay: Option<Spanned<Duration>>,
    pub(super) duplicate: Option<Spanned<bool>>,
}

impl Content for RawMessage {
    const EXPECTED: &'static str =
        "a table such as { from = 1, to = 2, kind = \"Halt\", nth = 2, drop = true }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCrashBeforeSend {
    pub(super) node: Spanned<Whole>,
    pub(super) kind: Spanned<String>,
}

impl Content for RawCrashBeforeSend {
    const EXPECTED: &'static str = "a table such as { node = 1, kind = \"Halt\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawPerform {
    pub(super) node: Spanned<Whole>,
    pub(super) op: Spanned<Whole>,
}

impl Content for RawPerform {
    const EXPECTED: &'static str = "a table such as { node = 1, op = 7 }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawResignFor {
    pub(super) node: Spanned<Whole>,
    pub(super) hold: TimeOr<UntilTold>,
}

impl Content for RawResignFor {
    const EXPECTED: &'static str = "a table such as { node = 1, hold = \"10s\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTransfer {
    pub(super) from: Spanned<Whole>,
    pub(super) to: Spanned<Whole>,
}

impl Content for RawTransfer {
    const EXPECTED: &'static str = "a table such as { from = 1, to = 2 }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWork {
    pub(super) node: Spanned<Whole>,
    pub(super) ends_after: TimeOr<Never>,
}

impl Content for RawWork {
    const EXPECTED: &'static str = "a table such as { node = 1, ends_after = \"200ms\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStall {
    pub(super) node: Spanned<Whole>,
    pub(super) lasts: Spanned<Duration>,
}

impl Content for RawStall {
    const EXPECTED: &'static str = "a table such as { node = 1, lasts = \"500ms\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawChange {
    pub(super) latency: Option<Delay>,
    pub(super) loss: Option<Probability>,
    pub(super) duplicate: Option<Probability>,
    pub(super) fifo: Option<bool>,
}

impl Content for RawChange {
    const EXPECTED: &'static str = "a table such as { loss = 0.1 }";
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawExpect {
    #[serde(default)]
    pub(super) leader: Entries<Whole>,
    #[serde(default)]
    pub(super) group: Entries<String>,
    #[serde(default)]
    pub(super) epoch: Entries<Whole>,
    #[serde(default)]
    pub(super) outcome: Entries<String>,
    #[serde(default)]
    pub(super) holds: List<String>,
    #[serde(default)]
    pub(super) violates: List<String>,
    #[serde(default)]
    pub(super) messages: Entries<Limit>,
}

impl Content for RawExpect {
    const EXPECTED: &'static str = "one table [expect]";
}
