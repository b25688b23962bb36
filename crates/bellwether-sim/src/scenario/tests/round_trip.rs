//! What is printed parses to the same; what is mangled is refused, not panicked at.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;
use bellwether_proto::exclusive::grant::GrantKind;
use bellwether_proto::exclusive::terms::Drift;
use bellwether_proto::ident::{ElectionId, Incarnation};

/// Enough for every shape of event, few enough to print.
const NODES: u32 = 6;

const KINDS: [&str; 6] = ["Halt", "Ack", "Norm?", "Ping", "Outlived", "Lead"];

proptest! {
    #[test]
    fn a_printed_scenario_parses_to_the_same(scenario in scenario()) {
        let text = scenario.to_toml();
        let again = Scenario::parse("x.toml", &text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(again, scenario, "{}", text);
    }

    #[test]
    fn a_mangled_file_never_panics(edits in vec((any::<prop::sample::Index>(), any::<char>(), 0..4), 1..6)) {
        let mut chars: Vec<char> = EXAMPLE.chars().collect();
        for (at, inserted, how) in edits {
            let at = at.index(chars.len());
            mangle(&mut chars, at, inserted, how);
        }
        check_message(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn swapped_words_never_panic(words in vec(0..400_usize, 1..4)) {
        let mut parts: Vec<&str> = EXAMPLE.split_inclusive([' ', '\n', '=', ',']).collect();
        let count = parts.len();
        for word in words {
            parts.swap(word % count, (word * 7 + 1) % count);
        }
        check_message(&parts.concat());
    }

    #[test]
    fn noise_never_panics(text in "\\PC{0,80}") {
        check_message(&text);
    }
}

/// Numbers at the edges of their types, in every place that takes one.
#[test]
fn extreme_numbers_never_panic() {
    let extremes = ["-9223372036854775808", "18446744073709551615", "1e400", "-inf", "0x7fffffffffffffff"];
    let digits: Vec<_> = EXAMPLE.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).collect();
    for (at, extreme) in digits.into_iter().flat_map(|at| extremes.map(|extreme| (at, extreme))) {
        check_message(&format!("{}{extreme}{}", &EXAMPLE[..at], &EXAMPLE[at + 1..]));
    }
}

fn check_message(text: &str) {
    match Scenario::parse("x.toml", text) {
        Ok(scenario) => assert_eq!(parse(&scenario.to_toml()), scenario),
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line), "{error}");
            assert!(!error.to_string().contains(char::is_control), "{error:?}");
        }
    }
}

fn mangle(chars: &mut Vec<char>, at: usize, inserted: char, how: i32) {
    match how {
        0 => chars.insert(at, inserted),
        1 => chars[at] = inserted,
        2 if chars.len() > 1 => drop(chars.remove(at)),
        _ => chars.truncate(at.max(1)),
    }
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let head = (any::<String>(), select(&Protocol::ALL[..]), select(&Variant::ALL[..]), any::<u64>());
    let world = (network(), timing(), detector(), parameters());
    let rest = (btree_map(node(), -100_000..=100_000, 0..3), vec(planned(fault()), 0..6), expect());
    let of_agents = (any::<bool>(), policy(), disk(), vec(planned(asked()), 0..4), option::of(exclusive()));
    (head, world, rest, of_agents).prop_map(|(head, world, rest, of_agents)| {
        let (name, protocol, variant, seed) = head;
        let (network, timing, detector, parameters) = world;
        let (drift_ppm, mut events, expect) = rest;
        let (agent, policy, disk, asked, exclusive) = of_agents;
        events.extend(asked.into_iter().filter(|_| agent));
        let until = Time::ZERO + Span::secs(30);
        let nodes = NODES;
        Scenario {
            name,
            protocol,
            variant,
            nodes,
            seed,
            until,
            agent,
            policy: if agent { policy } else { Policy::default() },
            exclusive: exclusive.filter(|_| agent),
            disk: if agent { disk } else { Disk::default() },
            network,
            timing,
            detector,
            parameters,
            drift_ppm,
            events,
            expect,
        }
    })
}

fn exclusive() -> impl Strategy<Value = Exclusive> {
    let voters = nodes().prop_filter("an odd number votes", |voters| voters.len() % 2 == 1);
    let terms = (1..5_000_u64, 0..499_999_u32, select(&GrantKind::ALL[..]), voters, nodes());
    terms.prop_map(|(ttl, drift, kind, voters, witnesses)| Exclusive {
        ttl: Span::millis(ttl),
        drift: Drift(drift),
        kind,
        voters: voters.into_iter().collect(),
        witnesses: witnesses.into_iter().collect(),
    })
}

