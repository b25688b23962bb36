//! A holder that is paused for longer than its lease. No check that begins when it goes on succeeds: another holds the leadership by
//! then. A write that was checked before the pause may leave after it, and the fence refuses it.
//!
//! The holder is a process of its own, so that it can be stopped (SIGSTOP): this test again, with a place to
//! find its files. It tells what it does on its standard output. All clocks are the machine's, so that times of both processes can be compared.

#![allow(
    clippy::print_stdout,
    reason = "a process tells the other what it does; and the counts are worth knowing"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use bellwether::status::Standing;
use bellwether::{Config, GrantKind, Identity, Leadership, Member, NodeId, Peers};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rustix::time::{ClockId, clock_gettime};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::{sleep, timeout};

use super::{exclusive, join, led, loopback, soon};

const HOLDER: NodeId = NodeId(1);
/// Short, so that many pauses fit into a minute, and long enough to be renewed on a busy machine.
const HEARTBEAT: Duration = Duration::from_millis(20);
const TTL: Duration = Duration::from_millis(100);
/// Longer than the lease: otherwise a member that was stopped doubts itself before it looks at its lease, and what is tested here is not
/// needed.
const TIMEOUT: Duration = Duration::from_millis(500);
/// How many writes there are before each pause.
const WRITES: u32 = 3;
/// How many checks there are after each pause at least.
const CHECKS: u32 = 20;
/// Between two checks.
const CHECK_EVERY: Duration = Duration::from_micros(200);
/// Between a check and its write.
const COMPOSED_IN: Duration = Duration::from_millis(2);
/// How long somebody may take to hand over, until it is asked again.
const ASK_EVERY: Duration = Duration::from_millis(100);
/// What the holder must know: where its files are, and where all members listen.
const HOME: &str = "BELLWETHER_TEST_HOME";
/// How many pauses there are, if not ten. `make soak` has a thousand.
const PAUSES: &str = "BELLWETHER_TEST_PAUSES";

#[tokio::test]
async fn no_check_that_begins_after_a_pause_succeeds() {
    if let Some(home) = std::env::var_os(HOME) {
        return hold(Path::new(&home)).await;
    }
    let pauses = std::env::var(PAUSES).map_or(10, |count| count.parse().expect("a number of pauses"));
    pause(pauses).await;
}

/// What came of all pauses.
#[derive(Debug, Default)]
struct Counts {
    pauses: u32,
    /// Leadership that was over before its holder was paused: the machine is busy.
    lost_before: u32,
    /// Writes that were taken.
    taken: u64,
    /// Checks that succeeded, and checks that failed after a pause.
    succeeded: u64,
    failed_after: u64,
    /// Writes that were checked before a pause and left after it.
    late: u64,
    /// Of those, refused by the fence.
    refused: u64,
}

async fn pause(pauses: u32) {
    let (dir, mut configs) = loopback::configs(3).unwrap();
    configs.iter_mut().for_each(set_terms);
    let mut holder = Holder::start(dir.path(), &configs);
    let others = join(&configs[1..]).await;
    let mut counts = Counts::default();
    while counts.pauses < pauses {
        let token = soon("it leads", holder.made_to_lead(&others)).await;
        if holder.writes(token, &mut counts).await {
            holder.pause(token, &others, &mut counts).await;
        } else {
            // It may lead again, by right: that is no pause.
            holder.checks_until(now()).await;
            counts.lost_before += 1;
        }
    }
    println!("{counts:?}");
    assert_eq!(counts.late, counts.refused, "{counts:?}");
    assert!(counts.failed_after >= u64::from(pauses * CHECKS), "{counts:?}");
    drop(holder);
    for member in others {
        soon("it leaves", member.leave()).await;
    }
}

/// What the holder tells.
#[derive(Clone, Copy, Debug)]
enum Word {
    /// It leads with that token.
    Leads { token: u64 },
    /// It writes, and began to check at that time; when that arrived, and whether the fence had seen a larger token.
    Write { checked: u64, arrived: u64, refused: bool },
    /// A check has failed.
    Over,
    /// What came of all checks with its token: when the last that succeeded began, how many did, and how many failed after the pause.
    Judged { last: u64, succeeded: u64, failed: u64 },
}

