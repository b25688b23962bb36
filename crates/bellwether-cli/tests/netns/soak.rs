//! Many faults of all kinds, one after the other, and what the members recorded judged as a whole.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::clocks;
use crate::cluster::dice::Dice;
use crate::cluster::meddler::Meddler;
use crate::cluster::{TOKEN, http, wait_until};
use crate::run::say;
use crate::world::World;

const NODES: u32 = 5;
/// Every so many faults the members are left alone, for long enough to be held to what they promise in calm.
const BETWEEN_RESTS: u32 = 25;
const REST: Duration = Duration::from_secs(5);
/// Longer than others wait for a member, with the default timing.
const FSYNC_MICROS: u32 = 130_000;

/// What befalls the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Kill,
    KillTheLeader,
    Stop,
    CutPair,
    Split,
    CutOneWay,
    Loss,
    SlowDisks,
    FullDisk,
    ClockStep,
    Resign,
}

const ALL: [Fault; 11] = [
    Fault::Kill,
    Fault::KillTheLeader,
    Fault::Stop,
    Fault::CutPair,
    Fault::Split,
    Fault::CutOneWay,
    Fault::Loss,
    Fault::SlowDisks,
    Fault::FullDisk,
    Fault::ClockStep,
    Fault::Resign,
];

/// `BELLWETHER_FAULTS` of them, a thousand by default, drawn from `BELLWETHER_SEED`.
pub(crate) fn a_thousand_faults_with_fjr() {
    many_faults("fjr", &["EPOCH", "LEADS-ALONE"]);
}

pub(crate) fn a_thousand_faults_with_fb_omega() {
    many_faults("fb-omega", &["EPOCH", "EPOCH-ONCE", "LEADS-ALONE", "VIEW-AGREE", "ONE-LEADER-PER-VIEW"]);
}

fn many_faults(protocol: &'static str, promises: &[&str]) {
    let number = |name: &str, default| env::var(name).map_or(default, |value| value.parse().unwrap());
    let (faults, seed) = (number("BELLWETHER_FAULTS", 1000), number("BELLWETHER_SEED", 1));
    say(&format!(
        "replay: BELLWETHER_FAULTS={faults} BELLWETHER_SEED={seed}, test a_thousand_faults_with_{protocol}"
    ));
    let mut soak = Soak {
        world: World::start_with(protocol, NODES),
        dice: Dice::of(u64::from(seed)),
        done: [0; ALL.len()],
    };
    (1..=NODES).for_each(|id| soak.dies(id)); // From now on their clocks can be set.
    for no in 1..=faults {
        let kind = soak.dice.below(ALL.len() as u32) as usize;
        soak.befalls(ALL[kind]);
        soak.done[kind] += 1;
        if no % BETWEEN_RESTS == 0 {
            soak.rest(no);
            soak.keep_a_pair_apart();
        }
    }
    soak.rest(faults);
    let leader = soak.world.cluster.wait_for_leader();
    let judgement = soak.world.cluster.records(leader).check();
    say(&format!("{protocol}: {:?}: {:#}", ALL.iter().zip(soak.done).collect::<Vec<_>>(), judgement.said));
    assert_eq!(judgement.code, 0);
    for promise in promises {
        assert_eq!(judgement.finds_that(promise), Some(true), "{promise}");
    }
}

struct Soak {
    world: World,
    dice: Dice,
    /// How many there were of each kind.
    done: [u32; ALL.len()],
}

impl Soak {
    fn befalls(&mut self, fault: Fault) {
        let (one, other) = self.two();
        match fault {
            Fault::Kill => self.dies(one),
            Fault::KillTheLeader => {
                let leader = self.leader().unwrap_or(one);
                self.dies(leader);
            }
            Fault::Stop => {
                self.world.cluster.stop(one);
                self.wait(1_000);
                self.world.cluster.cont(one);
            }
            Fault::CutPair => self.cut(&World::between(&[&[one], &[other]])),
            Fault::CutOneWay => self.cut(&[(one, other)]),
            Fault::Split => {
                let size = self.dice.below(NODES / 2) + 1;
                let (few, rest): (Vec<u32>, Vec<u32>) = (1..=NODES).partition(|id| (id + one) % NODES < size);
                self.cut(&World::between(&[&few, &rest]));
            }
            Fault::Loss => {
                let percent = 1 + self.dice.below(30);
                self.world.lose(percent);
                self.wait(1_000);
                self.world.heal();
            }
            Fault::SlowDisks => self.slow_disks(one),
            Fault::FullDisk => self.full_disk(one),
            Fault::ClockStep => self.clock_step(one),
            Fault::Resign => {
                let leader = self.leader().unwrap_or(one);
                // Whoever does not lead refuses, and who is just coming up does not answer.
                http::try_post(
                    &self.world.cluster.api(leader),
                    "/v1/resign",
                    Some(TOKEN),
                    r#"{"hold":"100ms"}"#,
                );
            }
        }
    }

