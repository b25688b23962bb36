//! M. Raynal, *Eventual Leader Service in Unreliable Asynchronous Systems: Why? How?*, 2007: claims C42 to C57.
//!
//! The ledger is `docs/papers/raynal-2007.md`. Claims about one node's rules are tested beside the code, in
//! `bellwether-proto`, and the promises of the models beside the models; the ledger names those tests too.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{Protocol, Setup, Variant, fjr};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::What;
use bellwether_sim::check::Judge;
use bellwether_sim::journal::Journal;
use bellwether_sim::plan;
use bellwether_sim::run::{self, facts};
use bellwether_sim::scenario::{Fault, ModelKind, Scenario};

use crate::mutants::bug::{self, Bug};

use super::modelled::{
    GST, LATENCY, Transcript, both_variants, by_window, crash_apart, event, fjr_message, holds, in_model,
    largest_counter, largest_counts, model, named, opinions, play, play_with, secs, sends_after, suspects,
    t_source, timely_receivers, tolerate, transcript,
};

/// The paper's own protocols for an eventual leader, and the model that each is made for.
const MADE_FOR: [(Protocol, ModelKind); 4] = [
    (Protocol::Lfa, ModelKind::Kcs),
    (Protocol::Adft, ModelKind::TSource),
    (Protocol::Mmrt, ModelKind::Mp),
    (Protocol::Fjr, ModelKind::Kcs),
];

// Section 3: impossibility.

/// "No eventual leader service can be implemented in AS[∅]": the adversary of the proof delays messages and does nothing
/// else, and the longer a run is, the more leaders there were. The oracle is left out: it is told who is up, and not by
/// messages.
#[test]
fn c42_without_an_assumption_leaders_change_for_ever() {
    let of_raynal = |protocol: &Protocol| protocol.spec().document.starts_with("Raynal");
    let own = Protocol::ALL.into_iter().filter(of_raynal);
    let by_detector = DetectorKind::ALL.into_iter().filter(|kind| *kind != DetectorKind::Perfect);
    let with_detector = [Protocol::AsyncBully, Protocol::BullyFd]
        .into_iter()
        .flat_map(|protocol| by_detector.clone().map(move |kind| (protocol, Some(kind))));
    let all = own.map(|protocol| (protocol, None)).chain(with_detector);
    let mut tried = 0;
    for (variant, (protocol, detector)) in both_variants(all) {
        let name = detector.map_or("", DetectorKind::name);
        let what = format!("{} {} {name}", protocol.name(), variant.name());
        let changes = [30, 60, 120, 240].map(|length| {
            let mut scenario = in_model(protocol, 4, ModelKind::Adversary);
            (scenario.variant, scenario.until) = (variant, secs(length));
            scenario.detector.kind = detector.unwrap_or(scenario.detector.kind);
            let report = play(&scenario);
            assert!(!holds(&report, Property::Omega), "{what}: a leader lasts for {length} s");
            assert_eq!(report.messages.lost, 0, "{what}: the adversary only delays");
            report.leader_changes
        });
        assert!(changes[0] > 0 && changes.is_sorted_by(|one, next| one < next), "{what}: {changes:?}");
        tried += 1;
    }
    assert_eq!(
        tried,
        2 * (5 + 2 * 5),
        "five protocols with timers of their own, two with five detectors each"
    );
}

// Section 5: LFA.

/// "Elect the correct process that has the smallest pid"; "it is sufficient that only the output links of the correct
/// process with the smallest identity are eventually reliable and timely": everybody else's lose half of what is sent.
#[test]
fn c43_the_smallest_live_process_leads_if_its_links_alone_are_timely() {
    for (variant, nodes) in both_variants([3, 5, 7]) {
        for smallest in 1..=nodes {
            for others_too in [false, true] {
                let mut scenario = in_model(Protocol::Lfa, nodes, ModelKind::Kcs);
                (scenario.variant, scenario.seed) = (variant, u64::from(smallest));
                model(&mut scenario).source = NodeId(smallest);
                let mut crashed: Vec<u32> = (1..smallest).collect();
                crashed.extend((smallest + 1..=nodes).filter(|node| others_too && node % 2 == 0));
                crash_apart(&mut scenario, &crashed);
                let report = play(&scenario);
                let what = format!("{} {nodes} nodes without {crashed:?}", variant.name());
                assert!(holds(&report, Property::Omega), "{what}: {:?}", report.properties);
                assert_eq!(named(&report), BTreeSet::from([Some(smallest)]), "{what}");
            }
        }
    }
}

