//! What this binary does when it is started as one of the programs: it is small, so that the engines are measured and not the programs.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{self, Command};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

/// In place of an argument of the benchmark.
const AS_PROGRAM: &str = "as-program";

/// A program, and what it is told.
pub(crate) enum Role {
    /// Holds a name at the agent with that socket, as `curl -N` does, and prints what the agent says.
    Hold { socket: String },
    /// Prints when it began, in nanoseconds since 1970, and goes on.
    Stamp,
    /// Holds a lock of Redis by the usual recipe: `SET NX PX`, renewed in every third of the ttl, and tried again after a while if another
    /// has it.
    Redis { port: String, ttl: Duration, again: Duration },
}

pub(crate) const NAME: &str = "bench";

impl Role {
    /// The role in which this process was started; `None` if it is the benchmark.
    pub(crate) fn given() -> Option<Self> {
        let words: Vec<String> = env::args().skip(1).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let millis = |word: &str| Duration::from_millis(word.parse().expect("a number"));
        match words[..] {
            [AS_PROGRAM, "hold", socket] => Some(Self::Hold { socket: socket.to_owned() }),
            [AS_PROGRAM, "stamp"] => Some(Self::Stamp),
            [AS_PROGRAM, "redis", port, ttl, again] => {
                Some(Self::Redis { port: port.to_owned(), ttl: millis(ttl), again: millis(again) })
            }
            _ => None,
        }
    }

    /// The words that start it.
    pub(crate) fn words(&self) -> Vec<String> {
        let this = env::current_exe().expect("it runs").display().to_string();
        let millis = |time: &Duration| time.as_millis().to_string();
        let told = match self {
            Self::Hold { socket } => vec!["hold".to_owned(), socket.clone()],
            Self::Stamp => vec!["stamp".to_owned()],
            Self::Redis { port, ttl, again } => {
                vec!["redis".to_owned(), port.clone(), millis(ttl), millis(again)]
            }
        };
        [this, AS_PROGRAM.to_owned()].into_iter().chain(told).collect()
    }

    pub(crate) fn command(&self) -> Command {
        let words = self.words();
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// Until it is killed.
    pub(crate) fn play(self) -> io::Result<()> {
        match self {
            Self::Hold { socket } => hold(&socket),
            Self::Stamp => stamp(),
            Self::Redis { port, ttl, again } => lock(&format!("127.0.0.1:{port}"), ttl, again),
        }
    }
}

fn hold(socket: &str) -> io::Result<()> {
    let mut stream = UnixStream::connect(socket)?;
    let (host, campaign) = ("host: localhost", format!("/v1/elections/{NAME}/campaign"));
    write!(stream, "POST {campaign} HTTP/1.1\r\n{host}\r\ncontent-length: 0\r\n\r\n")?;
    io::copy(&mut stream, &mut io::stdout()).map(drop)
}

fn stamp() -> io::Result<()> {
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos());
    writeln!(io::stdout(), "began {now}")?;
    wait(Duration::MAX);
    Ok(())
}

/// Only the holder renews it, so that nobody puts off the end of another's.
const RENEW: &str = "if redis.call('get',KEYS[1]) == ARGV[1] then return redis.call('pexpire',KEYS[1],ARGV[2]) else return 0 end";

fn lock(at: &str, ttl: Duration, again: Duration) -> io::Result<()> {
    let stream = TcpStream::connect(at)?;
    stream.set_nodelay(true)?;
    let mut server = BufReader::new(stream);
    let (id, millis) = (process::id().to_string(), ttl.as_millis().to_string());
    while ask(&mut server, &["SET", NAME, &id, "NX", "PX", &millis])? != "+OK" {
        writeln!(io::stdout(), "waits")?;
        wait(again);
    }
    writeln!(io::stdout(), "held")?;
    loop {
        wait(ttl / 3);
        if ask(&mut server, &["EVAL", RENEW, "1", NAME, &id, &millis])? != ":1" {
            return writeln!(io::stdout(), "lost");
        }
    }
}

/// The first line of the answer: all of it, of what is asked here, but for the rest of nothing.
fn ask(server: &mut BufReader<TcpStream>, words: &[&str]) -> io::Result<String> {
    let words: String = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
    let request = format!("*{}\r\n{words}", words.matches("\r\n").count() / 2);
    server.get_mut().write_all(request.as_bytes())?;
    let mut line = String::new();
    server.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

/// Nobody ever sends: it only measures time.
fn wait(time: Duration) {
    let (_sender, never) = mpsc::channel::<()>();
    let _ = never.recv_timeout(time);
}