    fn dies(&mut self, id: u32) {
        self.world.cluster.kill(id);
        self.wait(300);
        self.start(id);
    }

    fn cut(&mut self, ways: &[(u32, u32)]) {
        self.world.cut(ways);
        self.wait(1_000);
        self.world.heal();
    }

    /// All disks are slow when one dies.
    fn slow_disks(&mut self, one: u32) {
        let slow = |id| Meddler::slows_the_disk(&self.world.cluster, id, FSYNC_MICROS).unwrap();
        let meddlers: Vec<Meddler> = (1..=NODES).map(slow).collect();
        let dies = self.leader().unwrap_or(one);
        self.world.cluster.kill(dies);
        self.wait(1_000);
        self.start(dies);
        self.wait(500);
        drop(meddlers);
    }

    /// A disk is full when the leader dies. Whoever has to write ends, and is started again when there is room.
    fn full_disk(&mut self, one: u32) {
        let meddler = Meddler::fills_the_disk(&self.world.cluster, one).unwrap();
        let dies = self.leader().filter(|leader| *leader != one);
        dies.into_iter().for_each(|leader| self.world.cluster.kill(leader));
        let world = &mut self.world;
        wait_until(Duration::from_secs(1), || world.cluster.has_ended(one));
        drop(meddler);
        if world.cluster.has_ended(one) {
            let (code, log) = world.cluster.wait_for_end(one);
            assert_eq!(code, Some(3), "{log}");
            self.start(one);
        }
        dies.into_iter().for_each(|leader| self.start(leader));
    }

    /// The wall clock of a machine is set, forward or back.
    fn clock_step(&mut self, id: u32) {
        let by = ["+86400", "-86400", "+3600", "-1"][self.dice.below(4_u32) as usize];
        fs::write(self.clock(id), by).unwrap();
        self.wait(1_500);
        fs::write(self.clock(id), "+0").unwrap();
    }

    fn clock(&self, id: u32) -> PathBuf {
        self.world.cluster.home(id).join("clock")
    }

    /// Starts a node whose clock can be set.
    fn start(&mut self, id: u32) {
        let clock = self.clock(id);
        fs::write(&clock, "+0").unwrap();
        self.world.start_node_with(id, &clocks::that_can_be_set(&clock));
    }

    /// The leader and another cannot speak with each other, for so long that nobody may lead beside it.
    fn keep_a_pair_apart(&mut self) {
        let (one, other) = self.two();
        let leader = self.leader().unwrap_or(one);
        let other = if other == leader { one } else { other };
        self.world.cut(&World::between(&[&[leader], &[other]]));
        self.wait_for(REST);
        self.world.heal();
    }

    /// Lets the members be.
    fn rest(&self, no: u32) {
        let (leader, epoch) = self.world.cluster.wait_for_agreement();
        self.wait_for(REST);
        say(&format!("after {no} faults node {leader} leads with epoch {epoch}"));
    }

    /// So many milliseconds at most. Nothing is waited for: so long it lasts.
    fn wait(&mut self, most: u32) {
        let millis = self.dice.below(most);
        self.wait_for(Duration::from_millis(millis.into()));
    }

    fn wait_for(&self, time: Duration) {
        wait_until(time, || false);
    }

    fn leader(&self) -> Option<u32> {
        let views = self.world.cluster.views();
        views
            .into_iter()
            .find(|(_, view)| view.as_ref().is_some_and(|view| view["standing"] == "leading"))
            .map(|(id, _)| id)
    }

    fn two(&mut self) -> (u32, u32) {
        let one = self.dice.below(NODES);
        let other = (one + 1 + self.dice.below(NODES - 1)) % NODES;
        (one + 1, other + 1)
    }
}
