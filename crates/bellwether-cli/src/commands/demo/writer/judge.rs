//! What the file proves. It is read from disk when nobody writes any more, and nothing else is believed.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::entry::Entry;
use super::wire::What;

/// What is in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) lines: u64,
    /// How often a line has another token than the line before it.
    pub(super) changes: u64,
    pub(super) longest_gap_ms: u64,
    /// The first thing that must not be.
    pub(super) wrong: Option<Wrong>,
}

/// What must not be, and in which line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Wrong {
    /// A token is smaller than one before it.
    Backwards { line: u64, token: u64, after: u64 },
    /// Two nodes had the same token.
    Shared { line: u64, token: u64, nodes: [u32; 2] },
    /// Lines are numbered one after the other, whoever writes: each writer goes on from the last line that was taken.
    Number { line: u64, found: u64, expected: u64 },
    /// It is none of the store's.
    Unreadable { line: u64 },
}

pub(super) fn read(path: &Path) -> Result<Account, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Ok(judge(&text))
}

fn judge(text: &str) -> Account {
    let mut judge = Judge::default();
    for (line, text) in (1..).zip(text.lines()) {
        if let Err(wrong) = judge.line(line, text) {
            judge.account.wrong.get_or_insert(wrong);
        }
    }
    judge.account
}

#[derive(Default)]
struct Judge {
    account: Account,
    /// The largest token.
    token: u64,
    holders: BTreeMap<u64, u32>,
    /// The last numbered line.
    last: Option<(u64, Entry)>,
}

impl Judge {
    fn line(&mut self, line: u64, text: &str) -> Result<(), Wrong> {
        let entry: Entry = serde_json::from_str(text).map_err(|_| Wrong::Unreadable { line })?;
        let number = match entry.what {
            What::Open => None,
            What::Write(number) => Some(number),
        };
        let before = number.and_then(|number| self.last.replace((number, entry)));
        self.count(number, entry, before.map(|(_, before)| before));
        let Entry { token, node, .. } = entry;
        if token < self.token {
            return Err(Wrong::Backwards { line, token, after: self.token });
        }
        self.token = token;
        let holder = *self.holders.entry(token).or_insert(node);
        if holder != node {
            return Err(Wrong::Shared { line, token, nodes: [holder, node] });
        }
        let expected = before.map_or(1, |(last, _)| last + 1);
        match number {
            Some(found) if found != expected => Err(Wrong::Number { line, found, expected }),
            Some(_) | None => Ok(()),
        }
    }

    fn count(&mut self, number: Option<u64>, entry: Entry, before: Option<Entry>) {
        let account = &mut self.account;
        account.lines += u64::from(number.is_some());
        if let Some(before) = before {
            account.changes += u64::from(before.token != entry.token);
            account.longest_gap_ms = account.longest_gap_ms.max(entry.at_ms.saturating_sub(before.at_ms));
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Backwards { line, token, after } => {
                write!(f, "line {line} of the file has token {token}, after {after}")
            }
            Self::Shared { line, token, nodes: [one, other] } => {
                write!(f, "line {line} of the file: nodes {one} and {other} both had token {token}")
            }
            Self::Number { line, found, expected } => {
                write!(f, "line {line} of the file has number {found}, expected {expected}")
            }
            Self::Unreadable { line } => write!(f, "line {line} of the file is none of the store's"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line as token, node and number; number 0 opens the store.
    fn judged(lines: &[(u64, u32, u64)]) -> Account {
        let line = |(at, (token, node, number)): (u64, &(u64, u32, u64))| {
            let what = if *number == 0 { What::Open } else { What::Write(*number) };
            let entry = Entry { token: *token, node: *node, what, at_ms: at * at * 10 };
            serde_json::to_string(&entry).unwrap() + "\n"
        };
        judge(&(0..).zip(lines).map(line).collect::<String>())
    }

    #[test]
    fn a_file_that_goes_forwards_is_summed_up() {
        let account = judged(&[(1, 1, 0), (1, 1, 1), (1, 1, 2), (4, 3, 0), (4, 3, 3), (5, 1, 0), (5, 1, 4)]);
        let longest_gap_ms = (36 - 16) * 10;
        assert_eq!(account, Account { lines: 4, changes: 2, longest_gap_ms, wrong: None });
        assert_eq!(judged(&[]), Account::default());
    }

    #[test]
    fn whatever_must_not_be_is_found() {
        let wrong = |lines| judged(lines).wrong;
        for (lines, expected) in [
            (&[(2, 1, 1), (3, 2, 0), (2, 1, 2)][..], Wrong::Backwards { line: 3, token: 2, after: 3 }),
            (&[(3, 2, 0), (2, 1, 0)], Wrong::Backwards { line: 2, token: 2, after: 3 }),
            (&[(2, 1, 1), (2, 3, 2)], Wrong::Shared { line: 2, token: 2, nodes: [1, 3] }),
            (&[(2, 1, 1), (2, 1, 3)], Wrong::Number { line: 2, found: 3, expected: 2 }),
            (&[(2, 1, 1), (3, 2, 0), (3, 2, 1)], Wrong::Number { line: 3, found: 1, expected: 2 }),
            (&[(2, 1, 2)], Wrong::Number { line: 1, found: 2, expected: 1 }),
        ] {
            assert_eq!(wrong(lines), Some(expected), "{lines:?}");
        }
        let cut_off = judge("{\"token\":1");
        assert_eq!(cut_off.wrong, Some(Wrong::Unreadable { line: 1 }));
    }

    #[test]
    fn the_first_wrong_is_told() {
        let account = judged(&[(3, 2, 1), (2, 1, 2), (1, 3, 7)]);
        assert_eq!(account.wrong, Some(Wrong::Backwards { line: 2, token: 2, after: 3 }));
        assert_eq!(account.lines, 3, "and all are counted");
    }
}
