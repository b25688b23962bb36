//! What each event and rule of a scenario does to the world, seen in the trace.

use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Time;
use bellwether_proto::trace::{DropReason, TraceEvent, What};
use bellwether_sim::run;
use bellwether_sim::scenario::Scenario;

/// Three nodes of `async-bully`, 1 ms links; node 1 leads from 4 ms on and asks Norm? at 104 ms, 204 ms, …
const CALM: &str = "protocol = \"async-bully\"\nnodes = 3\nuntil = \"2s\"\n";

#[test]
fn everybody_starts_at_time_zero_after_the_events_of_that_instant() {
    let trace = play("[[event]]\nat = \"0s\"\ncut = [[1, 2]]\n[[event]]\nat = \"0s\"\ncrash = [3]\n");
    let first: Vec<_> = trace.iter().take(4).map(|event| event.what.name()).collect();
    assert_eq!(first, ["cut", "cut", "recover", "persist"]);
    assert!(
        !trace.iter().any(|event| event.node == NodeId(3) && event.what == What::Recover),
        "3 never comes up"
    );
    assert!(trace.iter().all(|event| event.at == Time::ZERO || event.what != What::Recover));
}

#[test]
fn a_message_is_lost_if_its_link_is_cut_when_it_is_sent() {
    // Norm? to both goes out at 1004 ms; the cut half a millisecond later does not stop it.
    let trace = play("[[event]]\nat = \"1004500us\"\ncut = [[1, 2]]\n");
    assert!(received(&trace, 1, 2, "Norm?").contains(&1_005_000), "in flight when the cut came");
    assert!(received(&trace, 1, 2, "Norm?").iter().all(|at| *at <= 1_005_000));
    assert!(
        dropped(&trace, 1, 2, "Norm?")
            .iter()
            .all(|(at, reason)| *at > 1_004_500 && *reason == DropReason::Cut)
    );
}

#[test]
fn a_one_way_cut_leaves_the_other_direction_alone() {
    let trace = play("[[event]]\nat = \"1s\"\ncut_one_way = [[2, 1]]\n");
    assert!(received(&trace, 1, 2, "Norm?").iter().any(|at| *at > 1_100_000));
    assert!(count(&trace, |what| matches!(what, What::Cut(_))) == 1);
}

#[test]
fn mend_and_heal_end_cuts_and_a_partition_replaces_the_one_before() {
    let blocks = |at, blocks| format!("[[event]]\nat = \"{at}\"\npartition = {blocks}\n");
    let one_after_the_other = [blocks("500ms", "[[1], [2, 3]]"), blocks("600ms", "[[1, 2], [3]]")].concat();
    let cuts = cuts_at_end(&play(&one_after_the_other));
    assert_eq!(cuts, [(1, 3), (2, 3), (3, 1), (3, 2)]);
    assert_eq!(
        cuts_at_end(&play(&(one_after_the_other.clone() + "[[event]]\nat = \"1s\"\nheal = true\n"))),
        []
    );
    let mended = cuts_at_end(&play(&(one_after_the_other + "[[event]]\nat = \"1s\"\nmend = [[3, 1]]\n")));
    assert_eq!(mended, [(2, 3), (3, 2)]);
    let rest_is_a_block = cuts_at_end(&play(&blocks("500ms", "[[2]]")));
    assert_eq!(rest_is_a_block, [(1, 2), (2, 1), (2, 3), (3, 2)]);
}

#[test]
fn what_arrives_at_a_node_that_is_down_is_lost_and_its_own_messages_still_arrive() {
    // At 1004 ms Norm? leaves node 1; half a millisecond later 1 and 2 crash.
    let trace = play("[[event]]\nat = \"1004500us\"\ncrash = [1, 2]\n");
    assert!(received(&trace, 1, 3, "Norm?").contains(&1_005_000));
    assert!(dropped(&trace, 1, 2, "Norm?").contains(&(1_005_000, DropReason::Down)));
}

#[test]
fn a_crash_loses_memory_and_keeps_the_disk() {
    let trace = play("[[event]]\nat = \"500ms\"\ncrash = [1]\n[[event]]\nat = \"1s\"\nrecover = [1]\n");
    let incarnations: Vec<_> = trace
        .iter()
        .filter(|event| event.node == NodeId(1) && event.what == What::Recover)
        .map(|event| event.incarnation)
        .collect();
    assert_eq!(incarnations, [Incarnation(1), Incarnation(2)]);
}

#[test]
fn crashing_the_dead_and_recovering_the_living_changes_nothing() {
    let events = "[[event]]\nat = \"500ms\"\ncrash = [3]\n[[event]]\nat = \"600ms\"\ncrash = [3]\n[[event]]\nat = \"700ms\"\nrecover = [1]\n";
    let trace = play(events);
    assert_eq!(count(&trace, |what| *what == What::Crash), 1);
    assert_eq!(count(&trace, |what| *what == What::Recover), 3);
}

