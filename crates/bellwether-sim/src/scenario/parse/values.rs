//! Single values of a file: each knows what to say when something else stands in its place.

use std::fmt;
use std::marker::PhantomData;

use bellwether_proto::time::Span;
use bellwether_toml::Spanned;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::scenario::{Bound, Latency, Relation};

/// A whole number of any size; its range is checked where its meaning is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole(pub(crate) i128);

impl<'de> Deserialize<'de> for Whole {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WholeVisitor)
    }
}

struct WholeVisitor;

impl Visitor<'_> for WholeVisitor {
    type Value = Whole;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Whole, E> {
        Ok(Whole(number.into()))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<Whole, E> {
        Ok(Whole(number))
    }
}

/// A probability.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Probability(pub(crate) f64);

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProbabilityVisitor)
    }
}

struct ProbabilityVisitor;

impl ProbabilityVisitor {
    fn within<E: Error>(found: impl fmt::Display, value: f64) -> Result<Probability, E> {
        if (0.0..=1.0).contains(&value) {
            Ok(Probability(value))
        } else {
            Err(E::custom(format_args!("found {found}, expected a probability from 0 to 1")))
        }
    }
}

impl Visitor<'_> for ProbabilityVisitor {
    type Value = Probability;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a probability from 0 to 1")
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Probability, E> {
        Self::within(number, number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Probability, E> {
        // An integer too large to be exact is far out of range either way.
        Self::within(number, number as f64)
    }
}

/// A length of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Duration(pub(crate) Span);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Span::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Duration, E> {
        text.parse().map(Duration).map_err(E::custom)
    }
}

/// A length of time, or a word for one that does not end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimeOr<W>(pub(crate) Option<Span>, PhantomData<W>);

/// The word for a time that does not end.
pub(crate) trait Endless {
    const WORD: &'static str;
}

/// What does not end at all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Never;

impl Endless for Never {
    const WORD: &'static str = "never";
}

/// What ends when somebody says so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UntilTold;

impl Endless for UntilTold {
    const WORD: &'static str = "until-told";
}

impl<'de, W: Endless> Deserialize<'de> for TimeOr<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TimeOrVisitor(PhantomData))
    }
}

struct TimeOrVisitor<W>(PhantomData<W>);

impl<W: Endless> Visitor<'_> for TimeOrVisitor<W> {
    type Value = TimeOr<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, or {:?}", Span::EXPECTED, W::WORD)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<TimeOr<W>, E> {
        if text == W::WORD {
            return Ok(TimeOr(None, PhantomData));
        }
        let span = text.parse().map_err(|problem| E::custom(format_args!("{problem}, or {:?}", W::WORD)));
        span.map(|span| TimeOr(Some(span), PhantomData))
    }
}

/// A delay, or a range of delays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delay(pub(crate) Latency);

impl<'de> Deserialize<'de> for Delay {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DelayVisitor)
    }
}

struct DelayVisitor;

impl<'de> Visitor<'de> for DelayVisitor {
    type Value = Delay;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a time with a unit such as \"10ms\", or the shortest and the longest: [\"1ms\", \"5ms\"]",
        )
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Delay, E> {
        text.parse().map(|span| Delay(Latency::constant(span))).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Delay, A::Error> {
        let mut ends = Vec::new();
        while let Some(Duration(end)) = seq.next_element()? {
            ends.push(end);
        }
        match ends[..] {
            [low, high] if low <= high => Ok(Delay(Latency { low, high })),
            [low, high] => Err(A::Error::custom(format_args!(
                "the range from {low} to {high} is upside down, expected [shortest, longest]"
            ))),
            _ => Err(A::Error::custom(format_args!(
                "found a list of {}, expected two times: [shortest, longest]",
                ends.len()
            ))),
        }
    }
}

/// A bound on a count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit(pub(crate) Bound);

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LimitVisitor)
    }
}

struct LimitVisitor;

