//! Reads TOML files, and explains errors in them.
//!
//! Scenarios, flaws and the configurations of agents are files that people write. Errors in all of them have one style:
//! a line that says where, what was found, and what was expected, or which name was probably meant.
//!
//! ```
//! use bellwether_toml::{Wrong, read};
//!
//! #[derive(Debug, serde::Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Garden {
//!     #[allow(dead_code, reason = "an example")]
//!     trees: u32,
//! }
//!
//! let text = "tress = 3";
//! let wrong: Wrong = read::<Garden>(text).unwrap_err();
//! let error = wrong.locate("garden.toml", text);
//! assert_eq!(error.to_string(), "garden.toml:1:1: unknown key `tress`, did you mean `trees`?");
//! ```
//!
//! There are two ways to look at a file. [`read`] fills types that derive `Deserialize`, and stops at the first problem.
//! [`entries`] gives the values as they are, for a reader that reports all problems at once or overrides values of the
//! file. Both know the place of every value.

#![forbid(unsafe_code)]

mod error;
mod near;
mod value;

use serde::de::DeserializeOwned;
use toml::de::{DeTable, Deserializer};

pub use error::{FileError, Wrong};
pub use near::{distance, nearest, one_of, unknown};
pub use toml::Spanned;
pub use value::{Entry, Value};

/// Fills a type that declares its keys.
///
/// # Errors
/// The first thing that is wrong.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, Wrong> {
    T::deserialize(Deserializer::from(table(text)?)).map_err(|error| Wrong::from_toml(&error, text))
}

/// The entries of a file, in its order, whatever the keys are.
///
/// # Errors
/// If it is not TOML.
pub fn entries(text: &str) -> Result<Vec<Entry>, Wrong> {
    Ok(value::entries(table(text)?.get_ref()))
}

/// A text as a file writes it, in quotes and with the escapes that it needs.
pub fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn table(text: &str) -> Result<Spanned<DeTable<'_>>, Wrong> {
    DeTable::parse(text).map_err(|error| Wrong::from_toml(&error, text))
}
