//! The protocols with their errata settled, and with views.
//!
//! Our additions: the logical component is a *view*, which has a number, a leader and members. It is installed by a message,
//! and voids all messages before it (E-FB7). Every message belongs to a view. Only neighbours in the view outrank a node
//! (E-FB5); a dead node has none. When a link goes down, both ends forget all that was said over it, so nothing is owed to a
//! node that cannot be reached (E-FB8). A view needs a part of the cluster that is [`Primary`] (E-FB6).
//!
//! Linked nodes tell each other their views, and whether they are dead. A node that is dead, or that has been in another
//! view for longer than a message takes, is no member whatever the view says (E-FB10), and is admitted again. A node that
//! sees a peer in a later view, without having been told of that view, has been left behind, and is dead. A node that comes
//! back from a crash is dead. If more than half of all members are linked and dead, nobody is left that could admit them,
//! so the lightest of them forms a view.
//!
//! In Ω a view does not work until its leader, the fault manager, has done its task (section 1), and every member knows.
//! That is a reorganization, and the group layer does it. A leader that fails at it is dead.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;

use super::{About, Change, Level, Msg, NextView, Said, first_view, members_form, said_form};
use crate::canonical::Form;
use crate::cause::Cause;
use crate::election::{Action, Actions, Input, Membership, Primary, Setup};
use crate::group::Formation;
use crate::ident::{ElectionId, GroupId, NodeId};
use crate::link::consistent::Pace;
use crate::members::Members;
use crate::opinion::{Opinion, Status};
use crate::time::{Span, Time};

/// The state of one node. Nodes are known by rank: a lower one is lighter.
#[derive(Clone, Debug)]
pub(in crate::election) struct Repaired {
    level: Level,
    setup: Setup,
    /// The view it is in, or was in last if it is dead.
    view: GroupId,
    leader: NodeId,
    /// conn: the members of that view; of a dead node, itself.
    conn: Members,
    dead: bool,
    service: Service,
    links: Vec<LinkState>,
    /// Why the links of these went down, or are about to, if it is for more than silence.
    losses: BTreeMap<usize, Cause>,
    /// Until when a link that has not come up yet may still do so.
    starts: Time,
    /// cand sent, and accept received for it.
    candidacies: BTreeSet<Said>,
    accepted: BTreeSet<Said>,
    /// cand received, and the view in which it was sent.
    proposals: BTreeMap<Said, GroupId>,
    /// accept sent, and for which view.
    accepts: BTreeMap<Said, GroupId>,
    remembers: bool,
}

/// Whether a view has begun to work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    /// The node has not been told of its view, or is dead.
    Out,
    /// The leader works out the view's task and hands it out.
    Reorganizing,
    In,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinkState {
    /// It has not been up yet, and the node has just started.
    Unknown,
    Down,
    Up {
        peer: Membership,
        news: News,
    },
}

/// Whether the peer at the other end of a link is in this node's view, as far as is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    Same,
    /// It was last heard of in another view, or dead. Unless something newer is heard by then, that counts.
    Awaited(Time),
    /// It is dead, or in another.
    Another,
}

impl LinkState {
    fn is_up(self) -> bool {
        matches!(self, Self::Up { .. })
    }

    fn membership(self) -> Option<Membership> {
        match self {
            Self::Up { peer, .. } => Some(peer),
            Self::Unknown | Self::Down => None,
        }
    }
}

impl Repaired {
    pub(super) fn new(level: Level, setup: Setup) -> Self {
        let lightest = setup.roster.at(0);
        let (me, incarnation) = (setup.roster.me(), setup.incarnation);
        // Numbers on disk are one more, since there nought is nothing. Who has been in no view begins in the first one; who
        // has lost the one that it was in is dead.
        let (view, conn) = match setup.count.checked_sub(1) {
            None => (first_view(lightest), Members::of(0..setup.roster.size())),
            Some(seq) => (ElectionId { node: me, incarnation, seq }, Members::of([setup.roster.my_rank()])),
        };
        Self {
            level,
            view: GroupId(view),
            leader: view.node,
            conn,
            dead: setup.count > 0,
            service: Service::Out,
            links: vec![LinkState::Unknown; setup.roster.size()],
            losses: BTreeMap::new(),
            starts: Time::NEVER,
            candidacies: BTreeSet::new(),
            accepted: BTreeSet::new(),
            proposals: BTreeMap::new(),
            accepts: BTreeMap::new(),
            remembers: false,
            setup,
        }
    }