/// And these links are needed: if another's are timely, and not those of the smallest, leaders come and go.
#[test]
fn c43_the_timely_links_of_another_are_of_no_use() {
    for seed in 1..=3 {
        let mut scenario = in_model(Protocol::Lfa, 5, ModelKind::Kcs);
        (scenario.seed, model(&mut scenario).source) = (seed, NodeId(2));
        assert!(!holds(&play(&scenario), Property::Omega), "seed {seed}");
    }
}

/// "After an eventual leader p_ℓ has been elected, that process only sends messages forever": n − ℓ in every period.
#[test]
fn c44_lfa_ends_with_one_sender_and_n_minus_l_messages_per_period() {
    for (variant, nodes) in both_variants([3, 5, 7]) {
        for leader in 1..=nodes {
            let mut scenario = Scenario::calm(Protocol::Lfa, nodes, secs(60));
            scenario.variant = variant;
            crash_apart(&mut scenario, &(1..leader).collect::<Vec<_>>());
            let what = format!("{} {nodes} nodes, {leader} leads", variant.name());
            let sends = sends_after(&scenario, secs(30));
            let senders: BTreeSet<NodeId> = sends.iter().map(|(_, from)| *from).collect();
            let expected = if leader < nodes { BTreeSet::from([NodeId(leader)]) } else { BTreeSet::new() };
            assert_eq!(senders, expected, "{what}");
            for count in by_window(&sends, secs(30), scenario.until, scenario.timing.tau) {
                assert_eq!(count, u64::from(nodes - leader), "{what}");
            }
        }
    }
}

/// "Each process p_i considers only the processes with an identity j such that 1 ≤ j ≤ i", whatever happens.
#[test]
fn c45_nobody_follows_one_with_a_larger_id() {
    let mut looked = 0;
    for variant in Variant::ALL {
        for seed in 1..=60 {
            let kind = [ModelKind::Adversary, ModelKind::TMovingSource, ModelKind::Kcs][seed as usize % 3];
            let hostile = plan::model::draw(Protocol::Lfa, variant, kind, seed);
            for scenario in [hostile, plan::draw(Protocol::Lfa, variant, seed)] {
                for (node, opinion) in opinions(&scenario) {
                    looked += 1;
                    assert!(opinion.leader <= Some(node), "seed {seed}: {node} names {:?}", opinion.leader);
                }
            }
        }
    }
    assert!(looked > 10_000, "only {looked} opinions");
}

// Section 6: ADFT.

/// "t output channels of p, such that, after τ₀, any message sent by p on any of these channels is received at most δ
/// units of time after it has been sent"; "it is not required that the destination processes […] be correct".
#[test]
fn c46_t_timely_links_of_one_process_are_enough_whoever_receives_them() {
    for (variant, (nodes, t)) in both_variants([(3, 1), (3, 2), (5, 2), (5, 4), (7, 3)]) {
        for seed in 1..=3 {
            let mut scenario = t_source(nodes, t);
            (scenario.variant, scenario.seed) = (variant, seed);
            let receivers = timely_receivers(&scenario);
            assert_eq!(receivers.len(), t as usize, "the model promises no more");
            for crashed in [&receivers[..0], &receivers[..1], &receivers[..]] {
                let mut scenario = scenario.clone();
                crash_apart(&mut scenario, crashed);
                let report = play(&scenario);
                let what = format!(
                    "{} seed {seed}: {nodes} nodes, t = {t}, {crashed:?} of {receivers:?} crash",
                    variant.name()
                );
                assert!(holds(&report, Property::Omega), "{what}: {:?}", report.properties);
            }
        }
    }
}

