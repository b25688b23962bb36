//! The commands that a person may want to type next.

use bellwether_proto::election::Variant;
use bellwether_sim::plan::{Allowed, Limits};
use bellwether_sim::scenario::Runs;
use bellwether_sim::swarm::Search;

use crate::args::check::{Sizes, Subject};
use crate::output::invocation;

/// Plays these plans, and no others.
pub(super) fn check(search: &Search, first_seed: u64, runs: u64) -> String {
    let Search { protocol, variant, limits, .. } = search;
    let subject = if limits.runs == Runs::Exclusive { Subject::EXCLUSIVE } else { protocol.name() };
    let mut command = format!("{} check {subject}", invocation());
    if *variant != Variant::Repaired {
        command.push_str(&format!(" --variant {}", variant.name()));
    }
    if limits.runs == Runs::Agents {
        command.push_str(" --agent");
    }
    if limits.nodes != Limits::default().nodes {
        command.push_str(&format!(" --nodes {}", Sizes::typed(&limits.nodes)));
    }
    if let Allowed::Only(classes) = &limits.faults {
        let names: Vec<_> = classes.iter().map(|class| class.name()).collect();
        command.push_str(&format!(" --faults {}", names.join(",")));
    }
    command.push_str(&format!(" --seed {first_seed} --runs {runs}"));
    command
}

/// Plays that file.
pub(super) fn sim(file: &str) -> String {
    format!("{} sim {file}", invocation())
}