    pub(super) fn handle(&mut self, now: Time, input: Input<Msg>, out: &mut Actions<Msg>) {
        let worked = (self.service == Service::In).then_some((self.view, self.conn));
        match input {
            Input::Recovery => self.on_recovery(now, out),
            Input::Link { peer, up } => {
                self.on_link(now, peer, up);
                self.form_first(out);
            }
            Input::Message { from, msg } => self.on_message(now, from, msg, out),
            Input::Deadline => self.on_deadline(now),
            // Links tell of all of these. These only say why.
            Input::NewIncarnation(peer) | Input::Gone(peer) => self.lose(peer, Cause::Gone(peer)),
            Input::Resigned { who, .. } => self.lose(who, Cause::Resigned(who)),
            Input::DownSig(_) => {}
            Input::HandOver(_) => {} // Weights are fixed.
            Input::Reorganized => self.service = Service::In,
            Input::ReorganizationFailed(_) => self.give_up(out),
        }
        self.settle(now, out);
        self.tell_memory(out);
        if let Some((view, members)) = worked
            && self.opinion().normal_leader() != Some(view.0.node)
        {
            out.because(self.why_ended(view, members));
        }
    }

    pub(super) fn deadline(&self) -> Time {
        let news = self.others().map(|j| self.awaits(j)).min();
        let starts = if self.is_starting() { self.starts } else { Time::NEVER };
        news.unwrap_or(Time::NEVER).min(starts)
    }

    /// A node relies on its view only if it is linked with enough nodes that are in it, and with its leader.
    pub(super) fn opinion(&self) -> Opinion {
        if self.dead {
            return Opinion { status: Status::Dead, leader: None, group: None };
        }
        let with_me = 1 + self.others().filter(|j| self.shares_view(*j)).count();
        let (group, leader) = (Some(self.view), Some(self.leader));
        let led = self.leads() || self.setup.roster.rank(self.leader).is_some_and(|j| self.shares_view(j));
        if !led || !self.setup.choices.primary.admits(with_me, self.setup.roster.size()) {
            return Opinion { status: Status::Waiting, leader: None, group };
        }
        match self.service {
            Service::In => Opinion { status: Status::Normal, leader, group },
            Service::Out | Service::Reorganizing => Opinion { status: Status::Reorganizing, leader, group },
        }
    }

    pub(super) fn canonical(&self, now: Time, form: &mut Form) {
        form.view(self.view);
        form.number(self.service as u64);
        form.node(self.leader);
        members_form(self.conn, form);
        form.number(u64::from(self.dead));
        form.deadline(now, if self.is_starting() { self.starts } else { Time::NEVER });
        for (j, link) in self.links.iter().enumerate() {
            form.number(match link {
                LinkState::Unknown => 0,
                LinkState::Down => 1,
                LinkState::Up { .. } => 2,
            });
            form.option(link.membership(), |form, membership| membership.canonical(form));
            form.number(u64::from(matches!(link, LinkState::Up { news: News::Another, .. })));
            form.deadline(now, self.awaits(j));
            form.option(self.losses.get(&j), |form, why| why.canonical(form));
        }
        said_form(&self.candidacies, form);
        said_form(&self.accepted, form);
        for said in [&self.proposals, &self.accepts] {
            form.number(said.len() as u64);
            for ((change, about, peer), view) in said {
                [*change as u64, *about as u64, *peer as u64]
                    .into_iter()
                    .for_each(|number| form.number(number));
                form.view(*view);
            }
        }
    }

