//! Plans in which messages may overtake each other, for algorithms that need no order as repaired.

use bellwether_proto::election::{Protocol, Variant};
use bellwether_proto::promise::Property;
use bellwether_sim::environment::judged;
use bellwether_sim::{plan, run};

/// Plays that many plans. Nothing promised is broken, and A1 is promised in most.
pub(crate) fn keeps_a1(protocol: Protocol, plans: u64) {
    let mut promised = 0;
    for seed in 1..=plans {
        let mut plan = plan::draw_within(protocol, Variant::Repaired, &plan::Limits::default(), seed);
        plan.network.base.fifo = false;
        let report = run::run(&plan);
        promised += u64::from(judged(&plan).contains(&Property::A1));
        assert!(report.passed(&plan), "plan {seed}: {:?}\n{}", report.properties, plan.to_toml());
    }
    assert!(promised > plans / 2, "{promised}");
}
