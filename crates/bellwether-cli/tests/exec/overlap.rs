//! No two commands of one name run at a time, whatever is killed or stopped: by what the commands themselves say, and when.

use super::*;
use crate::stand_in::Agent;

/// Leases are short, so that a fault is over soon.
const SHORT: Duration = Duration::from_secs(1);

/// Says again and again with which token it runs.
pub(super) const BEATS: &str =
    "while :; do echo $WHO $BELLWETHER_ELECTION_TOKEN $(date +%s%N) >> log; sleep 0.004; done";

/// What befalls whoever holds the name, and those that watch over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    KillExec,
    StopExec,
    KillWarden,
    StopWarden,
    /// Both at once.
    KillBoth,
    /// Its agent renews nothing for a while.
    SilenceAgent,
    /// Its agent cannot speak with others for a while, and tells so.
    CutAgent,
    /// Its agent is gone for a while.
    CrashAgent,
}

pub(super) const ALL: [Fault; 8] = [
    Fault::KillExec,
    Fault::StopExec,
    Fault::KillWarden,
    Fault::StopWarden,
    Fault::KillBoth,
    Fault::SilenceAgent,
    Fault::CutAgent,
    Fault::CrashAgent,
];

#[test]
fn commands_that_do_as_they_are_told() {
    befall_stand_ins(BEATS, &ALL, |_| {});
}

#[test]
fn commands_that_do_not_end_when_they_are_told_to() {
    befall_stand_ins(&format!("trap '' TERM INT HUP; {BEATS}"), &ALL, |_| {});
}

/// In a session and a group of their own, with nobody for a parent. If both that watch over them are killed at once, nobody is left who
/// knows them: that is said where `exec` is described.
#[test]
fn commands_that_fork_twice() {
    let faults: Vec<_> = ALL.into_iter().filter(|fault| *fault != Fault::KillBoth).collect();
    let script = format!("(setsid sh -c '{BEATS}' &); while :; do sleep 1000; done");
    befall_stand_ins(&script, &faults, |_| {});
}

/// The same where no control group can be had.
#[test]
fn commands_that_fork_twice_and_cannot_be_killed_as_one() {
    let hidden = "mount -t tmpfs none /sys/fs/cgroup && exec \"$0\" \"$@\"";
    let can_hide = Command::new("unshare").args(["-m", "sh", "-c", hidden, "true"]).output();
    if !can_hide.is_ok_and(|output| output.status.success()) {
        // Without root there are no control groups here, most likely, and the test before has shown it.
        return;
    }
    let faults: Vec<_> = ALL.into_iter().filter(|fault| *fault != Fault::KillBoth).collect();
    let script = format!("(setsid sh -c '{BEATS}' &); while :; do sleep 1000; done");
    befall_stand_ins(&script, &faults, |exec| {
        let mut hides = Command::new("unshare");
        hides.args(["-m", "sh", "-c", hidden]).arg(exec.get_program()).args(exec.get_args());
        let dir = exec.get_current_dir().expect("it has one").to_owned();
        *exec = hides;
        exec.current_dir(dir).stdin(Stdio::null());
    });
}

/// Like a job of a shell: it is not told anything any more, and killed all the same.
#[test]
fn commands_that_have_stopped() {
    let beats = "for _ in 1 2 3 4 5; do echo $WHO $BELLWETHER_ELECTION_TOKEN $(date +%s%N) >> log; done";
    befall_stand_ins(&format!("trap '' TERM; {beats}; kill -STOP $$; {BEATS}"), &ALL, |_| {});
}

/// Whatever it is doing just then: while it connects, waits, makes a process, has it bound, or lets it go.
#[test]
fn who_is_killed_at_any_instant_leaves_nothing_behind() {
    let (world, place) = (World::new(SHORT), Place::new());
    let agent = world.agent(1);
    for (round, of) in (0..40_u64).zip(["exec", "warden"].into_iter().cycle()) {
        let exec = start(place.exec(&agent.socket, &[], BEATS).env("WHO", round.to_string()));
        let watches = (of == "warden").then(|| warden(&exec));
        // Nothing is waited for: it passes on.
        wait_until(Duration::from_millis(round), || false);
        match watches {
            Some(warden) => kill(warden, Signal::SIGKILL).unwrap(),
            None => exec.signal(Signal::SIGKILL),
        }
        wait_until(Duration::from_millis(round), || false);
        drop(exec);
        world.wait_for("all is dead", |state| (state.sessions() == 0).then_some(()));
    }
    judge(&beats(&place));
}

#[test]
fn an_overlap_is_noticed() {
    let beats = |lines: &str| lines.lines().map(Beat::of).collect::<Vec<_>>();
    judge(&beats("a 1 10\na 1 20\nb 2 21\nb 2 30\na 3 40"));
    for wrong in ["a 1 10\nb 2 15\na 1 20", "a 1 10\nb 1 20", "b 2 10\na 1 20"] {
        std::panic::catch_unwind(|| judge(&beats(wrong))).expect_err(wrong);
    }
}

/// What a command says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Beat {
    who: String,
    token: u64,
    at: u64,
}