/// "As soon as t processes have crashed, any remaining process trivially becomes a t-source": the source is one of those
/// that crash, and nothing is timely any more. If one less has crashed, that is no promise at all.
#[test]
fn c46_once_t_have_crashed_nothing_need_be_timely() {
    for (nodes, t) in [(5, 2), (7, 3)] {
        let runs_that_fail = |crashed: u32| {
            let fails = |(variant, seed): &(Variant, u64)| {
                let mut scenario = t_source(nodes, t);
                (scenario.variant, scenario.seed, scenario.until) = (*variant, *seed, secs(400));
                crash_apart(&mut scenario, &(3..3 + crashed).collect::<Vec<_>>());
                !holds(&play(&scenario), Property::Omega)
            };
            both_variants(1..=3).filter(fails).count()
        };
        assert_eq!(runs_that_fail(t), 0, "{nodes} nodes, {t} crash");
        assert!(runs_that_fail(t - 1) > 0, "{nodes} nodes, one less crashes");
    }
}

/// One link less, and n - t processes may suspect the source as well: leaders change for ever.
#[test]
fn c46_fewer_than_t_timely_links_are_not_enough() {
    for (variant, seed) in both_variants(1..=4) {
        let changes = [120, 240, 480].map(|length| {
            let mut scenario = t_source(5, 2);
            scenario.network.model.as_mut().expect("it is in a model").t = 1;
            (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(length));
            let report = play(&scenario);
            assert!(!holds(&report, Property::Omega), "{} seed {seed}, {length} s", variant.name());
            report.leader_changes
        });
        assert!(changes.is_sorted_by(|one, next| one < next), "{} seed {seed}: {changes:?}", variant.name());
    }
}

/// "It remains bounded when p_j is a correct ◊t-source, while it increases without bound when p_j crashes." If nobody is a
/// source, everybody's grows.
#[test]
fn c47_the_count_of_a_crashed_process_grows_for_ever_and_that_of_a_source_does_not() {
    for (variant, seed) in both_variants([1, 2, 3]) {
        let mut scenario = t_source(5, 2);
        (scenario.variant, scenario.seed) = (variant, seed);
        scenario.until = secs(800);
        crash_apart(&mut scenario, &[1]);
        let [early, late, latest] = [200, 400, 800].map(|until| largest_counts(&scenario, secs(until)));
        let what = format!("{} seed {seed}: {early:?}, {late:?}, {latest:?}", variant.name());
        assert!(early[0] < late[0] && late[0] < latest[0], "crashed: {what}");
        assert_eq!((early[2], late[2]), (latest[2], latest[2]), "source: {what}");
        // One link, and nobody down, to whom any link would be timely.
        scenario.network.model.as_mut().expect("it is in a model").t = 1;
        scenario.events.clear();
        let [early, latest] = [200, 800].map(|until| largest_counts(&scenario, secs(until)));
        let grow = early.iter().zip(&latest).all(|(early, latest)| early < latest);
        assert!(grow, "{} seed {seed}, no source: {early:?}, {latest:?}", variant.name());
    }
}

/// "Any correct process sends forever", in ADFT; and MMRT, too, "requires that each correct process sends messages
/// forever".
#[test]
fn c48_in_adft_and_mmrt_everybody_sends_for_ever() {
    for protocol in [Protocol::Adft, Protocol::Mmrt] {
        let kind = MADE_FOR.into_iter().find(|(made, _)| *made == protocol).map(|(_, kind)| kind);
        for variant in Variant::ALL {
            let calm = Scenario::calm(protocol, 5, secs(200));
            for mut scenario in [calm, in_model(protocol, 5, kind.expect("it has one"))] {
                scenario.variant = variant;
                crash_apart(&mut scenario, &[1]);
                let sends = sends_after(&scenario, secs(100));
                for from in (100..200).step_by(20) {
                    let within = |at: &Time| (secs(from)..secs(from + 20)).contains(at);
                    let senders: BTreeSet<u32> =
                        sends.iter().filter(|(at, _)| within(at)).map(|(_, from)| from.0).collect();
                    assert_eq!(senders, (2..=5).collect(), "{} from {from} s on", scenario.name);
                }
            }
        }
    }
}

// Section 7: MMRT.

