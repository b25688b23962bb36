//! Real agents on networks that fail: namespaces of our own, a switch that drops packets, and relays that are slow.
//!
//! Namespaces take root, `ip` and `nft`. Without them those tests are skipped, unless `BELLWETHER_REQUIRE_NET=1`.

#[path = "../cluster/cluster.rs"]
mod cluster;

mod clocks;
mod delay;
mod disks;
mod loss;
mod network;
mod partition;
mod reach;
mod run;
mod soak;
mod verdict;
mod world;

use std::process::ExitCode;

use run::Test;
use run::Where::{Loopback, Namespaces};

const TESTS: &[Test] = &[
    Test::new("each_half_has_its_leader", Namespaces, partition::each_half_has_its_leader),
    Test::new("even_if_it_is_not_for_long", Namespaces, partition::even_if_it_is_not_for_long),
    Test::new("each_half_of_lfa", Namespaces, partition::each_half_of_lfa),
    Test::new("each_half_of_adft", Namespaces, partition::each_half_of_adft),
    Test::new("each_half_of_async_bully", Namespaces, partition::each_half_of_async_bully),
    Test::new("each_half_is_a_group_and_both_are_remembered", Namespaces, partition::each_half_is_a_group),
    Test::new("only_the_larger_part_has_a_leader", Namespaces, partition::only_the_larger_part_has_a_leader),
    Test::new("only_a_majority_leads_exclusively", Namespaces, partition::only_a_majority_leads_exclusively),
    Test::new("a_leader_that_nobody_hears", Namespaces, partition::a_leader_that_nobody_hears),
    Test::new("a_chain_of_nodes", Namespaces, reach::a_chain_of_nodes),
    Test::new("one_way_between_two", Namespaces, reach::one_way_between_two),
    Test::new("a_pair_with_the_leader", Namespaces, reach::a_pair_with_the_leader),
    Test::new("a_pair_that_cannot_speak", Namespaces, reach::a_pair_that_cannot_speak),
    Test::new("three_packets_of_ten_are_lost", Namespaces, loss::three_packets_of_ten_are_lost),
    Test::long("changes_of_leader_on_networks_that_lose_packets", Namespaces, loss::changes_of_leader),
    Test::long("a_thousand_faults_with_fjr", Namespaces, soak::a_thousand_faults_with_fjr),
    Test::long("a_thousand_faults_with_fb-omega", Namespaces, soak::a_thousand_faults_with_fb_omega),
    Test::long("a_wrong_clock_and_a_lost_disk", Loopback, clocks::a_wrong_clock_and_a_lost_disk),
    Test::long("ten_minutes_on_slow_disks", Loopback, disks::ten_minutes_on_slow_disks),
    Test::new("a_slow_network_keeps_its_leader", Loopback, delay::a_slow_network_keeps_its_leader),
];

fn main() -> ExitCode {
    run::all(TESTS)
}
