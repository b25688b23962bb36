//! Values as they are in a file, before they mean anything.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Spanned<String>,
    /// Its value.
    pub value: Spanned<Value>,
}

/// A value. No reader needs fractions or dates yet, so these have only a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// `"text"`
    Text(String),
    /// `1`
    Whole(i128),
    /// `true`
    Truth(bool),
    /// `[1, 2]`
    List(Vec<Spanned<Self>>),
    /// `{ key = 1 }`, or what follows `[key]`: in the order of the file.
    Table(Vec<Entry>),
    /// Anything else, by name.
    Other(&'static str),
}

/// As messages show it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Truth(truth) => write!(f, "{truth}"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Other(what) => f.write_str(what),
        }
    }
}

impl From<&DeValue<'_>> for Value {
    fn from(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(number) => i128::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Other("a number beyond all bounds"), Self::Whole),
            DeValue::Boolean(truth) => Self::Truth(*truth),
            DeValue::Float(_) => Self::Other("a number with decimals"),
            DeValue::Datetime(_) => Self::Other("a date"),
            DeValue::Array(items) => Self::List(items.iter().map(spanned).collect()),
            DeValue::Table(table) => Self::Table(entries(table)),
        }
    }
}

pub(crate) fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    let entry = |(key, value): (&Spanned<_>, _)| Entry {
        key: Spanned::new(key.span(), ToString::to_string(key.get_ref())),
        value: spanned(value),
    };
    let mut entries: Vec<Entry> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key.span().start); // They come by name.
    entries
}

fn spanned(value: &Spanned<DeValue<'_>>) -> Spanned<Value> {
    Spanned::new(value.span(), value.get_ref().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_told_in_the_order_of_the_file() {
        let text = "z = 1\na = [\"x\", 2.5]\nm = { d = 2024-01-01, b = true }\n";
        let shown: Vec<_> = crate::entries(text).unwrap().iter().flat_map(shown).collect();
        assert_eq!(
            shown,
            ["z at 0: 1", "a at 6: a list", "m at 21: a table", "d at 27: a date", "b at 43: true"]
        );
    }

    fn shown(Entry { key, value }: &Entry) -> Vec<String> {
        let mut lines = vec![format!("{} at {}: {}", key.get_ref(), key.span().start, value.get_ref())];
        if let Value::Table(entries) = value.get_ref() {
            lines.extend(entries.iter().flat_map(shown));
        }
        lines
    }
}
