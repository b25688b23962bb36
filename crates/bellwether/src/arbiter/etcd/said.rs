//! What etcd's gateway says: numbers as texts, bytes in base64, and what is nothing left out.

use std::str::FromStr;

use ::base64::Engine as _;
use ::base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

pub(super) fn base64(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// A question for all that begins with this; everything, if that is nothing.
pub(super) fn range_of(prefix: &str) -> Value {
    let (key, end) = bounds(prefix);
    json!({ "key": key, "range_end": end })
}

/// The first key with that prefix, and the first after all of them.
pub(super) fn bounds(prefix: &str) -> (String, String) {
    let mut end = prefix.as_bytes().to_vec();
    match end.pop() {
        // No byte of UTF-8 is the largest that there is.
        Some(last) => {
            end.push(last + 1);
            (base64(prefix), base64(end))
        }
        None => (base64([0]), base64([0])),
    }
}

pub(super) fn put(key: &str, value: &[u8], lease: &str) -> Value {
    json!({ "key": base64(key), "value": base64(value), "lease": lease })
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Header {
    #[serde(default, deserialize_with = "number")]
    pub(super) revision: u64,
    #[serde(default, deserialize_with = "number")]
    pub(super) raft_term: u64,
}

/// A lease.
#[derive(Debug, Deserialize)]
pub(super) struct Granted {
    #[serde(rename = "ID", deserialize_with = "number")]
    pub(super) id: i64,
    #[serde(rename = "TTL", default, deserialize_with = "number")]
    pub(super) ttl: u64,
}

/// One answer of a stream.
#[derive(Debug, Deserialize)]
pub(super) struct Streamed<T> {
    pub(super) result: T,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Ranged {
    #[serde(default)]
    pub(super) header: Header,
    #[serde(default)]
    pub(super) kvs: Vec<KeyValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct KeyValue {
    #[serde(default, deserialize_with = "bytes")]
    pub(super) key: Vec<u8>,
    #[serde(default, deserialize_with = "bytes")]
    pub(super) value: Vec<u8>,
    #[serde(default, deserialize_with = "number")]
    pub(super) create_revision: u64,
    #[serde(default, deserialize_with = "number")]
    pub(super) mod_revision: u64,
}

#[derive(Debug, Deserialize)]
pub(super) struct Txn {
    pub(super) header: Header,
    #[serde(default)]
    pub(super) succeeded: bool,
    #[serde(default)]
    responses: Vec<Response>,
}

#[derive(Debug, Deserialize)]
struct Response {
    response_range: Option<Ranged>,
}

impl Txn {
    /// The key that was there.
    pub(super) fn there(&self) -> Option<&KeyValue> {
        self.responses.first()?.response_range.as_ref()?.kvs.first()
    }
}

/// What a watch tells.
#[derive(Debug, Deserialize)]
pub(super) struct Watched {
    #[serde(default)]
    pub(super) canceled: bool,
    #[serde(default)]
    pub(super) cancel_reason: String,
    #[serde(default)]
    pub(super) events: Vec<Event>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Event {
    /// Left out of what was put.
    #[serde(default, rename = "type")]
    pub(super) kind: Kind,
    pub(super) kv: KeyValue,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Kind {
    #[default]
    Put,
    Delete,
}

/// Why etcd does not do what it is asked.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Problem {
    #[serde(default)]
    pub(super) error: Value,
    #[serde(default)]
    pub(super) message: String,
    #[serde(default)]
    pub(super) code: u32,
}

#[derive(Debug, Deserialize)]
pub(super) struct Authenticated {
    pub(super) token: String,
}

fn number<'de, D: Deserializer<'de>, N: FromStr<Err: std::fmt::Display>>(
    deserializer: D,
) -> Result<N, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
