//! What `docs/reference/clients-transcript.txt` says is so: it is replayed against an agent, and against the stand-in of the client for
//! Python.

mod line;
mod script;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::python::{python, root};
use crate::cluster::door::Door;
use crate::cluster::{Cluster, DEADLINE, Process, Shape, TOKEN};
use line::Line;
use script::{Expected, Part, Script, Sent};

const TRANSCRIPT: &str = include_str!("../../../../docs/reference/clients-transcript.txt");

#[test]
fn the_transcript_is_what_an_agent_says() {
    let mut cluster = Cluster::prepare(&Shape {
        more: "mode = \"exclusive\"\nrelease_timeout = \"20s\"",
        socket: true,
        ..Shape::of(1)
    });
    cluster.start_all();
    cluster.wait_for_leader();
    replay(Doors { socket: cluster.socket(1), api: cluster.port(1).bare() });
}

#[test]
fn the_transcript_is_what_the_stand_in_says() {
    let Some(mut command) = python("the transcript, with the stand-in") else { return };
    let dir = tempfile::tempdir().expect("there is room for a test");
    command.arg(root().join("clients/python/tests/stand_in.py"));
    command.arg("--directory").arg(dir.path()).args(["--token", TOKEN]);
    let mut process = Process::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()));
    let mut api = String::new();
    let said = process.child().stdout.take().expect("it is piped");
    BufReader::new(said).read_line(&mut api).expect("it says where it is");
    replay(Doors {
        socket: Door::at_socket(dir.path().join("agent.sock")),
        api: Door::at_port(api.trim().to_owned()),
    });
}

/// Says what the clients say, and compares.
#[track_caller]
fn replay(doors: Doors) {
    let script = Script::parse(TRANSCRIPT);
    let mut play = Play { doors, on_socket: true, lines: BTreeMap::new(), known: BTreeMap::new() };
    play.known.insert("api_token".to_owned(), TOKEN.into());
    for (at, part) in &script.parts {
        play.part(part)
            .unwrap_or_else(|wrong| panic!("clients-transcript.txt:{at}: {wrong}\n{:#?}", play.known));
    }
}

/// Both doors of an agent.
struct Doors {
    socket: Door,
    api: Door,
}

/// A transcript that is being replayed.
struct Play {
    doors: Doors,
    on_socket: bool,
    lines: BTreeMap<String, Line>,
    /// What placeholders stand for.
    known: BTreeMap<String, Value>,
}

impl Play {
    fn part(&mut self, part: &Part) -> Result<(), String> {
        match part {
            Part::Door { socket } => self.on_socket = *socket,
            Part::Where { larger, smaller } => {
                let value = |name: &String| self.known.get(name).and_then(Value::as_u64);
                if value(larger) <= value(smaller) {
                    return Err("it is not so".to_owned());
                }
            }
            Part::Closes { line } => drop(self.lines.remove(line)),
            Part::Sends { line, sent } => {
                let line_of = self.send(sent)?;
                self.lines.insert(line.clone(), line_of);
            }
            Part::Comes { line, expected } => self.compare(line, expected)?,
        }
        Ok(())
    }

    fn send(&self, Sent { request, headers, body }: &Sent) -> Result<Line, String> {
        let filled = |text: &String| script::fill_in(text, &self.known);
        let mut door = if self.on_socket { self.doors.socket.clone() } else { self.doors.api.clone() };
        for header in headers {
            let header = filled(header)?;
            let (name, value) = header.split_once(": ").ok_or("no header")?;
            door = door.with(name, value);
        }
        let request = filled(request)?;
        let (method, path) = request.split_once(' ').ok_or("no request")?;
        let body = body.as_ref().map(filled).transpose()?.unwrap_or_default();
        Ok(Line::of(door.send(method, path, &body)))
    }

    fn compare(&mut self, line: &str, expected: &Expected) -> Result<(), String> {
        let line = self.lines.get_mut(line).ok_or("nothing was sent there")?;
        match expected {
            Expected::Status(status) => match line.status()? {
                found if found == *status => Ok(()),
                found => Err(format!("found {found}: {}", line.rest())),
            },
            Expected::Header(name, value) => {
                let found = line.header(name).ok_or_else(|| format!("there is no header {name}"))?;
                script::fits(&Value::String(value.clone()), &Value::String(found), &mut self.known)
            }
            Expected::Answer(answer) => script::fits(answer, &line.answer()?, &mut self.known),
            Expected::Event(name, data) => await_event(line, name, data, &mut self.known),
        }
    }
}

/// Reads on until there is such an event. Those that only tell how things stand may come in between.
fn await_event(
    line: &mut Line,
    name: &str,
    data: &Value,
    known: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    let limit = Instant::now() + DEADLINE;
    let mut wrong = "nothing came".to_owned();
    while Instant::now() < limit {
        let (found, said) = line.event().map_err(|error| format!("{error}; before: {wrong}"))?;
        // What does not fit must leave no placeholder filled in.
        let mut filled = known.clone();
        match script::fits(data, &said, &mut filled) {
            Ok(()) if found == name => {
                *known = filled;
                return Ok(());
            }
            _ => wrong = format!("found {found} {said}, expected {name} {data}"),
        }
        if !["valid", "waiting", "election"].contains(&found.as_str()) {
            break;
        }
    }
    Err(wrong)
}
