//! One value as it was given, and its meaning.

use std::fmt;
use std::net::SocketAddr;
use std::ops::{Range, RangeInclusive};
use std::time::Duration;

use bellwether::tls::check_cluster_name;
use bellwether_proto::election::{InAgent, Protocol, Variant};
use bellwether_proto::ident::NodeId;
use bellwether_proto::time::Span;
use bellwether_toml::{Spanned, Value, one_of};

use super::exclusive::Asked;
use super::layers::Settings;
use super::{LogFormat, address, keys};
use crate::duration;

/// A value, its key, and where it was given.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) key: &'static str,
    /// From a variable or a flag it is a text. The reader decides what to read it as.
    pub(super) value: Value,
    pub(super) place: Place,
}

/// Where something was given.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// There in the file.
    File(Range<usize>),
    /// As a variable of the environment.
    Variable(String),
    /// As a flag.
    Flag(&'static str),
}

impl Given {
    /// The problem, with its key if the place does not name it.
    pub(super) fn about(&self, problem: &str) -> String {
        match self.place {
            Place::File(_) => format!("`{}`: {problem}", self.key),
            Place::Variable(_) | Place::Flag(_) => problem.to_owned(),
        }
    }

    /// What a variable or a flag says.
    fn word(&self) -> Option<&str> {
        match (&self.value, &self.place) {
            (Value::Text(word), Place::Variable(_) | Place::Flag(_)) => Some(word),
            _ => None,
        }
    }

    /// A text that is not empty.
    pub(super) fn text(&self, expected: &str) -> Result<&str, String> {
        match &self.value {
            Value::Text(text) if !text.is_empty() => Ok(text),
            found => Err(format!("found {found}, expected {expected}")),
        }
    }

    pub(super) fn whole(&self, range: RangeInclusive<u32>) -> Result<u32, String> {
        let number = match &self.value {
            Value::Whole(number) => Some(*number),
            _ => self.word().and_then(|word| word.parse().ok()),
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (low, high) = (range.start(), range.end());
            format!("found {}, expected a whole number from {low} to {high}", self.value)
        })
    }

    pub(super) fn truth(&self) -> Result<bool, String> {
        let truth = match &self.value {
            Value::Truth(truth) => Some(*truth),
            _ => self.word().and_then(|word| word.parse().ok()),
        };
        truth.ok_or_else(|| format!("found {}, expected true or false", self.value))
    }

    pub(super) fn duration(&self) -> Result<Duration, String> {
        duration::parse(self.text(Span::EXPECTED)?).map_err(|error| error.to_string())
    }

    /// A list of texts; in a variable they stand between commas.
    pub(super) fn texts(&self, expected: &str) -> Result<Vec<String>, String> {
        let wrong = |found: &dyn fmt::Display| format!("found {found}, expected {expected}");
        if let Some(words) = self.word() {
            return Ok(words.split(',').map(|word| word.trim().to_owned()).collect());
        }
        match &self.value {
            Value::List(items) => {
                let text = |item: &Spanned<Value>| match item.get_ref() {
                    Value::Text(text) => Ok(text.clone()),
                    other => Err(wrong(&format_args!("{other} in the list"))),
                };
                items.iter().map(text).collect()
            }
            found => Err(wrong(found)),
        }
    }
}

/// A name that fits into certificates.
pub(super) fn cluster(given: &Given) -> Result<String, String> {
    let expected = "1 to 40 characters of a-z, 0-9 and -, not beginning or ending with -";
    let name = given.text(expected)?;
    match check_cluster_name(name) {
        Ok(()) => Ok(name.to_owned()),
        Err(_) => Err(format!("found {name:?}, expected {expected}")),
    }
}

pub(super) fn id(given: &Given) -> Result<NodeId, String> {
    given.whole(1..=u32::MAX).map(NodeId)
}

