//! `bellwether up`: a cluster to look at.
//!
//! The nodes are the real state machines; the network, the clocks and the disks are simulated, and virtual time is
//! held to the pace of the wall clock. The leader is crashed and brought back, then the show ends.

use std::thread;
use std::time::{Duration, Instant};

use bellwether_proto::election::AnyElection;
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::{Span, Time};
use bellwether_proto::view::{Status as NodeStatus, View};
use bellwether_sim::run;
use bellwether_sim::scenario::{Fault, Latency, Scenario};
use bellwether_sim::world::World;

use crate::Status;
use crate::args::UpArgs;
use crate::layout::hanging;
use crate::output::{Printer, invocation};

/// How long each act of the show takes.
const ACT: Span = Span::secs(3);

/// The board is not drawn more often than this, in virtual time, unless there is news of a leader.
const FRAME: Span = Span::millis(10);

pub(crate) fn run(args: &UpArgs, out: &Printer) -> Status {
    let mut scenario = Scenario::calm(args.protocol, args.nodes, Time::ZERO + ACT * 3);
    scenario.network.base.latency = Latency { low: Span::millis(1), high: Span::millis(4) };
    scenario.timing.delta = Span::millis(5);
    scenario.parameters.t = Some(scenario.t().max(1)); // One of two is to survive the other.
    introduce(args, &scenario, out);
    let mut show = Show::new(&scenario, args.speed, out);
    match play(&mut show) {
        Some(()) => {
            out.line(format_args!(
                "\nThat was simulated. Try: {} sim scenarios/partition-and-merge.toml",
                invocation()
            ));
            Status::Done
        }
        None => {
            out.error(format_args!("no leader was agreed on within {ACT}"));
            Status::No
        }
    }
}

fn introduce(args: &UpArgs, scenario: &Scenario, out: &Printer) {
    let spec = args.protocol.spec();
    let seconds = scenario.until.as_micros() as f64 / 1e6 / args.speed;
    let duration =
        if seconds < 1.0 { "less than a second".to_owned() } else { format!("{seconds:.0} seconds") };
    out.line(hanging(
        "simulated  ",
        &format!("{} nodes run {} on a virtual network, for {duration}", args.nodes, spec.name),
    ));
    out.line(hanging("guarantee  ", spec.guarantees));
}

/// The three acts; nothing, if one of them ends without a leader.
fn play(show: &mut Show<'_>) -> Option<()> {
    let leader = show.act("the start", "every node starts", None)?;
    show.act("the crash", &format!("node {leader} crashes"), Some(&Fault::Crash(vec![leader])))?;
    show.act("the recovery", &format!("node {leader} recovers"), Some(&Fault::Recover(vec![leader])))?;
    Some(())
}

struct Show<'a> {
    world: World<'static, AnyElection>,
    began: Instant,
    speed: f64,
    /// What the act began with, and when.
    cause: &'static str,
    since: Time,
    /// The board as it was last drawn, and when.
    board: String,
    drawn: Option<Time>,
    /// The leader that all agreed on when last looked at.
    agreed: Option<NodeId>,
    out: &'a Printer,
}

impl<'a> Show<'a> {
    fn new(scenario: &Scenario, speed: f64, out: &'a Printer) -> Self {
        Self {
            world: run::world(scenario, None),
            began: Instant::now(),
            speed,
            cause: "",
            since: Time::ZERO,
            board: String::new(),
            drawn: None,
            agreed: None,
            out,
        }
    }

    /// Brings the fault about and lets the world go on from there, in step with the clock. Returns who leads then.
    fn act(&mut self, cause: &'static str, what: &str, fault: Option<&Fault>) -> Option<NodeId> {
        (self.cause, self.since) = (cause, self.world.now());
        self.out.line("");
        self.say(what);
        if let Some(fault) = fault {
            self.world.befall(fault);
            self.draw();
            self.agreed = self.leader();
        }
        let end = self.since + ACT;
        while let Some(at) = self.world.next_at().filter(|at| *at <= end) {
            self.wait_for(at);
            while self.world.next_at() == Some(at) {
                self.world.step();
            }
            self.look();
        }
        self.wait_for(end);
        self.world.run_until(end);
        self.agreed
    }

    /// Draws the board if it has changed, and says so if there is news of a leader.
    fn look(&mut self) {
        let agreed = self.leader();
        let news = agreed != self.agreed;
        let fresh = self.drawn.is_some_and(|drawn| self.world.now().since(drawn) < FRAME);
        if (news || !fresh) && self.board != board(&self.world) {
            self.draw();
        }
        self.agreed = agreed;
        if let (true, Some(leader)) = (news, agreed) {
            let up = self.world.views().filter(|(_, view)| is_up(view)).count();
            let took = self.world.now().since(self.since).as_micros() as f64 / 1e3;
            let who = if up == 1 { "the only one up".to_owned() } else { format!("all {up} agree") };
            self.say(&format!("node {leader} leads: {who}, {took:.0} ms after {}", self.cause));
        }
    }

    fn draw(&mut self) {
        self.board = board(&self.world);
        self.drawn = Some(self.world.now());
        self.say(&self.board);
    }

    fn say(&self, what: &str) {
        let seconds = self.world.now().as_micros() as f64 / 1e6;
        self.out.line(format_args!("{seconds:>7.3}  {what}"));
    }

    fn wait_for(&self, at: Time) {
        if self.out.is_closed() {
            return; // Nobody watches.
        }
        let due = self.began + Duration::from_micros((at.as_micros() as f64 / self.speed) as u64);
        thread::sleep(due.saturating_duration_since(Instant::now()));
    }

    /// The leader that every node which is up agrees on, itself among them.
    fn leader(&self) -> Option<NodeId> {
        let up: Vec<_> = self.world.views().filter(|(_, view)| is_up(view)).collect();
        let leader = up.first()?.1.normal_leader()?;
        let agreed = up.iter().all(|(_, view)| view.normal_leader() == Some(leader));
        (agreed && up.iter().any(|(id, _)| *id == leader)).then_some(leader)
    }
}

fn is_up(view: &View) -> bool {
    view.status != NodeStatus::Down
}

/// Every node on one line: 8 of them and the time take 80 columns.
fn board(world: &World<'_, AnyElection>) -> String {
    let cells: String = world.views().map(|(id, view)| format!("{:<9}", cell(id, &view))).collect();
    cells.trim_end().to_owned()
}

fn cell(id: NodeId, view: &View) -> String {
    match (view.status, view.leader) {
        (NodeStatus::Down, _) => format!("{id} down"),
        (NodeStatus::Normal, Some(leader)) if leader == id => format!("{id} LEADS"),
        (NodeStatus::Normal, Some(leader)) => format!("{id} -> {leader}"),
        (NodeStatus::Normal, None) => format!("{id} -> ?"),
        (NodeStatus::Election, _) => format!("{id} elects"),
        (NodeStatus::Waiting, _) => format!("{id} waits"),
        (NodeStatus::Reorganizing, _) => format!("{id} forms"),
        (NodeStatus::Dead, _) => format!("{id} dead"),
    }
}
