//! EPOCH-GROWS and EPOCH-ONCE. A node that has been up for 4 could be asked.

use bellwether_proto::promise::Property::{EpochGrows, EpochOnce};

use super::{Found, Holds, Trace, Vacuous, Violated};

const END: u64 = 100;

fn grows(trace: &Trace) -> Found {
    trace.found(EpochGrows, END)
}

fn once(trace: &Trace) -> Found {
    trace.found(EpochOnce, END)
}

#[test]
fn an_epoch_above_all_that_the_others_have_seen_is_new() {
    let succession = Trace::settled(3).at(20).crash(1).at(21).announces(2, 2, 2).at(22).announces(3, 2, 2);
    assert_eq!((grows(&succession), once(&succession)), (Holds, Holds));
    let back = succession.at(30).recover(1).announces(1, 2, 2).at(40).crash(2).at(41).announces(1, 1, 3);
    assert_eq!((grows(&back), once(&back)), (Holds, Holds));
}

#[test]
fn an_epoch_that_somebody_has_seen_who_could_be_asked_is_none() {
    // 2 was not told of epoch 2, and 3 was.
    let second = Trace::settled(3).at(20).announces(1, 1, 2).announces(3, 1, 2);
    let used = second.at(30).crash(1).at(31).announces(2, 2, 2);
    assert_eq!((grows(&used), once(&used)), (Violated(31), Violated(31)));
    let told = |property| used.violation(property, END).flatten().expect("it is broken").what;
    assert_eq!(told(EpochGrows), "2 announces that it leads with epoch 2, and 3 had seen 2 of 1");
    assert_eq!(told(EpochOnce), "2 announces that it leads with epoch 2, as 1 did at 0.020000s");
    let behind = Trace::settled(2).at(20).announces(1, 1, 7).at(30).announces(2, 2, 3);
    assert_eq!((grows(&behind), once(&behind)), (Violated(30), Holds), "smaller, and not used");
}

#[test]
fn two_that_lead_at_once_with_one_epoch_share_it() {
    let both = Trace::started(3).at(5).announces(1, 1, 1).announces(2, 2, 1);
    assert_eq!((grows(&both), once(&both)), (Violated(5), Violated(5)));
}

#[test]
fn who_has_just_come_up_could_not_be_asked_and_who_is_down_cannot() {
    let alone = Trace::settled(2).at(20).crash(2).at(21).announces(1, 1, 6).at(30).crash(1);
    let back = |up: u64| alone.clone().at(40).recover(2).at(50 - up).recover(1).at(50).announces(2, 2, 6);
    assert_eq!(grows(&back(3)), Holds, "it came too late");
    assert_eq!(grows(&back(4)), Violated(50));
    let forgotten = alone.at(40).recover(2).at(50).announces(2, 2, 6);
    assert_eq!(grows(&forgotten), Holds, "nobody is up who remembers");
    assert_eq!(once(&forgotten), Violated(50), "it is used all the same");
}

#[test]
fn what_a_follower_heard_at_the_instant_of_its_crash_may_be_forgotten() {
    let torn = |crashed| {
        let trace = Trace::settled(3).at(20).announces(1, 1, 2).announces(3, 1, 2).at(crashed).crash(3);
        trace.at(30).recover(3).at(40).crash(1).at(41).announces(2, 2, 2)
    };
    assert_eq!(grows(&torn(20)), Holds);
    assert_eq!(grows(&torn(21)), Violated(41), "its disk remembers");
}

#[test]
fn clocks_may_differ_about_who_announced_first() {
    let early = Trace::started(2).at(5).announces(2, 1, 1).at(6).announces(1, 1, 1);
    assert_eq!((grows(&early), once(&early)), (Holds, Holds));
}

#[test]
fn the_same_leader_with_the_same_epoch_is_another_matter() {
    let again = Trace::settled(2).at(20).announces_nobody(1, 1).at(21).announces(1, 1, 1);
    assert_eq!((grows(&again), once(&again)), (Holds, Holds));
}

#[test]
fn without_a_leader_there_is_nothing_to_judge() {
    let unled = Trace::started(3).announces_nobody(1, 4);
    assert_eq!((grows(&unled), once(&unled)), (Vacuous, Vacuous));
    let alone = Trace::started(1).at(20).announces(1, 1, 1);
    assert_eq!((grows(&alone), once(&alone)), (Vacuous, Holds), "there is nobody to be asked");
}
