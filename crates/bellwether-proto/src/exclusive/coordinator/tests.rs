mod dropping;

use alloc::sync::Arc;

use super::super::campaigns::PLACES;
use super::super::ident::{LifeId, StoreId};
use super::super::terms::Drift;
use super::super::voter::{Voter, VoterAction, VoterKept};
use super::*;
use crate::ident::Incarnation;
use crate::time::Span;

fn life(node: u32) -> Life {
    Life { node: NodeId(node), incarnation: Incarnation(1), id: LifeId(node.into()) }
}

fn listed(voters: u32) -> BTreeMap<NodeId, Address> {
    (1..=voters).map(|voter| (NodeId(voter), Address::default())).collect()
}

/// A coordinator that was nominated at that time, and has asked for its first ballot.
fn nominated(at: Time) -> Coordinator {
    let (ttl, retry) = (Span::secs(1), Span::millis(50));
    let terms = Terms { ttl, longest: ttl, drift: Drift(10_000), retry };
    let mut coordinator = Coordinator::new(life(1), listed(3), terms);
    coordinator.nominate(at, true);
    assert!(!prepares(&mut coordinator), "perhaps it is nominated by itself alone");
    let at = coordinator.deadline();
    coordinator.wake(at);
    assert!(prepares(&mut coordinator), "but it does not wait for long");
    coordinator
}

/// Whether it asks for a ballot now.
fn prepares(coordinator: &mut Coordinator) -> bool {
    let asks = |action: &CoordinatorAction| {
        matches!(action, CoordinatorAction::Ask(_, Asked { ask: Ask::Prepare { .. }, .. }))
    };
    coordinator.drain().filter(asks).count() > 0
}

/// A voter says that it has promised a later ballot of that node.
fn outbid_by(coordinator: &mut Coordinator, now: Time, node: u32) {
    let ballot = coordinator.ballot().expect("it has one");
    let promised = Ballot { round: ballot.round + 1, of: life(node) };
    let answer = Answer::Outbid { ballot, promised };
    let said = Said { store: StoreId(2), commits: 1, configuration: None, answer };
    coordinator.heard(now, NodeId(2), &said);
}

fn campaigns(coordinator: &mut Coordinator, now: Time, node: u32) {
    let lease = Lease { life: life(node), number: 1 };
    let wish = Wish::Campaign {
        name: Name::leader(),
        kind: GrantKind::Token,
        holder: Holder { lease, session: 0, campaign: 1 },
        waited: Span::ZERO,
        priority: 0,
        valid: true,
        holds: None,
        value: Arc::from([]),
    };
    coordinator.wish(now, NodeId(node), wish);
}

/// After a crash all are nominated by themselves. Only one is named by the others.
#[test]
fn whoever_is_named_by_most_asks_at_once() {
    let now = Time::from_micros(1_000_000);
    let (ttl, retry) = (Span::secs(1), Span::millis(50));
    let terms = Terms { ttl, longest: ttl, drift: Drift(10_000), retry };
    let mut coordinator = Coordinator::new(life(1), listed(5), terms);
    coordinator.nominate(now, true);
    campaigns(&mut coordinator, now, 2);
    assert!(!prepares(&mut coordinator), "two of five");
    campaigns(&mut coordinator, now, 7);
    assert!(!prepares(&mut coordinator), "one that does not vote says nothing about the others");
    campaigns(&mut coordinator, now, 3);
    assert!(prepares(&mut coordinator), "three of five");
}

#[test]
fn whoever_is_outbid_again_waits_unless_the_other_has_made_way() {
    let now = Time::from_micros(1_000_000);
    let mut coordinator = nominated(now);
    outbid_by(&mut coordinator, now, 2);
    assert!(prepares(&mut coordinator), "once it tries again at once");
    outbid_by(&mut coordinator, now, 3);
    assert!(!prepares(&mut coordinator), "two that are both nominated would go on for ever");
    campaigns(&mut coordinator, now, 3);
    outbid_by(&mut coordinator, now, 3);
    assert!(prepares(&mut coordinator), "the other has made way");
    outbid_by(&mut coordinator, now, 2);
    assert!(!prepares(&mut coordinator));
}

#[test]
fn whoever_waits_because_it_was_outbid_asks_when_the_other_makes_way() {
    let now = Time::from_micros(1_000_000);
    let mut coordinator = nominated(now);
    outbid_by(&mut coordinator, now, 2);
    coordinator.drain();
    outbid_by(&mut coordinator, now, 3);
    campaigns(&mut coordinator, now, 2);
    assert!(!prepares(&mut coordinator), "node 3 may still be nominated");
    campaigns(&mut coordinator, now, 3);
    assert!(prepares(&mut coordinator), "it is not any more");
    campaigns(&mut coordinator, now, 3);
    assert!(!prepares(&mut coordinator), "what was asked is under way");
}

