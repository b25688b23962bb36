//! Links: what happens to a message between two nodes.

use bellwether_proto::canonical::Form;
use bellwether_proto::message::Kind;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::trace::DropReason;
use rand_chacha::ChaCha8Rng;

use crate::chance::{Chance, below};
use crate::model::Behaviour;
use crate::scenario::{Latency, LinkRule, Mishap, Scenario, index};

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Lost(DropReason),
    /// Arrives then, and perhaps once more.
    Arrives(Time, Option<Time>),
}

/// All links of a world, by index of sender and receiver.
#[derive(Debug)]
pub(crate) struct Net {
    nodes: usize,
    /// The first is the base rule.
    rules: Vec<Rule>,
    links: Vec<Link>,
    /// When messages arrive on links that follow the base rule, if a model says so.
    model: Option<Behaviour>,
    /// After which time connections send again what was lost.
    resend: Option<Span>,
    /// What a scenario wants to happen to single messages.
    orders: Vec<Order>,
}

/// What is to happen to one message of a kind.
#[derive(Debug)]
struct Order {
    from: usize,
    to: usize,
    kind: String,
    /// How many of them pass before.
    spared: u64,
    mishap: Mishap,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    /// The latest arrival so far, for links that keep order.
    last: Time,
    /// The rule in force, and the one to go back to when the world heals.
    rule: u32,
    home: u32,
    cut: bool,
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    link: LinkRule,
    loss: Chance,
    duplicate: Chance,
}

/// A connection does not send a message more often than this in vain.
const RESENT_MAX: u64 = 15;

/// The place of the base rule.
const BASE: u32 = 0;

impl Net {
    /// A network without a model draws no random bits for its making.
    pub(crate) fn new(scenario: &Scenario, rng: &mut ChaCha8Rng) -> Self {
        let (nodes, network) = (scenario.nodes as usize, &scenario.network);
        let link = Link { last: Time::ZERO, rule: BASE, home: BASE, cut: false };
        let mut net = Self {
            nodes,
            rules: vec![Rule::new(network.base)],
            links: vec![link; nodes * nodes],
            model: Behaviour::new(scenario, rng),
            resend: network.resend,
            orders: Vec::new(),
        };
        for (from, to, rule) in &network.links {
            let rule = net.add_rule(*rule);
            let link = net.link(index(*from), index(*to));
            (link.rule, link.home) = (rule, rule);
        }
        net
    }

    /// Decides a message's fate. Random bits are drawn in a fixed order: loss, delay, duplication, its delay. Its kind seldom
    /// matters, and is asked for only if it does.
    #[inline]
    pub(crate) fn route(
        &mut self,
        now: Time,
        from: usize,
        to: usize,
        kind: impl Fn() -> Kind,
        rng: &mut ChaCha8Rng,
    ) -> Fate {
        let mishap = self.mishap(from, to, &kind);
        let fate = match self.is_lost(from, to, mishap, rng) {
            Some(DropReason::Lost) if let Some(after) = self.resend => {
                let sent = now + self.until_it_passes(from, to, after, rng);
                self.carry(sent, from, to, kind, rng)
            }
            Some(reason) => return Fate::Lost(reason),
            None => self.carry(now, from, to, kind, rng),
        };
        match (mishap, fate) {
            (Some(Mishap::Delay(by)), Fate::Arrives(first, second)) => {
                let second = second.map(|second| second + by);
                self.hold_back(from, to, second.unwrap_or(first + by));
                Fate::Arrives(first + by, second)
            }
            (Some(Mishap::Duplicate), Fate::Arrives(first, None)) => Fate::Arrives(first, Some(first)),
            _ => fate,
        }
    }

    /// Whether a message is lost as it is sent, and why.
    #[inline]
    pub(crate) fn loses(
        &mut self,
        from: usize,
        to: usize,
        kind: impl Fn() -> Kind,
        rng: &mut ChaCha8Rng,
    ) -> Option<DropReason> {
        let mishap = self.mishap(from, to, &kind);
        self.is_lost(from, to, mishap, rng)
    }

    #[inline]
    fn is_lost(
        &self,
        from: usize,
        to: usize,
        mishap: Option<Mishap>,
        rng: &mut ChaCha8Rng,
    ) -> Option<DropReason> {
        if mishap == Some(Mishap::Drop) {
            return Some(DropReason::Dropped);
        }
        let link = &self.links[from * self.nodes + to];
        if link.cut {
            return Some(DropReason::Cut);
        }
        self.rules[link.rule as usize].loss.strikes(rng).then_some(DropReason::Lost)
    }

    /// How long a connection sends a message in vain that was lost once. What comes after it waits, if the link keeps order.
    fn until_it_passes(&self, from: usize, to: usize, after: Span, rng: &mut ChaCha8Rng) -> Span {
        let loss = self.rules[self.links[from * self.nodes + to].rule as usize].loss;
        let again = (1..RESENT_MAX).take_while(|_| loss.strikes(rng)).count() as u64;
        after * (1 + again)
    }