/// "This assumption imposes no constraint on message transfer delays; those can increase forever."
#[test]
fn c49_mmrt_elects_under_the_message_pattern_while_delays_grow() {
    for (variant, (nodes, t)) in both_variants([(3, 1), (5, 1), (5, 2), (5, 3), (7, 3)]) {
        for (crashes, seed) in [(0, 1), (0, 2), (t - 1, 3), (t, 4)] {
            let mut scenario = in_model(Protocol::Mmrt, nodes, ModelKind::Mp);
            (scenario.variant, scenario.seed) = (variant, seed);
            scenario.until = secs(400);
            tolerate(&mut scenario, t);
            let crashed: Vec<u32> = (1..=nodes).filter(|node| *node != 3).take(crashes as usize).collect();
            crash_apart(&mut scenario, &crashed);
            let mut longest = [Span::ZERO; 2];
            let report = play_with(&scenario, |event| {
                if let What::Recv(msg, sent) = event.what
                    && msg.from == NodeId(3)
                    && sent >= Time::ZERO + GST
                {
                    let half = usize::from(sent >= secs(200));
                    longest[half] = longest[half].max(event.at.since(sent));
                }
            });
            let what = format!("{} seed {seed}: {nodes} nodes, t = {t}, {crashed:?} crash", variant.name());
            assert!(holds(&report, Property::Omega), "{what}: {:?}", report.properties);
            assert!(longest[1] > longest[0] && longest[0] > LATENCY.high, "{what}: {longest:?}");
        }
    }
}

/// "That approach does not rely on timing assumptions and timeouts": a process whose query is open waits for responses
/// and for nothing else. If none come, nothing will ever happen again.
#[test]
fn c49_as_printed_an_open_query_waits_without_a_timer() {
    let mut scenario = Scenario::calm(Protocol::Mmrt, 3, secs(60));
    scenario.variant = Variant::Printed;
    scenario.events.push(event(0, Fault::Partition(vec![vec![NodeId(1)], vec![NodeId(2)], vec![NodeId(3)]])));
    let mut world = run::world(&scenario, None);
    world.run_until(secs(1));
    assert_eq!(world.next_at(), None, "nobody waits for a time");
}

/// Where all latencies are drawn alike every link is timely and nobody is always among the first: the longer the runs, the
/// more changes of leader. Not every run of such a length shows it in its last quarter, some do.
#[test]
fn c49_c57_timely_links_are_no_message_pattern() {
    for (variant, t) in both_variants([1, 2]) {
        let (mut broken, mut changes) = (0, [0; 3]);
        for seed in 1..=6 {
            for (length, changes) in [100, 200, 400].into_iter().zip(&mut changes) {
                let mut scenario = Scenario::calm(Protocol::Mmrt, 5, secs(length));
                (scenario.variant, scenario.seed) = (variant, seed);
                scenario.network.base.latency = LATENCY;
                scenario.parameters.t = Some(t);
                let report = play(&scenario);
                broken += u32::from(!holds(&report, Property::Omega));
                *changes += report.leader_changes;
            }
        }
        let grow = changes.is_sorted_by(|one, next| one < next);
        assert!(grow && broken > 0, "{} t = {t}: {broken} of 18 runs, {changes:?}", variant.name());
    }
}

/// "A process can introduce an arbitrary delay before issuing a query-response challenge."
#[test]
fn c50_queries_may_be_as_far_apart_as_one_likes() {
    for (tau, length) in [(1, 200), (10, 200), (1_000, 600), (10_000, 6_000)] {
        for (variant, seed) in both_variants([tau]) {
            let mut scenario = in_model(Protocol::Mmrt, 5, ModelKind::Mp);
            (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(length));
            scenario.timing.tau = Span::millis(tau);
            crash_apart(&mut scenario, &[1]);
            let report = play(&scenario);
            let what = format!("{} seed {seed}, every {tau} ms", variant.name());
            assert!(holds(&report, Property::Omega), "{what}: {:?}", report.properties);
        }
    }
}

/// "Independently of the other processes": each node leaves ten times as long between its queries as the one before it.
#[test]
fn c50_every_process_may_have_a_pace_of_its_own() {
    for (variant, seed) in both_variants([1, 2, 3]) {
        let mut scenario = in_model(Protocol::Mmrt, 4, ModelKind::Mp);
        (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(800));
        let journal = Journal::new(Judge::new(facts(&scenario), &[Property::Omega]), None);
        let mut world = bug::world(&AtItsOwnPace, &scenario, journal);
        world.run_until(scenario.until);
        let findings = world.into_journal().verdicts(scenario.until);
        assert!(matches!(&findings[..], [one] if one.violation.is_none()), "seed {seed}: {findings:?}");
    }
}

