//! `bellwether lab`: what its page asks, and what it is answered, as anybody may ask it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::harness::{LEAST, bellwether, command};

/// A search takes a second.
const DEADLINE: Duration = Duration::from_secs(60);

/// A laboratory, and where it is.
struct Lab {
    child: Child,
    address: String,
}

impl Lab {
    fn open(files: &[&str]) -> Self {
        let mut child =
            command(&[&["lab"], files].concat()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("it is piped"))
            .read_line(&mut line)
            .expect("it says where it is");
        let (_, rest) = line.split_once("http://").unwrap_or_else(|| panic!("{line:?}"));
        let address = rest.split('/').next().expect("there is a first part").to_owned();
        Self { child, address }
    }

    /// The status, and the answer.
    fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let mut request =
            format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| *name == "host") {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        headers.iter().for_each(|(name, value)| request.push_str(&format!("{name}: {value}\r\n")));
        request.push_str("\r\n");
        request.push_str(body);
        stream.write_all(request.as_bytes()).expect("it reads");
        answer(stream)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask("GET", path, &[], "")
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let (status, answer) =
            self.ask("POST", path, &[("content-type", "application/json")], &body.to_string());
        (status, serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{error}: {answer}")))
    }

    fn play(&self, text: &str) -> (u16, Value) {
        self.post("/v1/lab/runs", &json!({ "name": "x.toml", "text": text }))
    }

    /// The run of a scenario that can be played.
    #[track_caller]
    fn run(&self, text: &str) -> Value {
        let (status, run) = self.play(text);
        assert_eq!(status, 200, "{run}");
        run
    }

    /// The scenario of a run in which something more happens.
    fn branch(&self, run: &Value, what: &Value) -> (u16, Value) {
        self.post(&format!("/v1/lab/runs/{}/branch", run["id"]), what)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }
}

fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("it answers");
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
}

const LOST_LDR: &str = include_str!("../../../../scenarios/est06b-lost-ldr-printed.toml");

#[test]
fn a_run_says_which_promises_it_broke_and_when() {
    let lab = Lab::open(&[]);
    let run = lab.run(LOST_LDR);
    let broken: Vec<_> =
        run["promises"].as_array().unwrap().iter().filter(|promise| promise["holds"] == false).collect();
    assert_eq!(broken[0]["name"], "ALE2'", "{run}");
    assert!(broken[0]["broken"]["at_us"].as_u64().unwrap() > 0, "{run}");
    assert_eq!((&run["variant"], &run["passed"]), (&json!("printed"), &json!(true)), "as the file expects");
    let (status, film) = lab.get(&format!("/v1/lab/runs/{}/film", run["id"]));
    assert!(status == 200 && film.contains("\"columns\""), "{status}");
    let (status, nodes) = lab.get(&format!("/v1/lab/runs/{}/nodes?t_us=1000000", run["id"]));
    assert_eq!(status, 200, "{nodes}");
    let nodes: Value = serde_json::from_str(&nodes).unwrap();
    assert!(nodes[2]["inside"].as_str().unwrap().contains("pendack"), "the paper's own names: {nodes}");
}

#[test]
fn a_mistake_is_told_with_its_line() {
    let lab = Lab::open(&[]);
    let (status, answer) = lab.play(&format!("{LEAST}[[event]]\nat = \"500ms\"\ncrash = [7]\n"));
    assert_eq!(status, 422);
    assert_eq!((&answer["line"], &answer["column"]), (&json!(6), &json!(10)), "{answer}");
    assert_eq!(answer["error"], "there is no node 7, expected one from 1 to 2");
}

#[test]
fn what_is_too_large_is_refused_in_words() {
    let lab = Lab::open(&[]);
    let (status, answer) = lab.play(&LEAST.replace("nodes = 2", "nodes = 65"));
    assert_eq!(status, 422);
    assert!(answer["error"].as_str().unwrap().contains("at most 64"), "{answer}");
    let long = format!("{}[timing]\ntau = \"1ms\"\n", LEAST.replace("1s", "10000s"));
    let (status, answer) = lab.play(&long);
    assert_eq!(status, 422);
    assert!(answer["error"].as_str().unwrap().contains("make `until` shorter"), "{answer}");
    let (status, answer) = lab.play(&format!("# {}\n{LEAST}", "x".repeat(600 * 1024)));
    assert_eq!(status, 413, "{answer}");
    for (runs, nodes, expected) in [(100_001, 3, "1 to 100000"), (0, 3, "1 to 100000"), (10, 10, "at most 9")]
    {
        let wanted = json!({ "protocol": "fjr", "variant": "repaired", "runs": runs, "nodes": nodes });
        let (status, answer) = lab.post("/v1/lab/searches", &wanted);
        assert_eq!(status, 422);
        assert!(answer["error"].as_str().unwrap().contains(expected), "{answer}");
    }
}

