//! Planted bugs: real runs of algorithms and detectors that were broken on purpose. The checker of the property that
//! each breaks must notice, and without the bug the same run must pass.

pub(crate) mod bug;
mod exclusive;
mod garcia_molina;
mod groups;
mod leadership;
mod members;
mod reorganized;
mod views;

use std::cell::RefCell;

use bellwether_proto::election::stoller::Msg;
use bellwether_proto::election::{AnyMsg, Input, Protocol};
use bellwether_proto::ident::NodeId;
use bellwether_proto::io::Event;
use bellwether_proto::opinion::Opinion;
use bellwether_proto::promise::Property;
use bellwether_proto::roster::Roster;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::{TraceEvent, What};
use bellwether_sim::check::{Finding, Judge};
use bellwether_sim::run::{self, facts};
use bellwether_sim::scenario::{Fault, Planned, Scenario};

use bug::{Bug, Mutant, NoBug};
use leadership::breaks;

/// The match has no wildcard: a new property does not compile here before it has a planted bug.
#[test]
fn every_checker_has_a_planted_bug_that_it_catches() {
    for property in Property::ALL {
        let planted: fn() = match property {
            Property::A1 => garcia_molina::a1_notices_a_node_that_does_not_halt,
            Property::A2 => garcia_molina::a2_notices_a_node_that_takes_no_coordinator,
            Property::A3 => groups::a3_notices_a_member_that_names_itself,
            Property::A4 => groups::a4_notices_a_node_that_declines_every_invitation,
            Property::A4Prime => groups::a4_prime_notices_a_node_that_declines_every_invitation,
            Property::GroupOnce => groups::group_once_notices_numbers_that_are_used_again,
            Property::Sle1 => sle1_notices_an_organiser_that_does_not_wait_for_the_stronger,
            Property::Sle2 => sle2_notices_a_follower_that_ignores_the_death_of_its_leader,
            Property::Ale1 => ale1_notices_a_follower_that_names_itself,
            Property::Ale2 => ale2_notices_a_node_that_will_not_be_led,
            Property::Ale2Prime => ale2_prime_notices_a_node_that_never_learns_the_outcome,
            Property::Omega => omega_notices_a_follower_that_clings_to_a_dead_leader,
            Property::SingleSender => single_sender_notices_a_follower_that_answers_what_needs_no_answer,
            Property::Settled => leadership::settled_notices_members_that_are_never_told_who_leads,
            Property::Epoch => leadership::epoch_notices_a_disk_that_forgets,
            Property::EpochGrows => {
                members::epoch_grows_notices_followers_that_do_not_tell_what_they_have_seen
            }
            Property::EpochOnce => members::epoch_once_notices_disks_that_forget,
            Property::LeadsAlone => members::leads_alone_notices_members_that_hide_who_leads,
            Property::AnnouncedOnce => members::announced_once_notices_followers_that_have_seen_too_much,
            Property::WorkEndsFirst => members::work_ends_first_notices_a_program_that_speaks_too_soon,
            Property::Answered => members::answered_notices_a_member_that_keeps_silent,
            Property::AnswerTrue => members::answer_true_notices_a_member_that_says_yes_to_everything,
            Property::TakenOver => members::taken_over_notices_a_hand_over_that_nobody_hears_of,
            Property::Preferred => members::preferred_notices_members_that_hide_their_priority,
            Property::Led => members::led_notices_members_that_are_never_told_who_leads,
            Property::TokenGrows => exclusive::token_grows_notices_disks_that_forget,
            Property::TokenOnce => exclusive::token_once_notices_disks_that_forget,
            Property::OneHolder => exclusive::one_holder_notices_voters_that_bury_a_lease_that_runs,
            Property::Freed => exclusive::freed_notices_a_release_that_nobody_hears_of,
            Property::Granted => exclusive::granted_notices_voters_that_bury_nobody,
            Property::History => reorganized::history_notices_a_disk_that_forgets_which_incarnation_it_was,
            Property::RestrictedOnce => reorganized::restricted_once_notices_a_disk_that_forgets_votes,
            Property::FdComplete => fd_complete_and_fd_latency_notice_a_silent_detector,
            Property::FdAccurate => fd_accurate_notices_a_detector_that_slanders,
            Property::FdLatency => fd_latency_notices_a_slow_detector,
            Property::LinkHistory => views::link_history_notices_an_end_that_runs_ahead,
            Property::ViewAgree => views::view_agree_notices_a_member_that_some_leave_out,
            Property::OneLeaderPerView => views::one_leader_per_view_notices_a_follower_that_leads_too,
            Property::OneViewOrDead => views::one_view_or_dead_notices_a_disk_that_forgets_the_view,
            Property::FakeClean => views::fake_clean_notices_that_nothing_is_taken_back,
        };
        CAUGHT.take();
        planted();
        assert!(CAUGHT.take().contains(&property), "that bug is not one of {property}");
    }
}

