//! What the command finds, how it ends, and which signals reach it.

use super::*;
use crate::cluster::run;
use crate::stand_in::TOKEN;

#[test]
fn the_command_finds_what_it_holds_and_its_exit_code_is_passed_on() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(3);
    let script = "env | grep ^BELLWETHER_ | sort; cat token; cat; echo said >&2; exit 7";
    let mut exec = place.exec(&agent.socket, &["--once", "--write-token", "token"], script);
    fs::write(place.file("input"), "given\n").unwrap();
    let input = fs::File::open(place.file("input")).unwrap();
    let ended = outcome(exec.env("BELLWETHER_TOKEN", "hush").stdin(input));
    let expected =
        "BELLWETHER_ELECTION=backup\nBELLWETHER_ELECTION_NODE=3\nBELLWETHER_ELECTION_TOKEN=101\n101\ngiven\n";
    assert_eq!(ended, (7, expected.to_owned(), "said\n".to_owned()));
    assert_eq!(world.holder("backup"), None);
    assert_eq!(world.state().sessions(), 0, "nothing is left behind");
}

#[test]
fn the_name_is_leader_if_none_is_given_and_the_socket_is_in_the_environment() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let mut exec = bellwether();
    exec.env("BELLWETHER_SOCKET", &agent.socket).args(["exec", "--once", "--", "sh", "-c"]);
    exec.arg("echo $BELLWETHER_ELECTION").current_dir(place.0.path());
    assert_eq!(outcome(&mut exec), (0, "leader\n".to_owned(), String::new()));
}

#[test]
fn a_command_that_is_killed_or_cannot_run_has_the_exit_code_of_a_shell() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    assert_eq!(outcome(&mut place.exec(&agent.socket, &["--once"], "kill -9 $$")).0, 137);
    // Also without --once: it will not be there the next time.
    let (code, _, err) = outcome(&mut place.run(&agent.socket, &[], &["./no-such"]));
    assert_eq!(
        (code, err.as_str()),
        (127, "error: cannot run ./no-such: No such file or directory (os error 2)\n")
    );
    fs::write(place.file("text"), "no program").unwrap();
    let (code, _, err) = outcome(&mut place.run(&agent.socket, &[], &["./text"]));
    assert_eq!((code, err.as_str()), (126, "error: cannot run ./text: Permission denied (os error 13)\n"));
    assert_eq!(outcome(&mut place.exec(&agent.socket, &["--once"], "exit 127")).0, 127);
    assert_eq!(world.holder("backup"), None, "it was given back");
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_started() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let (code, _, err) = run(&["exec", "--socket", "/no/such.sock", "--", "true"]);
    assert_eq!(code, 3);
    assert!(
        err.starts_with("error: no agent answers at /no/such.sock: ") && err.contains("`bellwether agent"),
        "{err}"
    );
    let (code, _, err) = run(&["exec", "--api", "127.0.0.1:1", "--", "true"]);
    assert!(code == 3 && err.contains("127.0.0.1:1") && err.contains("`bellwether agent"), "{code}: {err}");
    let (code, _, err) = run(&["exec", "--name", "a\nb", "--", "true"]);
    assert_eq!((code, err.as_str()), (2, "error: --name: a name has no control characters\n"));
    let api = agent.api.to_string();
    let (code, _, err) = run(&["exec", "--api", &api, "--", "true"]);
    assert!(code == 2 && err.contains("--token"), "{code}: {err}");
    let mut unwritable = place.exec(&agent.socket, &["--write-token", "no/such/file"], "touch ran");
    let (code, _, err) = outcome(&mut unwritable);
    assert!(code == 3 && err.contains("no/such/file"), "{code}: {err}");
    assert_eq!((place.read("ran"), world.holder("backup")), (String::new(), None));
    let other_kind = outcome(&mut place.exec(&agent.socket, &["--kind", "token"], "true"));
    assert!(other_kind.0 == 3 && other_kind.2.contains("another kind"), "{other_kind:?}");
}

#[test]
fn over_tcp_it_is_the_same_with_a_token() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let mut exec = bellwether();
    exec.args(["exec", "--name", "backup", "--once", "--api", &agent.api.to_string()]);
    exec.env("BELLWETHER_TOKEN", TOKEN).args(["--", "sh", "-c", "echo ${BELLWETHER_TOKEN-none}; exit 5"]);
    exec.current_dir(place.0.path());
    assert_eq!(outcome(&mut exec), (5, "none\n".to_owned(), String::new()));
    assert_eq!(world.holder("backup"), None);
}