/// Nobody waits for the rest of it.
#[test]
fn a_gibibyte_is_refused_before_it_comes() {
    let lab = Lab::open(&[]);
    let mut stream = TcpStream::connect(&lab.address).unwrap();
    let head = format!(
        "POST /v1/lab/traces HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        lab.address,
        1_u64 << 30
    );
    stream.write_all(head.as_bytes()).unwrap();
    let (status, answer) = answer(stream);
    assert!(status == 413 && answer.contains("64 MiB"), "{status} {answer}");
}

#[test]
fn a_branch_has_the_same_past() {
    let lab = Lab::open(&[]);
    let text =
        "protocol = \"async-bully\"\nnodes = 3\nuntil = \"2s\"\n\n[network]\nlatency = [\"1ms\", \"5ms\"]\n";
    let run = lab.run(text);
    let (status, made) = lab.branch(&run, &json!({ "what": "drop", "trip": 40 }));
    assert_eq!(status, 200, "{made}");
    let branch = made["text"].as_str().unwrap();
    assert!(branch.starts_with(text), "what was written stays: {branch}");
    let lost = lab.run(branch);
    assert_eq!(lost["messages"]["lost"], 1, "{branch}");
    for what in [
        json!({ "what": "crash", "node": 1, "frame": 50 }),
        json!({ "what": "pause", "node": 2, "frame": 50 }),
        json!({ "what": "cut", "from": 1, "to": 2, "frame": 50 }),
        json!({ "what": "cut_one_way", "from": 1, "to": 2, "frame": 50 }),
        json!({ "what": "heal", "frame": 50 }),
        json!({ "what": "delay", "trip": 40, "by_us": 50_000 }),
        json!({ "what": "duplicate", "trip": 41 }),
    ] {
        let (status, made) = lab.branch(&run, &what);
        assert_eq!(status, 200, "{made}");
        lab.run(made["text"].as_str().unwrap());
    }
    for wrong in [
        json!({ "what": "crash", "node": 9, "frame": 50 }),
        json!({ "what": "crash", "node": 1, "frame": 1_000_000 }),
        json!({ "what": "cut", "from": 1, "to": 1, "frame": 50 }),
        json!({ "what": "drop", "trip": 1_000_000 }),
        json!({ "what": "delay", "trip": 40, "by_us": 0 }),
    ] {
        let (status, answer) = lab.branch(&run, &wrong);
        assert_eq!(status, 422, "{wrong}: {answer}");
    }
    let (status, _) = lab.branch(&json!({ "id": 1_000_000 }), &json!({ "what": "heal", "frame": 0 }));
    assert_eq!(status, 404);
}

#[test]
fn the_other_variant_plays_the_same_schedule() {
    let lab = Lab::open(&[]);
    let (status, made) = lab.post("/v1/lab/variant", &json!({ "text": LOST_LDR, "variant": "repaired" }));
    assert_eq!(status, 200, "{made}");
    let text = made["text"].as_str().unwrap();
    assert_eq!(text.lines().count(), LOST_LDR.lines().count(), "one line is another: {text}");
    let run = lab.run(text);
    assert!(run["promises"].as_array().unwrap().iter().all(|promise| promise["holds"] != false), "{run}");
}

#[test]
fn a_search_finds_what_can_be_played() {
    let lab = Lab::open(&[]);
    let wanted = json!({ "protocol": "async-bully", "variant": "printed", "runs": 2000, "nodes": 3 });
    let (status, began) = lab.post("/v1/lab/searches", &wanted);
    assert_eq!(status, 200, "{began}");
    let path = format!("/v1/lab/searches/{}", began["id"]);
    let deadline = Instant::now() + DEADLINE;
    let over = loop {
        let (status, seen) = lab.get(&path);
        assert_eq!(status, 200, "{seen}");
        let seen: Value = serde_json::from_str(&seen).unwrap();
        if seen["state"] == "over" {
            break seen;
        }
        assert!(Instant::now() < deadline, "{seen}");
    };
    let found = &over["found"];
    let run = lab.run(found["text"].as_str().unwrap_or_else(|| panic!("{over}")));
    let promise =
        run["promises"].as_array().unwrap().iter().find(|promise| promise["name"] == found["property"]);
    assert_eq!(promise.unwrap()["holds"], false, "{run}");
}

