//! Every file in `scenarios/` does what it says, the same way every time.

use std::fs;
use std::path::{Path, PathBuf};

use bellwether_proto::canonical::Form;
use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_sim::run;
use bellwether_sim::scenario::{Fault, Planned, Scenario};

#[test]
fn every_scenario_meets_its_expectations() {
    for (file, scenario) in scenarios() {
        let report = run::run(&scenario);
        assert!(
            report.passed(&scenario),
            "{:?} {:?}\nreplay: cargo run -- sim {}",
            report.expectations,
            report.properties,
            file.display()
        );
        assert!(!report.expectations.is_empty(), "{} expects nothing", file.display());
    }
}

#[test]
fn running_a_scenario_twice_gives_the_same_trace() {
    for (file, scenario) in scenarios() {
        assert_eq!(run::run(&scenario), run::run(&scenario), "{}", file.display());
    }
}

/// The hash does not depend on the machine: these were computed once and must not change unless the behaviour or the
/// trace format does.
#[test]
fn the_trace_hash_is_the_same_on_every_machine() {
    let hash = |file: &str| {
        let (_, scenario) = scenarios().find(|(path, _)| path.ends_with(file)).expect("the file exists");
        run::run(&scenario).trace_hash
    };
    assert_eq!(hash("s02-path.toml"), "f0794658f896d487");
    assert_eq!(hash("est12-no-fifo-repaired.toml"), "1ac7bac814d4ec5e");
}

#[test]
fn another_seed_gives_another_trace() {
    let (_, mut scenario) =
        scenarios().find(|(file, _)| file.ends_with("est12-no-fifo-repaired.toml")).expect("it exists");
    let first = run::run(&scenario).trace_hash;
    scenario.seed += 1;
    assert_ne!(run::run(&scenario).trace_hash, first);
}

/// What runs in the simulator is what would run over sockets: sending every frame through the wire format changes
/// nothing.
#[test]
fn every_scenario_is_the_same_through_the_wire() {
    for (file, scenario) in scenarios() {
        let through = run::run_through_the_wire(&scenario);
        assert_eq!(through, run::run(&scenario), "{}", file.display());
    }
}

/// In the steady state the world's canonical form comes back after every other period of the leader (questions change
/// their number a little more slowly than they are asked): deadlines are relative and counters ordinal, so that a
/// search can notice it.
#[test]
fn the_steady_state_repeats_in_canonical_form() {
    for protocol in Protocol::ALL {
        let scenario = Scenario::calm(protocol, 4, Time::ZERO + Span::secs(60));
        let mut world = run::world(&scenario, None);
        let mut form_at = |millis| {
            world.run_until(Time::ZERO + Span::millis(millis));
            world.canonical()
        };
        // The Bully's Check asks one after the other, and comes again a period after it has ended.
        let period = if protocol == Protocol::Bully { 100 + 3 * 2 } else { 100 };
        let (first, another) = (20_050, 20_300);
        let times = [first, first + 2 * period, another, first + 4 * period];
        let forms: Vec<Form> = times.map(&mut form_at).into();
        let timed: Vec<_> = forms.iter().cloned().map(Form::timed).collect();
        assert_eq!(timed[0], timed[1], "{}: two periods later", protocol.name());
        // With `gamma` nobody says anything any more.
        let phases = protocol != Protocol::Gamma;
        assert_eq!(timed[0] != timed[2], phases, "{}: at another phase", protocol.name());
        assert_eq!(forms[0].clone().untimed(), forms[3].clone().untimed(), "{}: untimed", protocol.name());
    }
}

/// A thousand nodes lose their leader and agree on the next.
#[test]
fn a_thousand_nodes_survive_their_leader() {
    let until = Time::ZERO + Span::secs(12);
    let mut scenario = Scenario::calm(Protocol::AsyncBully, 1_000, until);
    let crash = Fault::Crash(vec![NodeId(1)]);
    scenario.events.push(Planned { at: Time::ZERO + Span::secs(6), fault: crash });
    let mut world = run::world(&scenario, None);
    world.run_until(Time::ZERO + Span::millis(5_999));
    assert!(world.opinions().all(|(_, opinion)| opinion.normal_leader() == Some(NodeId(1))));
    world.run_until(until);
    assert!(world.opinions().skip(1).all(|(_, opinion)| opinion.normal_leader() == Some(NodeId(2))));
    assert!(world.into_journal().verdicts(until).iter().all(|finding| finding.violation.is_none()));
}

/// The printed and the repaired file of one erratum are the same schedule: only the variant and what is expected
/// differ.
#[test]
fn each_flaw_and_its_repair_are_shown_on_the_same_schedule() {
    let mut pairs = 0;
    for (file, printed) in scenarios() {
        let name = file.file_name().expect("it is a file").to_string_lossy().into_owned();
        let Some(twin) = name.strip_suffix("-printed.toml").map(|stem| format!("{stem}-repaired.toml"))
        else {
            continue;
        };
        let Ok(text) = fs::read_to_string(file.with_file_name(&twin)) else { continue };
        let repaired = Scenario::parse(&twin, &text).expect("it is valid");
        let schedule = |scenario: &Scenario| Scenario {
            name: String::new(),
            variant: Variant::Repaired,
            expect: Default::default(),
            ..scenario.clone()
        };
        assert_eq!(schedule(&printed), schedule(&repaired), "{name} and {twin}");
        pairs += 1;
    }
    let known = "E-GM1, 2, 3, 5, 6, 7 and 10, E-SO1, 4 and 5; E-ST5, E-ST6 a, b, c, E-ST7, E-ST12 and E-ST14; E-RA6, E-RA7 and C47; E-FB4 and 5";
    assert_eq!(pairs, 22, "{known}");
}

fn scenarios() -> impl Iterator<Item = (PathBuf, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder exists")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    files.sort();
    files.into_iter().map(|file| {
        let text = fs::read_to_string(&file).expect("it can be read");
        let scenario = Scenario::parse(&file.display().to_string(), &text);
        (file, scenario.unwrap_or_else(|error| panic!("{error}")))
    })
}
