//! How many grants a second three voters and a coordinator make, with real files that are synced.
//!
//! The machines run in this thread, as they do in a driver, and each voter's file is written by a thread of its own. There is no
//! network. Every name has two campaigns: whoever is told that it holds the name gives it back and campaigns again, and the other
//! is granted it in one write. A test plays this for a moment. Built with --release it takes its time:
//! cargo test --release -p bellwether --lib grants_in_a_second -- --nocapture

#[path = "../../../bellwether-sim/benches/simulator/figure.rs"]
mod figure;

use std::collections::BTreeMap;

use bellwether_proto::exclusive::configuration::Address;
use bellwether_proto::exclusive::coordinator::{Coordinator, CoordinatorAction};
use bellwether_proto::exclusive::grant::{GrantKind, Holder, Name, Token};
use bellwether_proto::exclusive::ident::{Lease, Life, LifeId, StoreId};
use bellwether_proto::exclusive::message::{Ask, Asked, Telling, Wish};
use bellwether_proto::exclusive::terms::{Drift, Terms};
use bellwether_proto::exclusive::voter::{Voter, VoterAction};
use bellwether_proto::ident::{Incarnation, NodeId};
use bellwether_proto::time::{Span, Time};
use figure::{Better, keep};
use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

const VOTERS: [NodeId; 3] = [NodeId(1), NodeId(2), NodeId(3)];
/// Who campaigns.
const AGENTS: [NodeId; 2] = [NodeId(11), NodeId(12)];
const TERMS: Terms =
    Terms { ttl: Span::secs(1), longest: Span::secs(1), drift: Drift(10_000), retry: Span::millis(50) };
const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn grants_in_a_second() {
    let (names, time) = if cfg!(debug_assertions) {
        (200, Duration::from_millis(300))
    } else {
        (2_000, Duration::from_secs(5))
    };
    let mut engine = Engine::start();
    engine.until_granted(names).await;
    let (before, began) = (engine.grants, Instant::now());
    engine.waited.clear();
    let commits = engine.commits;
    while began.elapsed() < time {
        engine.step().await;
    }
    let took = began.elapsed().as_secs_f64();
    report(&mut engine, before, commits, took, names);
}