fn disk() -> impl Strategy<Value = Disk> {
    (delay(), btree_map(node(), delay(), 0..3)).prop_map(|(latency, slow)| Disk { latency, slow })
}

fn node() -> impl Strategy<Value = NodeId> {
    (1..=NODES).prop_map(NodeId)
}

fn nodes() -> impl Strategy<Value = Vec<NodeId>> {
    subsequence((1..=NODES).map(NodeId).collect::<Vec<_>>(), 1..=NODES as usize)
}

fn pair() -> impl Strategy<Value = (NodeId, NodeId)> {
    (1..=NODES, 1..NODES).prop_map(|(one, step)| (NodeId(one), NodeId((one - 1 + step) % NODES + 1)))
}

fn kind() -> impl Strategy<Value = String> {
    select(&KINDS[..]).prop_map(str::to_owned)
}

/// Often a round number, sometimes the default.
fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        Just(Span::millis(100)),
        (1..5_000_u64).prop_map(Span::millis),
        (1..5_000_u64).prop_map(Span::secs),
        (1..=3_600_000_000_000_000_u64).prop_map(Span::micros),
    ]
}

fn latency() -> impl Strategy<Value = Latency> {
    let range =
        (span(), span()).prop_map(|(one, other)| Latency { low: one.min(other), high: one.max(other) });
    prop_oneof![Just(Latency::constant(Span::ZERO)), Just(LinkRule::default().latency), range]
}

fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), Just(f64::MIN_POSITIVE), 0.0..=1.0]
}

fn rule() -> impl Strategy<Value = LinkRule> {
    let rule = (latency(), probability(), probability(), any::<bool>());
    rule.prop_map(|(latency, loss, duplicate, fifo)| LinkRule { latency, loss, duplicate, fifo })
}

fn network() -> impl Strategy<Value = Network> {
    let base = prop_oneof![Just(LinkRule::default()), rule()];
    let links = btree_map(pair(), option::of(rule()), 0..3);
    // A link whose rule is the base's is still a link with a rule of its own.
    (base, links, option::of(span()), option::of(model())).prop_map(|(base, links, resend, model)| Network {
        base,
        resend,
        links: links.into_iter().map(|((from, to), rule)| (from, to, rule.unwrap_or(base))).collect(),
        model: model.map(|model| with_latency(model, base.latency)),
    })
}

/// Its `delta` is yet to be made one that the latency allows.
fn model() -> impl Strategy<Value = Model> {
    let kind = select(&ModelKind::ALL[..]);
    let model = (kind, node(), 1..NODES - 1, 0..30_000_000_u64, span(), 0.0..1.0);
    model.prop_map(|(kind, source, t, gst, delta, loss)| {
        Model { kind, source, t, gst: Time::from_micros(gst), delta, loss }.as_read()
    })
}

fn with_latency(model: Model, latency: Latency) -> Model {
    let reads = model.kind.reads(ModelKey::Delta);
    let least = model.kind.delta_min(latency);
    Model { delta: if reads { model.delta.max(least) } else { model.delta }, ..model }
}

fn timing() -> impl Strategy<Value = Timing> {
    (span(), span(), span()).prop_map(|(delta, tau, step)| Timing { delta, tau, step })
}

fn detector() -> impl Strategy<Value = Detector> {
    let detector = (select(&DetectorKind::ALL[..]), span(), 1..NODES as usize);
    detector.prop_map(|(kind, period, reporters)| Detector { kind, period, reporters })
}

fn parameters() -> impl Strategy<Value = Parameters> {
    let primary = option::of(select(&Primary::ALL[..]));
    let parameters = (option::of(0..NODES), option::of(nodes().prop_shuffle()), primary);
    parameters.prop_map(|(t, candidates, primary)| Parameters { t, candidates, primary })
}

fn policy() -> impl Strategy<Value = Policy> {
    let preference = (btree_map(node(), 0..=1_000_u32, 0..3), btree_map(node(), delay(), 0..3));
    let policy = (preference, 0..NODES, span(), span());
    policy.prop_map(|((priority, preempt), min_peers, release_timeout, resign_hold)| Policy {
        priority,
        preempt,
        min_peers,
        release_timeout,
        resign_hold,
    })
}

/// As [`span`], or none.
fn delay() -> impl Strategy<Value = Span> {
    prop_oneof![Just(Span::ZERO), span()]
}