/// MMRT with a delay between queries of 5 ms, 50 ms, 500 ms, 5 s for nodes 1 to 4.
struct AtItsOwnPace;

impl Bug for AtItsOwnPace {
    fn is_told(&self, setup: &mut Setup) {
        setup.timing.tau = Span::millis(5 * 10_u64.pow(setup.roster.me().0 - 1));
    }
}

// Section 2: the channels.

/// "Let us observe that channels are not required to be FIFO."
#[test]
fn c51_messages_overtake_one_another_and_every_protocol_elects() {
    for (protocol, kind) in MADE_FOR {
        for (variant, seed) in both_variants([1, 2, 3]) {
            let mut scenario = in_model(protocol, 5, kind);
            (scenario.variant, scenario.seed) = (variant, seed);
            if kind == ModelKind::Kcs {
                crash_apart(&mut scenario, &[1, 2]);
            }
            let (mut last, mut overtaken) = (BTreeMap::new(), 0);
            let report = play_with(&scenario, |event| {
                if let What::Recv(msg, _) = event.what {
                    let newest = last.entry((msg.from, msg.to)).or_insert(0);
                    overtaken += u32::from(msg.id < *newest);
                    *newest = msg.id.max(*newest);
                }
            });
            let what = format!("{} {} seed {seed}", protocol.name(), variant.name());
            assert!(holds(&report, Property::Omega), "{what}: {:?}", report.properties);
            assert!(overtaken >= 10, "{what}: only {overtaken} were overtaken");
        }
    }
}

// Section 8: FJR.

/// "A process knows initially neither n, nor t, nor the identities of the other processes"; channels are "fair lossy".
/// Two nodes begin a hundred seconds after the others, one of them the strongest of all; nobody was told of them.
#[test]
fn c52_fjr_elects_among_processes_that_know_only_themselves() {
    for (variant, seed) in both_variants(1..=10) {
        let mut scenario = in_model(Protocol::Fjr, 5, ModelKind::Kcs);
        (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(400));
        let late = vec![NodeId(1), NodeId(5)];
        scenario.events.push(event(0, Fault::Crash(late.clone())));
        scenario.events.push(event(100_000, Fault::Recover(late)));
        let journal = Journal::new(Judge::new(facts(&scenario), &[Property::Omega]), None);
        let mut world = bug::world(&Unaware, &scenario, journal);
        world.run_until(secs(99));
        let up = world.opinions().filter(|(_, opinion)| *opinion != Opinion::DOWN).count();
        assert_eq!(up, 3);
        world.run_until(scenario.until);
        let leaders: BTreeSet<_> = world.opinions().map(|(_, opinion)| opinion.leader).collect();
        assert_eq!(leaders.len(), 1, "{} seed {seed}: {leaders:?}", variant.name());
        let lost = world.journal().accounts().lost;
        let findings = world.into_journal().verdicts(scenario.until);
        assert!(matches!(&findings[..], [one] if one.violation.is_none()), "seed {seed}: {findings:?}");
        assert!(lost > 20, "{} seed {seed}: only {lost} were lost", variant.name());
    }
}

/// FJR that checks that it is told of nobody else.
struct Unaware;

impl Bug for Unaware {
    fn is_told(&self, setup: &mut Setup) {
        assert_eq!(setup.roster.members(), [setup.roster.me()]);
    }
}

/// Whatever it is told of t, it does the same.
#[test]
fn c52_fjr_does_not_use_t() {
    let hash = |protocol, t| {
        let mut scenario = in_model(protocol, 5, ModelKind::Kcs);
        scenario.parameters.t = Some(t);
        play(&scenario).trace_hash
    };
    assert_eq!(hash(Protocol::Fjr, 0), hash(Protocol::Fjr, 4));
    assert_ne!(hash(Protocol::Adft, 0), hash(Protocol::Adft, 4));
}

