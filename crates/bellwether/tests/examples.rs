//! Every example does what it says.

#![allow(clippy::duplicate_mod, reason = "every example stands alone, with what it shares with others")]

#[path = "../examples/drain_before_release.rs"]
mod drain_before_release;
#[path = "../examples/fault_manager.rs"]
mod fault_manager;
#[path = "../examples/fenced_writer.rs"]
mod fenced_writer;
#[path = "../examples/observe.rs"]
mod observe;
#[path = "../examples/run_one_job.rs"]
mod run_one_job;
#[path = "../examples/udp_cluster.rs"]
mod udp_cluster;

#[test]
fn three_nodes_over_udp_elect_lose_and_elect_again() {
    udp_cluster::main().expect("the cluster elects");
}

#[test]
fn one_of_three_replicas_does_the_job_and_another_goes_on() {
    run_one_job::main().expect("one works after the other");
}

#[test]
fn a_leader_finishes_its_work_before_another_begins() {
    drain_before_release::main().expect("the work is drained");
}

#[test]
fn who_leads_and_why_it_changed_can_be_observed() {
    observe::main().expect("changes are seen");
}

#[test]
fn who_leads_shares_the_work_of_those_who_failed() {
    fault_manager::main().expect("the work is shared");
}

#[test]
fn a_late_write_with_an_old_token_is_refused() {
    fenced_writer::main().expect("one writes after the other");
}