#[test]
fn signals_reach_the_command_while_it_runs() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let script = "trap 'echo usr1 >> log' USR1; trap 'echo hup >> log' HUP; trap 'echo usr2 >> log' USR2
        trap 'echo term >> log; exit 9' TERM; echo up >> log; while :; do sleep 0.01; done";
    let mut exec = start(&mut place.exec(&agent.socket, &[], script));
    place.wait_for("log", |log| log == "up\n");
    for (signal, word) in [(Signal::SIGUSR1, "usr1"), (Signal::SIGHUP, "hup"), (Signal::SIGUSR2, "usr2")] {
        exec.signal(signal);
        place.wait_for("log", |log| log.ends_with(&format!("{word}\n")));
    }
    exec.signal(Signal::SIGTERM);
    assert_eq!(exec.wait(DEADLINE), Some(9), "it ends with its command, and does not start it again");
    assert_eq!(place.read("log"), "up\nusr1\nhup\nusr2\nterm\n");
    assert_eq!(world.holder("backup"), None);
}

/// As from a terminal: what the command has started hears it, too.
#[test]
fn an_interrupt_reaches_all_that_the_command_has_started() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let mut exec = start(&mut place.exec(&agent.socket, &[], "sleep 1000; echo not reached"));
    // A shell that has not begun to wait for what it has started would heed nothing until that ends.
    let sleeps =
        |pid: Pid| fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n");
    let watches = warden(&exec);
    assert!(wait_until(DEADLINE, || children(watches).into_iter().flat_map(children).any(sleeps)));
    exec.signal(Signal::SIGINT);
    assert_eq!(exec.wait(DEADLINE), Some(130));
}

#[test]
fn a_hang_up_that_ends_the_command_ends_it_for_good() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let mut exec = start(&mut place.exec(&agent.socket, &[], "echo up >> log; exec sleep 1000"));
    place.wait_for("log", |log| log == "up\n");
    exec.signal(Signal::SIGHUP);
    assert_eq!(exec.wait(DEADLINE), Some(129));
    assert_eq!(place.read("log"), "up\n");
}

#[test]
fn signals_end_it_while_it_waits() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let holder = start(&mut place.exec(&agent.socket, &[], "echo up > log; exec sleep 1000"));
    place.wait_for("log", |log| log == "up\n");
    for (signal, code) in
        [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129), (Signal::SIGUSR1, 138)]
    {
        let mut waits = start(&mut place.exec(&agent.socket, &[], "echo second > log"));
        world.wait_for("it waits", |state| (state.waiting("backup") == 1).then_some(()));
        waits.signal(signal);
        assert_eq!(waits.wait(DEADLINE), Some(code));
        world.wait_for("it went", |state| (state.waiting("backup") == 0).then_some(()));
    }
    assert_eq!(place.read("log"), "up\n");
    drop(holder);
}

#[test]
fn a_command_that_ends_is_started_again_after_pauses_that_grow() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let exec = start(&mut place.exec(&agent.socket, &[], "date +%s%N >> log; exit 1"));
    let log = place.wait_for("log", |log| log.lines().count() >= 4);
    let at: Vec<u64> = log.lines().map(|line| line.parse().unwrap()).collect();
    let pauses: Vec<_> = at.windows(2).map(|two| (two[1] - two[0]) / 1_000_000).collect();
    assert!(pauses[0] >= 100 && pauses[1] >= 200 && pauses[2] >= 400, "{pauses:?}");
    assert!(world.holder("backup").is_some_and(|(_, token)| token == 101), "it is held all the time");
    exec.signal(Signal::SIGTERM);
}

/// What a command leaves behind is no more when the name is given back.
#[test]
fn what_the_command_leaves_behind_ends_before_the_name_is_given_back() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let script = "setsid sh -c 'trap \"\" TERM; echo $$ > left; while :; do sleep 0.05; done' &
        while [ ! -s left ]; do sleep 0.01; done; exit 4";
    let (code, _, _) = outcome(&mut place.exec(&agent.socket, &["--once"], script));
    let left = pid_in(&place.read("left"));
    let _ends = Ends(left);
    assert!(code == 4 && !lives(left), "{code}");
}

#[test]
fn what_exec_starts_beside_itself_does_nothing_alone() {
    for hidden in ["exec-warden", "exec-child"] {
        let (code, out, _) = run(&[hidden, "--", "touch", "/tmp/no-such-file-of-a-test"]);
        assert_eq!((code, out.as_str()), (3, ""), "{hidden}");
        assert!(!Path::new("/tmp/no-such-file-of-a-test").exists());
    }
    let (_, out, _) = run(&["--help"]);
    assert!(out.contains("exec ") && !out.contains("exec-"), "{out}");
}