fn planned(fault: impl Strategy<Value = Fault>) -> impl Strategy<Value = Planned> {
    (0..30_000_000_u64, fault).prop_map(|(at, fault)| Planned { at: Time::from_micros(at), fault })
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        nodes().prop_map(Fault::Crash),
        nodes().prop_map(Fault::Recover),
        nodes().prop_map(Fault::Pause),
        nodes().prop_map(Fault::Resume),
        vec(pair(), 1..4).prop_map(Fault::Cut),
        vec(pair(), 1..4).prop_map(Fault::CutOneWay),
        vec(pair(), 1..4).prop_map(Fault::Mend),
        Just(Fault::Heal),
        (nodes().prop_shuffle(), 1..4_usize).prop_map(|(nodes, size)| partition(&nodes, size)),
        (pair(), latency()).prop_map(|((from, to), latency)| Fault::Slow { from, to, latency }),
        (pair(), kind()).prop_map(|((from, to), kind)| Fault::DropNext { from, to, kind }),
        (pair(), kind(), 1..9_u64, mishap()).prop_map(|((from, to), kind, nth, mishap)| Fault::Message {
            from,
            to,
            kind,
            nth,
            mishap
        }),
        (node(), kind()).prop_map(|(node, kind)| Fault::CrashBeforeSend { node, kind }),
        change(),
    ]
}

fn mishap() -> impl Strategy<Value = Mishap> {
    prop_oneof![Just(Mishap::Drop), span().prop_map(Mishap::Delay), Just(Mishap::Duplicate)]
}

/// What can be asked of nodes that are run as an agent runs them.
fn asked() -> impl Strategy<Value = Fault> {
    prop_oneof![
        nodes().prop_map(Fault::Resign),
        (node(), option::of(delay())).prop_map(|(node, hold)| Fault::ResignFor { node, hold }),
        nodes().prop_map(Fault::Stand),
        pair().prop_map(|(from, to)| Fault::Transfer { from, to }),
        node().prop_map(Fault::AddVoter),
        node().prop_map(Fault::RemoveVoter),
        nodes().prop_map(Fault::Leave),
        vec(pair(), 1..4).prop_map(Fault::Unlink),
        vec(pair(), 1..4).prop_map(Fault::Refuse),
        vec(pair(), 1..4).prop_map(Fault::Accept),
        (node(), option::of(delay())).prop_map(|(node, ends_after)| Fault::Work { node, ends_after }),
        (node(), span()).prop_map(|(node, lasts)| Fault::Stall { node, lasts }),
    ]
}

fn partition(nodes: &[NodeId], size: usize) -> Fault {
    Fault::Partition(nodes.chunks(size).map(<[NodeId]>::to_vec).collect())
}

fn change() -> impl Strategy<Value = Fault> {
    (option::of(latency()), option::of(probability()), option::of(probability()), any::<bool>()).prop_map(
        |(latency, loss, duplicate, fifo)| Fault::Network { latency, loss, duplicate, fifo: Some(fifo) },
    )
}

fn expect() -> impl Strategy<Value = Expect> {
    let properties = (Just(Property::ALL.to_vec()).prop_shuffle(), 0..4_usize, 0..4_usize);
    let names =
        ["total", "protocol", "detector"].into_iter().chain(KINDS).map(str::to_owned).collect::<Vec<_>>();
    let messages = subsequence(names, 0..4)
        .prop_shuffle()
        .prop_flat_map(|names| names.into_iter().map(|name| (Just(name), bound())).collect::<Vec<_>>());
    let epoch = btree_map(node(), 1..=i64::MAX as u64, 0..4);
    let group = btree_map(node(), group(), 0..4);
    (btree_map(node(), node(), 0..4), group, epoch, properties, messages).prop_map(
        |(leader, group, epoch, (properties, holds, violates), messages)| Expect {
            leader,
            group,
            epoch,
            outcome: BTreeMap::new(), // no event asks for any, since not every protocol can
            holds: properties[..holds].to_vec(),
            violates: properties[holds..holds + violates].to_vec(),
            messages,
        },
    )
}

fn group() -> impl Strategy<Value = GroupId> {
    (node(), any::<u64>(), any::<u64>()).prop_map(|(node, incarnation, seq)| {
        GroupId(ElectionId { node, incarnation: Incarnation(incarnation), seq })
    })
}

fn bound() -> impl Strategy<Value = Bound> {
    let relations = [Relation::Less, Relation::AtMost, Relation::Equal, Relation::AtLeast, Relation::More];
    (select(relations.to_vec()), any::<u64>()).prop_map(|(relation, value)| Bound { relation, value })
}