/// What came of the checks with one token.
struct Checked {
    /// When the last that succeeded began.
    last: u64,
    succeeded: u64,
    failed: u64,
    /// Writes that were told of since: when they were checked, when they arrived, and whether they were refused.
    writes: Vec<(u64, u64, bool)>,
}

/// The holder's process, as its parent sees it.
struct Holder {
    child: Child,
    input: ChildStdin,
    words: UnboundedReceiver<Word>,
    /// The largest token that the store has seen.
    fence: Arc<AtomicU64>,
}

impl Holder {
    fn start(home: &Path, configs: &[Config]) -> Self {
        write_home(home, configs);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "paused::no_check_that_begins_after_a_pause_succeeds", "--nocapture"])
            .env(HOME, home);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (fence, (tell, words)) = (Arc::new(AtomicU64::new(0)), mpsc::unbounded_channel());
        let seen = Arc::clone(&fence);
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let Some(word) = word(&line, &seen) else { continue };
                if tell.send(word).is_err() {
                    return;
                }
            }
        });
        Self { child, input, words, fence }
    }

    async fn word(&mut self) -> Word {
        soon("the holder says something", self.words.recv()).await.expect("it runs")
    }

    /// Whoever leads hands over to it.
    async fn made_to_lead(&mut self, others: &[Member]) -> u64 {
        loop {
            if let Ok(word) = timeout(ASK_EVERY, self.word()).await {
                match word {
                    Word::Leads { token } => return token,
                    // Of what is over.
                    Word::Write { .. } | Word::Over | Word::Judged { .. } => continue,
                }
            }
            for other in others.iter().filter(|other| other.status().standing == Standing::Leading) {
                // It may be refused: the holder has only just gone on.
                let _ = other.transfer(HOLDER).await;
            }
        }
    }

    /// Lets it write a few times; false if it lost leadership before.
    async fn writes(&mut self, token: u64, counts: &mut Counts) -> bool {
        self.fence.fetch_max(token, Ordering::SeqCst);
        let mut writes = 0;
        while writes < WRITES {
            match self.word().await {
                Word::Write { refused, .. } => {
                    assert!(!refused, "nobody else was given a token");
                    (writes, counts.taken) = (writes + 1, counts.taken + 1);
                }
                Word::Over => return false,
                word @ (Word::Leads { .. } | Word::Judged { .. }) => panic!("not now: {word:?}"),
            }
        }
        true
    }

    /// Stops it until another leads, and lets it go on.
    async fn pause(&mut self, token: u64, others: &[Member], counts: &mut Counts) {
        self.signal(Signal::SIGSTOP);
        let next = async { tokio::join!(led(others), sleep(TTL)).0 };
        let (_, leadership, _) = next.await;
        let larger = leadership.token().expect("that is the mode");
        assert!(larger > token, "{larger} after {token}");
        self.fence.fetch_max(larger, Ordering::SeqCst);
        let goes_on = now();
        self.signal(Signal::SIGCONT);
        let after = self.checks_until(goes_on).await;
        let last = after.writes.iter().map(|write| write.0).max().unwrap_or(0).max(after.last);
        assert!(last < goes_on, "pause {}: a check that began after it succeeded: {counts:?}", counts.pauses);
        let late = after.writes.iter().filter(|(_, arrived, _)| *arrived >= goes_on);
        counts.late += late.clone().count() as u64;
        counts.refused += late.filter(|(_, _, refused)| *refused).count() as u64;
        counts.succeeded += after.succeeded;
        counts.failed_after += after.failed;
        counts.pauses += 1;
    }

    /// Has it check for a while after that time, and says what came of all its checks.
    async fn checks_until(&mut self, goes_on: u64) -> Checked {
        writeln!(self.input, "{goes_on}").expect("it runs");
        let mut writes = Vec::new();
        loop {
            match self.word().await {
                Word::Write { checked, arrived, refused } => writes.push((checked, arrived, refused)),
                Word::Over => {}
                Word::Judged { last, succeeded, failed } => {
                    return Checked { last, succeeded, failed, writes };
                }
                word @ Word::Leads { .. } => panic!("not now: {word:?}"),
            }
        }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().unwrap()), signal).expect("the process is ours");
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The time of the machine, in nanoseconds.
fn now() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    u64::try_from(now.tv_sec).unwrap() * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap()
}

