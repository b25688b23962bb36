use std::io::{BufRead, BufReader};
use std::process::Stdio;

use nix::sys::signal::Signal;

use super::{LONG, with_sockets};
use crate::cluster::{Cluster, DEADLINE, Process, TOKEN, bellwether, run};

/// A command that goes on until it is told to end, and what it prints.
struct Running {
    process: Process,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(cluster: &Cluster, id: u32, args: &[&str]) -> Self {
        let mut command = bellwether();
        command.args(args).args(["--api", &cluster.api(id)]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        Self { process: Process::of(child), lines }
    }

    /// The next line with that in it.
    #[track_caller]
    fn until(&mut self, words: &str) -> String {
        let found = self.lines.by_ref().map_while(Result::ok).find(|line| line.contains(words));
        found.unwrap_or_else(|| panic!("it ended before it said {words:?}"))
    }
}

/// Over TCP, where a Ctrl-C is the only thing that gives back at once.
#[test]
fn a_person_holds_watches_hands_over_and_forgets_a_name() {
    let cluster = with_sockets(3, LONG);
    let mut seen = Running::start(&cluster, 3, &["observe", "db"]);
    seen.until("there is no such election");
    let hold = ["campaign", "db", "--kind", "token", "--priority", "3", "--value", "here", "--token", TOKEN];
    let mut one = Running::start(&cluster, 1, &hold);
    one.until("holds \"db\", token 1");
    assert!(seen.until("node 1, session").ends_with("it says \"here\""));
    let mut two = Running::start(&cluster, 2, &hold);
    two.until("in place 1");
    let (code, said, _) = cluster.ask(3, &["elections"]);
    let row = said.lines().find(|row| row.starts_with("db ")).expect("it is listed");
    assert!(code == 0 && row.contains("token      1  node 1, session") && row.ends_with("here"), "{said}");
    let (code, said, err) = cluster.ask(1, &["transfer", "--name", "db", "2", "--token", TOKEN]);
    assert!(code == 0 && said.starts_with("node 2, session"), "{said}{err}");
    one.until("is asked to give \"db\" back (transfer), and does");
    two.until("holds \"db\", token 2");
    one.until("in place 1");
    let (code, said, err) = cluster.ask(2, &["resign", "--name", "db", "--token", TOKEN]);
    assert!(code == 0 && said.starts_with("node 1, session"), "{said}{err}");
    let (code, _, err) = cluster.ask(3, &["resign", "--name", "db", "--token", TOKEN]);
    assert!(code == 3 && err.contains("through node 1"), "{err}");
    let (code, _, err) = cluster.ask(3, &["elections", "delete", "db", "--token", TOKEN]);
    assert!(code == 3 && err.contains("somebody holds that name"), "{err}");
    for mut held in [one, two] {
        held.process.signal(Signal::SIGINT);
        held.until("the session has ended (closed)");
        assert_eq!(held.process.wait(DEADLINE), Some(0));
    }
    seen.until("nobody holds it");
    let (code, said, err) = cluster.ask(3, &["elections", "delete", "db", "--token", TOKEN]);
    assert!(code == 0 && said.contains("\"db\" is deleted"), "{said}{err}");
    seen.until("there is no such election");
}

#[test]
fn what_cannot_be_done_is_said_with_its_exit_code() {
    let cluster = with_sockets(1, LONG);
    let api = cluster.api(1);
    let socket = cluster.socket_path(1).display().to_string();
    for (args, code, words) in [
        (&["campaign", "x", "--api", &api][..], 2, "this needs a token: --token"),
        (&["campaign", "x", "--api", &api, "--token", "wrong"], 2, "the token is wrong"),
        (&["campaign", "", "--socket", &socket], 2, "a name has at least one character"),
        (&["campaign", "x", "--kind", "lock", "--socket", &socket], 2, "[possible values: lease, token]"),
        (&["campaign", "leader", "--kind", "token", "--socket", &socket], 3, "that name is of kind lease"),
        (&["elections", "--socket", &socket, "--api", &api], 2, "cannot be used with"),
        (&["elections", "--socket", "no/such.sock"], 3, "no agent answers at no/such.sock: "),
        (
            &["observe", "x", "--socket", "no/such.sock"],
            3,
            "is the agent running, and is that its `listen.socket`?",
        ),
        (&["elections", "delete", "leader", "--socket", &socket], 3, "that name cannot be deleted"),
        (&["transfer", "--name", "x", "--socket", &socket], 2, "required"),
        (&["resign", "--name", "x", "--socket", &socket], 3, "there is no election \"x\""),
    ] {
        let (found, said, err) = run(args);
        assert!(found == code && err.contains(words), "{args:?}: {found} {said}{err}");
    }
    let (code, said, err) = run(&["status", "--socket", &socket]);
    assert!(code == 0 && said.contains("elections    0 held"), "{said}{err}");
    let (code, said, _) = run(&["observe", "leader", "--count", "1", "--json", "--socket", &socket]);
    assert!(code == 0 && said.starts_with('{') && said.lines().count() == 1, "{said}");
}
