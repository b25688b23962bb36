//! Who holds which name, and with which token.

use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::configuration::Configuration;
use super::ident::{Lease, Stamp};
use crate::ident::NodeId;

/// The number of a grant. Every grant of a name has a larger one than all before it, for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Token(pub u64);

impl Token {
    /// The token of the next holder.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The name of an election: 1 to 255 bytes of UTF-8, compared as bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Name(Arc<str>);

impl Name {
    /// The longest, in bytes.
    pub const MAX: usize = 255;

    /// The cluster's own leadership.
    pub fn leader() -> Self {
        Self("leader".into())
    }

    /// The voters. No election can have this name: elections' names have no control characters.
    pub fn configuration() -> Self {
        Self("\0configuration".into())
    }

    /// Tokens of names that were forgotten are not larger than what this holds. No election can have this name either.
    pub fn floor() -> Self {
        Self("\0floor".into())
    }

    /// Whether it is no election.
    pub fn is_reserved(&self) -> bool {
        self.0.starts_with('\0')
    }

    /// The name of an election, if it is one.
    ///
    /// # Errors
    /// If it is empty, too long, or has control characters.
    pub fn new(name: &str) -> Result<Self, BadName> {
        match name {
            "" => Err(BadName::Empty),
            long if long.len() > Self::MAX => Err(BadName::Long { bytes: long.len() }),
            odd if odd.chars().any(char::is_control) => Err(BadName::Control),
            name => Ok(Self(name.into())),
        }
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.trim_start_matches('\0'))
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match name.as_str() {
            "\0configuration" => Ok(Self::configuration()),
            "\0floor" => Ok(Self::floor()),
            name => Self::new(name).map_err(serde::de::Error::custom),
        }
    }
}

/// Why a text is not the name of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It has no characters.
    #[error("a name has at least one character")]
    Empty,
    /// It is too long.
    #[error("a name has at most {} bytes, and this one has {bytes}", Name::MAX)]
    Long {
        /// So long.
        bytes: usize,
    },
    /// It has characters that nobody can see.
    #[error("a name has no control characters")]
    Control,
}

/// What makes a grant valid. The first campaign of a name chooses it, for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GrantKind {
    /// It is valid until a deadline that the holder knows, and puts off. Nobody acts beside the holder.
    #[default]
    Lease,
    /// It is valid as far as the store is concerned that the holder writes to, which refuses smaller tokens. No clock is needed.
    Token,
}

impl GrantKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Lease, Self::Token];

    /// The name used in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lease => "lease",
            Self::Token => "token",
        }
    }

    /// The kind of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Who holds a name: a campaign of a session of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The agent's lease at the time.
    pub lease: Lease,
    /// The session that campaigned. 0 is the agent itself.
    pub session: u64,
    /// Counts the campaigns of that session. One that was given back is over for ever.
    pub campaign: u64,
}

impl Holder {
    /// Through which agent.
    pub fn node(&self) -> NodeId {
        self.lease.life.node
    }
}

/// What is known of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Grant {
    /// What makes it valid.
    pub kind: GrantKind,
    /// The token of the holder, or of the last one.
    pub token: Token,
    /// Nobody, or who.
    pub holder: Option<Holder>,
    /// What the holder proclaims.
    #[serde(deserialize_with = "value")]
    pub value: Arc<[u8]>,
}

impl Grant {
    /// The longest value, in bytes.
    pub const VALUE_MAX: usize = 4096;

    /// Of a name that was never granted: nobody holds it.
    pub fn unheld(kind: GrantKind) -> Self {
        Self { kind, token: Token::default(), holder: None, value: Arc::default() }
    }

    /// The grant by which that one holds the name next, with a token above the floor.
    #[must_use]
    pub fn to(&self, holder: Holder, value: Arc<[u8]>, floor: Token) -> Self {
        Self { kind: self.kind, token: self.token.max(floor).next(), holder: Some(holder), value }
    }

    /// The grant by which nobody holds it any more. The token stays: the next is larger.
    #[must_use]
    pub fn freed(&self) -> Self {
        Self { holder: None, value: Arc::default(), ..self.clone() }
    }
}

fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
    let value = crate::bounded::list::<{ Grant::VALUE_MAX }, D, u8>(deserializer)?;
    // Most names have none, and that takes no room.
    Ok(if value.is_empty() { Arc::default() } else { value.into() })
}

/// What a register holds. Voters keep it, and do not look inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Content {
    /// Of an election. Whatever else holds it in the same process shares it: there may be a million.
    Grant(Arc<Grant>),
    /// Of the name [`Name::configuration`].
    Configuration(Arc<Configuration>),
    /// Of an election that was forgotten. A voter keeps that until all know it.
    Deleted,
    /// Of the name [`Name::floor`].
    Floor(Token),
}

impl Content {
    /// How many bytes of a value it has.
    pub(super) fn value_len(&self) -> usize {
        self.as_grant().map_or(0, |grant| grant.value.len())
    }

    /// The grant, if it is one.
    pub fn as_grant(&self) -> Option<&Arc<Grant>> {
        match self {
            Self::Grant(grant) => Some(grant),
            Self::Configuration(_) | Self::Deleted | Self::Floor(_) => None,
        }
    }
}

/// What a voter has accepted of a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Accepted {
    /// When it was written.
    pub stamp: Stamp,
    /// What was written.
    pub content: Content,
}

#[cfg(test)]
mod tests {
    use alloc::borrow::ToOwned;

    use super::*;

    #[test]
    fn a_name_is_not_empty_nor_long_nor_odd() {
        assert_eq!(Name::new("backup").map(|name| name.as_str().to_owned()), Ok("backup".to_owned()));
        assert_eq!(Name::new(""), Err(BadName::Empty));
        assert_eq!(Name::new(&"é".repeat(128)), Err(BadName::Long { bytes: 256 }));
        assert_eq!(Name::new("\0configuration"), Err(BadName::Control));
        assert!(Name::new(&"é".repeat(127)).is_ok());
    }
}