#[test]
fn what_was_heard_before_the_nomination_says_nothing() {
    let now = Time::from_micros(1_000_000);
    let mut coordinator = nominated(now);
    campaigns(&mut coordinator, now, 2);
    coordinator.nominate(now, false);
    let later = now + Span::millis(10);
    coordinator.nominate(later, true);
    outbid_by(&mut coordinator, later, 3);
    coordinator.drain();
    outbid_by(&mut coordinator, later, 2);
    assert!(!prepares(&mut coordinator));
}

/// A coordinator of a single voter, and that voter.
struct Alone {
    coordinator: Coordinator,
    voter: Voter,
}

impl Alone {
    fn start(now: Time) -> Self {
        let (ttl, retry) = (Span::secs(1), Span::millis(50));
        let terms = Terms { ttl, longest: ttl, drift: Drift(10_000), retry };
        let voter = Voter::new(NodeId(1), [NodeId(1)].into(), VoterKept::new(StoreId(1)), terms, now);
        let mut coordinator = Coordinator::new(life(1), listed(1), terms);
        coordinator.nominate(now, true);
        let at = coordinator.deadline();
        coordinator.wake(at);
        let mut alone = Self { coordinator, voter };
        alone.tell(at);
        assert!(alone.coordinator.is_ready());
        alone
    }

    /// Carries out everything that the two ask of each other: what agents are told meanwhile.
    fn tell(&mut self, now: Time) -> Vec<Telling> {
        let mut told = Vec::new();
        loop {
            let actions: Vec<CoordinatorAction> = self.coordinator.drain().collect();
            if actions.is_empty() {
                return told;
            }
            for action in actions {
                match action {
                    CoordinatorAction::Ask(_, asked) => self.voter.handle(now, NodeId(1), asked),
                    CoordinatorAction::Tell(telling) | CoordinatorAction::Answer(_, telling) => {
                        told.push(telling);
                    }
                }
            }
            self.voter.written(self.voter.kept().commits);
            let said: Vec<VoterAction> = self.voter.drain().collect();
            for action in said {
                if let VoterAction::Answer(_, said) = action {
                    self.coordinator.heard(now, NodeId(1), &said);
                }
            }
        }
    }

    fn wish(&mut self, now: Time, wish: Wish) -> Vec<Telling> {
        self.coordinator.wish(now, NodeId(2), wish);
        self.tell(now)
    }
}

/// However many wait for a name: when it is given back, all agents are told once who has it now, and the first few of those that wait
/// how many go before them: when it is given back, and when it is granted.
#[test]
fn a_release_wakes_one_of_two_thousand() {
    const SESSIONS: u64 = 2_000;
    let now = Time::from_micros(1_000_000);
    let mut alone = Alone::start(now);
    let (name, lease) = (Name::new("wanted").unwrap(), Lease { life: life(2), number: 1 });
    let holder = |session: u64| Holder { lease, session, campaign: session };
    let renew = Ask::Renew { lease, no: 1, ttl: Span::secs(1) };
    alone.voter.handle(now, NodeId(2), Asked { by: life(2), ask: renew });
    for session in 1..=SESSIONS {
        let wish = Wish::Campaign {
            name: name.clone(),
            kind: GrantKind::Lease,
            holder: holder(session),
            waited: Span::ZERO,
            priority: 0,
            valid: true,
            holds: None,
            value: Arc::default(),
        };
        let told = alone.wish(now, wish);
        assert!(told.len() <= 2, "nobody else is told anything: {told:?}");
    }
    for session in 1..=3 {
        let (name, holder) = (name.clone(), holder(session));
        let told = alone.wish(now, Wish::Release { name, token: None, holder, next: None });
        let held = told.iter().filter_map(|telling| match telling {
            Telling::Held { grant, waiting, .. } => {
                Some((grant.holder.map(|holder| holder.session), *waiting))
            }
            _ => None,
        });
        let waiting = u32::try_from(SESSIONS - session - 1).unwrap();
        assert_eq!(held.collect::<Vec<_>>(), [(Some(session + 1), waiting)]);
        let queued = told.iter().filter(|telling| matches!(telling, Telling::Queued { .. })).count();
        assert!(queued <= 2 * PLACES as usize && told.len() == queued + 1, "{told:?}");
    }
}

/// A coordinator that is ready, and its three voters.
fn three(now: Time) -> (Coordinator, Vec<Voter>) {
    let mut coordinator = nominated(now);
    let terms = coordinator.terms;
    let voter = |node: u32| {
        let (listed, kept) = (listed(3).into_keys().collect(), VoterKept::new(StoreId(node.into())));
        Voter::new(NodeId(node), listed, kept, terms, now)
    };
    let mut voters: Vec<Voter> = (1..=3).map(voter).collect();
    coordinator.repeat();
    converse(&mut coordinator, &mut voters, now);
    assert!(coordinator.is_ready());
    (coordinator, voters)
}

