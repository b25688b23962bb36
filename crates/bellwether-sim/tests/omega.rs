//! Eventual leaders where they are promised: 50 seeded runs of each protocol in each model.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bellwether_proto::election::{Protocol, Variant};
use bellwether_sim::plan::model;
use bellwether_sim::run;

/// The planted bugs that runs notice at all are noticed within 34; `make soak` has more.
const RUNS: u64 = 50;

#[test]
fn lfa_elects_in_its_models() {
    elects(Protocol::Lfa, &["OMEGA", "SINGLE-SENDER"]);
}

#[test]
fn adft_elects_in_its_models() {
    elects(Protocol::Adft, &["OMEGA"]);
}

#[test]
fn mmrt_elects_in_its_models() {
    elects(Protocol::Mmrt, &["OMEGA"]);
}

#[test]
fn fjr_elects_in_its_models() {
    elects(Protocol::Fjr, &["OMEGA", "SINGLE-SENDER"]);
}

#[test]
fn fb_omega_elects_in_its_model() {
    elects(Protocol::FbOmega, &["OMEGA"]);
}

#[test]
fn lockstep_elects_in_its_model() {
    elects(Protocol::Lockstep, &["OMEGA"]);
}

fn elects(protocol: Protocol, promised: &[&str]) {
    for variant in Variant::ALL {
        for kind in model::promised(protocol, variant) {
            let mut judged: BTreeMap<&str, u64> = BTreeMap::new();
            for seed in 1..=RUNS {
                let plan = model::draw(protocol, variant, kind, seed);
                let report = run::run(&plan);
                for property in &report.properties {
                    *judged.entry(property.property.name()).or_default() += 1;
                }
                if let Some(broken) = report.properties.iter().find(|property| !property.holds) {
                    let file = format!("{}-{}-{}-{seed}.toml", protocol.name(), variant.name(), kind.name());
                    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
                    fs::write(&file, plan.to_toml()).expect("the test folder can be written");
                    panic!(
                        "{} {:?}\nreplay: cargo run -- sim {}",
                        broken.property,
                        broken.violation,
                        file.display()
                    );
                }
            }
            // One that nobody is left to hear does not send, and then there is nothing to judge of who sends.
            for property in promised {
                let (times, least) =
                    (judged.get(property).copied(), if *property == "OMEGA" { RUNS } else { RUNS / 2 });
                assert!(
                    times >= Some(least),
                    "{property} of {} in {}: {judged:?}",
                    protocol.name(),
                    kind.name()
                );
            }
        }
    }
}