#[allow(clippy::print_stdout, reason = "a report for people")]
fn report(engine: &mut Engine, before: u64, commits: u64, took: f64, names: usize) {
    let (grants, commits) = (engine.grants - before, engine.commits - commits);
    engine.waited.sort_unstable();
    let waited = &engine.waited;
    let at = |percent: usize| waited[(waited.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let rate = grants as f64 / took;
    println!(
        "{names} names, three voters in one process: {rate:.0} grants/s, each after {:.1} ms (median), {:.1} ms (p99), \
         {:.1} ms (max), n = {grants}; {:.1} grants for each sync of a voter",
        at(50),
        at(99),
        at(100),
        grants as f64 * VOTERS.len() as f64 / commits as f64
    );
    keep("grants, three voters in one process", rate, "grants/s", Better::Higher);
    keep("grants, three voters in one process: p99", at(99), "ms", Better::Lower);
}

struct Engine {
    began: Instant,
    coordinator: Coordinator,
    voters: BTreeMap<NodeId, (Voter, Votes)>,
    /// By name: the last token that was told, and when the name was given back before.
    told: BTreeMap<Name, (Token, Instant)>,
    renewed: Option<Time>,
    renewals: u64,
    grants: u64,
    commits: u64,
    waited: Vec<Duration>,
    /// Dropped last: files are closed by then.
    _dirs: Vec<TempDir>,
}

impl Engine {
    fn start() -> Self {
        let dirs: Vec<TempDir> = VOTERS.iter().map(|_| TempDir::new().unwrap()).collect();
        let mut voters = BTreeMap::new();
        for (id, dir) in VOTERS.into_iter().zip(&dirs) {
            let (store, _, _) = Store::open(dir.path(), "flock", id).unwrap();
            let (file, kept) = store.votes(|| Some(StoreId(id.0.into()))).unwrap();
            let voter = Voter::new(id, VOTERS.into(), kept, TERMS, Time::ZERO);
            voters.insert(id, (voter, Votes::behind(file, Arc::new(store)).unwrap()));
        }
        let mut coordinator =
            Coordinator::new(life(VOTERS[0]), VOTERS.map(|voter| (voter, Address::default())).into(), TERMS);
        coordinator.nominate(Time::ZERO, true);
        coordinator.wake(coordinator.deadline());
        let (told, waited, began) = (BTreeMap::new(), Vec::new(), Instant::now());
        let (renewed, renewals, grants, commits) = (None, 0, 0, 0);
        Self { began, coordinator, voters, told, renewed, renewals, grants, commits, waited, _dirs: dirs }
    }

    /// Both agents campaign for that many names, and each name is granted once.
    async fn until_granted(&mut self, names: usize) {
        while !self.coordinator.is_ready() {
            self.step().await;
        }
        for name in (0..names).map(|no| Name::new(&format!("name-{no}")).unwrap()) {
            self.told.insert(name.clone(), (Token::default(), Instant::now()));
            AGENTS.into_iter().for_each(|agent| self.campaign(&name, agent, 1));
        }
        while self.grants < names as u64 {
            self.step().await;
        }
    }

    fn now(&self) -> Time {
        Time::from_micros(u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    /// Carries out what the machines ask for. Then waits for a commit, or until something is due.
    async fn step(&mut self) {
        self.renew();
        while self.carry_out() {}
        let [(_, (_, one)), (_, (_, two)), (_, (_, three))] =
            self.voters.iter_mut().collect::<Vec<_>>().try_into().expect("there are three");
        let done = async {
            tokio::select! {
                done = one.done() => (VOTERS[0], done),
                done = two.done() => (VOTERS[1], done),
                done = three.done() => (VOTERS[2], done),
            }
        };
        let (voter, done) = timeout(PATIENCE, done).await.expect("a commit ends");
        self.commits += 1;
        self.voters.get_mut(&voter).expect("it votes").0.written(done.unwrap().commits);
        let now = self.now();
        if self.coordinator.deadline() <= now {
            self.coordinator.wake(now);
        }
    }

    /// Agents keep their leases.
    fn renew(&mut self) {
        let now = self.now();
        if self.renewed.is_some_and(|at| now < at + TERMS.period()) {
            return;
        }
        (self.renewed, self.renewals) = (Some(now), self.renewals + 1);
        for agent in AGENTS {
            let ask = Ask::Renew { lease: lease(agent), no: self.renewals, ttl: TERMS.ttl };
            for (voter, _) in self.voters.values_mut() {
                voter.handle(now, agent, Asked { by: life(agent), ask: ask.clone() });
            }
        }
    }

    /// Whether there was anything to do.
    fn carry_out(&mut self) -> bool {
        let now = self.now();
        let asked: Vec<CoordinatorAction> = self.coordinator.drain().collect();
        let mut busy = !asked.is_empty();
        for action in asked {
            match action {
                CoordinatorAction::Ask(voter, asked) => {
                    let (voter, _) = self.voters.get_mut(&voter).expect("it votes");
                    voter.handle(now, VOTERS[0], asked);
                }
                CoordinatorAction::Tell(telling) => self.told(&telling),
                CoordinatorAction::Answer(..) => {} // Nobody asks for other voters.
            }
        }
        let mut said = Vec::new();
        for (id, (voter, votes)) in &mut self.voters {
            for action in voter.drain() {
                busy = true;
                match action {
                    VoterAction::Keep(change) => votes.keep(change),
                    VoterAction::Answer(to, answer) if to == VOTERS[0] => said.push((*id, *answer)),
                    VoterAction::Answer(..) => {}
                }
            }
        }
        said.iter().for_each(|(from, said)| self.coordinator.heard(now, *from, said));
        busy
    }

    /// Whoever holds the name now gives it back, and campaigns again.
    fn told(&mut self, telling: &Telling) {
        let Telling::Held { name, grant, .. } = telling else { return };
        let (Some(known), Some(holder)) = (self.told.get_mut(name), grant.holder) else { return };
        if grant.token == known.0 {
            return; // It was told before.
        }
        assert_eq!(grant.token.0, known.0.0 + 1, "every change of hands adds one to the token of {name}");
        self.waited.push(known.1.elapsed());
        *known = (grant.token, Instant::now());
        self.grants += 1;
        let (agent, token) = (holder.lease.life.node, Some(grant.token));
        let release = Wish::Release { name: name.clone(), token, holder, next: None };
        self.coordinator.wish(self.now(), agent, release);
        self.campaign(name, agent, holder.campaign + 1);
    }

    fn campaign(&mut self, name: &Name, agent: NodeId, campaign: u64) {
        let wish = Wish::Campaign {
            name: name.clone(),
            kind: GrantKind::Lease,
            holder: Holder { lease: lease(agent), session: 0, campaign },
            waited: Span::ZERO,
            priority: 0,
            valid: true,
            holds: None,
            value: Arc::from([]),
        };
        self.coordinator.wish(self.now(), agent, wish);
    }
}

fn life(node: NodeId) -> Life {
    Life { node, incarnation: Incarnation(1), id: LifeId(node.0.into()) }
}

fn lease(agent: NodeId) -> Lease {
    Lease { life: life(agent), number: 1 }
}
