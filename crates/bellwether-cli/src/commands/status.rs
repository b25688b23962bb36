//! `bellwether status`: the state of the cluster, as one agent sees it.

use std::time::Duration;

use crate::Status;
use crate::args::agent::StatusArgs;
use crate::client::{Client, Failure, understand, words};
use crate::duration::rough;
use crate::layout::hanging;
use crate::output::Printer;
use crate::schema::{Disk, Exclusive, Reach, Reload, Standing, Status as Answer};

pub(crate) fn run(args: &StatusArgs, out: &Printer) -> Status {
    match ask(args, out) {
        Ok(()) => Status::Done,
        Err(failure) => failure.report(out),
    }
}

fn ask(args: &StatusArgs, out: &Printer) -> Result<(), Failure> {
    let answer = Client::new(&args.api).get("/v1/status")?;
    if args.api.json {
        out.line(&answer);
    } else {
        print(&understand(answer)?, out);
    }
    Ok(())
}

fn print(status: &Answer, out: &Printer) {
    let entry = |label: &str, text: &str| out.line(hanging(&format!("{label:<13}"), text));
    let up = rough(words::since(status.up_since_us));
    entry("node", &format!("{}, up {up}", status.node));
    entry("incarnation", &status.incarnation.to_string());
    entry("cluster", &status.cluster);
    entry("protocol", &status.protocol);
    entry("mode", &status.mode);
    entry("", &status.guarantee);
    entry("standing", &standing(status));
    if let Some(barred) = &status.barred {
        entry("barred", &barred.text);
        barred.refusals.iter().for_each(|refusal| entry("", refusal));
    }
    if let Some(warning) = status.certificate.as_ref().and_then(|certificate| certificate.warning.as_ref()) {
        entry("certificate", warning);
    }
    if let Some(todo) = status.reload.as_ref().and_then(Reload::in_words) {
        entry("reload", &todo);
    }
    if let Some(group) = &status.group {
        entry("group", &words::group(group));
    }
    if let Some(disk) = status.disk.filter(|disk| disk.slow) {
        entry("disk", &slow(disk));
    }
    entry("leader", &leader(status));
    let number = if status.right.exclusive.is_some() { "token" } else { "epoch" };
    entry(number, &status.leader.epoch.map_or_else(|| "-".to_owned(), |epoch| epoch.to_string()));
    if let Some(exclusive) = &status.right.exclusive {
        entry("valid", &valid(status, exclusive));
        entry("voters", &voters(exclusive));
        if let Some(configuration) = &exclusive.configuration {
            entry("", &configuration.in_words());
            configuration.warning.iter().for_each(|warning| entry("", warning));
        }
    }
    if let Some(campaigns) = status.elections {
        entry("elections", &campaigns.in_words());
    }
    let since = status.leader.since.as_deref().zip(status.leader.since_us);
    entry(
        "since",
        &since.map_or_else(
            || "-".to_owned(),
            |(at, us)| format!("{} UTC, {}", words::date_and_time(at), words::ago(us)),
        ),
    );
}

/// Its standing. If the member is in no view, also what it waits for.
fn standing(status: &Answer) -> String {
    let standing = status.standing.name();
    match status.opinion.status.as_str() {
        "dead" => format!("{standing} (dead: it is in no view, and waits to be admitted to one)"),
        _ => standing.to_owned(),
    }
}

/// How long the member's own leadership is certain to be valid.
fn valid(status: &Answer, exclusive: &Exclusive) -> String {
    match (&status.standing, status.right.valid_ms) {
        (Standing::Leading, Some(left)) => format!("for {left} ms, and renewed again and again"),
        (Standing::Leading, None) if exclusive.kind == "token" => {
            "as long as the store takes its token".to_owned()
        }
        _ => "-".to_owned(),
    }
}

/// How many voters the member reaches, and whether its own vote counts.
fn voters(exclusive: &Exclusive) -> String {
    let told = exclusive.in_words();
    match exclusive.vote.as_str() {
        "outdated" => format!("{told}; this member does not vote: its votes are an old copy"),
        "lost" => format!("{told}; this member does not vote: its votes are lost"),
        "none" => format!("{told}; this member does not vote"),
        _ => told,
    }
}

/// What is slow about the disk: whoever is to lead waits for it.
fn slow(disk: Disk) -> String {
    let rough = |us| rough(Duration::from_micros(us));
    let (last, slowest) = (rough(disk.last_write_us), rough(disk.slowest_write_us));
    match disk.writing_for_us.map(rough) {
        Some(lasts) => format!("slow: a write has been under way for {lasts}"),
        None => format!("slow: the last write took {last}, the slowest {slowest}"),
    }
}

/// The leader. If nobody leads and a leader needs a majority, whether there is one. A member that is aside
/// reaches nobody.
fn leader(status: &Answer) -> String {
    if let Some(id) = status.leader.leader {
        return format!("node {id}");
    }
    if let Some(exclusive) = status.right.exclusive.as_ref().filter(|told| told.reachable < told.needed) {
        return format!("nobody: {}", exclusive.in_words());
    }
    let reach = status.reach.filter(|_| status.standing != Standing::Aside);
    reach.map_or_else(
        || "nobody".to_owned(),
        |Reach { members, of, needed }| {
            let more = if members < needed { "are needed" } else { "are needed, and must agree" };
            format!("nobody: {members} of {of} reachable; {needed} {more}")
        },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn answer(status: &str, standing: &str, leader: Option<u32>, reach: &Value) -> Answer {
        let answer = json!({
            "cluster": "demo", "node": 4, "incarnation": 7, "protocol": "fb-omega", "mode": "majority", "guarantee": "",
            "standing": standing, "up_since_us": 0, "view": {"status": status}, "leader": leader, "reach": reach,
        });
        understand(answer).unwrap()
    }

    #[test]
    fn who_is_in_no_view_says_what_it_waits_for() {
        let reach = json!({"members": 4, "of": 5, "needed": 3});
        let dead = answer("dead", "electing", None, &reach);
        assert_eq!(standing(&dead), "electing (dead: it is in no view, and waits to be admitted to one)");
        assert_eq!(leader(&dead), "nobody: 4 of 5 reachable; 3 are needed, and must agree");
        let alive = answer("normal", "following", Some(1), &reach);
        assert_eq!((standing(&alive).as_str(), leader(&alive).as_str()), ("following", "node 1"));
    }

    #[test]
    fn a_slow_disk_is_told() {
        let disk =
            Disk { slow: true, last_write_us: 400_000, slowest_write_us: 1_500_000, writing_for_us: None };
        assert_eq!(slow(disk), "slow: the last write took 400 ms, the slowest 1.5 s");
        let disk = Disk { writing_for_us: Some(3_000_000), ..disk };
        assert_eq!(slow(disk), "slow: a write has been under way for 3.0 s");
    }

    #[test]
    fn a_majority_that_is_missing_is_told() {
        let few = json!({"members": 2, "of": 5, "needed": 3});
        assert_eq!(
            leader(&answer("election", "electing", None, &few)),
            "nobody: 2 of 5 reachable; 3 are needed"
        );
        assert_eq!(leader(&answer("down", "aside", None, &few)), "nobody");
        assert_eq!(leader(&answer("election", "electing", None, &Value::Null)), "nobody");
    }
}
