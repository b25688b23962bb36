//! How large the types are that a world moves for every message. Speed depends on it, and a variant that is added elsewhere
//! can make all of them larger: put what is rare and large in a box. And every run ends before the queue's last instant.

use bellwether_proto::election::AnyMsg;
use bellwether_proto::io::{Input, Output};
use bellwether_proto::message::Frame;
use bellwether_proto::trace::TraceEvent;

use super::InFlight;
use crate::queue::HORIZON;
use crate::scenario::UNTIL_MAX;

const _: () = {
    assert!(size_of::<Frame<AnyMsg>>() <= 104);
    assert!(size_of::<Input<AnyMsg>>() <= 104);
    assert!(size_of::<Output<AnyMsg>>() <= 112);
    assert!(size_of::<InFlight<AnyMsg>>() <= 128);
    assert!(size_of::<TraceEvent>() <= 88);
    assert!(UNTIL_MAX.as_micros() < HORIZON.as_micros());
};
