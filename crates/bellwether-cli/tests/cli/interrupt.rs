//! Commands that are interrupted.

use std::fs;
use std::io::Read;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::harness::{Outcome, command};

/// Far longer than it takes, however busy the machine.
const DEADLINE: Duration = Duration::from_secs(60);
/// How often to look whether it is time.
const LOOK: Duration = Duration::from_millis(20);

/// Begins a command without end, interrupts it when it is time, and waits for what it says.
pub(crate) fn interrupted_when(args: &[&str], is_time: impl Fn(&Child) -> bool) -> Outcome {
    let mut child =
        command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs");
    let (_silent, news) = mpsc::channel::<()>();
    while !is_time(&child) {
        assert_eq!(child.try_wait().expect("it is ours"), None, "it ended by itself");
        let _ = news.recv_timeout(LOOK);
    }
    kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).expect("it is running");
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let (mut said, mut complained) = (String::new(), String::new());
        out.read_to_string(&mut said).expect("it prints text");
        err.read_to_string(&mut complained).expect("it prints text");
        let _ = tell.send((said, complained));
    });
    let Ok((out, err)) = told.recv_timeout(DEADLINE) else {
        child.kill().expect("it is ours");
        panic!("it does not end");
    };
    let code = child.wait().expect("it is ours").code().expect("it ends by itself");
    Outcome { code, out, err }
}

/// Whether the process has worked for so long, by its own account.
pub(crate) fn has_worked_for(long: Duration) -> impl Fn(&Child) -> bool {
    move |child| {
        // The fields 14 and 15, counted from 1, in hundredths of a second.
        let text = fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("it is running");
        let (_, after) = text.rsplit_once(')').expect("the name is in parentheses");
        let ticks = after.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().unwrap());
        Duration::from_millis(ticks.sum::<u64>() * 10) >= long
    }
}