impl LimitVisitor {
    const EXPECTED: &str = "a bound such as \"<= 40\": one of <, <=, =, ==, >=, > and a whole number";

    fn parse(text: &str) -> Option<Bound> {
        let text = text.trim();
        let end = text.find(|c: char| !matches!(c, '<' | '=' | '>'))?;
        let (relation, value) = text.split_at(end);
        let relation = match relation {
            "<" => Relation::Less,
            "<=" => Relation::AtMost,
            "" | "=" | "==" => Relation::Equal,
            ">=" => Relation::AtLeast,
            ">" => Relation::More,
            _ => return None,
        };
        let value = value.trim_start();
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        Some(Bound { relation, value: value.parse().ok().filter(|_| digits)? })
    }
}

impl Visitor<'_> for LimitVisitor {
    type Value = Limit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::EXPECTED)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Limit, E> {
        let unreadable = || E::custom(format_args!("found {text:?}, expected {}", Self::EXPECTED));
        Self::parse(text).map(Limit).ok_or_else(unreadable)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Limit, E> {
        Ok(Limit(Bound { relation: Relation::Equal, value }))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Limit, E> {
        let negative = |_| E::custom(format_args!("found {value}, expected {}", Self::EXPECTED));
        u64::try_from(value).map_err(negative).and_then(|value| self.visit_u64(value))
    }
}

/// A table and nothing else. The derived `Deserialize` of a struct would take a list of its values as well.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Table<T>(pub(crate) T);

/// What can stand in a [`Table`].
pub(crate) trait Content {
    /// What to say when something else is found.
    const EXPECTED: &'static str;
}

impl<'de, T: Content + Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TableVisitor(PhantomData))
    }
}

struct TableVisitor<T>(PhantomData<T>);

impl<'de, T: Content + Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
    type Value = Table<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Table<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Table)
    }
}

/// A list, which remembers where each of its items stands.
#[derive(Clone, Debug)]
pub(crate) struct List<T>(pub(crate) Vec<Spanned<T>>);

/// What can stand in a [`List`].
pub(crate) trait Item {
    /// What to say when something else is found where the list should be.
    const LIST: &'static str;
}

impl Item for Whole {
    const LIST: &'static str = "a list of nodes such as [1, 2]";
}

impl Item for List<Whole> {
    const LIST: &'static str = "a list of lists of nodes such as [[1, 2], [3, 4]]";
}

impl Item for String {
    const LIST: &'static str = "a list of names such as [\"ALE1\"]";
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Item + Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(PhantomData))
    }
}

struct ListVisitor<T>(PhantomData<T>);

impl<'de, T: Item + Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::LIST)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(List(items))
    }
}

/// A table whose keys are data, in the order of the file.
#[derive(Clone, Debug)]
pub(crate) struct Entries<T>(pub(crate) Vec<(Spanned<String>, Spanned<T>)>);

/// What can stand in [`Entries`].
pub(crate) trait Entry {
    /// What to say when something else is found where the table should be.
    const ENTRIES: &'static str;
}

impl Entry for Whole {
    const ENTRIES: &'static str = "a table with a number for each node such as { 1 = 2, 3 = 2 }";
}

impl Entry for Duration {
    const ENTRIES: &'static str = "a table with a time for each node such as { 1 = \"0s\" }";
}

impl Entry for String {
    const ENTRIES: &'static str = "a table with a text for each such as { 1 = \"…\" }";
}

impl Entry for Limit {
    const ENTRIES: &'static str = "a table with a bound for each kind such as { Halt = \"<= 40\" }";
}

impl<T> Default for Entries<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Entry + Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Entry + Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::ENTRIES)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<T>, A::Error> {
        let mut entries: Vec<(Spanned<String>, Spanned<T>)> = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        // The TOML reader hands them over by name.
        entries.sort_by_key(|(key, _)| key.span().start);
        Ok(Entries(entries))
    }
}
