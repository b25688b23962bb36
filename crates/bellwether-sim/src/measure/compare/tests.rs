//! What is known beforehand of some figures.

use std::collections::BTreeSet;

use bellwether_proto::election::Protocol;
use bellwether_proto::promise::Property;
use bellwether_proto::time::Span;

use super::{Campaign, Misfit, Row, Staged};
use crate::measure::figures::Figures;
use crate::plan::FaultClass::{self, Crash, Delay, Loss, Partition, Pause, Recover};
use crate::scenario::{Latency, Overrides, Scenario};

fn campaign(protocols: &[Protocol], sizes: &[u32], faults: &[FaultClass]) -> Campaign {
    let latency = Latency { low: Span::millis(1), high: Span::millis(5) };
    Campaign {
        protocols: protocols.to_vec(),
        sizes: sizes.to_vec(),
        figures: Figures::new(0, latency, Span::millis(50)),
        faults: faults.iter().copied().collect(),
        runs: 10,
        seed: 1,
    }
}

fn measure(campaign: &Campaign) -> Vec<Row> {
    campaign.measure(2, &|| ())
}

#[test]
fn steady_traffic_is_what_the_algorithms_say_it_is() {
    use Protocol::{Adft, AsyncBully, Fjr, Lfa};
    for row in measure(&campaign(&[Fjr, Lfa, Adft, AsyncBully], &[3, 5, 9], &[Crash])) {
        let n = f64::from(row.nodes);
        let per_period = match row.protocol {
            // A broadcast of the leader, to all others; those of `async-bully` carry the beats.
            Fjr | Lfa | AsyncBully => n - 1.0,
            _ => n * (n - 1.0),
        };
        assert_eq!(row.messages_per_s(), per_period / 0.05, "{row:?}");
        assert!(row.bytes_per_s() > 10.0 * row.messages_per_s(), "a frame has a header: {row:?}");
    }
}

/// Without loss and within δ the next leader is found within a timeout and a few messages.
#[test]
fn a_crash_is_felt_for_a_timeout_and_little_more() {
    use Protocol::{AsyncBully, BullyFd, Fjr, Lfa};
    let campaign = campaign(&[Lfa, Fjr, AsyncBully, BullyFd], &[5], &[Crash]);
    let rows = measure(&campaign);
    for row in &rows {
        assert_eq!((row.failovers.len(), row.unsettled(), row.not_kept.len()), (10, 0, 0), "{row:?}");
        let (least, most) = (row.failover_ms(0).unwrap(), row.failover_ms(100).unwrap());
        // An election that others disturb is tried again a timeout later.
        assert!(least > 10.0 && most < 3.0 * 62.0, "{least} to {most} ms: {row:?}");
        assert!(least <= row.failover_ms(50).unwrap() && row.failover_ms(99).unwrap() <= most);
        // With latencies that vary, `fjr` may come to its leader by way of another.
        assert!(row.trouble.changes >= 10, "one for each crash: {row:?}");
    }
    let sent = |at: usize| rows[at].messages_per_failover().unwrap();
    assert!(sent(2) > sent(0) + 4.0, "elections are messages: {} and {}", sent(2), sent(0));
    assert_eq!(rows[0].trouble.split, Span::ZERO, "lfa follows the next in line before that one leads");
}

#[test]
fn both_sides_of_a_cut_have_a_leader() {
    for row in measure(&campaign(&[Protocol::Lfa, Protocol::AsyncBully], &[5], &[Partition])) {
        assert!(row.failovers.is_empty() && row.failover_ms(50).is_none(), "nobody crashed: {row:?}");
        assert!(row.split_percent() > 1.0, "{row:?}");
    }
}

#[test]
fn stability_shows() {
    let mut campaign = campaign(&[Protocol::Lfa, Protocol::Fjr], &[5], &[Crash, Recover]);
    campaign.figures.latency = Latency::constant(Span::millis(1));
    let rows = measure(&campaign);
    assert!(rows[0].trouble.preemptions > 0, "the first comes back and ousts: {:?}", rows[0]);
    assert_eq!(rows[1].trouble.preemptions, 0, "{:?}", rows[1]);
    assert!(rows[1].trouble.changes >= 10);
}