#[test]
fn what_agents_recorded_opens_as_a_run() {
    let lab = Lab::open(&[]);
    let setup = r#"{"v":1,"t_us":0,"node":1,"inc":1,"ev":"setup","setup":{"cluster":"c","protocol":"fjr","variant":"repaired","nodes":[1,4],"delta_us":1000,"tau_us":10000,"step_us":1000,"detector":null}}"#;
    let events = [
        r#"{"v":1,"t_us":10,"node":1,"inc":1,"ev":"recover"}"#,
        r#"{"v":1,"t_us":20,"node":1,"inc":1,"ev":"send","msg":{"id":1,"kind":"heartbeat","from":1,"to":4}}"#,
    ];
    let post = |text: &str| {
        lab.post("/v1/lab/traces", &json!({ "files": [{ "name": "node-1.jsonl", "text": text }] }))
    };
    let (status, run) = post(&format!("{setup}\n{}\n", events.join("\n")));
    assert_eq!(status, 200, "{run}");
    assert_eq!(run["nodes"], json!([1, 4]), "{run}");
    let (status, _) = lab.get(&format!("/v1/lab/runs/{}/film", run["id"]));
    assert_eq!(status, 200);
    let (status, answer) = lab.branch(&run, &json!({ "what": "heal", "frame": 0 }));
    assert!(status == 422 && answer["error"].as_str().unwrap().contains("recorded"), "{answer}");
    let (status, answer) = post(&format!("{setup}\n{}\n", events[0].replace("\"v\":1", "\"v\":2")));
    assert_eq!(status, 422);
    assert_eq!(answer["error"], "node-1.jsonl:2: found version 2, expected 1");
    let (status, answer) = post("not a trace\n");
    assert!(status == 422 && answer["error"].as_str().unwrap().starts_with("node-1.jsonl:1: "), "{answer}");
}

#[test]
fn only_its_own_page_is_answered() {
    let lab = Lab::open(&[]);
    let (status, _) = lab.ask("GET", "/v1/lab/examples", &[("host", "evil.example")], "");
    assert_eq!(status, 421);
    let body = json!({ "name": "x", "text": LEAST }).to_string();
    let json = ("content-type", "application/json");
    let (status, _) = lab.ask("POST", "/v1/lab/runs", &[json, ("origin", "http://evil.example")], &body);
    assert_eq!(status, 403);
    let (status, _) = lab.ask("POST", "/v1/lab/runs", &[("content-type", "text/plain")], &body);
    assert_eq!(status, 415);
    let (status, _) = lab.ask("POST", "/v1/lab/runs", &[json], "{");
    assert_eq!(status, 400);
    let (status, page) = lab.get("/");
    assert!(status == 200 && page.contains("<!doctype html>"), "{page}");
    assert_eq!(lab.get("/page/../Cargo.toml").0, 404);
    assert_eq!(lab.get("/elsewhere").0, 404);
}

#[test]
fn files_that_are_named_come_first_and_must_be_scenarios() {
    let lab = Lab::open(&["scenarios/s02-path.toml"]);
    let (_, examples) = lab.get("/v1/lab/examples");
    let examples: Value = serde_json::from_str(&examples).unwrap();
    assert_eq!(examples[0]["name"], "scenarios/s02-path.toml");
    let (status, example) = lab.get("/v1/lab/examples/0");
    assert!(status == 200 && example.contains("protocol"), "{example}");
    assert_eq!(lab.get("/v1/lab/examples/1000").0, 404);
    for (file, why) in [("Cargo.toml", "unknown key `profile`"), ("nowhere.toml", "no such file")] {
        let outcome = bellwether(&["lab", file]);
        assert!(outcome.code == 2 && outcome.err.contains(why), "{outcome:?}");
    }
    let outcome = bellwether(&["lab", "--listen", "0.0.0.0:0"]);
    assert!(outcome.code == 2 && outcome.err.contains("for itself"), "{outcome:?}");
}
