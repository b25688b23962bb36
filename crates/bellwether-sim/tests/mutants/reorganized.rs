//! Bugs of the group layer: in what nodes keep, and in what they tell each other.

use std::sync::Arc;

use bellwether_proto::election::Protocol;
use bellwether_proto::group::{GroupMsg, Kept, Ledger};
use bellwether_proto::ident::Incarnation;
use bellwether_proto::io::Durable;
use bellwether_proto::message::{Body, Frame};
use bellwether_proto::promise::Property;
use bellwether_sim::plan;
use bellwether_sim::plan::restricted::Troubles;
use bellwether_sim::scenario::Scenario;
use bellwether_sim::world::World;

use crate::groups::gather::{Gather, Msg};

use super::leadership::breaks;

/// Its numbers begin anew, and two groups have the same.
#[test]
pub(super) fn history_notices_a_disk_that_forgets_which_incarnation_it_was() {
    let forgets = |durable| Durable { incarnation: Incarnation::default(), ..durable };
    let scenario = super::scenario(Protocol::Lfa);
    caught(&scenario, Property::History, |world| world.set_disks(forgets));
}

#[test]
pub(super) fn restricted_once_notices_a_disk_that_forgets_votes() {
    let forgets = |durable: Durable| {
        let group =
            durable.group.map(|kept| Arc::new(Kept { ledger: Ledger::default(), ..Kept::clone(&kept) }));
        Durable { group, ..durable }
    };
    let scenario = plan::restricted::draw(Protocol::Lfa, Troubles::Losses, FORGETFUL);
    caught(&scenario, Property::RestrictedOnce, |world| world.set_disks(forgets));
}

/// As if nobody asked whether it holds a majority that may vote.
#[test]
fn restricted_once_notices_votes_that_are_all_taken_for_a_yes() {
    let stuffing = |mut frame: Frame<Msg>| {
        if let Body::Group(msg) = &mut frame.body
            && let GroupMsg::PrepareReply { yes, .. } = &mut **msg
        {
            *yes = true;
        }
        frame
    };
    let scenario = plan::restricted::draw(Protocol::Lfa, Troubles::Losses, STUFFED);
    caught(&scenario, Property::RestrictedOnce, |world| world.set_relay(stuffing));
}

/// Seeds of plans in which the bugs show.
const FORGETFUL: u64 = 66;
const STUFFED: u64 = 2;

fn caught(scenario: &Scenario, property: Property, plant: impl FnOnce(&mut World<'_, Gather>)) {
    assert!(!breaks::<Gather>(scenario, property, |_| {}), "{property} without the bug");
    assert!(breaks::<Gather>(scenario, property, plant), "{property} does not notice");
}
