//! `tls init`: certificates for a cluster.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use bellwether::tls::Identity;
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
