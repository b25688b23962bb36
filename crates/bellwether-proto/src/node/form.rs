//! The canonical form of a node: that of its layers.

use super::Node;
use crate::canonical::Form;
use crate::election::Election;
use crate::message::Message;
use crate::time::Time;

impl<E: Election> Node<E> {
    /// Writes the state in canonical form, as seen at `now`.
    pub fn canonical(&self, now: Time, form: &mut Form) {
        form.node(self.id());
        form.incarnation(self.id(), self.setup.incarnation);
        self.link.canonical(self.id(), self.setup.incarnation, form);
        if let Some(links) = &self.links {
            links.canonical(now, form, Message::canonical);
        }
        self.detector.canonical(now, form);
        self.election.canonical(now, form);
        if let Some(group) = &self.group {
            group.canonical(now, form);
        }
        form.option(self.aside, |form, until| form.deadline(now, until));
        // No search has disks that take their time: how much is parked says enough.
        self.writes.canonical(now, form);
        form.number((self.parked.len() + self.news.len()) as u64);
        if let Some(leadership) = &self.leadership {
            leadership.canonical(now, form);
        }
        if let Some(release) = &self.release {
            release.canonical(now, form);
        }
    }
}