thread_local! {
    /// The properties whose checkers have noticed a bug in this thread.
    static CAUGHT: RefCell<Vec<Property>> = const { RefCell::new(Vec::new()) };
}

/// Whether the checker, which was asked for nothing else, found the property broken; if so, that is remembered.
fn broken(findings: &[Finding], property: Property) -> bool {
    let judged: Vec<_> = findings.iter().map(|finding| finding.property).collect();
    assert_eq!(judged, [property], "{property} was judged");
    let broken = findings[0].violation.is_some();
    if broken {
        CAUGHT.with_borrow_mut(|caught| caught.push(property));
    }
    broken
}

#[test]
fn sle1_notices_an_organiser_that_does_not_wait_for_the_stronger() {
    struct Impatient;
    impl Bug for Impatient {
        fn after_recovery(&self, roster: &Roster) -> Vec<Input<AnyMsg>> {
            roster.stronger_than_me().iter().map(|j| Input::DownSig(*j)).collect()
        }
    }
    catches(&Impatient, &scenario(Protocol::BullyFd), Property::Sle1);
}

#[test]
fn sle2_notices_a_follower_that_ignores_the_death_of_its_leader() {
    struct Faithful;
    impl Bug for Faithful {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::DownSig(_))
        }
    }
    catches(&Faithful, &scenario(Protocol::BullyFd), Property::Sle2);
}

/// E-ST2, read literally.
#[test]
fn ale1_notices_a_follower_that_names_itself() {
    struct Vain;
    impl Bug for Vain {
        fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
            Opinion { leader: opinion.leader.map(|_| me), ..opinion }
        }
    }
    catches(&Vain, &scenario(Protocol::AsyncBully), Property::Ale1);
}

#[test]
fn ale2_prime_notices_a_node_that_never_learns_the_outcome() {
    struct Deaf;
    impl Bug for Deaf {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::Message { msg: AnyMsg::AsyncBully(Msg::Ldr(_) | Msg::NormQ(..)), .. })
        }
    }
    catches(&Deaf, &scenario(Protocol::AsyncBully), Property::Ale2Prime);
}

#[test]
fn ale2_notices_a_node_that_will_not_be_led() {
    struct Stubborn;
    impl Bug for Stubborn {
        fn lets_in(&self, roster: &Roster, input: &Input<AnyMsg>) -> bool {
            let led = matches!(
                input,
                Input::Message { msg: AnyMsg::AsyncBully(Msg::Halt(_) | Msg::NormQ(..)), .. }
            );
            roster.me() != NodeId(2) || !led
        }

        fn says_instead(&self, input: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
            match input {
                Input::Message { from, msg: AnyMsg::AsyncBully(Msg::Halt(t)) } => {
                    Some((*from, AnyMsg::AsyncBully(Msg::Rej(*t))))
                }
                _ => None,
            }
        }
    }
    catches(&Stubborn, &scenario(Protocol::AsyncBully), Property::Ale2);
    let otherwise = breaks_with(&Stubborn, &scenario(Protocol::AsyncBully), Property::Ale2Prime);
    assert!(!otherwise, "one group too many, otherwise fine");
}

#[test]
fn omega_notices_a_follower_that_clings_to_a_dead_leader() {
    struct Clinging;
    impl Bug for Clinging {
        fn shows(&self, me: NodeId, opinion: Opinion) -> Opinion {
            if me == NodeId(4) { Opinion { leader: Some(NodeId(1)), ..opinion } } else { opinion }
        }
    }
    catches(&Clinging, &scenario(Protocol::AsyncBully), Property::Omega);
}

