//! Agents whose output nobody reads.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::process::Stdio;
use std::sync::mpsc;
use std::thread;

use nix::fcntl::{FcntlArg, fcntl};

use crate::cluster::{Cluster, DEADLINE, Process, Shape, agent, http, wait_until};

/// A pipe that takes no more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = pipe().unwrap();
    let size = fcntl(&writer, FcntlArg::F_SETPIPE_SZ(1)).expect("it is made as small as it can be");
    let mut filling = vec![b'-'; usize::try_from(size).unwrap()];
    *filling.last_mut().unwrap() = b'\n';
    writer.write_all(&filling).unwrap();
    (reader, writer)
}

/// Whatever it has to say waits, and nothing else does.
#[test]
fn who_is_not_listened_to_leads_all_the_same() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let (reader, writer) = full_pipe();
    let mut command = agent(&cluster.config(1));
    command.arg("--log-level=trace").stdin(Stdio::piped());
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut process = Process::start(&mut command);
    // The command has the pipe's other end, too.
    drop(command);
    let leads = || http::try_get(&cluster.api(1), "/leader").is_some_and(|answer| answer.status == 200);
    assert!(wait_until(DEADLINE, leads), "it waits for its reader");
    assert!(is_said(reader, "node 1 leads"), "what was said is lost");
    process.terminate();
    assert_eq!(process.wait(DEADLINE), Some(0));
}

#[test]
fn who_is_not_listened_to_ends_all_the_same() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let (_reader, writer) = full_pipe();
    let mut command = agent(&cluster.config(1));
    let mut process =
        Process::start(command.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer));
    let leads = || http::try_get(&cluster.api(1), "/leader").is_some_and(|answer| answer.status == 200);
    assert!(wait_until(DEADLINE, leads), "it waits for its reader");
    process.terminate();
    assert_eq!(process.wait(DEADLINE), Some(0));
}

/// Its reader may even be gone.
#[test]
fn who_has_no_listener_goes_on() {
    let cluster = Cluster::prepare(&Shape::of(1));
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut command = agent(&cluster.config(1));
    let mut process =
        Process::start(command.stdin(Stdio::piped()).stdout(writer.try_clone().unwrap()).stderr(writer));
    let leads = || http::try_get(&cluster.api(1), "/leader").is_some_and(|answer| answer.status == 200);
    assert!(wait_until(DEADLINE, leads), "it does not go on");
    let metrics = || http::get(&cluster.api(1), "/metrics").body;
    let counted = || !metrics().contains("\nbellwether_log_lines_left_out_total 0\n");
    assert!(wait_until(DEADLINE, counted), "{}", metrics());
    process.terminate();
    assert_eq!(process.wait(DEADLINE), Some(0));
}

/// Whether such a line comes in time. The rest is read, too, and goes on being read.
fn is_said(reader: PipeReader, words: &'static str) -> bool {
    let (found, is_found) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            if line.contains(words) {
                let _ = found.send(());
            }
        }
    });
    is_found.recv_timeout(DEADLINE).is_ok()
}