/// "After some finite time a single process sends messages forever": one broadcast per η.
#[test]
fn c53_fjr_ends_with_one_sender_and_one_broadcast_per_period() {
    for (variant, nodes) in both_variants([3, 5, 7]) {
        for seed in 1..=5 {
            let mut scenario = in_model(Protocol::Fjr, nodes, ModelKind::Kcs);
            (scenario.variant, scenario.seed) = (variant, seed);
            crash_apart(&mut scenario, &[1]);
            let what = format!("{} {nodes} nodes, seed {seed}", variant.name());
            let sends = sends_after(&scenario, secs(150));
            let senders: BTreeSet<NodeId> = sends.iter().map(|(_, from)| *from).collect();
            assert_eq!(senders.len(), 1, "{what}: {senders:?}");
            for count in by_window(&sends, secs(150), scenario.until, scenario.timing.tau) {
                assert_eq!(count, u64::from(nodes - 1), "{what}");
            }
        }
    }
}

/// "No messages carry values that increase without bound." Those of ADFT and MMRT do; so do those of FJR where the
/// assumption is broken.
#[test]
fn c54_no_number_in_fjrs_messages_grows_for_ever() {
    let broken = (Protocol::Fjr, ModelKind::Adversary);
    for (protocol, kind) in MADE_FOR.into_iter().chain([broken]) {
        for (variant, seed) in both_variants([1, 2, 3]) {
            let [early, late] = [200, 600].map(|until| {
                let mut scenario = in_model(protocol, 5, kind);
                (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(until));
                crash_apart(&mut scenario, &[1, 2]);
                largest_counter(&scenario)
            });
            let what = format!("{} in {} {} seed {seed}", protocol.name(), kind.name(), variant.name());
            let bounded = kind == ModelKind::Kcs;
            assert_eq!(early == late, bounded, "{what}: {early} and {late}");
            assert_eq!(early == 0, protocol == Protocol::Lfa, "{what}: {early}");
        }
    }
}

/// A heartbeat counts "only if no 'more recent' stop_leader message has been received": it makes nobody follow its
/// sender.
#[test]
fn c55_a_heartbeat_that_comes_after_the_stop_is_ignored() {
    let mut ignored = 0;
    for (variant, seed) in both_variants(1..=20) {
        let mut scenario = in_model(Protocol::Fjr, 5, ModelKind::Kcs);
        (scenario.variant, scenario.seed) = (variant, seed);
        let Transcript { events, said } = transcript(&scenario);
        let mut stops: BTreeMap<(NodeId, NodeId), u64> = BTreeMap::new();
        for pair in events.windows(2) {
            let What::Recv(msg, _) = pair[0].what else { continue };
            let stopped = stops.entry((msg.to, msg.from)).or_default();
            match fjr_message(&said, msg.id) {
                Some(fjr::Msg::StopLeader { np_sn, .. }) => *stopped = np_sn.max(*stopped),
                Some(fjr::Msg::Heartbeat { np_sn, .. }) if np_sn <= *stopped => {
                    ignored += 1;
                    if let (true, What::Node(Event::Opinion(opinion))) =
                        (pair[1].node == msg.to, pair[1].what)
                    {
                        assert_ne!(opinion.leader, Some(msg.from), "seed {seed} at {}", pair[1].at);
                    }
                }
                Some(fjr::Msg::Heartbeat { .. } | fjr::Msg::Suspicion { .. }) | None => {}
            }
        }
    }
    assert!(ignored > 20, "only {ignored} heartbeats were late");
}

