//! A cluster of three etcd servers on loopback, as its package has them, and what is asked of it.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use tempfile::TempDir;

use super::cluster::{Process, wait_until};
use super::program::Program;

const PATIENCE: Duration = Duration::from_secs(30);
/// Whoever has it prints its key, which begins like this.
const LOCK: &str = "bench";

pub(crate) struct Etcd {
    clients: Vec<SocketAddr>,
    /// How each is started.
    commands: Vec<Command>,
    /// Dropped before their files.
    servers: Vec<Process>,
    _dir: TempDir,
}

/// Whether there is such a server here.
pub(crate) fn is_there() -> bool {
    ["etcd", "etcdctl"].iter().all(|name| quiet(Command::new(name).arg("--version")).status().is_ok())
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

impl Etcd {
    /// Starts three, and waits until they take writes.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts three with these arguments.
    pub(crate) fn start_with(more: &[&str]) -> Self {
        let held: Vec<_> =
            (0..6).map(|_| TcpListener::bind(("127.0.0.1", 0)).expect("there is a port")).collect();
        let ports: Vec<_> = held.iter().map(|held| held.local_addr().expect("it is bound")).collect();
        drop(held);
        let (peers, clients) = ports.split_at(3);
        let all: Vec<_> = peers.iter().enumerate().map(|(no, peer)| format!("e{no}=http://{peer}")).collect();
        let dir = tempfile::Builder::new().prefix("bellwether-etcd-").tempdir().expect("there is room");
        let server = |no: usize| {
            let (peer, client) = (format!("http://{}", peers[no]), format!("http://{}", clients[no]));
            let mut command = Command::new("etcd");
            command
                .arg("--name")
                .arg(format!("e{no}"))
                .arg("--data-dir")
                .arg(dir.path().join(format!("e{no}")));
            command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
            command.args(["--listen-client-urls", &client, "--advertise-client-urls", &client]);
            command.args(["--initial-cluster", &all.join(","), "--logger", "zap", "--log-level", "error"]);
            quiet(&mut command).args(more);
            command
        };
        let mut commands: Vec<_> = (0..3).map(server).collect();
        let servers = commands.iter_mut().map(Process::start).collect();
        let etcd = Self { clients: clients.to_vec(), commands, servers, _dir: dir };
        let writes =
            || quiet(etcd.ctl().args(["put", "up", "1"])).status().is_ok_and(|status| status.success());
        assert!(wait_until(PATIENCE, writes), "etcd does not take writes");
        etcd
    }

    /// Where each is asked.
    pub(crate) fn clients(&self) -> &[SocketAddr] {
        &self.clients
    }

    /// Starts one again that was killed.
    pub(crate) fn restart(&mut self, no: usize) {
        self.servers[no] = Process::start(&mut self.commands[no]);
    }

    pub(crate) fn kill(&mut self, no: usize) {
        let server = &mut self.servers[no];
        server.signal(Signal::SIGKILL);
        let _ = server.wait(PATIENCE);
    }

    pub(crate) fn process(&self, no: usize) -> &Process {
        &self.servers[no]
    }

    pub(crate) fn ctl(&self) -> Command {
        let mut command = Command::new("etcdctl");
        let endpoints: Vec<String> = self.clients.iter().map(SocketAddr::to_string).collect();
        command.env("ETCDCTL_API", "3").arg("--endpoints").arg(endpoints.join(","));
        command
    }

    /// Kills whoever holds a lock, that many times, and says how long the next one waited for it. Both ask for the smallest ttl.
    pub(crate) fn lock_failovers(&self, trials: usize) -> Vec<Duration> {
        let mut holder = self.waits_for_lock();
        holder.until(LOCK);
        let mut times = Vec::new();
        while times.len() < trials {
            let mut next = self.waits_for_lock();
            assert!(wait_until(PATIENCE, || self.in_line() == 2), "the next one waits");
            let began = Instant::now();
            drop(holder);
            times.push(next.until(LOCK).1.saturating_duration_since(began));
            holder = next;
        }
        times
    }

    fn waits_for_lock(&self) -> Program {
        self.runs(&["lock", LOCK, "--ttl", "1"])
    }

    /// Runs etcdctl until this is dropped.
    pub(crate) fn runs(&self, words: &[&str]) -> Program {
        Program::start(self.ctl().args(words))
    }

    /// How many hold the lock or wait for it.
    fn in_line(&self) -> usize {
        let keys = self.ctl().args(["get", &format!("{LOCK}/"), "--prefix", "--keys-only"]).output();
        let keys = keys.expect("etcdctl runs").stdout;
        keys.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count()
    }

    /// How many transactions a second it takes from that many connections. Each compares a name with what it was, and puts it.
    pub(crate) fn transactions(&self, connections: usize, time: Duration) -> f64 {
        let (stop, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let clients = (0..connections).map(|no| {
            let (at, stop, done) = (self.clients[no % 3], Arc::clone(&stop), Arc::clone(&done));
            thread::spawn(move || transact(at, no, &stop, &done))
        });
        let (clients, began): (Vec<_>, _) = (clients.collect(), Instant::now());
        wait_until(time * 2, || began.elapsed() >= time);
        let (count, took) = (done.load(Ordering::Relaxed), began.elapsed());
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().for_each(|client| client.join().expect("it only asks"));
        count as f64 / took.as_secs_f64()
    }
}

/// One after the other, over HTTP.
fn transact(at: SocketAddr, no: usize, stop: &AtomicBool, done: &AtomicU64) {
    let key = base64(format!("name-{no:04}").as_bytes());
    let body = format!(
        r#"{{"compare":[{{"key":"{key}","target":"VERSION","result":"GREATER","version":"-1"}}],"success":[{{"requestPut":{{"key":"{key}","value":"{key}"}}}}]}}"#
    );
    let request =
        format!("POST /v3/kv/txn HTTP/1.1\r\nhost: {at}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let stream = TcpStream::connect(at).expect("it listens");
    stream.set_nodelay(true).expect("it is open");
    let mut answers = BufReader::new(stream);
    while !stop.load(Ordering::Relaxed) {
        answers.get_mut().write_all(request.as_bytes()).expect("it is taken");
        assert!(read_answer(&mut answers).contains("\"succeeded\":true"), "a transaction failed");
        done.fetch_add(1, Ordering::Relaxed);
    }
}

fn read_answer(answers: &mut impl BufRead) -> String {
    let mut length = 0;
    loop {
        let mut line = String::new();
        answers.read_line(&mut line).expect("it answers");
        let line = line.trim_end().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a number");
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body).expect("all of it comes");
    String::from_utf8(body).expect("it is JSON")
}

/// Of nine bytes, so that nothing is padded.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[bits as usize & 63]);
    let three = |three: &[u8]| {
        let bits = three.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        [18, 12, 6, 0].map(|shift| digit(bits >> shift))
    };
    bytes.chunks_exact(3).flat_map(three).collect()
}