/// What the holder prints, and what its parent makes of it. A write meets the fence when it arrives.
fn word(line: &str, fence: &AtomicU64) -> Option<Word> {
    let (name, numbers) = line.strip_prefix("holder ")?.split_once(' ')?;
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    Some(match (name, numbers.as_slice()) {
        ("leads", [token]) => Word::Leads { token: *token },
        ("writes", [token, checked]) => {
            let refused = *token < fence.load(Ordering::SeqCst);
            Word::Write { checked: *checked, arrived: now(), refused }
        }
        ("over", [_]) => Word::Over,
        ("judged", [last, succeeded, failed]) => {
            Word::Judged { last: *last, succeeded: *succeeded, failed: *failed }
        }
        _ => panic!("the holder says {line:?}"),
    })
}

/// The holder's process: whenever it leads, it writes and checks until it is told that its pause is over.
async fn hold(home: &Path) {
    set_pdeathsig(Signal::SIGKILL).unwrap();
    let member = Member::join(read_home(home)).await.unwrap();
    let (tell, mut judge) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in stdin().lines().map_while(Result::ok) {
            tell.send(line.parse::<u64>().unwrap()).unwrap();
        }
    });
    while let Ok(leadership) = member.campaign().await {
        println!("holder leads {}", leadership.epoch());
        let goes_on = Arc::new(AtomicU64::new(u64::MAX));
        let writer = thread::spawn({
            let leadership = leadership.clone();
            move || write_while_led(&leadership)
        });
        let checker = thread::spawn({
            let goes_on = Arc::clone(&goes_on);
            move || check_until(&leadership, &goes_on)
        });
        let Some(at) = judge.recv().await else { return };
        goes_on.store(at, Ordering::SeqCst);
        tokio::task::spawn_blocking(move || {
            checker.join().unwrap();
            writer.join().unwrap();
        })
        .await
        .unwrap();
    }
}

/// Checks, takes its time, and writes: as a program does.
fn write_while_led(leadership: &Leadership) {
    loop {
        let checked = now();
        if leadership.check().is_err() {
            println!("holder over {}", leadership.epoch());
            return;
        }
        thread::park_timeout(COMPOSED_IN);
        println!("holder writes {} {checked}", leadership.epoch());
    }
}

/// Checks again and again, until it has done so often enough after a time that it is told when that is over.
fn check_until(leadership: &Leadership, goes_on: &AtomicU64) {
    let (mut last, mut succeeded, mut failed, mut after) = (0, 0_u64, 0_u64, 0);
    while after < CHECKS {
        let began = now();
        let is_late = began >= goes_on.load(Ordering::SeqCst);
        match leadership.check() {
            Ok(()) => (last, succeeded) = (began, succeeded + 1),
            Err(_) => failed += u64::from(is_late),
        }
        after += u32::from(is_late);
        thread::park_timeout(CHECK_EVERY);
    }
    println!("holder judged {last} {succeeded} {failed}");
}

/// Writes down what the holder needs to join.
fn write_home(home: &Path, configs: &[Config]) {
    let Identity { ca, cert, key, .. } = &configs[0].identity;
    for (name, text) in [("ca.pem", ca), ("cert.pem", cert), ("key.pem", key)] {
        fs::write(home.join(name), text).unwrap();
    }
    let addresses: Vec<String> = configs.iter().map(|config| config.listen.to_string()).collect();
    fs::write(home.join("addresses"), addresses.join("\n")).unwrap();
}

/// The holder's configuration.
fn read_home(home: &Path) -> Config {
    let path = |name: &str| home.join(name);
    let identity = Identity::load(&path("ca.pem"), &path("cert.pem"), &path("key.pem")).unwrap();
    let addresses = fs::read_to_string(path("addresses")).unwrap();
    let listed: BTreeMap<NodeId, String> =
        (1..).map(NodeId).zip(addresses.lines().map(str::to_owned)).collect();
    let listen = listed[&HOLDER].parse().unwrap();
    let mut config =
        Config::new("example", HOLDER, listen, Peers::Listed(listed), identity, path(&HOLDER.to_string()));
    set_terms(&mut config);
    config
}

fn set_terms(config: &mut Config) {
    let mut terms = exclusive(GrantKind::Lease);
    terms.ttl = TTL;
    config.exclusive = Some(terms);
    (config.heartbeat, config.timeout) = (HEARTBEAT, TIMEOUT);
}
