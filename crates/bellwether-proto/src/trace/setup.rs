//! The first line of a live trace: the facts that a judge cannot read off what happens.

use core::fmt;

use crate::detector::DetectorKind;
use crate::election::{Protocol, Timing, Variant};
use crate::ident::{Incarnation, NodeId};
use crate::time::{Span, Time};

/// How a node was set up when its incarnation began.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The cluster's name, which is of letters, digits and `-`.
    pub cluster: &'a str,
    /// How the leader is chosen.
    pub protocol: Protocol,
    /// As repaired, or as the paper prints it.
    pub variant: Variant,
    /// All members that the node was told of; empty if it was told of none.
    pub nodes: &'a [NodeId],
    /// The timing parameters.
    pub timing: Timing,
    /// The failure detector, for algorithms that have one.
    pub detector: Option<DetectorKind>,
    /// How long the leader's work may take to end once leadership is asked back.
    pub release_timeout: Span,
}

/// The line that states how a node was set up, without the line's end.
pub fn setup_json<'a>(
    at: Time,
    node: NodeId,
    incarnation: Incarnation,
    setup: &'a Setup<'a>,
) -> impl fmt::Display + 'a {
    Line { at, node, incarnation, setup }
}

struct Line<'a> {
    at: Time,
    node: NodeId,
    incarnation: Incarnation,
    setup: &'a Setup<'a>,
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Setup { cluster, protocol, variant, nodes, timing, detector, release_timeout } = self.setup;
        let (at, node, incarnation) = (self.at.as_micros(), self.node, self.incarnation);
        write!(f, r#"{{"v":1,"t_us":{at},"node":{node},"inc":{incarnation},"ev":"setup","setup":{{"#)?;
        write!(f, r#""cluster":"{cluster}","protocol":"{}","#, protocol.name())?;
        write!(f, r#""variant":"{}","nodes":["#, variant.name())?;
        for (place, node) in nodes.iter().enumerate() {
            write!(f, "{}{node}", if place == 0 { "" } else { "," })?;
        }
        let [delta, tau, step] = [timing.delta, timing.tau, timing.step].map(|span| span.as_micros());
        write!(f, r#"],"delta_us":{delta},"tau_us":{tau},"step_us":{step},"detector":"#)?;
        match detector {
            Some(detector) => write!(f, r#""{}""#, detector.name())?,
            None => f.write_str("null")?,
        }
        write!(f, r#","release_timeout_us":{}}}}}"#, release_timeout.as_micros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_setup_line_has_the_documented_shape() {
        let timing = Timing { delta: Span::millis(100), tau: Span::millis(50), step: Span::millis(10) };
        let setup = Setup {
            cluster: "demo",
            protocol: Protocol::Fjr,
            variant: Variant::Repaired,
            nodes: &[NodeId(1), NodeId(2)],
            timing,
            detector: None,
            release_timeout: Span::secs(10),
        };
        let line = |setup: &Setup<'_>| {
            setup_json(Time::from_micros(7), NodeId(1), Incarnation(3), setup).to_string()
        };
        assert_eq!(
            line(&setup),
            r#"{"v":1,"t_us":7,"node":1,"inc":3,"ev":"setup","setup":{"cluster":"demo","protocol":"fjr","variant":"repaired","nodes":[1,2],"delta_us":100000,"tau_us":50000,"step_us":10000,"detector":null,"release_timeout_us":10000000}}"#
        );
        let setup = Setup { nodes: &[], detector: Some(DetectorKind::Heartbeat), ..setup };
        assert!(
            line(&setup).contains(r#""nodes":[],"#) && line(&setup).contains(r#""detector":"heartbeat","#)
        );
    }
}
