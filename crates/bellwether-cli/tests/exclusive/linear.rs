//! What programs wrote and read while agents failed, judged: whoever reads from a majority reads what was written last.
//!
//! Everything that a name ever holds is in one order, and its version says where: first by the token, then by what that holder
//! proclaimed, and given back at the end. So a history is linearizable if and only if nobody who began after another had ended saw an
//! earlier version, nobody wrote one that was not later, and nobody saw what was not written yet.

use std::collections::BTreeMap;
use std::time::Instant;

/// Where something is in the order of all that a name holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) token: u64,
    /// 0 as it was granted, and then one more for each proclamation.
    pub(super) step: u64,
}

impl Version {
    /// Nobody has held the name.
    pub(super) const NONE: Self = Self { token: 0, step: 0 };

    /// Nobody holds the name any more.
    pub(super) const fn given_back(token: u64) -> Self {
        Self { token, step: u64::MAX }
    }
}

/// What a program did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// It was granted the name, or has proclaimed something.
    Wrote,
    /// It does not hold the name any more, if it did until then.
    Left,
    /// It asked a majority.
    Read,
}

/// One call of a program.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: usize,
    pub(super) begins: Instant,
    /// `None` if it was not answered: it may be done at any time after it began, or never.
    pub(super) ends: Option<Instant>,
    pub(super) act: Act,
    pub(super) version: Version,
    /// Who holds the name in that version: which campaign of which program.
    pub(super) holder: Option<u64>,
}

/// All calls of all programs.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) calls: Vec<Call>,
}

impl History {
    /// What is wrong with it, if anything.
    pub(super) fn judge(&self) -> Result<(), String> {
        let mut names: BTreeMap<usize, Vec<&Call>> = BTreeMap::new();
        for call in &self.calls {
            names.entry(call.name).or_default().push(call);
        }
        names.values().try_for_each(|calls| {
            each_token_has_one_holder(calls)?;
            nothing_goes_back(calls)?;
            nothing_is_read_before_it_is_written(calls)
        })
    }
}

fn each_token_has_one_holder(calls: &[&Call]) -> Result<(), String> {
    let mut holders = BTreeMap::new();
    for call in calls {
        let Some(holder) = call.holder else { continue };
        let known = *holders.entry(call.version.token).or_insert(holder);
        if known != holder {
            return Err(format!("token {} is of campaign {known} and of {holder}", call.version.token));
        }
    }
    Ok(())
}

fn nothing_goes_back(calls: &[&Call]) -> Result<(), String> {
    let (mut begun, mut ended) = (calls.to_vec(), calls.to_vec());
    begun.sort_by_key(|call| call.begins);
    ended.retain(|call| call.ends.is_some());
    ended.sort_by_key(|call| call.ends);
    let mut ended = ended.into_iter().peekable();
    let mut latest: Option<&Call> = None;
    for call in begun {
        while let Some(before) = ended.next_if(|before| before.ends < Some(call.begins)) {
            if latest.is_none_or(|latest| latest.version < before.version) {
                latest = Some(before);
            }
        }
        let Some(before) = latest else { continue };
        let is_wrong = match call.act {
            // What is not answered may never have been done.
            Act::Wrote => call.ends.is_some() && call.version <= before.version,
            Act::Read => call.version < before.version,
            // It had lost the name before it gave it back.
            Act::Left => false,
        };
        if is_wrong {
            return Err(format!("{call:?} began after {before:?} had ended"));
        }
    }
    Ok(())
}

fn nothing_is_read_before_it_is_written(calls: &[&Call]) -> Result<(), String> {
    let written = calls.iter().filter(|call| call.act == Act::Wrote);
    let written: BTreeMap<Version, &Call> = written.map(|call| (call.version, *call)).collect();
    for read in calls.iter().filter(|call| call.act == Act::Read) {
        match written.get(&read.version) {
            Some(write) if read.ends < Some(write.begins) => {
                return Err(format!("{read:?} ended before {write:?} began"));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Calls as `who from to token step`, in microseconds; `w`, `r` or `l`, and `-` for no answer.
    fn history(lines: &str) -> History {
        let began = Instant::now();
        let at = |word: &str| word.parse().ok().map(|at| began + Duration::from_micros(at));
        let call = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [act, begins, ends, token, step] = words[..] else { panic!("{line:?}") };
            let act = match act {
                "w" => Act::Wrote,
                "l" => Act::Left,
                _ => Act::Read,
            };
            let token = token.parse().unwrap();
            let version = Version { token, step: step.parse().unwrap() };
            Call { name: 0, begins: at(begins).unwrap(), ends: at(ends), act, version, holder: Some(token) }
        };
        History { calls: lines.lines().map(call).collect() }
    }

    #[test]
    fn what_can_be_put_in_order_is_in_order() {
        for right in [
            "w 0 9 1 0\nr 1 2 0 0\nr 3 4 1 0\nw 10 12 1 1\nr 13 14 1 1",
            "w 0 9 1 0\nw 10 - 1 1\nr 20 30 1 0\nr 31 40 1 1",
            "w 0 1 1 0\nw 2 3 2 0\nl 4 5 1 9\nr 6 7 2 0",
            "w 0 9 1 0\nw 5 9 2 0\nr 10 11 2 0",
            "w 0 1 1 0\nw 2 3 2 0\nw 4 - 1 1\nr 5 6 2 0",
        ] {
            history(right).judge().unwrap_or_else(|wrong| panic!("{right}: {wrong}"));
        }
    }

    #[test]
    fn what_cannot_is_found() {
        for wrong in [
            "w 0 1 1 0\nw 2 3 2 0\nr 4 5 1 0",
            "w 0 1 1 0\nr 2 3 1 0\nr 4 5 0 0",
            "w 0 1 2 0\nw 2 3 1 0",
            "w 0 1 1 0\nw 2 3 1 0",
            "w 0 1 1 0\nw 5 - 1 1\nr 2 3 1 1",
            "w 0 1 1 0\nl 2 3 1 9\nr 4 5 1 0",
        ] {
            history(wrong).judge().expect_err(wrong);
        }
        let mut two = history("w 0 9 1 0\nr 0 9 1 0");
        two.calls[1].holder = Some(2);
        two.judge().expect_err("a token of two");
    }
}