#[test]
fn a_paused_node_does_nothing_and_then_catches_up() {
    let trace = play("[[event]]\nat = \"500ms\"\npause = [2]\n[[event]]\nat = \"560ms\"\nresume = [2]\n");
    let in_pause = |event: &&TraceEvent| (500_001..560_000).contains(&event.at.as_micros());
    assert!(!trace.iter().filter(in_pause).any(|event| event.node == NodeId(2)));
    assert!(received(&trace, 1, 2, "Norm?").contains(&560_000), "what came at 505 ms was waiting");
}

#[test]
fn a_node_paused_before_the_start_starts_when_it_resumes() {
    let trace = play("[[event]]\nat = \"0s\"\npause = [2]\n[[event]]\nat = \"300ms\"\nresume = [2]\n");
    let started = trace.iter().find(|event| event.node == NodeId(2) && event.what == What::Recover);
    assert_eq!(started.map(|event| event.at.as_micros()), Some(300_000));
}

#[test]
fn a_slow_link_is_slow_until_healed_and_keeps_order() {
    let events = "[[event]]\nat = \"1s\"\nslow = { from = 1, to = 3, latency = \"150ms\" }\n[[event]]\nat = \"1250ms\"\nheal = true\n";
    let trace = play(events);
    let delays = |sent_between: std::ops::Range<u64>| {
        let delays = trace.iter().filter_map(move |event| match event.what {
            What::Recv(msg, sent)
                if (msg.from.0, msg.to.0) == (1, 3) && sent_between.contains(&sent.as_micros()) =>
            {
                Some(event.at.since(sent).as_micros())
            }
            _ => None,
        });
        delays.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(delays(0..1_000_000), [1_000].into());
    assert_eq!(delays(1_000_000..1_250_000), [150_000].into());
    assert_eq!(delays(1_400_000..2_000_000), [1_000].into(), "once the last slow one is through");
    assert!(
        count(&trace, |what| matches!(what, What::Late(_))) > 0,
        "and the trace says that they were late"
    );
}

#[test]
fn drop_next_loses_one_message_of_that_kind() {
    let trace = play("[[event]]\nat = \"1s\"\ndrop_next = { from = 1, to = 2, kind = \"Norm?\" }\n");
    assert_eq!(dropped(&trace, 1, 2, "Norm?"), [(1_004_000, DropReason::Dropped)]);
}

#[test]
fn a_message_can_be_lost_late_or_arrive_twice_by_its_number() {
    let (first, then) = (1_004_000, 1_104_000);
    let message = |what: &str| {
        play(&format!(
            "[[event]]\nat = \"1s\"\nmessage = {{ from = 1, to = 2, kind = \"Norm?\", nth = 2, {what} }}\n"
        ))
    };
    let calm = play("");
    assert!(received(&calm, 1, 2, "Norm?").contains(&(then + 1_000)));
    let lost = message("drop = true");
    assert_eq!(dropped(&lost, 1, 2, "Norm?"), [(then, DropReason::Dropped)]);
    let late = received(&message("delay = \"30ms\""), 1, 2, "Norm?");
    assert!(late.contains(&(first + 1_000)) && late.contains(&(then + 31_000)), "{late:?}");
    assert!(!late.contains(&(then + 1_000)), "{late:?}");
    let twice = received(&message("duplicate = true"), 1, 2, "Norm?");
    assert_eq!(twice.iter().filter(|at| **at == then + 1_000).count(), 2, "{twice:?}");
    // Until then, all is as it was.
    let before = |trace: &[TraceEvent]| {
        trace.iter().take_while(|event| event.at < Time::from_micros(then)).copied().collect::<Vec<_>>()
    };
    assert_eq!(before(&lost), before(&calm));
}

#[test]
fn each_order_takes_a_message_of_its_own() {
    let order = |nth| {
        format!(
            "[[event]]\nat = \"1s\"\nmessage = {{ from = 1, to = 2, kind = \"Norm?\", nth = {nth}, drop = true }}\n"
        )
    };
    let trace = play(&[order(3), order(1), order(1)].concat());
    let at: Vec<_> = dropped(&trace, 1, 2, "Norm?").into_iter().map(|(at, _)| at).collect();
    assert_eq!(at, [1_004_000, 1_104_000, 1_204_000]);
    let healed = play(&format!("{}[[event]]\nat = \"1150ms\"\nheal = true\n", order(3)));
    assert_eq!(dropped(&healed, 1, 2, "Norm?"), []);
}

#[test]
fn crash_before_send_does_what_comes_before_and_nothing_after() {
    let trace = play("[[event]]\nat = \"0s\"\ncrash_before_send = { node = 1, kind = \"Halt\" }\n");
    let of_node_1: Vec<_> =
        trace.iter().filter(|event| event.node == NodeId(1)).map(|e| e.what.name()).collect();
    assert_eq!(of_node_1[..2], ["recover", "persist"]);
    assert!(of_node_1.contains(&"crash"));
    assert!(received(&trace, 1, 2, "Halt").is_empty());
}

#[test]
fn loss_and_duplication_strike_about_as_often_as_they_should() {
    let trace = play_file(&format!("{}[network]\nloss = 0.2\nduplicate = 0.1\n", CALM.replace("2s", "200s")));
    let sent = count(&trace, |what| matches!(what, What::Send(_))) as f64;
    let lost = count(&trace, |what| matches!(what, What::Drop(_, DropReason::Lost))) as f64;
    let received = count(&trace, |what| matches!(what, What::Recv(..))) as f64;
    assert!((lost / sent - 0.2).abs() < 0.02, "{lost} of {sent}");
    assert!((received / (sent - lost) - 1.1).abs() < 0.02, "{received} of {}", sent - lost);
}

#[test]
fn fifo_links_keep_order_and_others_need_not() {
    let overtakes = |fifo: bool| {
        let network = format!("[network]\nlatency = [\"1ms\", \"50ms\"]\nfifo = {fifo}\n");
        let trace = play_file(&format!("{}{network}[timing]\ntau = \"5ms\"\n", CALM.replace("2s", "20s")));
        let mut last = std::collections::BTreeMap::new();
        let mut overtakes = 0;
        for event in &trace {
            if let What::Recv(msg, _) = event.what {
                let before = last.insert((msg.from, msg.to), msg.id).unwrap_or(0);
                overtakes += u32::from(msg.id < before);
            }
        }
        overtakes
    };
    assert_eq!(overtakes(true), 0);
    assert!(overtakes(false) > 10);
}

#[test]
fn a_network_event_changes_every_link_without_a_rule_of_its_own() {
    let file = format!(
        "{CALM}[[network.link]]\nfrom = 1\nto = 2\nlatency = \"3ms\"\n\
         [[event]]\nat = \"1s\"\nnetwork = {{ latency = \"2ms\" }}\n"
    );
    let trace = play_file(&file);
    let delays = |to| {
        let delays = trace.iter().filter_map(move |event| match event.what {
            What::Recv(msg, sent)
                if (msg.from, msg.to) == (NodeId(1), NodeId(to)) && sent.as_micros() > 1_000_000 =>
            {
                Some(event.at.since(sent).as_micros())
            }
            _ => None,
        });
        delays.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(delays(2), [3_000].into());
    assert_eq!(delays(3), [2_000].into());
}

#[test]
fn a_drifting_clock_stretches_or_shrinks_what_a_node_times() {
    let leader_asks = |ppm: i32| {
        let file = format!("{}[clock]\ndrift_ppm = {{ 1 = {ppm} }}\n", CALM.replace("2s", "100s"));
        count(&play_file(&file), |what| matches!(what, What::Send(msg) if msg.kind.name() == "Norm?"))
    };
    let (slow, right, fast) = (leader_asks(-10_000), leader_asks(0), leader_asks(10_000));
    assert!(slow < right - 10 && fast > right + 10, "{slow} {right} {fast}");
}

#[test]
fn a_wake_up_that_changes_nothing_is_not_in_the_trace() {
    let trace = play("");
    for (place, event) in trace.iter().enumerate() {
        if event.what == What::Deadline {
            let next = trace.get(place + 1).map(|next| (next.node, next.at));
            assert_eq!(next, Some((event.node, event.at)), "something follows from it at once");
        }
    }
}

// Helpers.

fn play(events: &str) -> Vec<TraceEvent> {
    play_file(&format!("{CALM}{events}"))
}

fn play_file(text: &str) -> Vec<TraceEvent> {
    let scenario = Scenario::parse("test.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut trace = Vec::new();
    run::run_with(&scenario, Box::new(|event| trace.push(*event)));
    trace
}

fn count(trace: &[TraceEvent], is: impl Fn(&What) -> bool) -> usize {
    trace.iter().filter(|event| is(&event.what)).count()
}

fn received(trace: &[TraceEvent], from: u32, to: u32, kind: &str) -> Vec<u64> {
    let arrivals = trace.iter().filter_map(|event| match event.what {
        What::Recv(msg, _) if (msg.from.0, msg.to.0, msg.kind.name()) == (from, to, kind) => {
            Some(event.at.as_micros())
        }
        _ => None,
    });
    arrivals.collect()
}

fn dropped(trace: &[TraceEvent], from: u32, to: u32, kind: &str) -> Vec<(u64, DropReason)> {
    let drops = trace.iter().filter_map(|event| match event.what {
        What::Drop(msg, why) if (msg.from.0, msg.to.0, msg.kind.name()) == (from, to, kind) => {
            Some((event.at.as_micros(), why))
        }
        _ => None,
    });
    drops.collect()
}

fn cuts_at_end(trace: &[TraceEvent]) -> Vec<(u32, u32)> {
    let mut cuts = std::collections::BTreeSet::new();
    for event in trace {
        match event.what {
            What::Cut(to) => {
                cuts.insert((event.node.0, to.0));
            }
            What::Mend(to) => {
                cuts.remove(&(event.node.0, to.0));
            }
            _ => {}
        }
    }
    cuts.into_iter().collect()
}
