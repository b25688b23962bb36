//! Files that are scenarios, files that are not, and back again.

mod bad;
mod members;
mod round_trip;

use super::*;

/// The example of the format's description, word for word.
const EXAMPLE: &str = include_str!("tests/design.toml");

const LEAST: &str = "protocol = \"async-bully\"\nnodes = 6\nuntil = \"30s\"\n";

fn parse(text: &str) -> Scenario {
    Scenario::parse("scenarios/x.toml", text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The smallest file, followed by `rest`.
fn parse_rest(rest: &str) -> Scenario {
    parse(&format!("{LEAST}{rest}"))
}

fn ids<const N: usize>(ids: [u32; N]) -> Vec<NodeId> {
    ids.map(NodeId).to_vec()
}

fn pairs<const N: usize>(pairs: [(u32, u32); N]) -> Vec<(NodeId, NodeId)> {
    pairs.map(|(one, other)| (NodeId(one), NodeId(other))).to_vec()
}

#[test]
fn the_example_means_what_it_says() {
    let base =
        LinkRule { latency: Latency { low: Span::millis(1), high: Span::millis(5) }, ..LinkRule::default() };
    let slow = LinkRule { latency: Latency::constant(Span::secs(2)), ..base };
    let cut = pairs([(1, 5), (1, 6), (2, 4), (2, 6), (3, 4), (3, 5), (4, 5), (4, 6), (5, 6)]);
    let expected = Scenario {
        name: "six nodes, not transitive".to_owned(),
        protocol: Protocol::AsyncBully,
        variant: Variant::Repaired,
        nodes: 6,
        seed: 1,
        until: Time::ZERO + Span::secs(30),
        agent: false,
        policy: Policy::default(),
        exclusive: None,
        disk: Disk::default(),
        network: Network { base, links: vec![(NodeId(1), NodeId(2), slow)], resend: None, model: None },
        timing: Timing { delta: Span::millis(10), tau: Span::millis(100), step: Span::millis(10) },
        detector: Detector { kind: DetectorKind::Heartbeat, period: Span::millis(100), reporters: 2 },
        parameters: Parameters { t: Some(2), candidates: None, primary: None },
        drift_ppm: BTreeMap::from([(NodeId(2), 200)]),
        events: vec![
            Planned { at: Time::ZERO, fault: Fault::Cut(cut) },
            Planned { at: Time::ZERO + Span::secs(10), fault: Fault::Crash(ids([1])) },
        ],
        expect: Expect {
            leader: pairs([(2, 2), (3, 2), (4, 4), (5, 2), (6, 6)]).into_iter().collect(),
            group: BTreeMap::new(),
            epoch: BTreeMap::new(),
            outcome: BTreeMap::new(),
            holds: vec![Property::Ale1, Property::Ale2Prime, Property::Ale2],
            violates: vec![],
            messages: vec![
                ("Halt".to_owned(), Bound { relation: Relation::AtMost, value: 40 }),
                ("total".to_owned(), Bound { relation: Relation::Less, value: 4000 }),
            ],
        },
    };
    assert_eq!(parse(EXAMPLE), expected);
}

#[test]
fn what_is_left_out_has_its_default() {
    let scenario = parse(LEAST);
    assert_eq!(scenario.name, "x");
    assert_eq!((scenario.variant, scenario.seed), (Variant::Repaired, 1));
    assert_eq!(
        scenario.network,
        Network { base: LinkRule::default(), links: vec![], resend: None, model: None }
    );
    let delta = Span::millis(2);
    assert_eq!(scenario.timing, Timing { delta, tau: Span::millis(100), step: delta });
    let period = Span::millis(100);
    assert_eq!(scenario.detector, Detector { kind: DetectorKind::Heartbeat, period, reporters: 2 });
    assert_eq!(scenario.parameters, Parameters::default());
    assert_eq!((scenario.drift_ppm.len(), scenario.events.len()), (0, 0));
    assert_eq!(scenario.expect, Expect::default());
}

#[test]
fn delta_covers_the_slowest_link_but_no_event() {
    let link = "[[network.link]]\nfrom = 1\nto = 2\nlatency = \"2s\"\n";
    let event = "[[event]]\nat = \"1s\"\nslow = { from = 1, to = 2, latency = \"9s\" }\n";
    let scenario = parse_rest(&format!("[timing]\ntau = \"1m\"\n{link}{event}"));
    assert_eq!(scenario.timing.delta, Span::millis(2001));
    assert_eq!(scenario.timing.step, Span::millis(2001));
    assert_eq!(scenario.detector.period, Span::secs(60));
}

#[test]
fn delta_covers_what_a_model_bounds() {
    let with = |model: &str| parse_rest(&format!("[network.model]\n{model}")).timing.delta;
    assert_eq!(with("kind = \"gst\"\ndelta = \"20ms\""), Span::millis(21));
    assert_eq!(with("kind = \"gst\""), Span::millis(2));
    assert_eq!(with("kind = \"adversary\""), Span::millis(2));
}

#[test]
fn what_a_model_leaves_out_has_its_default() {
    let with = |rest: &str| parse_rest(rest).network.model.expect("it has one");
    let latency = "[network]\nlatency = [\"1ms\", \"5ms\"]\n[network.model]\n";
    let (source, t, delta) = (NodeId(1), 2, Span::millis(5));
    let t_source = Model { source, t, delta, ..Model::neutral(ModelKind::TSource) };
    assert_eq!(with(&format!("{latency}kind = \"t-source\"")), t_source);
    let kcs = Model { delta, loss: 0.5, ..Model::neutral(ModelKind::Kcs) };
    assert_eq!(with(&format!("{latency}kind = \"kcs\"")), kcs);
    for (parameter, t) in [(0, 1), (1, 1), (4, 4)] {
        let rest = format!("[parameters]\nt = {parameter}\n[network.model]\nkind = \"mp\"");
        assert_eq!(with(&rest).t, t, "t = {parameter}");
    }
}

#[test]
fn a_model_means_what_it_says() {
    let text = "[network.model]\nkind = \"combined\"\nsource = 3\nt = 1\ngst = \"5s\"\ndelta = \"7ms\"";
    let (source, t, gst, delta) = (NodeId(3), 1, Time::ZERO + Span::secs(5), Span::millis(7));
    let expected = Model { kind: ModelKind::Combined, source, t, gst, delta, loss: 0.0 };
    assert_eq!(parse_rest(text).network.model, Some(expected));
    for kind in ModelKind::ALL {
        assert_eq!(ModelKind::by_name(kind.name()), Some(kind));
    }
}

#[test]
fn a_small_cluster_has_fewer_reporters() {
    for (nodes, reporters) in [(1, 1), (2, 1), (3, 2), (4_000, 2)] {
        let text = format!("protocol = \"async-bully\"\nnodes = {nodes}\nuntil = \"1s\"");
        assert_eq!(parse(&text).detector.reporters, reporters, "{nodes} nodes");
    }
}

#[test]
fn another_protocol_brings_its_detector() {
    let overrides = Overrides {
        protocol: Some(Protocol::BullyFd),
        variant: Some(Variant::Printed),
        seed: Some(u64::MAX),
    };
    let scenario = Scenario::parse_with("x.toml", LEAST, &overrides).expect("it is valid");
    assert_eq!(scenario.protocol, Protocol::BullyFd);
    assert_eq!(scenario.detector.kind, DetectorKind::Perfect);
    assert_eq!((scenario.variant, scenario.seed), (Variant::Printed, u64::MAX));
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

#[test]
fn every_action_is_understood() {
    let fault = |action: &str| {
        let scenario = parse_rest(&format!("[[event]]\nat = \"1s\"\n{action}"));
        scenario.events[0].fault.clone()
    };
    let (from, to, latency) = (NodeId(1), NodeId(2), Latency { low: Span::ZERO, high: Span::secs(2) });
    assert_eq!(fault("crash = [1, 2]"), Fault::Crash(ids([1, 2])));
    assert_eq!(fault("recover = [1]"), Fault::Recover(ids([1])));
    assert_eq!(fault("pause = [1]"), Fault::Pause(ids([1])));
    assert_eq!(fault("resume = [1]"), Fault::Resume(ids([1])));
    assert_eq!(fault("cut = [[1, 2]]"), Fault::Cut(pairs([(1, 2)])));
    assert_eq!(fault("cut_one_way = [[2, 1]]"), Fault::CutOneWay(pairs([(2, 1)])));
    assert_eq!(fault("mend = [[1, 2], [3, 4]]"), Fault::Mend(pairs([(1, 2), (3, 4)])));
    assert_eq!(fault("heal = true"), Fault::Heal);
    assert_eq!(fault("partition = [[1, 2], [3]]"), Fault::Partition(vec![ids([1, 2]), ids([3])]));
    let slow = "slow = { from = 1, to = 2, latency = [\"0s\", \"2s\"] }";
    assert_eq!(fault(slow), Fault::Slow { from, to, latency });
    let drop_next = "drop_next = { from = 1, to = 2, kind = \"Ack\" }";
    assert_eq!(fault(drop_next), Fault::DropNext { from, to, kind: "Ack".to_owned() });
    let crash = "crash_before_send = { node = 1, kind = \"Halt\" }";
    assert_eq!(fault(crash), Fault::CrashBeforeSend { node: from, kind: "Halt".to_owned() });
    let invitation = LEAST.replace("async-bully", "invitation");
    let text = format!("{invitation}[[event]]\nat = \"1s\"\nperform = {{ node = 1, op = 7 }}\n");
    let performs = parse(&text);
    assert_eq!(performs.events[0].fault, Fault::Perform { node: from, op: OpId(7) });
    assert_eq!(parse(&performs.to_toml()), performs);
    let network = "network = { loss = 1, fifo = false }";
    let changed = Fault::Network { latency: None, loss: Some(1.0), duplicate: None, fifo: Some(false) };
    assert_eq!(fault(network), changed);
}

#[test]
fn events_and_bounds_keep_the_order_of_the_file() {
    let scenario = parse_rest(
        "[[event]]\nat = \"9s\"\nheal = true\n[[event]]\nat = \"1s\"\ncrash = [1]\n\
         [expect]\nmessages = { total = \"< 9\", Ack = 3, detector = \">=0\" }\n",
    );
    let times: Vec<_> = scenario.events.iter().map(|event| event.at.as_micros()).collect();
    assert_eq!(times, [9_000_000, 1_000_000]);
    let names: Vec<_> = scenario.expect.messages.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["total", "Ack", "detector"]);
}

#[test]
fn what_becomes_of_an_operation_is_printed_as_it_was_read() {
    let scenario = parse(
        "protocol = \"invitation\"\nnodes = 2\nuntil = \"1s\"\n\
         [[event]]\nat = \"0s\"\nperform = { node = 1, op = 9 }\n\
         [[event]]\nat = \"0s\"\nperform = { node = 2, op = 10 }\n\
         [expect]\noutcome = { 10 = \"open\", 9 = \"declined\" }\n",
    );
    let expected = BTreeMap::from([(OpId(9), Outcome::Declined), (OpId(10), Outcome::Open)]);
    assert_eq!(scenario.expect.outcome, expected);
    assert_eq!(parse(&scenario.to_toml()), scenario);
}

#[test]
fn the_seed_may_be_any_64_bit_number() {
    assert_eq!(parse_rest("seed = 18446744073709551615").seed, u64::MAX);
    assert_eq!(parse_rest("seed = 0").seed, 0);
}

#[test]
fn the_examples_of_the_documentation_are_scenarios() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/scenarios.md");
    let docs = std::fs::read_to_string(path).expect("the documentation is there");
    let blocks: Vec<_> =
        docs.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3, "found {} examples", blocks.len());
    for block in blocks {
        // Some show one section only.
        let whole = block.contains("protocol");
        if whole {
            parse(block)
        } else {
            parse_rest(block)
        };
    }
}

#[test]
fn a_printed_scenario_looks_written_by_hand() {
    let printed = parse(EXAMPLE).to_toml();
    let start = "name = \"six nodes, not transitive\"\nprotocol = \"async-bully\"\nnodes = 6\nuntil = \"30s\"\n\n\
                 [network]\nlatency = [\"1ms\", \"5ms\"]\n\n\
                 [[network.link]]\nfrom = 1\nto = 2\nlatency = \"2s\"\n\n\
                 [timing]\ndelta = \"10ms\"\n\n[parameters]\nt = 2\n\n[clock]\ndrift_ppm = { 2 = 200 }\n";
    assert!(printed.starts_with(start), "{printed}");
    assert!(printed.ends_with("messages = { Halt = \"<= 40\", total = \"< 4000\" }\n"), "{printed}");
}
