//! Counters and gauges for Prometheus.

use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use bellwether::status::{Connection, Counters, ExclusiveStatus, Participant, Standing, Status, Vote};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::Api;
use super::refusals::Why;
use crate::agent::hooks::Ended;
use crate::agent::sessions::{Counts, Sessions};

type Labels = Vec<(&'static str, String)>;

pub(super) async fn metrics(State(api): State<Api>) -> impl IntoResponse {
    let text =
        render(&api.member.status(), &api.member.participants(), api.member.counters(), &Process::of(&api));
    ([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text)
}

/// What the process counts beside its member.
struct Process {
    refused: [(&'static str, u64); Why::ALL.len()],
    left_out: u64,
    hooks: [(&'static str, u64); Ended::ALL.len()],
    reloads: [(&'static str, u64); 2],
    reload_failed: bool,
    /// Of exclusive leadership.
    sessions: Option<Counts>,
}

impl Process {
    fn of(api: &Api) -> Self {
        Self {
            refused: Why::ALL.map(|why| (why.name(), api.refusals.count(why))),
            left_out: api.log.left_out(),
            hooks: Ended::ALL.map(|ended| (ended.name(), api.hooks.count(ended))),
            reloads: api.reloads.counts(),
            reload_failed: api.reloads.last().is_some_and(|last| !last.problems.is_empty()),
            sessions: api.sessions.as_ref().map(Sessions::counts),
        }
    }
}

/// The member keeps the counters. Each request makes a registry of them.
fn render(status: &Status, members: &[Participant], counters: Counters, process: &Process) -> String {
    let mut registry = Registry::default();
    let ours = registry.sub_registry_with_prefix("bellwether");
    ours.register("build", "The program", Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]));
    standing(ours, status, members);
    counts(ours, counters);
    if let Some(exclusive) = &status.exclusive {
        self::exclusive(ours, exclusive);
    }
    if let Some(counts) = process.sessions {
        sessions(ours, counts);
    }
    let help = "Requests to the API that were refused, by reason";
    by_label(ours, "requests_refused", help, "why", &process.refused);
    by_label(ours, "hooks", "Runs of hooks, by how they ended", "ended", &process.hooks);
    let help = "How often the files were read again while the agent ran, by how it ended";
    by_label(ours, "reloads", help, "ended", &process.reloads);
    let failed = Gauge::<u64, AtomicU64>::default();
    failed.set(process.reload_failed.into());
    let help = "1 while the files that were read again last cannot be used, and all is as before";
    ours.register("reload_failed", help, failed);
    count(ours, "log_lines_left_out", "Lines that nobody read from the log in time", process.left_out);
    // The name that alerts for Kubernetes controllers already know.
    let master = Family::<Labels, Gauge<u64, AtomicU64>>::default();
    master.get_or_create(&vec![("name", status.cluster.clone())]).set(leads(status).into());
    registry.register("leader_election_master_status", "1 on the leader, 0 elsewhere", master);
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes everything");
    text
}

fn standing(registry: &mut Registry, status: &Status, members: &[Participant]) {
    let others = || members.iter().filter(|member| !member.is_self).map(|member| &member.connection);
    let connected = others().filter(|connection| matches!(connection, Connection::Connected(_)));
    let refused = others().filter(|connection| matches!(connection, Connection::Refused(_)));
    let until = status.certificate_until.and_then(|until| until.duration_since(SystemTime::UNIX_EPOCH).ok());
    for (name, help, value) in [
        ("is_leader", "1 on the announced leader, 0 elsewhere", leads(status).into()),
        ("has_leader", "1 while a leader is announced", status.leader.is_some().into()),
        (
            "epoch",
            "The epoch of the announced leader, 0 while there is none",
            status.leader.map_or(0, |l| l.epoch),
        ),
        (
            "certificate_until_seconds",
            "When the member's certificate expires, in seconds since 1970",
            until.map_or(0, |until| until.as_secs()),
        ),
        ("incarnation", "The member's present incarnation", status.incarnation.0),
        ("peers_connected", "Members that are connected, not counting this one", connected.count() as u64),
        ("peers_refused", "Members that refuse this one, or that it refuses", refused.count() as u64),
        (
            "is_barred",
            "1 while the member must not lead: it is refused, or waits for peers",
            status.bar.is_some().into(),
        ),
    ] {
        let gauge = Gauge::<u64, AtomicU64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
}

fn exclusive(registry: &mut Registry, status: &ExclusiveStatus) {
    for (name, help, value) in [
        ("token", "The token of the leader, 0 while there is none", status.token.unwrap_or(0)),
        (
            "voters_reachable",
            "Voters that this member can speak with, itself included",
            status.reached as u64,
        ),
        ("voters_needed", "Voters that whoever is to lead must be able to speak with", status.needed as u64),
        (
            "vote_lost",
            "1 if the member should vote and its votes are lost, or an old copy of them",
            matches!(status.vote, Vote::Lost | Vote::Outdated).into(),
        ),
    ] {
        let gauge = Gauge::<u64, AtomicU64>::default();
        gauge.set(value);
        registry.register(name, help, gauge);
    }
    let valid = Gauge::<f64, AtomicU64>::default();
    valid.set(status.valid_for.unwrap_or_default().as_secs_f64());
    let help = "How long this member's leadership is certain to be valid, 0 if it does not lead or a store decides that";
    registry.register_with_unit("valid", help, Unit::Seconds, valid);
}

fn sessions(registry: &mut Registry, counts: Counts) {
    let gauge = |value: usize| {
        let gauge = Gauge::<u64, AtomicU64>::default();
        gauge.set(value as u64);
        gauge
    };
    registry.register(
        "sessions",
        "Sessions of programs that campaign through this agent",
        gauge(counts.sessions),
    );
    let help = "Streams of sessions, and of those who watch an election";
    registry.register("session_streams", help, gauge(counts.streams));
    let campaigns = Family::<Labels, Gauge<u64, AtomicU64>>::default();
    for (state, count) in [("held", counts.held), ("waiting", counts.waiting)] {
        campaigns.get_or_create(&vec![("state", state.to_owned())]).set(count as u64);
    }
    registry.register("campaigns", "Campaigns of sessions, by state", campaigns);
    let help = "Elections that were given back because the kernel told that the holder's process had ended";
    count(registry, "certain_deaths", help, counts.certain);
}

fn counts(registry: &mut Registry, counters: Counters) {
    let sent = [("election", counters.sent_protocol), ("detector", counters.sent_detector)];
    by_label(registry, "frames_sent", "Frames sent, by layer", "layer", &sent);
    for (name, help, count) in [
        ("sent_bytes", "Bytes of frames sent, before they are encrypted", counters.sent_bytes),
        ("frames_received", "Frames that came", counters.received),
        (
            "frames_dropped",
            "Frames not sent: the peer's queue was full, or it was not connected",
            counters.dropped,
        ),
        ("refused_frames", "Bytes of peers that were no frame for this member", counters.refused_frames),
        ("refused_connections", "Connections of peers that were refused", counters.refused_connections),
        (
            "refusals",
            "How often a peer answered this member, and one of the two refused the other",
            counters.refusals,
        ),
        ("duplicate_ids", "How often another process claimed this member's id", counters.duplicate_ids),
        ("peers_gone", "Peers whose connection ended without a goodbye", counters.gone),
        ("leader_changes", "Changes of leader seen", counters.leader_changes),
        ("led", "How often this member began to lead", counters.led),
        ("state_writes", "How often the state was written to the disk", counters.writes),
    ] {
        self::count(registry, name, help, count);
    }
    disk(registry, counters);
}

fn disk(registry: &mut Registry, counters: Counters) {
    let time = Counter::<f64, AtomicU64>::default();
    time.inc_by(counters.write_time.as_secs_f64());
    registry.register_with_unit("state_write", "How long that took, all in all", Unit::Seconds, time);
    let slowest = Gauge::<f64, AtomicU64>::default();
    slowest.set(counters.slowest_write.as_secs_f64());
    registry.register_with_unit("state_write_slowest", "How long the slowest took", Unit::Seconds, slowest);
}

fn count(registry: &mut Registry, name: &str, help: &str, count: u64) {
    let counter = Counter::<u64>::default();
    counter.inc_by(count);
    registry.register(name, help, counter);
}

/// One counter for each value of a label.
fn by_label(
    registry: &mut Registry,
    name: &str,
    help: &str,
    label: &'static str,
    counts: &[(&'static str, u64)],
) {
    let family = Family::<Labels, Counter>::default();
    for (value, count) in counts {
        family.get_or_create(&vec![(label, (*value).to_owned())]).inc_by(*count);
    }
    registry.register(name, help, family);
}

fn leads(status: &Status) -> bool {
    status.standing == Standing::Leading
}