/// An algorithm that is fit for a real network.
pub(super) fn protocol(given: &Given) -> Result<Protocol, String> {
    let fit = |protocol: &Protocol| protocol.spec().runs_in_agent();
    let names: Vec<_> = Protocol::ALL.into_iter().filter(fit).map(Protocol::name).collect();
    let expected = one_of(&names);
    let name = given.text(&expected)?;
    match Protocol::by_name(name).map(|protocol| (protocol, protocol.spec().in_agent)) {
        Some((protocol, InAgent::Yes)) => Ok(protocol),
        Some((_, InAgent::No(reason))) => {
            Err(format!("found {name:?}, which is for the laboratory only: {reason}; expected {expected}"))
        }
        None => Err(format!("found {name:?}, expected {expected}")),
    }
}

/// Notes that something else than the repaired variant is asked for.
pub(super) fn only_variant(settings: &mut Settings) {
    settings.get("variant", |given| match Variant::by_name(given.text("`repaired`")?) {
        Some(Variant::Repaired) => Ok(()),
        Some(Variant::Printed) => {
            Err("found \"printed\", which keeps the flaws of the papers and is for the laboratory only; \
             expected `repaired`"
                .to_owned())
        }
        None => Err(format!("found {}, expected `repaired`", given.value)),
    });
}

/// The mode that is asked for.
pub(super) fn mode(given: &Given) -> Result<Asked, String> {
    let expected = one_of(&Asked::all().map(Asked::name).collect::<Vec<_>>());
    let name = given.text(&expected)?;
    Asked::all()
        .find(|mode| mode.name() == name)
        .ok_or_else(|| format!("found {name:?}, expected {expected}"))
}

/// A list of ids; in a variable they stand between commas.
pub(super) fn ids(given: &Given) -> Result<Vec<NodeId>, String> {
    let wrong = |found: &dyn fmt::Display| format!("found {found}, expected a list of ids such as [1, 2, 3]");
    let id = |number: Option<u32>| number.filter(|number| *number > 0).map(NodeId);
    if let Some(words) = given.word() {
        let word = |word: &str| {
            id(word.trim().parse().ok()).ok_or_else(|| wrong(&format_args!("{word:?} in the list")))
        };
        return words.split(',').map(word).collect();
    }
    match &given.value {
        Value::List(items) => {
            let whole = |item: &Spanned<Value>| match item.get_ref() {
                Value::Whole(number) => id(u32::try_from(*number).ok()),
                _ => None,
            };
            let of = |item: &Spanned<Value>| {
                whole(item).ok_or_else(|| wrong(&format_args!("{} in the list", item.get_ref())))
            };
            items.iter().map(of).collect()
        }
        found => Err(wrong(found)),
    }
}

/// An address to listen at.
pub(super) fn listen(given: &Given) -> Result<SocketAddr, String> {
    let expected = "an address and a port such as \"0.0.0.0:3170\"";
    let text = given.text(expected)?;
    text.parse().map_err(|_| format!("found {text:?}, expected {expected}"))
}

/// Names of hosts; a port is no part of a name.
pub(super) fn hosts(given: &Given) -> Result<Vec<String>, String> {
    let expected = "a list of names without ports such as [\"node-1.example\"]";
    let texts = given.texts(expected)?;
    match texts.iter().find(|text| !address::is_host(text)) {
        Some(text) => Err(format!("found {text:?} in the list, expected {expected}")),
        None => Ok(texts),
    }
}

pub(super) fn log_format(given: &Given) -> Result<LogFormat, String> {
    match given.text("`text` or `json`")? {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        other => Err(format!("found {other:?}, expected `text` or `json`")),
    }
}

pub(super) fn log_level(given: &Given) -> Result<String, String> {
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    let level = given.text(&one_of(&levels))?;
    match levels.contains(&level) {
        true => Ok(level.to_owned()),
        false => Err(format!("found {level:?}, expected {}", one_of(&levels))),
    }
}

/// What a token looks like.
pub(super) const TOKEN: &str = "a token of visible ASCII characters, without spaces";

/// A token. Whatever it is, it is not repeated.
pub(super) fn token(given: &Given) -> Result<String, String> {
    match &given.value {
        Value::Text(token) if is_token(token) => Ok(token.clone()),
        Value::Text(token) if token.contains(' ') => Err(format!("found one with spaces, expected {TOKEN}")),
        found => Err(format!("found {}, expected {TOKEN}", keys::shown(given.key, found))),
    }
}

pub(super) fn is_token(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}