    /// The numbers of views only grow. A dead node follows nobody, and proposes nothing unless all nodes that it is
    /// linked with are dead.
    pub(super) fn breach(&self, before: &Self) -> Option<&'static str> {
        if self.view != before.view && !self.beats(self.view, before.view) {
            return Some("a node goes back to an earlier view");
        }
        if !self.dead && !self.conn.contains(self.me()) {
            return Some("a node is in a view that it is not a member of");
        }
        let unasked = self.accepted.iter().any(|said| !self.candidacies.contains(said));
        unasked.then_some("a candidacy was accepted that is none")
    }

    // What happens.

    fn on_recovery(&mut self, now: Time, out: &mut Actions<Msg>) {
        self.starts = now + self.pace().settles();
        if !self.dead {
            self.keep(out);
            out.push(Action::Install(self.conn));
            self.form_first(out);
        }
        self.stand(out);
    }

    fn on_link(&mut self, now: Time, peer: NodeId, up: Option<Membership>) {
        let Some(j) = self.setup.roster.rank(peer) else { return };
        match up {
            Some(peer) => {
                let news = match self.links[j] {
                    _ if peer.dead => News::Another,
                    // One that was dead and is in a view now may be there before this node is told of it.
                    LinkState::Up { peer: before, news }
                        if !before.dead && news != News::Same && self.differs(peer) =>
                    {
                        news
                    }
                    _ => self.news(now, peer),
                };
                if !self.links[j].is_up() {
                    self.losses.remove(&j);
                }
                self.links[j] = LinkState::Up { peer, news };
                self.forget_outdated();
            }
            None => {
                self.links[j] = LinkState::Down;
                self.forget(|(_, _, peer)| *peer == j);
            }
        }
    }

    fn lose(&mut self, peer: NodeId, why: Cause) {
        if let Some(j) = self.setup.roster.rank(peer) {
            self.losses.insert(j, why);
        }
    }

    fn on_deadline(&mut self, now: Time) {
        if self.starts <= now {
            for j in self.others() {
                if self.links[j] == LinkState::Unknown {
                    self.links[j] = LinkState::Down;
                }
            }
        }
        for link in &mut self.links {
            if let LinkState::Up { news, .. } = link
                && matches!(news, News::Awaited(until) if *until <= now)
            {
                *news = News::Another;
            }
        }
    }

    fn on_message(&mut self, now: Time, from: NodeId, msg: Msg, out: &mut Actions<Msg>) {
        let Some(s) = self.setup.roster.rank(from).filter(|s| self.links[*s].is_up()) else { return };
        let said = |about: &About| Some((about.change, self.setup.roster.rank(about.node)?, s));
        match msg {
            Msg::Cand(about) => {
                if let Some(said) = said(&about).filter(|_| !self.is_outdated(s, about.view)) {
                    self.proposals.insert(said, about.view);
                    // Who proposes it again has forgotten that it was accepted.
                    self.accepts.remove(&said);
                }
            }
            Msg::Accept(about) => {
                let said = said(&about).filter(|said| self.candidacies.contains(said));
                self.accepted.extend(said.filter(|_| about.view == self.view));
            }
            Msg::Cancel(about) => {
                if let Some(said) = said(&about) {
                    self.on_cancel(said, about.view);
                }
            }
            Msg::View(next) => {
                let NextView { id, parent, members } = *next;
                let follows = if self.dead { id.0.seq > self.view.0.seq } else { parent == self.view };
                if follows && id.0.node == from && members.contains(self.me()) {
                    self.install(now, id, members, out);
                    self.stand(out);
                }
            }
        }
    }

    /// The sender had proposed, or accepted, in that view.
    fn on_cancel(&mut self, said: Said, view: GroupId) {
        for remembered in [&mut self.proposals, &mut self.accepts] {
            if remembered.get(&said) == Some(&view) {
                remembered.remove(&said);
            }
        }
        if view == self.view {
            self.accepted.remove(&said);
        }
    }

    // The rules, applied until none does any more.

    fn settle(&mut self, now: Time, out: &mut Actions<Msg>) {
        loop {
            self.lose_heart(out);
            self.cancel(out);
            self.propose(out);
            self.accept(out);
            if !self.lead(now, out) {
                return;
            }
        }
    }

    /// "If it does not have any available link, it goes into a dead state"; and so does one that was left behind.
    fn lose_heart(&mut self, out: &mut Actions<Msg>) {
        if self.dead || self.setup.roster.size() == 1 {
            return;
        }
        let alone = self.others().all(|j| self.links[j] == LinkState::Down);
        let left_behind = |j: usize| match self.links[j].membership() {
            Some(Membership { view: Some(view), dead: false }) => {
                self.is_elsewhere(j) && self.beats(view, self.view)
            }
            _ => false,
        };
        if alone || self.others().any(left_behind) {
            self.die(out);
            self.stand(out);
        }
    }

    /// Takes back proposals and accepts that are no longer true (Ω).
    fn cancel(&mut self, out: &mut Actions<Msg>) {
        if self.level < Level::Omega {
            return;
        }
        let changes = self.changes();
        let proposed = self.candidacies.iter().filter(|(change, j, _)| !changes.contains(&(*change, *j)));
        let proposed: Vec<Said> = proposed.copied().collect();
        for said in proposed {
            self.candidacies.remove(&said);
            self.accepted.remove(&said);
            // The other takes it for the end of an acceptance, too: what still holds is said again.
            self.accepts.remove(&said);
            self.tell(said, self.view, Msg::Cancel, out);
        }
        let accepts = self.accepts.iter().filter(|((change, j, _), _)| !self.agrees(*change, *j));
        let accepts: Vec<(Said, GroupId)> = accepts.map(|(said, view)| (*said, *view)).collect();
        for (said, view) in accepts {
            self.accepts.remove(&said);
            self.tell(said, view, Msg::Cancel, out);
        }
    }

    /// Proposes every change to all linked nodes, if none of them is lighter.
    fn propose(&mut self, out: &mut Actions<Msg>) {
        if !self.may_propose() {
            return;
        }
        let linked: Vec<usize> = self.linked().collect();
        for (change, j) in self.changes() {
            for peer in linked.iter().copied() {
                if self.candidacies.insert((change, j, peer)) {
                    self.tell((change, j, peer), self.view, Msg::Cand, out);
                }
            }
        }
    }

    /// A node that sees more changes than are proposed waits until they are. Otherwise two members of the new view
    /// might not be linked with each other (E-FB11).
    fn accept(&mut self, out: &mut Actions<Msg>) {
        let changes = if self.dead { Vec::new() } else { self.changes() };
        let acceptable = self.proposals.iter().filter(|((change, j, s), view)| {
            let fresh = self.accepts.get(&(*change, *j, *s)) != Some(*view);
            let mine = self.dead || **view == self.view;
            let all = changes.iter().all(|(change, j)| self.proposals.get(&(*change, *j, *s)) == Some(*view));
            fresh && mine && all && self.agrees(*change, *j) && !self.has_lighter_than(*s)
        });
        let acceptable: Vec<(Said, GroupId)> = acceptable.map(|(said, view)| (*said, *view)).collect();
        for (said, view) in acceptable {
            self.accepts.insert(said, view);
            self.tell(said, view, Msg::Accept, out);
        }
    }

    /// Def. 3.1 and 3.2: there are changes, and everybody who is linked has accepted all of them. Then all see the same.
    fn lead(&mut self, now: Time, out: &mut Actions<Msg>) -> bool {
        let changes = self.changes();
        let by_all =
            |said: &(Change, usize)| self.linked().all(|p| self.accepted.contains(&(said.0, said.1, p)));
        let new = Members::of(self.linked().chain([self.me()]));
        let converged = self.may_propose() && !changes.is_empty() && changes.iter().all(by_all);
        // What was proposed in error, and cannot be taken back, is waited for (Ψ).
        let answered = self.candidacies.iter().all(|said| self.accepted.contains(said));
        let primary = self.setup.choices.primary.admits(new.count(), self.setup.roster.size());
        if !(converged && answered && primary) {
            return false;
        }
        let latest =
            self.linked().filter_map(|j| self.links[j].membership()?.view).map(|view| view.0.seq).max();
        let seq = 1 + latest.unwrap_or(0).max(self.view.0.seq);
        let (node, incarnation) = (self.setup.roster.me(), self.setup.incarnation);
        let id = GroupId(ElectionId { node, incarnation, seq });
        let parent = self.view;
        let followers: Vec<NodeId> = self.linked().map(|j| self.setup.roster.at(j)).collect();
        self.install(now, id, new, out);
        out.send_each(&followers, &Msg::View(Box::new(NextView { id, parent, members: new })));
        // After the view itself: nobody is to wonder which one this is.
        self.stand(out);
        true
    }

    /// The view changes, and all messages about the change are void.
    fn install(&mut self, now: Time, id: GroupId, members: Members, out: &mut Actions<Msg>) {
        (self.view, self.leader, self.conn, self.dead) = (id, id.0.node, members, false);
        self.candidacies.clear();
        self.accepted.clear();
        self.accepts.clear();
        for j in 0..self.links.len() {
            if let LinkState::Up { peer, .. } = self.links[j] {
                self.links[j] = LinkState::Up { peer, news: self.news(now, peer) };
            }
        }
        self.forget_outdated();
        self.keep(out);
        out.push(Action::Install(members));
        self.form(out);
    }

    /// Tells the group layer of the view. Its leader is the fault manager, which must do its task before the view works
    /// again. Φ and Ψ have none.
    fn form(&mut self, out: &mut Actions<Msg>) {
        if !self.setup.protocol.spec().reorganizes {
            self.service = Service::In;
            return;
        }
        self.service = Service::Reorganizing;
        let others = self.conn.ranks().filter(|j| *j != self.me()).map(|j| self.setup.roster.at(j));
        let members = if self.leads() { others.collect() } else { Vec::new() };
        out.push(Action::Form(Formation { group: Some(self.view), leader: self.leader, members }));
    }

    /// The first view is installed without a message. A member can take part once it is linked with the view's leader.
    fn form_first(&mut self, out: &mut Actions<Msg>) {
        let heard =
            self.leads() || self.setup.roster.rank(self.leader).is_some_and(|j| self.links[j].is_up());
        let waits = self.setup.protocol.spec().reorganizes && !heard;
        if !self.dead && self.service == Service::Out && !waits {
            self.form(out);
        }
    }

    /// The view does not begin to work under this leader, which counts as failed: the others admit it to a view of theirs.
    fn give_up(&mut self, out: &mut Actions<Msg>) {
        if self.setup.roster.size() == 1 {
            return self.form(out);
        }
        self.die(out);
        self.stand(out);
    }

    /// Proposals stay: those who made them will not repeat them, and may be about to admit this node.
    fn die(&mut self, out: &mut Actions<Msg>) {
        (self.dead, self.conn, self.service) = (true, Members::of([self.me()]), Service::Out);
        out.push(Action::Disband);
        self.candidacies.clear();
        self.accepted.clear();
        self.accepts.clear();
    }

    /// Why a view of these members ended, or does not work here any more. A view changes when all have agreed to that: what made
    /// them do so is some time ago.
    fn why_ended(&self, view: GroupId, members: Members) -> Cause {
        let leader = self.setup.roster.rank(view.0.node);
        let others = || leader.into_iter().chain(members.ranks()).filter(|j| *j != self.me());
        if let Some(j) = others().find(|j| !self.links[*j].is_up()) {
            return self.losses.get(&j).copied().unwrap_or(Cause::Silent(self.setup.roster.at(j)));
        }
        if !self.dead && self.view != view {
            return Cause::Merged;
        }
        let left =
            others().find_map(|j| Some((j, self.links[j].membership().filter(|_| !self.shares_view(j))?)));
        match left {
            Some((_, Membership { view: Some(later), dead: false })) => Cause::Dropped(later.0.node),
            Some((j, _)) => Cause::Silent(self.setup.roster.at(j)), // Dead, which is to be cut off.
            None => Cause::Merged,
        }
    }

    // What is so.

    /// The changes of its view that this node sees: which nodes are gone, and which are back.
    fn changes(&self) -> Vec<(Change, usize)> {
        let change = |j: usize| match self.links[j] {
            LinkState::Down if self.conn.contains(j) => Some((Change::Down, j)),
            LinkState::Up { .. } if self.level >= Level::Psi && !self.is_member(j) => Some((Change::Up, j)),
            _ => None,
        };
        self.others().filter_map(change).collect()
    }

    /// Whether the node sees that change, too. It is linked with itself.
    fn agrees(&self, change: Change, j: usize) -> bool {
        match change {
            Change::Down => self.links[j] == LinkState::Down && j != self.me(),
            Change::Up => j == self.me() || self.links[j].is_up(),
        }
    }

    fn may_propose(&self) -> bool {
        if self.is_starting() {
            return false;
        }
        if self.dead { self.may_revive() } else { !self.has_lighter_than(self.me()) }
    }

    /// More than half of all nodes are linked, all of them are dead, and this node is the lightest of them.
    fn may_revive(&self) -> bool {
        let all_dead = self.linked().all(|j| self.links[j].membership().is_some_and(|peer| peer.dead));
        let most = Primary::Majority.admits(self.linked().count() + 1, self.setup.roster.size());
        self.level >= Level::Psi && all_dead && most && self.linked().all(|j| j > self.me())
    }

    /// Whether this node, or a linked node of its view, is lighter than that one.
    fn has_lighter_than(&self, s: usize) -> bool {
        let lighter = |j: usize| self.links[j].is_up() && self.is_member(j);
        !self.dead && (self.me() < s || (0..s).any(lighter))
    }

    /// Whether a linked node counts as a member of this node's view.
    fn is_member(&self, j: usize) -> bool {
        self.conn.contains(j) && !self.is_elsewhere(j)
    }

    fn shares_view(&self, j: usize) -> bool {
        let same = |peer: Membership| !peer.dead && !self.differs(peer);
        self.conn.contains(j) && self.links[j].membership().is_some_and(same)
    }

    fn differs(&self, peer: Membership) -> bool {
        peer.view != Some(self.view)
    }

    /// Whether a linked node is dead, or has been in another view for longer than a message takes.
    fn is_elsewhere(&self, j: usize) -> bool {
        matches!(self.links[j], LinkState::Up { news: News::Another, .. })
    }

    /// What to conclude from a peer's view and state, now that it or this node has changed.
    fn news(&self, now: Time, peer: Membership) -> News {
        if peer.dead || self.differs(peer) { News::Awaited(now + self.grace()) } else { News::Same }
    }

    fn awaits(&self, j: usize) -> Time {
        match self.links[j] {
            LinkState::Up { news: News::Awaited(until), .. } => until,
            _ => Time::NEVER,
        }
    }

    /// A view is received within a link's patience, or the link goes down. One more beat tells the other end.
    fn grace(&self) -> Span {
        self.pace().patience + self.pace().again
    }

    /// Later views are stronger; of two with one number that of the lighter leader.
    fn beats(&self, one: GroupId, other: GroupId) -> bool {
        let (one, other) = (one.0, other.0);
        if one.seq != other.seq {
            one.seq > other.seq
        } else if one.node != other.node {
            self.setup.roster.stronger(one.node, other.node)
        } else {
            one.incarnation > other.incarnation
        }
    }

    fn leads(&self) -> bool {
        self.leader == self.setup.roster.me()
    }

    fn is_starting(&self) -> bool {
        self.others().any(|j| self.links[j] == LinkState::Unknown)
    }

    fn linked(&self) -> impl Iterator<Item = usize> + '_ {
        self.others().filter(|j| self.links[*j].is_up())
    }

    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let me = self.me();
        (0..self.setup.roster.size()).filter(move |j| *j != me)
    }

    fn me(&self) -> usize {
        self.setup.roster.my_rank()
    }

    fn pace(&self) -> Pace {
        Pace::of(self.setup.timing)
    }

    // What others are told.

    fn tell(
        &self,
        (change, j, peer): Said,
        view: GroupId,
        msg: impl Fn(About) -> Msg,
        out: &mut Actions<Msg>,
    ) {
        let about = About { view, change, node: self.setup.roster.at(j) };
        out.send(self.setup.roster.at(peer), msg(about));
    }

    fn stand(&self, out: &mut Actions<Msg>) {
        out.push(Action::Stand(Membership { view: Some(self.view), dead: self.dead }));
    }

    fn keep(&mut self, out: &mut Actions<Msg>) {
        self.setup.count = self.view.0.seq.saturating_add(1);
        out.push(Action::Persist { count: self.setup.count });
    }

    /// A peer that is in a later view by now has forgotten what it proposed in an earlier one. Others may have heard of a
    /// view before this node, and have proposed something in it. A peer in another view is not told of this one.
    fn forget_outdated(&mut self) {
        let outdated = self.proposals.iter().filter(|((_, _, s), view)| self.is_outdated(*s, **view));
        let outdated: Vec<Said> = outdated.map(|(said, _)| *said).collect();
        for said in outdated {
            self.proposals.remove(&said);
        }
    }

    fn is_outdated(&self, s: usize, view: GroupId) -> bool {
        self.links[s].membership().and_then(|peer| peer.view).is_some_and(|now| self.beats(now, view))
    }

    fn forget(&mut self, which: impl Fn(&Said) -> bool) {
        self.candidacies.retain(|said| !which(said));
        self.accepted.retain(|said| !which(said));
        self.proposals.retain(|said, _| !which(said));
        self.accepts.retain(|said, _| !which(said));
    }

    fn tell_memory(&mut self, out: &mut Actions<Msg>) {
        let said = !self.candidacies.is_empty() || !self.accepted.is_empty();
        let remembers = said || !self.proposals.is_empty() || !self.accepts.is_empty();
        if core::mem::replace(&mut self.remembers, remembers) != remembers {
            out.push(Action::Remember(remembers));
        }
    }
}
