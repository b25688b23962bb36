//! Errors in files.

use std::fmt;
use std::ops::Range;

use crate::near::nearest;

/// An error in a file: one line that says where it is, what is wrong, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The name of the file, as it was given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)
    }
}

impl std::error::Error for FileError {}

/// A [`FileError`] before its byte offset is turned into a line.
#[derive(Debug)]
pub struct Wrong {
    span: Range<usize>,
    message: String,
}

impl Wrong {
    /// An error at that place.
    pub fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// The error of the TOML reader, or of one of our values, about `text`.
    pub(crate) fn from_toml(error: &toml::de::Error, text: &str) -> Self {
        // What has no place of its own is a matter of the whole file.
        let span = error.span().unwrap_or(0..text.len());
        let culprit = text.get(span.clone()).unwrap_or_default();
        Self { message: plain_words(error.message(), culprit), span }
    }

    /// Adds the file and the line.
    pub fn locate(self, file: &str, text: &str) -> FileError {
        let (line, column) = position(text, self.span.start);
        FileError {
            file: file.to_owned(),
            line,
            column,
            // What is quoted from the file must not break the line.
            message: self.message.replace(char::is_control, " "),
        }
    }
}

/// Line and column, from 1, of a byte of the text.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[start..]).chars().count() + 1)
}

/// Serde speaks of Rust's types; a file has keys, tables and lists. A message not known here is good enough as it is.
fn plain_words(message: &str, culprit: &str) -> String {
    if message == "duplicate key" {
        return format!("the key `{culprit}` stands here for the second time, expected it once");
    }
    if message.starts_with("string values must be quoted") {
        // It is not repeated: it may be a secret, and the place says where it is.
        return match culprit.lines().next().unwrap_or_default().trim() {
            "" => "found no value, expected one after `=`",
            _ => "found something without quotes, expected a string in quotes, a number, true or false",
        }
        .to_owned();
    }
    if let Some(rest) = message.strip_prefix("unknown field ") {
        // It quotes the key, and then those that could stand there.
        let mut quoted = rest.split('`').skip(1).step_by(2);
        let key = quoted.next().unwrap_or_default();
        return match nearest(key, &quoted.collect::<Vec<_>>()) {
            Some(near) => format!("unknown key `{key}`, did you mean `{near}`?"),
            None => format!("unknown key {rest}"),
        };
    }
    if let Some(rest) = message.strip_prefix("missing field ") {
        return format!("missing key {rest}");
    }
    let Some((found, expected)) = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return message.to_owned();
    };
    let found = match found {
        "map" => "a table",
        "sequence" => "a list",
        other => other,
    };
    let expected = match expected {
        "a boolean" => "true or false",
        other => other,
    };
    format!("found {found}, expected {expected}")
}