/// "Only p_i can increase count_i[i]; it does it when it receives a message from a process p_k indicating that p_k
/// suspects it." As printed its count is the number of suspicions it has received; repaired, it begins each incarnation above
/// what it had.
#[test]
fn c56_a_count_grows_by_the_suspicions_its_owner_receives() {
    let mut grown = 0;
    for (variant, seed) in both_variants(1..=40) {
        let scenario = plan::model::draw(Protocol::Fjr, variant, ModelKind::Kcs, seed);
        let Transcript { events, said } = transcript(&scenario);
        // By node: what it said last, in this incarnation, and the suspicions it has received since.
        let mut counts: BTreeMap<NodeId, (Option<u64>, u64)> = BTreeMap::new();
        for event in &events {
            let (last, suspected) = counts.entry(event.node).or_default();
            match event.what {
                What::Recover => (*last, *suspected) = ((variant == Variant::Printed).then_some(0), 0),
                What::Recv(msg, _) => {
                    let of = suspects(fjr_message(&said, msg.id));
                    *suspected += u64::from(of == Some(event.node));
                }
                What::Send(msg) => {
                    let Some(
                        fjr::Msg::Heartbeat { count, .. }
                        | fjr::Msg::StopLeader { count, .. }
                        | fjr::Msg::Suspicion { count, .. },
                    ) = fjr_message(&said, msg.id)
                    else {
                        continue;
                    };
                    let what = format!("{} seed {seed}: node {} at {}", variant.name(), event.node, event.at);
                    if let Some(before) = *last {
                        assert!((before..=before + *suspected).contains(&count), "{what}");
                        assert!(variant == Variant::Repaired || count == before + *suspected, "{what}");
                        grown += count - before;
                    }
                    (*last, *suspected) = (Some(count), 0);
                }
                _ => {}
            }
        }
    }
    assert!(grown > 500, "counts grew by only {grown}");
}

// Section 4: other assumptions.

/// "The eventual t-moving source assumption is weaker than the eventual t-source": too weak for ADFT. There are t timely
/// links at every instant, and leaders change for ever.
#[test]
fn c57_a_source_that_moves_is_not_enough_for_adft() {
    for (variant, seed) in both_variants(1..=5) {
        let changes = [120, 240, 480].map(|length| {
            let mut scenario = in_model(Protocol::Adft, 5, ModelKind::TMovingSource);
            (scenario.variant, scenario.seed, scenario.until) = (variant, seed, secs(length));
            let report = play(&scenario);
            assert!(!holds(&report, Property::Omega), "{} seed {seed}, {length} s", variant.name());
            report.leader_changes
        });
        assert!(changes.is_sorted_by(|one, next| one < next), "{} seed {seed}: {changes:?}", variant.name());
    }
}

/// "This message pattern approach and the eventual timely link approaches cannot be compared": neither the pattern nor
/// accessibility is any use to ADFT.
#[test]
fn c57_neither_the_pattern_nor_accessibility_is_enough_for_adft() {
    for kind in [ModelKind::Mp, ModelKind::TAccessible] {
        for (variant, seed) in both_variants(1..=4) {
            let mut scenario = in_model(Protocol::Adft, 5, kind);
            (scenario.variant, scenario.seed) = (variant, seed);
            let what = format!("{} in {} seed {seed}", variant.name(), kind.name());
            assert!(!holds(&play(&scenario), Property::Omega), "{what}");
        }
    }
}

/// "If only (1) is satisfied, we obtain the message pattern assumption, while, if only (2) is satisfied, we obtain the
/// eventual t-source assumption": of a Q of one, that one has the pattern, and every run is one of the pattern; of a
/// larger Q one half has timely links.
#[test]
fn c57_the_combined_assumption_is_made_of_the_other_two() {
    for (protocol, seed) in [Protocol::Adft, Protocol::Mmrt].into_iter().flat_map(|it| [(it, 1), (it, 2)]) {
        let hash = |kind, t| {
            let mut scenario = in_model(protocol, 5, kind);
            scenario.seed = seed;
            tolerate(&mut scenario, t);
            play(&scenario).trace_hash
        };
        assert_eq!(hash(ModelKind::Combined, 1), hash(ModelKind::Mp, 1), "{} seed {seed}", protocol.name());
        assert_ne!(hash(ModelKind::Combined, 2), hash(ModelKind::Mp, 2), "{} seed {seed}", protocol.name());
    }
    for (kind, timely) in [(ModelKind::TSource, 4), (ModelKind::Combined, 2), (ModelKind::Mp, 0)] {
        for seed in 1..=3 {
            let mut scenario = in_model(Protocol::Adft, 6, kind);
            scenario.seed = seed;
            tolerate(&mut scenario, 4);
            assert_eq!(timely_receivers(&scenario).len(), timely, "{} seed {seed}", kind.name());
        }
    }
}
