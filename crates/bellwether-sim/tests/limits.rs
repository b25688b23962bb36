//! Plans within limits: only what is allowed befalls them, everything heals, and the widest limits draw what they always did.

use std::collections::BTreeSet;

use bellwether_proto::detector::DetectorKind;
use bellwether_proto::election::{InAgent, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_sim::plan::{self, Allowed, FaultClass, Limits, LimitsError};
use bellwether_sim::scenario::{Fault, Runs, Scenario};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What the plans with the seeds 1 to 50 come to as text. Seeds stand for plans in tests and in reports. Those of algorithms never
/// change; those of agents changed when programs came into them, and change when leadership is given another time to settle: they last
/// as long as that takes.
const DRAWN: &[(&str, u64)] = &[
    ("bully-fd repaired", 0x1460_a624_32dc_7572),
    ("bully-fd printed", 0x1bbe_616e_2b6f_cfe1),
    ("async-bully repaired", 0x0bea_07d1_ba02_61fa),
    ("async-bully printed", 0x9bac_91fa_4705_99a4),
    ("async-bully agent", 0x9fd8_40a4_b669_07d7),
    ("lfa repaired", 0x2dfa_0fec_f1b8_ebf1),
    ("lfa printed", 0x8e87_ef5f_03b9_2e28),
    ("lfa agent", 0x53a3_db1a_a45f_a44e),
    ("adft repaired", 0x4ff1_e65a_2181_e283),
    ("adft printed", 0x0cf3_f3c6_e925_c0d5),
    ("adft agent", 0xfcb2_9315_8bdc_cb59),
    ("mmrt repaired", 0x9b94_e840_9e09_4a13),
    ("mmrt printed", 0x200f_5a68_56bb_5dc9),
    ("fjr repaired", 0xa8d6_389b_e173_4cb0),
    ("fjr printed", 0x0ca3_285c_75b6_70d3),
    ("fjr agent", 0x45f6_7826_43c0_efb7),
    ("lockstep repaired", 0xbf15_0c21_fbbe_1cf2),
    ("lockstep printed", 0x7302_d80a_016e_a35b),
];

#[test]
fn the_widest_limits_draw_what_they_always_did() {
    let hash = |draw: &dyn Fn(u64) -> Scenario| {
        (1..=50).fold(0, |hash, seed| xxh3_64_with_seed(draw(seed).to_toml().as_bytes(), hash))
    };
    let mut drawn = Vec::new();
    for protocol in Protocol::ALL {
        for variant in Variant::ALL {
            let name = format!("{} {}", protocol.name(), variant.name());
            drawn.push((name, hash(&|seed| plan::draw(protocol, variant, seed))));
        }
        if protocol.spec().in_agent == InAgent::Yes {
            let name = format!("{} agent", protocol.name());
            drawn.push((name, hash(&|seed| plan::draw_in_agent(protocol, seed))));
        }
    }
    // An algorithm that joins later has no line yet.
    let had = |(name, _): &(String, u64)| DRAWN.iter().any(|(drawn, _)| drawn == name);
    let drawn: Vec<_> = drawn.into_iter().filter(had).collect();
    let expected: Vec<_> = DRAWN.iter().map(|(name, hash)| ((*name).to_owned(), *hash)).collect();
    assert_eq!(drawn, expected);
}

#[test]
fn only_what_is_allowed_befalls_a_plan() {
    for classes in subsets() {
        let limits = Limits { faults: Allowed::Only(classes.clone()), ..Limits::default() };
        for protocol in Protocol::ALL.into_iter().filter(|p| limits.check(*p, Variant::Repaired).is_ok()) {
            for seed in 1..=5 {
                let plan = plan::draw_within(protocol, Variant::Repaired, &limits, seed);
                let found = classes_of(&plan);
                assert!(found.is_subset(&classes), "{found:?} of {classes:?} in\n{}", plan.to_toml());
            }
        }
    }
}

#[test]
fn everything_that_is_allowed_comes_up() {
    for class in FaultClass::ALL {
        let classes = BTreeSet::from([FaultClass::Crash, class]);
        let limits = Limits { faults: Allowed::Only(classes.clone()), ..Limits::default() };
        let plans = (1..=50).map(|seed| plan::draw_within(Protocol::Lfa, Variant::Repaired, &limits, seed));
        let found: BTreeSet<_> = plans.flat_map(|plan| classes_of(&plan)).collect();
        assert_eq!(found, classes);
    }
}

/// Programs add nothing that is not allowed, and all that they can ask for comes up.
#[test]
fn programs_ask_for_everything_and_keep_to_the_limits() {
    for classes in subsets() {
        let faults = Allowed::Only(classes.clone());
        let limits = Limits { faults, runs: Runs::Agents, ..Limits::default() };
        for seed in 1..=5 {
            let plan = plan::draw_within(Protocol::Fjr, Variant::Repaired, &limits, seed);
            let found = classes_of(&plan);
            assert!(found.is_subset(&classes), "{found:?} of {classes:?} in\n{}", plan.to_toml());
        }
    }
    let plans: Vec<_> = (1..=50).map(|seed| plan::draw_in_agent(Protocol::Fjr, seed)).collect();
    let faults = || plans.iter().flat_map(|plan| &plan.events).map(|planned| &planned.fault);
    let asks = |what: fn(&Fault) -> bool| faults().any(what);
    assert!(asks(|fault| matches!(fault, Fault::Resign(_))));
    assert!(asks(|fault| matches!(fault, Fault::ResignFor { hold: None, .. })));
    assert!(asks(|fault| matches!(fault, Fault::Stand(_))));
    assert!(asks(|fault| matches!(fault, Fault::Transfer { .. })));
    assert!(asks(|fault| matches!(fault, Fault::Leave(_))));
    assert!(asks(|fault| matches!(fault, Fault::Unlink(_))));
    assert!(asks(|fault| matches!(fault, Fault::Work { ends_after: None, .. })));
    assert!(plans.iter().any(|plan| !plan.policy.priority.is_empty() && !plan.policy.preempt.is_empty()));
    assert!(plans.iter().any(|plan| plan.policy.priority.is_empty()));
}

#[test]
fn every_plan_heals() {
    for classes in subsets() {
        let limits = Limits { faults: Allowed::Only(classes), ..Limits::default() };
        for protocol in Protocol::ALL.into_iter().filter(|p| limits.check(*p, Variant::Printed).is_ok()) {
            for seed in 1..=5 {
                let plan = plan::draw_within(protocol, Variant::Printed, &limits, seed);
                assert_healed(&plan);
                let read = Scenario::parse("plan.toml", &plan.to_toml()).expect("a plan is a valid scenario");
                assert_eq!(read, plan);
            }
        }
    }
}

/// Nothing is lost, repeated, slow, about to happen, or paused at the end; and somebody is up.
#[track_caller]
fn assert_healed(plan: &Scenario) {
    let last = plan.events.iter().map(|planned| planned.at).max().expect("at least the healing");
    assert!(plan.until > last, "{}", plan.to_toml());
    let at_end: Vec<_> = plan.events.iter().filter(|planned| planned.at == last).map(|p| &p.fault).collect();
    assert!(at_end.contains(&&Fault::Heal), "{}", plan.to_toml());
    let base = plan.network.base;
    if base.loss > 0.0 || base.duplicate > 0.0 {
        let calms = |fault: &&Fault| matches!(fault, Fault::Network { loss: Some(l), duplicate: Some(d), .. } if *l == 0.0 && *d == 0.0);
        assert!(at_end.iter().any(calms), "{}", plan.to_toml());
    }
    let mut events: Vec<_> = plan.events.iter().collect();
    events.sort_by_key(|planned| planned.at);
    let (mut paused, mut down) = (BTreeSet::new(), BTreeSet::new());
    for planned in events {
        match &planned.fault {
            Fault::Pause(nodes) => paused.extend(nodes.iter().copied()),
            Fault::Resume(nodes) => paused.retain(|node| !nodes.contains(node)),
            Fault::Crash(nodes) => down.extend(nodes.iter().copied()),
            Fault::CrashBeforeSend { node, .. } => down.extend([*node]),
            Fault::Recover(nodes) => down.retain(|node| !nodes.contains(node)),
            _ => {}
        }
    }
    let up = plan.ids().filter(|node: &NodeId| !down.contains(node)).count();
    assert!(paused.is_empty() && up > 0, "{paused:?} paused, {up} up\n{}", plan.to_toml());
}

#[test]
fn sizes_detectors_and_kinds_are_kept() {
    let limits = Limits {
        nodes: vec![4, 6],
        kinds: Some(vec!["Halt".to_owned()]),
        detectors: Some(vec![DetectorKind::Ring]),
        ..Limits::default()
    };
    let (mut sizes, mut waits) = (BTreeSet::new(), 0);
    for seed in 1..=50 {
        let plan = plan::draw_within(Protocol::AsyncBully, Variant::Repaired, &limits, seed);
        sizes.insert(plan.nodes);
        assert_eq!(plan.detector.kind, DetectorKind::Ring);
        for planned in &plan.events {
            if let Fault::DropNext { kind, .. } | Fault::CrashBeforeSend { kind, .. } = &planned.fault {
                assert_eq!(kind, "Halt");
                waits += 1;
            }
        }
    }
    assert_eq!(sizes, BTreeSet::from([4, 6]));
    assert!(waits > 0);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let check = |limits: &Limits, protocol| limits.check(protocol, Variant::Repaired);
    let only = |classes: &[FaultClass]| Limits {
        faults: Allowed::Only(classes.iter().copied().collect()),
        ..Limits::default()
    };
    let sized = |nodes: &[u32]| Limits { nodes: nodes.to_vec(), ..Limits::default() };
    assert_eq!(check(&Limits::default(), Protocol::Fjr), Ok(()));
    assert_eq!(check(&sized(&[3, 0]), Protocol::Fjr), Err(LimitsError::Nodes { found: 0 }));
    assert_eq!(check(&sized(&[65]), Protocol::Fjr), Err(LimitsError::Nodes { found: 65 }));
    assert_eq!(check(&sized(&[]), Protocol::Fjr), Err(LimitsError::Nothing));
    assert_eq!(check(&only(&[]), Protocol::Fjr), Err(LimitsError::NoFaults));
    assert_eq!(check(&only(&[FaultClass::Recover]), Protocol::Fjr), Err(LimitsError::RecoverWithoutCrash));
    assert_eq!(check(&only(&[FaultClass::Duplicate]), Protocol::Fjr), Ok(()));
    let duplicates = check(&only(&[FaultClass::Duplicate]), Protocol::BullyFd);
    assert_eq!(duplicates, Err(LimitsError::Duplicates { protocol: "bully-fd" }));
    let kinds = Limits { kinds: Some(vec!["Hallt".to_owned()]), ..Limits::default() };
    let unknown = Err(LimitsError::Kind { protocol: "async-bully", kind: "Hallt".to_owned() });
    assert_eq!(check(&kinds, Protocol::AsyncBully), unknown);
    let agent = Limits { runs: Runs::Agents, ..Limits::default() };
    assert!(matches!(check(&agent, Protocol::Mmrt), Err(LimitsError::NotInAgent { .. })));
    assert_eq!(agent.check(Protocol::Fjr, Variant::Printed), Err(LimitsError::PrintedInAgent));
}

/// As the paper has it, nodes of `fjr` crash for good; `lockstep` meets nothing but crashes and recoveries.
#[test]
fn by_default_only_those_befall_under_which_something_is_promised() {
    let classes = |protocol, variant| Limits::default().classes(protocol, variant);
    let all = BTreeSet::from(FaultClass::ALL);
    assert_eq!(classes(Protocol::Fjr, Variant::Repaired), all);
    let stops = all.iter().copied().filter(|class| *class != FaultClass::Recover).collect();
    assert_eq!(classes(Protocol::Fjr, Variant::Printed), stops);
    let restarts = BTreeSet::from([FaultClass::Crash, FaultClass::Recover, FaultClass::Duplicate]);
    assert_eq!(classes(Protocol::Lockstep, Variant::Repaired), restarts);
}

/// All sets of classes, but the empty one.
fn subsets() -> Vec<BTreeSet<FaultClass>> {
    let of = |bits: u32| FaultClass::ALL.into_iter().enumerate().filter(move |(at, _)| bits >> at & 1 == 1);
    (1..1 << FaultClass::ALL.len()).map(|bits| of(bits).map(|(_, class)| class).collect()).collect()
}

/// The classes of what befalls a plan, the healing aside.
fn classes_of(plan: &Scenario) -> BTreeSet<FaultClass> {
    let base = plan.network.base;
    let network = [
        (FaultClass::Loss, base.loss > 0.0),
        (FaultClass::Duplicate, base.duplicate > 0.0),
        (FaultClass::Delay, !base.fifo),
    ];
    let network = network.into_iter().filter(|(_, drawn)| *drawn).map(|(class, _)| class);
    let of = |fault: &Fault| match fault {
        Fault::Crash(_) | Fault::CrashBeforeSend { .. } => Some(FaultClass::Crash),
        Fault::Recover(_) => Some(FaultClass::Recover),
        Fault::Pause(_) | Fault::Resume(_) | Fault::Stall { .. } => Some(FaultClass::Pause),
        Fault::Cut(_) | Fault::CutOneWay(_) | Fault::Partition(_) | Fault::Mend(_) => {
            Some(FaultClass::Partition)
        }
        Fault::Slow { .. } => Some(FaultClass::Delay),
        Fault::DropNext { .. } => Some(FaultClass::Loss),
        Fault::Message { .. } => panic!("no plan has it"),
        Fault::Network { fifo: Some(false), .. } => Some(FaultClass::Delay),
        Fault::Unlink(_) | Fault::Refuse(_) | Fault::Accept(_) => Some(FaultClass::Partition),
        Fault::Network { .. } | Fault::Heal | Fault::Perform { .. } => None,
        // What programs ask for is no fault.
        Fault::Resign(_) | Fault::ResignFor { .. } | Fault::Stand(_) | Fault::Transfer { .. } => None,
        Fault::Leave(_) | Fault::Work { .. } | Fault::AddVoter(_) | Fault::RemoveVoter(_) => None,
    };
    network.chain(plan.events.iter().filter_map(|planned| of(&planned.fault))).collect()
}
