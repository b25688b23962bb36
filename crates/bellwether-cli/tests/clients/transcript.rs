//! What `docs/reference/clients-transcript.txt` says is so: it is replayed against an agent, and against the stand-in of the client for
//! Python.

mod script;
mod wire;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use serde_json::Value;

use super::python::{python, root};
use crate::cluster::{Cluster, DEADLINE, Process, Shape, TOKEN, http, wait_until};
use crate::faults::skip_unless_required;
use script::{Expected, Part, Script, Sent};
use wire::{Doors, Line};

const TRANSCRIPT: &str = include_str!("../../../../docs/reference/clients-transcript.txt");

#[test]
fn the_transcript_is_what_an_agent_says() {
    let mut cluster =
        Cluster::prepare(&Shape { more: "mode = \"exclusive\"\nrelease_timeout = \"20s\"", ..Shape::of(1) });
    let socket = cluster.home(1).join("agent.sock");
    cluster.start_node_with(1, &[("BELLWETHER_LISTEN_SOCKET", socket.display().to_string())]);
    if let Err(why) = has_elections(&mut cluster, &socket) {
        return skip_unless_required("BELLWETHER_REQUIRE_ELECTIONS", "the transcript, with an agent", why);
    }
    cluster.wait_for_leader();
    replay(Doors { socket, api: cluster.api(1) });
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
    replay(Doors { socket: dir.path().join("agent.sock"), api: api.trim().to_owned() });
}

/// Whether this build has named elections, and a Unix socket to ask for them. An older one takes the socket for a slip, or has nothing there.
fn has_elections(cluster: &mut Cluster, socket: &Path) -> Result<(), &'static str> {
    let mut has = Ok(());
    let found = wait_until(DEADLINE, || {
        if cluster.has_ended(1) {
            has = Err("this build has no Unix socket");
            return true;
        }
        let status = http::try_get(&cluster.api(1), "/v1/elections").map(|answer| answer.status);
        has = if status == Some(404) { Err("this build has no named elections") } else { Ok(()) };
        status == Some(404) || (status == Some(200) && socket.exists())
    });
    assert!(found, "{}", cluster.log(1));
    has
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
        let headers = headers.iter().map(filled).collect::<Result<Vec<_>, _>>()?;
        let body = body.as_ref().map(filled).transpose()?.unwrap_or_default();
        self.doors.open(self.on_socket, &filled(request)?, &headers, &body)
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