#[test]
fn single_sender_notices_a_follower_that_answers_what_needs_no_answer() {
    struct Polite;
    impl Bug for Polite {
        fn lets_in(&self, _: &Roster, input: &Input<AnyMsg>) -> bool {
            !matches!(input, Input::Message { msg: AnyMsg::AsyncBully(Msg::NormQ(..)), .. })
        }

        fn says_instead(&self, input: &Input<AnyMsg>) -> Option<(NodeId, AnyMsg)> {
            match input {
                Input::Message { from, msg: AnyMsg::AsyncBully(Msg::NormQ(t, ..)) } => {
                    Some((*from, AnyMsg::AsyncBully(Msg::Ack(*t))))
                }
                _ => None,
            }
        }
    }
    catches(&Polite, &scenario(Protocol::AsyncBully), Property::SingleSender);
}

/// A detector that never says a word, and a client that goes on waiting for it.
#[test]
fn fd_complete_and_fd_latency_notice_a_silent_detector() {
    for property in [Property::FdComplete, Property::FdLatency] {
        tampering_is_caught(property, |trace| {
            cut_at_first_report(trace);
        });
    }
}

/// A detector that takes twice as long as it declares.
#[test]
fn fd_latency_notices_a_slow_detector() {
    tampering_is_caught(Property::FdLatency, |trace| {
        let mut report = cut_at_first_report(trace);
        report.at = report.at + facts(&scenario(Protocol::AsyncBully)).detector_latency * 2;
        trace.push(report);
        trace.sort_by_key(|event| event.at);
    });
}

/// Takes out the first report, and everything that nodes did from then on.
fn cut_at_first_report(trace: &mut Vec<TraceEvent>) -> TraceEvent {
    let first =
        trace.iter().position(|e| matches!(e.what, What::Node(Event::Down(_)))).expect("the leader crashed");
    let report = trace[first];
    let mut place = 0;
    trace.retain(|event| {
        place += 1;
        place <= first || !matches!(event.what, What::Node(_))
    });
    report
}

/// A detector that reports a node which has just answered.
#[test]
fn fd_accurate_notices_a_detector_that_slanders() {
    tampering_is_caught(Property::FdAccurate, |trace| {
        let watch = trace
            .iter()
            .rposition(|e| matches!(e.what, What::Node(Event::Watch(_))))
            .expect("somebody watches");
        let What::Node(Event::Watch(peer)) = trace[watch].what else {
            unreachable!("that is what was looked for")
        };
        let at = trace[watch].at + Span::millis(500);
        trace.push(TraceEvent { at, what: What::Node(Event::Down(peer)), ..trace[watch] });
        trace.sort_by_key(|event| event.at);
    });
}

// The runs.

/// Of four nodes the weakest restarts, and later the leader dies.
fn scenario(protocol: Protocol) -> Scenario {
    let mut scenario = Scenario::calm(protocol, 4, Time::ZERO + Span::secs(20));
    let faults = [
        (3, Fault::Crash(vec![NodeId(4)])),
        (5, Fault::Recover(vec![NodeId(4)])),
        (10, Fault::Crash(vec![NodeId(1)])),
    ];
    let planned = faults.map(|(at, fault)| Planned { at: Time::ZERO + Span::secs(at), fault });
    scenario.events.extend(planned);
    scenario
}

/// Whether nodes with this bug break the property.
fn breaks_with(bug: &'static dyn Bug, scenario: &Scenario, property: Property) -> bool {
    bug::plant(bug);
    breaks::<Mutant>(scenario, property, |_| {})
}

fn catches(bug: &'static dyn Bug, scenario: &Scenario, property: Property) {
    assert!(!breaks_with(&NoBug, scenario, property), "{property} without the bug");
    assert!(breaks_with(bug, scenario, property), "{property} does not notice");
}

/// Judges what a sound run left, before and after tampering with what its detectors said.
fn tampering_is_caught(property: Property, tamper: impl Fn(&mut Vec<TraceEvent>)) {
    let scenario = scenario(Protocol::AsyncBully);
    let mut trace = run::trace(&scenario);
    let violated = |trace: &[TraceEvent]| {
        let mut judge = Judge::new(facts(&scenario), &[property]);
        trace.iter().for_each(|event| judge.observe(event));
        broken(&judge.finish(scenario.until), property)
    };
    assert!(!violated(&trace), "{property} before");
    tamper(&mut trace);
    assert!(violated(&trace), "{property} does not notice");
}
