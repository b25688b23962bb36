//! Nodes that answer others and refuse them, as agents do whose configurations or certificates differ.
//!
//! Nothing passes between the two, and the one that is refused is told so. It counts until the other accepts it.

use bellwether_proto::election::Election;
use bellwether_proto::leadership::Reception;
use bellwether_proto::time::Span;

use super::super::World;
use super::{Connections, News};
use crate::scenario::{Fault, index};

impl Connections {
    /// How the others receive that node.
    fn reception(&self, of: usize) -> Reception {
        let refusing = self.refusing.iter().filter(|(_, refused)| *refused == of).count();
        Reception { unheard: 0, refusing }
    }

    /// Whether one of the two refuses the other.
    pub(super) fn refuse_each_other(&self, one: usize, other: usize) -> bool {
        !self.refusing.is_empty()
            && (self.refusing.contains(&(one, other)) || self.refusing.contains(&(other, one)))
    }
}

impl<E: Election> World<'_, E> {
    /// Brings a fault of connections about.
    pub(in super::super) fn befall_connections(&mut self, fault: &Fault) {
        match fault {
            Fault::Unlink(pairs) => pairs.iter().for_each(|(a, b)| self.unlink(index(*a), index(*b))),
            Fault::Refuse(pairs) => pairs.iter().for_each(|(by, whom)| self.refuse(index(*by), index(*whom))),
            Fault::Accept(pairs) => pairs.iter().for_each(|(by, whom)| self.accept(index(*by), index(*whom))),
            _ => {}
        }
    }

    fn refuse(&mut self, by: usize, whom: usize) {
        self.part(by, whom);
        self.sever(by, whom, |connections| connections.refusing.insert((by, whom)));
        self.tell_reception(whom);
    }

    fn accept(&mut self, by: usize, whom: usize) {
        self.sever(by, whom, |connections| connections.refusing.remove(&(by, whom)));
        self.tell_reception(whom);
        self.reconnect(by, whom);
    }

    /// A node that comes up asks around, and finds out.
    pub(super) fn tell_if_refused(&mut self, at: usize) {
        if self.connections.as_ref().is_some_and(|connections| connections.reception(at).refusing > 0) {
            self.tell_reception(at);
        }
    }

    fn tell_reception(&mut self, at: usize) {
        if let Some(reception) = self.connections.as_ref().map(|connections| connections.reception(at)) {
            self.later(at, Span::ZERO, News::Received(reception));
        }
    }
}
