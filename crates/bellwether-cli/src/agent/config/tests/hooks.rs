//! `[hooks]`: what is run, and what cannot be.

use std::os::unix::fs::PermissionsExt;

use bellwether::elections::Name;

use super::*;

/// A place with a program `bin/hook`, and a file that is none.
fn with(tables: &str) -> Place {
    let place = Place::with(LEAST.replace("node = 1", "node = 1\nmode = \"exclusive\"") + tables);
    fs::create_dir(place.path().join("bin")).unwrap();
    for (file, mode) in [("bin/hook", 0o755), ("bin/text", 0o644)] {
        fs::write(place.path().join(file), "").unwrap();
        fs::set_permissions(place.path().join(file), fs::Permissions::from_mode(mode)).unwrap();
    }
    place
}

#[test]
fn hooks_are_for_the_cluster_for_names_or_for_all_others() {
    let place = with(
        "[hooks]\nbecame_leader = [\"bin/hook\", \"a b\"]\ntimeout = \"5s\"\n[[hooks.election]]\n\
                      name = \"backup\"\nlost_leader = [\"sh\", \"-c\", \"true\"]\ntimeout = \"7s\"\n\
                      [[hooks.election]]\nname = \"*\"\nnew_leader = [\"./bin/hook\"]\n",
    );
    let hooks = place.load(&Overrides::default(), &[]).unwrap().hooks;
    let of = |name| hooks.of(&Name::new(name).unwrap()).expect("there are some");
    let own = of("leader").became_leader.clone().unwrap();
    assert_eq!((own.program, own.args), (place.path().join("bin/hook"), vec!["a b".to_owned()]));
    assert!(of("leader").lost_leader.is_none() && of("leader").new_leader.is_none());
    let lost = of("backup").lost_leader.clone().unwrap();
    assert!(lost.program.is_absolute() && lost.program.ends_with("sh"), "it is found: {lost:?}");
    assert!(of("backup").new_leader.is_none(), "it has its own");
    assert!(of("another").new_leader.is_some() && of("another").became_leader.is_none());
    let timeouts = ["leader", "backup", "another"].map(|name| of(name).timeout.as_secs());
    assert_eq!(timeouts, [5, 7, 5]);
    assert!(hooks.are_for_the_cluster() && hooks.are_for_names());
}

#[test]
fn without_hooks_nothing_is_run() {
    let hooks = with("").load(&Overrides::default(), &[]).unwrap().hooks;
    assert!(!hooks.are_for_the_cluster() && !hooks.are_for_names());
    assert!(hooks.of(&Name::new("backup").unwrap()).is_none());
}

#[test]
fn a_hook_of_the_cluster_may_be_in_a_variable() {
    let place = with("");
    let hooks = place.load(&Overrides::default(), &[("BELLWETHER_HOOKS_NEW_LEADER", "sh, -c,true")]);
    let hook = hooks.unwrap().hooks.of(&Name::leader()).unwrap().new_leader.clone().unwrap();
    assert!(hook.program.ends_with("sh") && hook.args == ["-c", "true"], "{hook:?}");
}

#[test]
fn what_a_hook_leaves_behind_is_no_setting() {
    let left = ["EVENT", "ELECTION", "ELECTION_TOKEN", "ELECTION_EPOCH", "ELECTION_NODE"];
    let left = left.map(|name| (format!("BELLWETHER_{name}"), "x".to_owned()));
    let variables: Vec<_> = left.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    with("").load(&Overrides::default(), &variables).unwrap();
}

#[test]
fn a_hook_that_cannot_be_run_is_refused_before_anything_starts() {
    let expected = "a program and its arguments such as [\"/usr/local/bin/on-leader\", \"now\"]";
    for (tables, said) in [
        (
            "[hooks]\nbecame_leader = \"bin/hook\"\n",
            format!(":13:17: `hooks.became_leader`: found \"bin/hook\", expected {expected}"),
        ),
        (
            "[hooks]\nbecame_leader = []\n",
            format!(":13:17: `hooks.became_leader`: found no program, expected {expected}"),
        ),
        (
            "[hooks]\nlost_leader = [\"bin/text\"]\n",
            format!(":13:15: `hooks.lost_leader`: found \"bin/text\", which cannot be run, expected {expected}"),
        ),
        (
            "[hooks]\nnew_leader = [\"no-such-program\"]\n",
            format!(
                ":13:14: `hooks.new_leader`: found \"no-such-program\", which cannot be run, expected {expected}"
            ),
        ),
        (
            "[hooks]\ntimeout = \"0s\"\n",
            ":13:11: `hooks.timeout`: found no time at all, expected some, such as \"30s\"".to_owned(),
        ),
        ("[hooks]\nbecome_leader = [\"sh\"]\n", ":13:1: unknown key `hooks.become_leader`, did you mean `hooks.became_leader`?".to_owned()),
        (
            "[[hooks.election]]\nname = \"a\"\n",
            ":12:1: a [[hooks.election]] that is not whole, expected a `name` and a command for an event".to_owned(),
        ),
        (
            "[[hooks.election]]\nnew_leader = [\"sh\"]\n",
            ":12:1: a [[hooks.election]] that is not whole, expected a `name` and a command for an event".to_owned(),
        ),
        (
            "[[hooks.election]]\nname = \"leader\"\nnew_leader = [\"sh\"]\n",
            ":13:8: `hooks.election.name`: found \"leader\", which is the cluster's own leadership: its hooks are those of [hooks] itself".to_owned(),
        ),
        (
            "[[hooks.election]]\nname = \"a\\nb\"\nnew_leader = [\"sh\"]\n",
            ":13:8: `hooks.election.name`: found \"a\\nb\", expected the name of an election, of 1 to 255 bytes without control characters, or \"*\"".to_owned(),
        ),
        (
            "[[hooks.election]]\nname = \"a\"\nnew_leadr = [\"sh\"]\nlost_leader = [\"sh\"]\n",
            ":14:1: unknown key `new_leadr` of a hook, did you mean `new_leader`?".to_owned(),
        ),
        (
            "[[hooks.election]]\nname = \"*\"\nnew_leader = [\"sh\"]\n[[hooks.election]]\nname = \"*\"\nnew_leader = [\"sh\"]\n",
            ":15:1: `hooks.election`: there is one with name \"*\" already, expected each once".to_owned(),
        ),
        (
            "[hooks]\nelection = \"backup\"\n",
            ":13:12: `hooks.election`: found \"backup\", expected a table [[hooks.election]] for each election".to_owned(),
        ),
    ] {
        assert_eq!(with(tables).problems(&Overrides::default(), &[]), [format!("agent.toml{said}")], "{tables}");
    }
}

#[test]
fn hooks_of_named_elections_need_the_mode_that_has_them() {
    let place = Place::with(format!("{LEAST}[[hooks.election]]\nname = \"a\"\nnew_leader = [\"sh\"]\n"));
    let problems = place.problems(&Overrides::default(), &[]);
    assert_eq!(problems, ["agent.toml:11:1: `hooks.election` needs mode = \"exclusive\""]);
}