/// Three voters whose disks write at once answer all that is asked. What all agents are told meanwhile.
fn converse(coordinator: &mut Coordinator, voters: &mut [Voter], now: Time) -> Vec<Telling> {
    converse_without(coordinator, voters, now, |_, _| false)
}

/// The same, but some of what is asked is lost.
fn converse_without(
    coordinator: &mut Coordinator,
    voters: &mut [Voter],
    now: Time,
    is_lost: impl Fn(NodeId, &Ask) -> bool,
) -> Vec<Telling> {
    let mut told = Vec::new();
    loop {
        let actions: Vec<CoordinatorAction> = coordinator.drain().collect();
        if actions.is_empty() {
            return told;
        }
        for action in actions {
            match action {
                CoordinatorAction::Ask(to, asked) if is_lost(to, &asked.ask) => {}
                CoordinatorAction::Ask(to, asked) => {
                    let voter = &mut voters[to.0 as usize - 1];
                    voter.handle(now, asked.by.node, asked);
                    voter.written(voter.kept().commits);
                    let said: Vec<VoterAction> = voter.drain().collect();
                    for action in said {
                        if let VoterAction::Answer(_, said) = action {
                            coordinator.heard(now, to, &said);
                        }
                    }
                }
                CoordinatorAction::Tell(telling) => told.push(telling),
                CoordinatorAction::Answer(..) => {}
            }
        }
    }
}

/// A session of that node begins to wait for `backup`.
fn waits(coordinator: &mut Coordinator, now: Time, node: u32) -> Holder {
    let lease = Lease { life: life(node), number: 1 };
    let holder = Holder { lease, session: 7, campaign: 1 };
    let (name, kind, value) = (Name::new("backup").expect("a name"), GrantKind::Token, Arc::from([]));
    let (waited, priority, valid, holds) = (Span::ZERO, 0, true, None);
    let wish = Wish::Campaign { name, kind, holder, waited, priority, valid, holds, value };
    coordinator.wish(now, NodeId(node), wish);
    holder
}

#[test]
fn all_are_told_how_many_wait_when_that_changes() {
    let now = Time::from_micros(1_000_000);
    let (mut coordinator, mut voters) = three(now);
    let terms = coordinator.terms;
    let counts = |told: Vec<Telling>| -> Vec<u32> {
        let of = |telling| match telling {
            Telling::Held { name, waiting, .. } if name != Name::leader() => Some(waiting),
            _ => None,
        };
        told.into_iter().filter_map(of).collect()
    };
    waits(&mut coordinator, now, 2);
    assert_eq!(counts(converse(&mut coordinator, &mut voters, now)), [0], "it is granted");
    let mut told_next = |coordinator: &mut Coordinator, now: Time| {
        let told = converse(coordinator, &mut voters, now);
        assert_eq!(counts(told), [] as [u32; 0], "not at once: thousands may come and go");
        coordinator.wake(now + terms.period());
        counts(converse(coordinator, &mut voters, now + terms.period()))
    };
    let holder = waits(&mut coordinator, now, 3);
    assert_eq!(told_next(&mut coordinator, now), [1]);
    let (later, name) = (now + terms.period(), Name::new("backup").expect("a name"));
    coordinator.wish(later, NodeId(3), Wish::Release { name, token: None, holder, next: None });
    assert_eq!(told_next(&mut coordinator, later), [0]);
    assert_eq!(told_next(&mut coordinator, later + terms.period()), [] as [u32; 0], "nothing changed");
}

/// It was told of its grant while it was not heard. What it says again is what it knew then.
#[test]
fn a_session_that_says_again_that_it_waits_is_told_that_it_holds_until_it_knows() {
    let now = Time::from_micros(1_000_000);
    let (mut coordinator, mut voters) = three(now);
    let holder = waits(&mut coordinator, now, 2);
    converse(&mut coordinator, &mut voters, now);
    let wish = Wish::Present { lease: holder.lease, valid: true, digest: 0 };
    coordinator.wish(now, NodeId(2), wish);
    let asks_again = |action| matches!(action, CoordinatorAction::Answer(NodeId(2), Telling::Again { .. }));
    assert!(coordinator.drain().any(asks_again));
    let later = now + coordinator.terms.period();
    coordinator.wake(later);
    assert!(!tells_holder(&mut coordinator, holder), "nobody is known to wait for it");
    waits(&mut coordinator, later, 2);
    assert!(tells_holder(&mut coordinator, holder));
    coordinator.wake(later + coordinator.terms.period());
    assert!(tells_holder(&mut coordinator, holder), "that may be lost, too");
}

/// Whether an agent alone is told now that its session holds a name.
fn tells_holder(coordinator: &mut Coordinator, holder: Holder) -> bool {
    let tells = |action| {
        matches!(action, CoordinatorAction::Answer(to, Telling::Held { grant, .. })
            if to == holder.node() && grant.holder == Some(holder))
    };
    coordinator.drain().any(tells)
}
