//! Names that are lost, and agents that go.

use super::*;

/// Says that it is up, with its token, and why it ends.
const SAYS: &str = "trap 'echo term $BELLWETHER_ELECTION_TOKEN >> log; exit 0' TERM
    echo up $BELLWETHER_ELECTION_TOKEN >> log; while :; do sleep 0.01; done";

#[test]
fn a_name_that_is_asked_back_is_given_back_when_the_command_has_ended() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let _exec = start(&mut place.exec(&agent.socket, &[], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    world.state().ask_back("backup", "resign");
    place.wait_for("log", |log| log == "up 101\nterm 101\nup 102\n");
}

#[test]
fn it_ends_when_the_name_is_lost_if_it_was_told_to() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let mut exec = place.exec(&agent.socket, &["--on-lost", "exit"], SAYS);
    let mut exec = Process::start(exec.stdout(Stdio::null()).stderr(Stdio::piped()));
    place.wait_for("log", |log| log == "up 101\n");
    world.state().ask_back("backup", "resign");
    assert_eq!(exec.wait(DEADLINE), Some(1));
    assert_eq!(place.read("log"), "up 101\nterm 101\n");
    let mut said = String::new();
    exec.child().stderr.as_mut().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("error: \"backup\" is asked back: it was told to resign\n"), "{said}");
}

#[test]
fn a_command_that_does_not_end_is_killed_before_the_name_is_given_back() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    world.state().release = Duration::from_secs(2);
    let stubborn = "trap '' TERM INT HUP; echo $$ >> log; while :; do sleep 0.01; done";
    let _exec = start(&mut place.exec(&agent.socket, &[], stubborn));
    let first = pid_in(&place.wait_for("log", |log| log.lines().count() == 1));
    world.state().ask_back("backup", "resign");
    let token =
        world.wait_for("it is given back", |state| state.holder("backup").filter(|(_, token)| *token > 101));
    assert!(!lives(first), "{token:?}");
}

/// Nobody renews: it is told to end, and killed, before validity ends.
#[test]
fn a_command_is_stopped_before_validity_ends() {
    let (world, place) = (World::new(TTL), Place::new());
    let agent = world.agent(1);
    let script = "trap 'echo term >> log' TERM; echo $$ > pid; while :; do sleep 0.01; done";
    let _exec = start(&mut place.exec(&agent.socket, &[], script));
    let pid = pid_in(&place.wait_for("pid", |text| text.ends_with('\n')));
    agent.cut(true);
    place.wait_for("log", |log| log == "term\n");
    wait_for_end(pid);
    assert!(world.state().is_valid(1), "nobody else can hold it yet");
    agent.cut(false);
    place.wait_for("pid", |text| text.ends_with('\n') && pid_in(text) != pid);
}

#[test]
fn an_agent_that_is_back_in_time_takes_the_command_over() {
    let (world, place) = (World::new(3 * TTL), Place::new());
    let mut agent = world.agent(1);
    let mut exec = start(&mut place.exec(&agent.socket, &["--write-token", "token"], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    let before = world.state().bound();
    assert_eq!(before.len(), 2, "the warden, and the command");
    agent.crash();
    agent.start();
    place.wait_for("token", |token| token == "102\n");
    assert_eq!(place.read("log"), "up 101\n", "it goes on");
    assert_eq!(world.state().bound(), before);
    exec.terminate();
    assert_eq!(exec.wait(DEADLINE), Some(0));
    assert_eq!(world.holder("backup"), None);
}

#[test]
fn an_agent_that_stays_away_is_waited_for() {
    let (world, place) = (World::new(Duration::from_secs(1)), Place::new());
    let mut agent = world.agent(1);
    let _exec = start(&mut place.exec(&agent.socket, &[], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    agent.crash();
    place.wait_for("log", |log| log == "up 101\nterm 101\n");
    world.wait_for("its lease is over", |state| state.holder("backup").is_none().then_some(()));
    agent.start();
    place.wait_for("log", |log| log == "up 101\nterm 101\nup 102\n");
}

#[test]
fn what_a_store_decides_goes_on_without_a_deadline() {
    let (world, place) = (World::new(Duration::from_millis(300)), Place::new());
    let agent = world.agent(1);
    let mut exec = start(&mut place.exec(&agent.socket, &["--kind", "token"], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    world.state().ask_back("backup", "resign");
    place.wait_for("log", |log| log == "up 101\nterm 101\nup 102\n");
    exec.terminate();
    assert_eq!(exec.wait(DEADLINE), Some(0));
}

/// The warden gives back what a frozen `exec` cannot.
#[test]
fn a_frozen_exec_does_not_keep_the_name() {
    let (world, place) = (World::new(Duration::from_secs(1)), Place::new());
    let agent = world.agent(1);
    let exec = start(&mut place.exec(&agent.socket, &[], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    exec.stop();
    place.wait_for("log", |log| log.ends_with("term 101\n"));
    world.wait_for("it is given back", |state| state.holder("backup").is_none().then_some(()));
    exec.cont();
    place.wait_for("log", |log| log.ends_with("up 102\n"));
}

/// And `exec` does the work of a warden that is frozen, or was killed.
#[test]
fn a_warden_that_is_frozen_or_killed_is_replaced() {
    let (world, place) = (World::new(Duration::from_secs(1)), Place::new());
    let agent = world.agent(1);
    let exec = start(&mut place.exec(&agent.socket, &[], SAYS));
    place.wait_for("log", |log| log == "up 101\n");
    for (signal, token) in [(Signal::SIGKILL, 102), (Signal::SIGSTOP, 103)] {
        let before = warden(&exec);
        kill(before, signal).unwrap();
        if signal == Signal::SIGSTOP {
            world.state().ask_back("backup", "resign");
        }
        place.wait_for("log", |log| log.ends_with(&format!("up {token}\n")));
        assert!(!lives(before));
    }
}
