//! Orders from another terminal: a line over a socket, and an answer.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use super::place::{self, Place};
use super::{Fleet, Process};
use crate::Status;
use crate::trouble::Trouble;
use crate::work::spawn;

/// No order is longer.
const ORDER_MAX: u64 = 64;
/// How long either side waits for the other.
const TIMEOUT: Duration = Duration::from_secs(5);

/// An order, and the node that it is for. A list is for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) verb: Verb,
    pub(crate) node: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Kill,
    Stop,
    Cont,
    Start,
    List,
}

impl Verb {
    const ALL: [Self; 5] = [Self::Kill, Self::Stop, Self::Cont, Self::Start, Self::List];

    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Stop => "stop",
            Self::Cont => "cont",
            Self::Start => "start",
            Self::List => "list",
        }
    }
}

impl Order {
    /// Carries out an order, and says what was done and the state of the process now.
    pub(crate) fn carry_out(self, fleet: &mut Fleet) -> Result<(&'static str, Process), Trouble> {
        let node = self.node.ok_or_else(|| Trouble::wrong("found no node, expected one"))?;
        let is_known = fleet.knows(node);
        let done = match self.verb {
            Verb::Kill => fleet.kill(node).map(|state| ("killed", state)),
            Verb::Stop => fleet.stop(node).map(|state| ("stopped", state)),
            Verb::Cont => fleet.cont(node).map(|state| ("continued", state)),
            Verb::Start if fleet.runs(node) => fleet.restart(node).map(|state| ("told to restart", state)),
            Verb::Start => fleet.restart(node).map(|state| ("started", state)),
            Verb::List => return Err(Trouble::wrong("found a node, expected none")),
        };
        done.map_err(|what| if is_known { Trouble::failed(what) } else { Trouble::wrong(what) })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.node {
            Some(node) => write!(f, "{} {node}", self.verb.name()),
            None => f.write_str(self.verb.name()),
        }
    }
}

impl Order {
    fn parse(line: &str) -> Option<Self> {
        let (name, node) = line.split_once(' ').map_or((line, None), |(name, node)| (name, Some(node)));
        let verb = Verb::ALL.into_iter().find(|verb| verb.name() == name)?;
        let node = node.map(str::parse).transpose().ok()?;
        (node.is_some() != (verb == Verb::List)).then_some(Self { verb, node })
    }
}

/// Where orders come in.
#[derive(Debug)]
pub(super) struct Control(UnixListener);

pub(super) fn listen(place: &Place) -> Result<Control, String> {
    let socket = place.socket();
    let listener = UnixListener::bind(&socket);
    listener.map(Control).map_err(|error| format!("cannot listen at {}: {error}", socket.display()))
}

/// Where the answer to an order goes.
pub(crate) type Reply = Sender<Result<String, Trouble>>;

/// Begins to take one order after another, and hands them on; what takes them says whether it still does.
pub(super) fn take_orders(
    control: Control,
    hand_on: impl Fn(Order, Reply) -> bool + Send + 'static,
) -> Result<(), String> {
    spawn("control", move || {
        for stream in control.0.incoming().flatten() {
            // Whoever goes away in the middle gets no answer, and does not miss one.
            let _ = take_order(stream, &hand_on);
        }
    })
}

fn take_order(mut stream: UnixStream, hand_on: &impl Fn(Order, Reply) -> bool) -> std::io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(&stream).take(ORDER_MAX).read_line(&mut line)?;
    if line.is_empty() {
        return Ok(()); // Somebody only looked whether there is a cluster.
    }
    let (sender, answer) = mpsc::channel();
    let answer = match Order::parse(line.trim_end()) {
        None => Err(Trouble::wrong(format!("cannot do {line:?}"))),
        Some(order) if hand_on(order, sender) => {
            answer.recv_timeout(TIMEOUT).unwrap_or_else(|_| Err(Trouble::failed("it is ending")))
        }
        Some(_) => Err(Trouble::failed("it is ending")),
    };
    match answer {
        Ok(done) => write!(stream, "ok {done}"),
        Err(Trouble { status: Status::BadInput, what }) => write!(stream, "wrong {what}"),
        Err(Trouble { what, .. }) => write!(stream, "no {what}"),
    }
}

/// Gives an order to the cluster in `dir`, or to the only one.
pub(crate) fn ask(dir: Option<&Path>, order: &Order) -> Result<String, Trouble> {
    let mut stream = place::connect(dir).map_err(Trouble::failed)?;
    let silent = |error| Trouble::failed(format!("the cluster does not answer: {error}"));
    let answer = exchange(&mut stream, order).map_err(silent)?;
    match answer.split_once(' ') {
        Some(("ok", done)) => Ok(done.to_owned()),
        Some(("no", reason)) => Err(Trouble::failed(reason)),
        Some(("wrong", reason)) => Err(Trouble::wrong(reason)),
        _ => Err(Trouble::failed("the cluster ended before it answered")),
    }
}

fn exchange(stream: &mut UnixStream, order: &Order) -> std::io::Result<String> {
    stream.set_read_timeout(Some(TIMEOUT * 2))?;
    writeln!(stream, "{order}")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        for verb in Verb::ALL {
            let order = Order { verb, node: (verb != Verb::List).then_some(3) };
            assert_eq!(Order::parse(&order.to_string()), Some(order));
        }
        for line in ["", "kill", "kill x", "list 3", "dance 3"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
    }
}
