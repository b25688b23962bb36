//! A voter, its disk, and what is on the way to the disk.

use std::collections::{BTreeMap, VecDeque};

use bellwether_proto::exclusive::configuration::{Address, Configuration};
use bellwether_proto::exclusive::grant::{Accepted, Content, Name};
use bellwether_proto::exclusive::ident::{Ballot, Life, LifeId, Stamp, StoreId};
use bellwether_proto::exclusive::message::{Asked, Said};
use bellwether_proto::exclusive::voter::{Change, Voter, VoterAction, VoterKept};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::Time;

use super::coordinators::life_of;
use super::post::{Post, Seen};
use super::setting::{Disk, Setting};

/// A voter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct VoterProcess {
    node: NodeId,
    machine: Voter,
    disk: VoterKept,
    /// Asked for, and not on disk.
    queue: VecDeque<Change>,
    /// How many stores it has had.
    stores: u64,
}

impl VoterProcess {
    pub(super) fn new(setting: &Setting, index: usize, now: Time) -> Self {
        let node = Setting::voter(index);
        let mut disk = VoterKept::new(store_of(node, 1));
        if setting.founded && index < setting.voters {
            let (name, accepted) = founding(setting);
            disk.keep(Change::Accepted(name, accepted));
            known_lives(setting).for_each(|life| disk.keep(Change::Met(life)));
        }
        let machine = start(setting, node, disk.clone(), now);
        Self { node, machine, disk, queue: VecDeque::new(), stores: 1 }
    }

    pub(super) fn store(&self) -> StoreId {
        self.disk.store
    }

    /// What its memory holds.
    pub(super) fn kept(&self) -> &VoterKept {
        self.machine.kept()
    }

    /// How many changes are not on disk.
    pub(super) fn unwritten(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn hears(
        &mut self,
        setting: &Setting,
        now: Time,
        from: NodeId,
        asked: Asked,
        early: bool,
        post: &mut Post,
    ) {
        self.machine.handle(now, from, asked);
        self.drain(post);
        if early {
            // A word before its write.
            self.machine.written(self.machine.kept().commits);
            self.drain(post);
        }
        if setting.disk == Disk::AtOnce {
            self.writes(usize::MAX, post);
        }
    }

    /// So many changes come to be on disk, if there are as many.
    pub(super) fn writes(&mut self, count: usize, post: &mut Post) {
        let count = count.min(self.queue.len());
        for change in self.queue.drain(..count) {
            self.disk.keep(change.clone());
            let (voter, store) = (self.node, self.disk.store);
            match change {
                Change::Accepted(name, accepted) => {
                    if accepted.content == Content::Deleted {
                        post.seen.push(Seen::Deleted);
                    }
                    post.seen.push(Seen::Accepted { voter, store, name, accepted });
                }
                Change::Dropped(_) => post.seen.push(Seen::Dropped),
                Change::Dead(node, age) => post.seen.push(Seen::Buried { voter, store, node, age }),
                Change::Promised(_) | Change::Met(_) => {}
            }
        }
        self.machine.written(self.disk.commits);
        self.drain(post);
    }

    /// Memory is lost, and what was not written.
    pub(super) fn restarts(&mut self, setting: &Setting, now: Time) {
        self.queue.clear();
        self.machine = start(setting, self.node, self.disk.clone(), now);
    }

    /// The id that its next store would have.
    pub(super) fn next_store(&self) -> StoreId {
        store_of(self.node, self.stores + 1)
    }

    /// The disk is lost, too.
    pub(super) fn forgets_all(&mut self, setting: &Setting, store: StoreId, now: Time) {
        self.stores += 1;
        self.disk = VoterKept::new(store);
        self.restarts(setting, now);
    }

    /// The disk, to be meddled with. What is written then is not what was asked for.
    pub(super) fn disk_mut(&mut self) -> &mut VoterKept {
        &mut self.disk
    }

    fn drain(&mut self, post: &mut Post) {
        for action in self.machine.drain() {
            match action {
                VoterAction::Keep(change) => self.queue.push_back(change),
                // Nobody heeds the count yet, and it would tell states apart that behave alike.
                VoterAction::Answer(to, said) => post.answer(self.node, to, Said { commits: 0, ..*said }),
            }
        }
    }
}

/// The voters of the file. Where they are met is nothing that matters here.
pub(super) fn listed(setting: &Setting) -> BTreeMap<NodeId, Address> {
    (0..setting.voters).map(|index| (Setting::voter(index), Address::default())).collect()
}

/// The first configuration in force, with the stores that voters have at first.
pub(super) fn first_configuration(setting: &Setting) -> Configuration {
    let seats = listed(setting).into_iter().map(|(node, address)| (node, store_of(node, 1), address));
    Configuration::founding(seats).founded()
}

fn start(setting: &Setting, node: NodeId, kept: VoterKept, now: Time) -> Voter {
    Voter::new(node, listed(setting).into_keys().collect(), kept, setting.terms, now)
}

fn store_of(node: NodeId, count: u64) -> StoreId {
    StoreId(u128::from(node.0) << 64 | u128::from(count))
}

/// The first lives of all who ask. That they are met is no part of what happens.
fn known_lives(setting: &Setting) -> impl Iterator<Item = Life> {
    let coordinators = (0..setting.coordinators).map(Setting::coordinator);
    let nodes = coordinators.chain((0..setting.agents).map(Setting::agent));
    nodes.map(|node| life_of(node, 1, Incarnation(1)))
}

/// What all voters have on disk when a cluster was founded.
fn founding(setting: &Setting) -> (Name, Accepted) {
    let of = Life { node: NodeId(0), incarnation: Incarnation(0), id: LifeId(0) };
    let stamp = Stamp { ballot: Ballot { round: 0, of }, write: 2 };
    let content = Content::Configuration(first_configuration(setting).into());
    (Name::configuration(), Accepted { stamp, content })
}