#[test]
fn what_is_not_kept_is_said() {
    let not_kept = |faults: &[FaultClass], loss: f64| {
        let mut campaign = campaign(&[Protocol::BullyFd], &[3], faults);
        campaign.runs = 1;
        campaign.figures.loss = loss;
        let row = &measure(&campaign)[0];
        row.not_kept.iter().map(|(property, why)| format!("{property}: {why}")).collect::<Vec<_>>().join("; ")
    };
    assert_eq!(not_kept(&[Crash, Recover], 0.0), "");
    assert!(not_kept(&[Crash], 0.01).contains("no loss, accurate detector"), "{}", not_kept(&[Crash], 0.01));
    assert!(not_kept(&[Pause], 0.0).contains("no pauses, accurate detector"));
    assert!(not_kept(&[Delay], 0.0).contains("SLE1: accurate detector; SLE2: delay within delta"));
    assert!(not_kept(&[Loss], 0.0).contains("no loss"));
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let all = FaultClass::ALL;
    let campaign = campaign(&[Protocol::Fjr, Protocol::AsyncBully], &[3, 4], &all);
    let (one, three) = (campaign.measure(1, &|| ()), campaign.measure(3, &|| ()));
    assert_eq!(one, three);
    let unlike: BTreeSet<_> = one.iter().map(|row| row.trouble.messages).collect();
    assert_eq!(unlike.len(), 4, "rows differ");
}

#[test]
fn agents_notice_a_crash_at_once() {
    let mut campaign = campaign(&[Protocol::Fjr], &[5], &[Crash]);
    campaign.figures.agent = true;
    let row = &measure(&campaign)[0];
    assert_eq!(row.unsettled(), 0);
    assert!(row.failover_ms(100).unwrap() < 50.0, "connections end with the process: {row:?}");
}

fn staged(text: &str, protocols: &[Protocol], runs: u32) -> Result<Staged, Misfit> {
    let read = |protocol: &Protocol| {
        let overrides = Overrides { protocol: Some(*protocol), ..Overrides::default() };
        Scenario::parse_with("test.toml", text, &overrides).unwrap()
    };
    Staged::new(protocols.iter().map(read).collect(), runs)
}

#[test]
fn a_scenario_is_played_with_every_algorithm() {
    let text = "protocol = \"lfa\"\nnodes = 3\nuntil = \"20s\"\n[[event]]\nat = \"5s\"\ncrash = [1]\n\
                [expect]\nleader = { 2 = 2 }\nholds = [\"OMEGA\"]\n";
    let rows = staged(text, &[Protocol::Lfa, Protocol::BullyFd], 3).unwrap().measure(2, &|| ());
    for row in &rows {
        assert_eq!((row.failovers.len(), row.unsettled(), row.runs), (3, 0, 3), "{row:?}");
        assert_eq!(row.trouble.length, Span::secs(60));
        assert!(row.judged.iter().all(|judged| judged.runs == 3 && judged.broken == 0), "{row:?}");
    }
    let judged = |row: &Row| row.judged.iter().map(|judged| judged.property).collect::<Vec<_>>();
    assert!(judged(&rows[0]).contains(&Property::Omega));
    assert!(!judged(&rows[1]).contains(&Property::Omega), "what the file expects is not about this one");
}

#[test]
fn events_that_an_algorithm_cannot_meet_are_refused() {
    let text = "protocol = \"async-bully\"\nnodes = 3\nuntil = \"20s\"\n[[event]]\nat = \"5s\"\n\
                drop_next = { from = 1, to = 2, kind = \"Halt\" }\n";
    assert!(staged(text, &[Protocol::AsyncBully, Protocol::BullyFd], 1).is_ok());
    let error = staged(text, &[Protocol::AsyncBully, Protocol::Fjr], 1).unwrap_err().to_string();
    assert_eq!(
        error,
        "`drop_next` waits for a message Halt, which fjr never sends: leave out one of the two"
    );
    let agents = "protocol = \"fjr\"\nnodes = 3\nuntil = \"20s\"\nagent = true\n";
    assert!(staged(agents, &[Protocol::Mmrt], 1).unwrap_err().to_string().contains("do not run mmrt"));
}