impl Beat {
    fn of(line: &str) -> Self {
        let words: Vec<_> = line.split(' ').collect();
        let [who, token, at] = words[..] else { panic!("{line:?}") };
        Self { who: who.to_owned(), token: token.parse().unwrap(), at: at.parse().unwrap() }
    }
}

/// Each token is one command's, and what it said last it said before the next began.
#[track_caller]
fn judge(beats: &[Beat]) {
    let mut spans: BTreeMap<u64, (&str, u64, u64)> = BTreeMap::new();
    for Beat { who, token, at } in beats {
        let span = spans.entry(*token).or_insert((who, *at, *at));
        assert_eq!(span.0, who, "token {token} is of one");
        *span = (who, span.1.min(*at), span.2.max(*at));
    }
    for (before, after) in spans.iter().zip(spans.iter().skip(1)) {
        assert!(before.1.2 < after.1.1, "{before:?} goes on beside {after:?}");
    }
}

/// Two agents, to which things happen.
pub(super) trait Agents {
    fn socket(&self, which: usize) -> PathBuf;
    /// It renews nothing for a while.
    fn silence(&mut self, which: usize, is_silent: bool);
    /// Nobody answers it for a while.
    fn cut(&mut self, which: usize, is_cut: bool) {
        self.silence(which, is_cut);
    }
    fn crash(&mut self, which: usize);
    fn start(&mut self, which: usize);
    /// Nobody holds the name any more.
    fn wait_until_free(&self);
}

struct StandIns<'w>(&'w World, [Agent<'w>; 2]);

impl Agents for StandIns<'_> {
    fn socket(&self, which: usize) -> PathBuf {
        self.1[which].socket.clone()
    }

    fn silence(&mut self, which: usize, is_silent: bool) {
        self.1[which].cut(is_silent);
    }

    fn crash(&mut self, which: usize) {
        self.1[which].crash();
    }

    fn start(&mut self, which: usize) {
        self.1[which].start();
    }

    fn wait_until_free(&self) {
        self.0.wait_for("all is dead", |state| state.holder("backup").is_none().then_some(()));
    }
}

#[track_caller]
fn befall_stand_ins(script: &str, faults: &[Fault], change: impl Fn(&mut Command)) {
    let world = World::new(SHORT);
    world.state().release = Duration::from_secs(1);
    let agents = [world.agent(1), world.agent(2)];
    befall(&mut StandIns(&world, agents), script, faults, change);
}

/// Three of `exec` at two agents, and every fault in turn.
#[track_caller]
pub(super) fn befall(agents: &mut dyn Agents, script: &str, faults: &[Fault], change: impl Fn(&mut Command)) {
    let place = Place::new();
    let begin = |who: usize, agents: &dyn Agents| {
        let mut exec = place.exec(&agents.socket(who % 2), &[], script);
        change(&mut exec);
        start(exec.env("WHO", who.to_string()))
    };
    let mut execs: Vec<_> = (0..3).map(|who| begin(who, agents)).collect();
    let mut token = 0;
    for fault in faults {
        let beat = next(&place, token);
        let who: usize = beat.who.parse().unwrap();
        token = beat.token;
        let (exec, agent) = (execs[who].pid(), who % 2);
        let watches = warden(&execs[who]);
        match fault {
            Fault::KillExec => execs[who].signal(Signal::SIGKILL),
            Fault::StopExec => execs[who].stop(),
            Fault::KillWarden => kill(watches, Signal::SIGKILL).unwrap(),
            Fault::StopWarden => {
                kill(watches, Signal::SIGSTOP).unwrap();
                agents.silence(agent, true);
            }
            Fault::KillBoth => {
                kill(exec, Signal::SIGKILL).unwrap();
                kill(watches, Signal::SIGKILL).unwrap();
            }
            Fault::SilenceAgent => agents.silence(agent, true),
            Fault::CutAgent => {
                agents.cut(agent, true);
                assert!(wait_until(DEADLINE, || children(watches).is_empty()), "the command goes on");
                agents.cut(agent, false);
            }
            Fault::CrashAgent => agents.crash(agent),
        }
        token = next(&place, token).token - 1;
        match fault {
            Fault::KillExec | Fault::KillBoth => execs[who] = begin(who, agents),
            Fault::StopExec => execs[who].cont(),
            Fault::KillWarden | Fault::CutAgent => {}
            Fault::StopWarden | Fault::SilenceAgent => agents.silence(agent, false),
            Fault::CrashAgent => agents.start(agent),
        }
    }
    execs.iter().for_each(|exec| exec.signal(Signal::SIGKILL));
    agents.wait_until_free();
    judge(&beats(&place));
}

/// All that was said.
fn beats(place: &Place) -> Vec<Beat> {
    place.read("log").lines().map(Beat::of).collect()
}

/// Waits until somebody with a larger token says something.
#[track_caller]
fn next(place: &Place, token: u64) -> Beat {
    let last = |log: &str| {
        let (whole, _) = log.rsplit_once('\n')?;
        whole.lines().map(Beat::of).find(|beat| beat.token > token)
    };
    let log = place.wait_for("log", |log| last(log).is_some());
    last(&log).expect("it came")
}
