//! A transcript, as it is written.

use std::collections::BTreeMap;

use serde_json::Value;

/// All of it, each part with the number of its line.
pub(super) struct Script {
    pub(super) parts: Vec<(usize, Part)>,
}

pub(super) enum Part {
    /// Through which door the next requests go.
    Door {
        socket: bool,
    },
    Sends {
        line: String,
        sent: Sent,
    },
    Comes {
        line: String,
        expected: Expected,
    },
    /// The client closes its connection.
    Closes {
        line: String,
    },
    Where {
        larger: String,
        smaller: String,
    },
}

/// A request.
pub(super) struct Sent {
    /// `GET /v1/elections`
    pub(super) request: String,
    pub(super) headers: Vec<String>,
    pub(super) body: Option<String>,
}

/// What is to come.
pub(super) enum Expected {
    Status(u16),
    Header(String, String),
    /// The whole body of an answer.
    Answer(Value),
    /// An event of a stream: its name, and what it says.
    Event(String, Value),
}

impl Script {
    /// # Panics
    /// If it is not written as its own beginning says.
    pub(super) fn parse(text: &str) -> Self {
        let mut parts: Vec<(usize, Part)> = Vec::new();
        // An event whose data are on the next line.
        let mut event = None;
        let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        for (at, line) in lines {
            let (first, rest) = line.split_once(' ').unwrap_or_else(|| panic!("line {at}: {line}"));
            let name = || first[..first.len() - 1].to_owned();
            let part = match (first, first.chars().last(), rest) {
                ("door", _, door) => Part::Door { socket: door == "socket" },
                ("where", _, order) => {
                    let (larger, smaller) = order.split_once(" > ").expect("one is larger");
                    let name = |of: &str| of.trim_matches(['<', '>']).to_owned();
                    Part::Where { larger: name(larger), smaller: name(smaller) }
                }
                (_, Some('.'), "closes") => Part::Closes { line: name() },
                (_, Some('>'), sent) => match parts.last_mut() {
                    Some((_, Part::Sends { line, sent: before })) if *line == name() && !is_request(sent) => {
                        before.add(sent);
                        continue;
                    }
                    _ => Part::Sends { line: name(), sent: Sent::new(sent) },
                },
                (_, Some('<'), said) => match (said.strip_prefix("event "), event.take()) {
                    (Some(named), _) => {
                        event = Some(named.to_owned());
                        continue;
                    }
                    (None, named) => Part::Comes { line: name(), expected: expected(said, named) },
                },
                _ => panic!("line {at}: {line}"),
            };
            parts.push((at, part));
        }
        Self { parts }
    }
}

impl Sent {
    fn new(request: &str) -> Self {
        Self { request: request.to_owned(), headers: Vec::new(), body: None }
    }

    fn add(&mut self, line: &str) {
        match line.starts_with('{') {
            true => self.body = Some(line.to_owned()),
            false => self.headers.push(line.to_owned()),
        }
    }
}

fn is_request(line: &str) -> bool {
    ["GET ", "POST ", "PUT ", "DELETE "].iter().any(|method| line.starts_with(method))
}

fn expected(said: &str, event: Option<String>) -> Expected {
    if let Ok(status) = said.parse() {
        return Expected::Status(status);
    }
    if !said.starts_with('{') {
        let (name, value) = said.split_once(": ").expect("a header");
        return Expected::Header(name.to_owned(), value.to_owned());
    }
    let data = template(said);
    event.map_or_else(|| Expected::Answer(data.clone()), |name| Expected::Event(name, data.clone()))
}

/// JSON in which placeholders stand for values: each becomes a text.
fn template(json: &str) -> Value {
    let quoted = json.replace("\"<", "<").replace(">\"", ">").replace('<', "\"<").replace('>', ">\"");
    serde_json::from_str(&quoted).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Puts what is known in the place of placeholders.
pub(super) fn fill_in(text: &str, known: &BTreeMap<String, Value>) -> Result<String, String> {
    let mut filled = String::new();
    let mut pieces = text.split('<');
    filled.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let (name, rest) = piece.split_once('>').ok_or_else(|| format!("{text} has no end"))?;
        match known.get(name) {
            Some(Value::String(word)) => filled.push_str(word),
            Some(value) => filled.push_str(&value.to_string()),
            None => return Err(format!("nothing is known of <{name}>")),
        }
        filled.push_str(rest);
    }
    Ok(filled)
}

/// Whether what was found is what was expected. What placeholders stand for is remembered.
pub(super) fn fits(
    expected: &Value,
    found: &Value,
    known: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    let wrong = || Err(format!("found {found}, expected {expected}"));
    match (expected, found) {
        (Value::String(text), _) if text.starts_with('<') && text.ends_with('>') => {
            let name = &text[1..text.len() - 1];
            if name == "_" {
                return Ok(());
            }
            match known.get(name) {
                Some(before) if before != found => Err(format!("<{name}> was {before}, and is {found}")),
                Some(_) => Ok(()),
                None => {
                    known.insert(name.to_owned(), found.clone());
                    Ok(())
                }
            }
        }
        (Value::Object(all), Value::Object(there)) if all.keys().eq(there.keys()) => {
            all.iter().try_for_each(|(key, value)| fits(value, &there[key], known))
        }
        (Value::Array(all), Value::Array(there)) if all.len() == there.len() => {
            all.iter().zip(there).try_for_each(|(value, found)| fits(value, found, known))
        }
        (one, other) if one == other => Ok(()),
        _ => wrong(),
    }
}

#[test]
fn placeholders_stand_for_values() {
    let mut known = BTreeMap::new();
    let expected = template("{\"a\":<a>,\"b\":[\"<b>\",<_>],\"c\":null}");
    let found = template("{\"c\":null,\"a\":7,\"b\":[\"x\",{}]}");
    assert_eq!(fits(&expected, &found, &mut known), Ok(()));
    assert_eq!(fill_in("/<b>/{\"n\":<a>,\"t\":\"<b>\"}", &known).unwrap(), "/x/{\"n\":7,\"t\":\"x\"}");
    assert!(fits(&template("[<a>]"), &template("[8]"), &mut known).is_err(), "it is the same everywhere");
    assert!(
        fits(&template("{\"a\":7}"), &template("{\"a\":7,\"b\":8}"), &mut known).is_err(),
        "all is there"
    );
    assert!(fill_in("<c>", &known).is_err());
}
