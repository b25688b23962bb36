//! `tls`: certificates for a cluster.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use bellwether::{Identity, NodeId};
use serde_json::{Value, json};

use crate::harness::{Scratch, bellwether};

const THREE: &str = r#"cluster = "demo"
tls = { ca = "tls/ca.pem" }
peer = [{ id = 1, address = "a" }, { id = 2, address = "b" }, { id = 30, address = "c" }]
"#;

const DISCOVERED: &str = r#"cluster = "demo"
tls = { ca = "tls/ca.pem" }
discovery = { dns = ["bellwether.default.svc"] }
"#;

#[test]
fn every_member_gets_a_certificate_of_one_authority() {
    let scratch = Scratch::new("tls-init");
    let config = scratch.file("agent.toml", THREE);
    let out = bellwether(&["tls", "init", "--config", &config]).done();
    let path = |name: &str| scratch.path(&format!("tls/{name}"));
    let names = [
        "ca.key",
        "ca.pem",
        "node-1.key",
        "node-1.pem",
        "node-2.key",
        "node-2.pem",
        "node-30.key",
        "node-30.pem",
    ];
    for name in names {
        assert!(out.contains(&format!("wrote  {}\n", path(name))), "{out}");
        let mode = fs::metadata(path(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode & 0o077 == 0, name.ends_with(".key"), "{name} {mode:o}");
    }
    for id in [1, 2, 30] {
        let (ca, cert, key) =
            (path("ca.pem"), path(&format!("node-{id}.pem")), path(&format!("node-{id}.key")));
        Identity::load(ca.as_ref(), cert.as_ref(), key.as_ref()).unwrap();
    }
    assert_eq!(listed(&scratch, "tls"), names, "and nothing besides");
}

#[test]
fn a_member_that_joins_later_gets_one_of_the_same_authority() {
    let scratch = Scratch::new("tls-later");
    let config = scratch.file("agent.toml", DISCOVERED);
    let out = scratch.path("out");
    let init = |nodes: &str| {
        let args = ["tls", "init", "--config", &config, "--out", &out, "--nodes", nodes, "--json"];
        serde_json::from_str::<Value>(&bellwether(&args).done()).unwrap()
    };
    let first = ["ca.key", "ca.pem", "node-1.key", "node-1.pem"];
    assert_eq!(init("1"), json!({"directory": out, "written": first, "kept": []}));
    let before = fs::read(scratch.path("out/node-1.pem")).unwrap();
    let kept = ["ca.pem", "ca.key", "node-1.pem", "node-1.key"];
    assert_eq!(init("2,1"), json!({"directory": out, "written": ["node-2.key", "node-2.pem"], "kept": kept}));
    assert_eq!(fs::read(scratch.path("out/node-1.pem")).unwrap(), before);
    let path = |name: &str| scratch.path(&format!("out/{name}"));
    Identity::load(path("ca.pem").as_ref(), path("node-2.pem").as_ref(), path("node-2.key").as_ref())
        .unwrap();
    assert_eq!(init("1,2")["written"], json!([]));
}

#[test]
fn what_is_there_is_not_overwritten() {
    let scratch = Scratch::new("tls-there");
    let config = scratch.file("agent.toml", THREE);
    fs::create_dir(scratch.path("tls")).unwrap();
    for (name, words) in [
        ("node-2.key", "node-2.key is there (1 in all), but no authority that could have issued it"),
        ("ca.pem", "ca.pem is there without ca.key, expected both or neither; nothing was written"),
        ("ca.key", "ca.key is there without ca.pem, expected both or neither; nothing was written"),
    ] {
        let path = scratch.file(&format!("tls/{name}"), "precious");
        let outcome = bellwether(&["tls", "init", "--config", &config]);
        assert_eq!((outcome.code, outcome.out.as_str()), (2, ""));
        assert!(outcome.err.contains(words), "{}", outcome.err);
        assert_eq!(fs::read_to_string(&path).unwrap(), "precious");
        assert_eq!(listed(&scratch, "tls"), [name]);
        fs::remove_file(path).unwrap();
    }
    for name in ["tls/ca.pem", "tls/ca.key"] {
        scratch.file(name, "not ours");
    }
    let outcome = bellwether(&["tls", "init", "--config", &config]);
    assert_eq!(outcome.code, 2, "{}", outcome.err);
    assert!(outcome.err.contains("cannot go on"), "{}", outcome.err);
}

/// What `tls show` says of a cluster, by the name of the file, and its exit code.
fn shown(config: &str) -> (i32, BTreeMap<String, Value>) {
    let outcome = bellwether(&["tls", "show", "--config", config, "--json"]);
    let rows = outcome.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let name = |row: &Value| row["file"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    (outcome.code, rows.map(|row| (name(&row), row)).collect())
}

#[test]
fn a_certificate_is_renewed_for_the_key_that_is_there() {
    let scratch = Scratch::new("tls-renew");
    let config = scratch.file("agent.toml", THREE);
    bellwether(&["tls", "init", "--config", &config, "--days", "5"]).done();
    let (code, before) = shown(&config);
    assert_eq!((code, before.len()), (0, 4));
    let path = |name: &str| scratch.path(&format!("tls/{name}"));
    let read = |name: &str| fs::read_to_string(path(name)).unwrap();
    let (key, others) = (read("node-2.key"), [read("node-1.pem"), read("ca.pem")]);
    fs::remove_file(path("node-1.key")).unwrap();
    let said = bellwether(&["tls", "renew", "--config", &config, "--nodes", "2"]).done();
    assert!(said.contains("node-2.pem, for 90 days"), "{said}");
    assert_eq!((read("node-2.key"), [read("node-1.pem"), read("ca.pem")]), (key, others));
    let identity =
        Identity::load(path("ca.pem").as_ref(), path("node-2.pem").as_ref(), path("node-2.key").as_ref());
    identity.unwrap().good_until("demo", NodeId(2)).unwrap();
    bellwether(&["tls", "renew", "--config", &config]).done();
    let (code, after) = shown(&config);
    let days = |row: &Value| (row["until"].as_u64().unwrap() - row["from"].as_u64().unwrap()) / 86_400;
    assert_eq!((code, days(&before["node-1.pem"]), days(&after["node-1.pem"])), (0, 5, 90));
    assert_ne!(before["node-2.pem"]["serial"], after["node-2.pem"]["serial"]);
    let names = ["demo.bellwether.internal", "node-1.demo.bellwether.internal"];
    assert_eq!(after["node-1.pem"]["names"], json!(names));
    let said = bellwether(&["tls", "show", &path("node-1.pem")]).done();
    assert!(said.contains(names[1]) && said.contains("89 days"), "{said}");
    fs::remove_file(path("node-30.pem")).unwrap();
    for (args, code, words) in [
        (&["renew", "--config", &config][..], 3, "node-30.pem: No such file"),
        (&["renew", "--config", &config, "--nodes", "4"], 2, "does not list node 4"),
        (&["show", &path("node-1.pem.txt")], 3, "cannot read "),
        (&["show", &config], 2, "has no certificate"),
        (&["show"], 2, "required"),
    ] {
        let outcome = bellwether(&[&["tls"], args].concat());
        assert!(outcome.code == code && outcome.err.contains(words), "{outcome:?}");
    }
}

#[test]
fn an_authority_takes_the_place_of_another() {
    let scratch = Scratch::new("tls-rotate");
    let config = scratch.file("agent.toml", THREE);
    let tls = |args: &[&str]| bellwether(&[&["tls"], args, &["--config", &config]].concat());
    tls(&["init"]).done();
    let refused = |args: &[&str], words: &str| {
        let outcome = tls(args);
        assert!(outcome.code == 2 && outcome.err.contains(words), "{words}: {outcome:?}");
    };
    refused(&["rotate", "--finish"], "has one authority");
    tls(&["rotate"]).done();
    let trusted = || fs::read_to_string(scratch.path("tls/ca.pem")).unwrap().matches("BEGIN").count();
    assert_eq!((trusted(), shown(&config).0), (2, 0), "both are trusted");
    refused(&["rotate"], "has two authorities already");
    refused(&["rotate", "--finish"], "run `bellwether tls renew` first; nothing was written");
    tls(&["renew"]).done();
    tls(&["rotate", "--finish"]).done();
    assert_eq!((trusted(), shown(&config).0), (1, 0));
    for name in ["ca.key", "ca-old.key"] {
        let mode = fs::metadata(scratch.path(&format!("tls/{name}"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    // As if it had been interrupted when the old key was still there: it can be begun again.
    tls(&["rotate"]).done();
    fs::copy(scratch.path("tls/ca-old.key"), scratch.path("tls/ca.key")).unwrap();
    assert_eq!(shown(&config).0, 0);
    tls(&["rotate"]).done();
    tls(&["renew"]).done();
    tls(&["rotate", "--finish"]).done();
    assert_eq!((trusted(), shown(&config).0), (1, 0));
}

#[test]
fn what_is_revoked_is_refused_and_its_key_not_certified_again() {
    let scratch = Scratch::new("tls-revoke");
    let config = scratch.file("agent.toml", THREE);
    let tls = |args: &[&str]| bellwether(&[&["tls"], args, &["--config", &config]].concat());
    tls(&["init"]).done();
    tls(&["revoke", "--nodes", "2"]).done();
    tls(&["revoke", &scratch.path("tls/node-30.pem")]).done();
    let (code, rows) = shown(&config);
    let revoked = |name: &str| rows[name]["problem"].to_string().contains("it has been revoked");
    assert_eq!((code, ["node-1.pem", "node-2.pem", "node-30.pem"].map(revoked)), (1, [false, true, true]));
    let outcome = tls(&["renew"]);
    assert!(outcome.code == 2 && outcome.err.contains("node-2.pem is revoked"), "{outcome:?}");
    for name in ["node-2.pem", "node-2.key", "node-30.pem", "node-30.key"] {
        fs::remove_file(scratch.path(&format!("tls/{name}"))).unwrap();
    }
    tls(&["init"]).done();
    assert_eq!(shown(&config).0, 0);
    let other = Scratch::new("tls-revoke-other");
    let others = other.file("agent.toml", THREE);
    bellwether(&["tls", "init", "--config", &others]).done();
    let outcome = tls(&["revoke", &other.path("tls/node-1.pem")]);
    assert!(outcome.code == 2 && outcome.err.contains("the authority did not issue it"), "{outcome:?}");
}

/// The commands are those of the guide.
#[test]
fn certificates_that_openssl_makes_are_taken() {
    let guide = include_str!("../../../../docs/guides/certificates.md");
    let commands =
        guide.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("it has them");
    let scratch = Scratch::new("tls-openssl");
    let file =
        format!("data_dir = \"data\"\n{}", THREE.replace("30", "3").replace(
        "tls = { ca = \"tls/ca.pem\" }",
        "tls = { ca = \"tls/ca.pem\", cert = \"tls/node-{node}.pem\", key = \"tls/node-{node}.key\" }",
    ));
    let config = scratch.file("agent.toml", file);
    let made = Command::new("sh").args(["-euc", commands]).current_dir(scratch.path(".")).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for node in ["1", "2", "3"] {
        let said = bellwether(&["agent", "--config", &config, "--check-config", "--node", node]);
        assert!(said.code == 0 && said.out.contains("good for 89 days more"), "{said:?}");
    }
    assert_eq!(shown(&config).0, 0);
    // And the authority goes on from its files.
    for args in [&["renew"][..], &["revoke", "--nodes", "3"], &["rotate"], &["renew", "--nodes", "1,2"]] {
        bellwether(&[&["tls"], args, &["--config", &config]].concat()).done();
    }
    let (code, rows) = shown(&config);
    assert_eq!((code, rows["node-3.pem"]["problem"].to_string().contains("revoked")), (1, true));
}

#[test]
fn what_cannot_be_written_is_a_failure() {
    let scratch = Scratch::new("tls-unwritable");
    let config = scratch.file("agent.toml", THREE);
    let in_the_way = scratch.file("tls", "a file");
    let outcome = bellwether(&["tls", "init", "--config", &config]);
    assert_eq!(outcome.code, 3, "{}", outcome.err);
    assert!(outcome.err.starts_with(&format!("error: cannot write {in_the_way}")), "{}", outcome.err);
}

#[test]
fn who_the_members_are_must_be_clear() {
    let scratch = Scratch::new("tls-members");
    let (listed, discovered) = (scratch.file("listed.toml", THREE), scratch.file("named.toml", DISCOVERED));
    for (args, words) in [
        (&[&listed[..], "--nodes", "1"][..], "--nodes is for [discovery]"),
        (&[&discovered], "expected --nodes such as --nodes 1,2,3"),
        (&[&scratch.path("missing.toml")], "there is no such file"),
    ] {
        let outcome = bellwether(&[&["tls", "init", "--config"], args].concat());
        assert_eq!(outcome.code, 2);
        assert!(outcome.err.contains(words), "{}", outcome.err);
    }
}

fn listed(scratch: &Scratch, directory: &str) -> Vec<String> {
    let entries = fs::read_dir(scratch.path(directory)).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