    /// When a message arrives that is on its way from now on.
    #[inline]
    pub(crate) fn carry(
        &mut self,
        now: Time,
        from: usize,
        to: usize,
        kind: impl Fn() -> Kind,
        rng: &mut ChaCha8Rng,
    ) -> Fate {
        let link = &mut self.links[from * self.nodes + to];
        let rule = &self.rules[link.rule as usize];
        if let Some(model) = &mut self.model
            && link.rule == BASE
        {
            let mut arrival = |rng: &mut ChaCha8Rng| model.arrival(now, from, to, kind().part(), rng);
            let Some(first) = arrival(rng) else { return Fate::Lost(DropReason::Lost) };
            let second = rule.duplicate.strikes(rng).then(|| arrival(rng));
            return Fate::Arrives(first, second.flatten());
        }
        let first = link.arrival(now, &rule.link, rng);
        let second = rule.duplicate.strikes(rng).then(|| link.arrival(now, &rule.link, rng));
        Fate::Arrives(first, second)
    }

    /// Whether it may matter to the links who leads.
    pub(crate) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    pub(crate) fn tell_leader(&mut self, node: usize) {
        if let Some(model) = &mut self.model {
            model.tell_leader(node);
        }
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        self.links[from * self.nodes + to].cut
    }

    /// True if this changed anything.
    pub(crate) fn set_cut(&mut self, from: usize, to: usize, cut: bool) -> bool {
        let link = self.link(from, to);
        let changed = link.cut != cut;
        link.cut = cut;
        changed
    }

    pub(crate) fn slow(&mut self, from: usize, to: usize, latency: Latency) {
        let current = self.link(from, to).rule;
        let slowed = LinkRule { latency, ..self.rules[current as usize].link };
        self.link(from, to).rule = self.add_rule(slowed);
    }

    /// Back to the rule of the file. True if the link was slowed.
    pub(crate) fn restore(&mut self, from: usize, to: usize) -> bool {
        let link = self.link(from, to);
        let changed = link.rule != link.home;
        link.rule = link.home;
        changed
    }

    pub(crate) fn change_base(&mut self, change: impl FnOnce(&mut LinkRule)) {
        let mut rule = self.rules[0].link;
        change(&mut rule);
        self.rules[0] = Rule::new(rule);
    }

    /// Something is to happen to the nth message of that kind from now on.
    pub(crate) fn mistreat(&mut self, from: usize, to: usize, kind: &str, nth: u64, mishap: Mishap) {
        self.orders.push(Order { from, to, kind: kind.to_owned(), spared: nth - 1, mishap });
    }

    pub(crate) fn forget_orders(&mut self) {
        self.orders.clear();
    }

    pub(crate) fn canonical(&self, now: Time, form: &mut Form) {
        for link in &self.links {
            form.number(u64::from(link.rule) << 1 | u64::from(link.cut));
            form.deadline(now, link.last);
        }
        form.option(self.model.as_ref(), |form, model| model.canonical(now, form));
        form.number(self.orders.len() as u64);
        for Order { from, to, kind, spared, mishap } in &self.orders {
            form.number((from * self.nodes + to) as u64);
            form.text(kind);
            form.number(*spared);
            form.number(match mishap {
                Mishap::Drop => 0,
                Mishap::Duplicate => 1,
                Mishap::Delay(by) => 2 + by.as_micros(),
            });
        }
    }

    /// What is to happen to a message that is being sent. One that waits for a later message has one less to wait for.
    #[inline]
    fn mishap(&mut self, from: usize, to: usize, kind: impl Fn() -> Kind) -> Option<Mishap> {
        if self.orders.is_empty() {
            return None;
        }
        let (kind, mut found) = (kind(), None);
        for (place, order) in self.orders.iter_mut().enumerate() {
            if (order.from, order.to) != (from, to) || order.kind != kind.name() {
                continue;
            }
            match order.spared.checked_sub(1) {
                Some(spared) => order.spared = spared,
                None => found = found.or(Some(place)),
            }
        }
        found.map(|place| self.orders.remove(place).mishap)
    }

    /// Nothing that is sent later arrives before that time, if the link keeps order.
    fn hold_back(&mut self, from: usize, to: usize, until: Time) {
        let link = self.link(from, to);
        link.last = link.last.max(until);
    }

    fn add_rule(&mut self, rule: LinkRule) -> u32 {
        self.rules.push(Rule::new(rule));
        u32::try_from(self.rules.len() - 1).expect("a rule for each link at most, and each slow event")
    }

    fn link(&mut self, from: usize, to: usize) -> &mut Link {
        &mut self.links[from * self.nodes + to]
    }
}

impl Link {
    #[inline]
    fn arrival(&mut self, now: Time, rule: &LinkRule, rng: &mut ChaCha8Rng) -> Time {
        let at = now + rule.latency.draw(rng);
        if !rule.fifo {
            return at;
        }
        self.last = self.last.max(at);
        self.last
    }
}

impl Rule {
    fn new(link: LinkRule) -> Self {
        Self { loss: Chance::of(link.loss), duplicate: Chance::of(link.duplicate), link }
    }
}

impl Latency {
    #[inline]
    fn draw(self, rng: &mut ChaCha8Rng) -> Span {
        let (low, high) = (self.low.as_micros(), self.high.as_micros());
        if low == high {
            return self.low;
        }
        Span::micros(low + below(high - low + 1, rng))
    }
}
