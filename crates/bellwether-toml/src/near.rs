//! The name that a misspelled one may have meant.

use std::cmp::Reverse;

/// The error for a name that does not exist.
pub fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    match nearest(name, names) {
        Some(near) => format!("unknown {what} `{name}`, did you mean `{near}`?"),
        None => format!("unknown {what} `{name}`, expected {}", one_of(names)),
    }
}

/// Names as messages list them: "`a`, `b` or `c`".
pub fn one_of(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The word that differs by a slip or two, ignoring case; `None` if several do.
pub fn nearest<'a>(word: &str, words: &[&'a str]) -> Option<&'a str> {
    let letters = word.chars().count();
    let slips = (1 + letters / 5).min(letters / 2);
    // Of two that differ in capitals alone, the one that is written alike is meant.
    let needed = |known: &&'a str| ((distance(word, known), edits(word, known)), *known);
    let mut near: Vec<_> = words.iter().map(needed).collect();
    near.retain(|((needed, _), _)| *needed <= slips);
    near.sort_unstable_by_key(|near| Reverse(*near));
    let (needed, nearest) = near.pop()?;
    near.pop().is_none_or(|(more, other)| more > needed || other == nearest).then_some(nearest)
}

/// How many letters must be inserted, removed, changed or swapped with the next to turn one word into the other, ignoring
/// case.
pub fn distance(from: &str, to: &str) -> usize {
    edits(&from.to_lowercase(), &to.to_lowercase())
}

fn edits(from: &str, to: &str) -> usize {
    let [from, to] = [from, to].map(|word| word.chars().collect::<Vec<_>>());
    let mut rows: Vec<Vec<usize>> = vec![(0..=to.len()).collect()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let changed = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[from.len()][to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_slips() {
        assert_eq!(distance("heartbeat", "heartbeat"), 0);
        assert_eq!(distance("hartbeat", "heartbeat"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("tsl", "tls"), 1);
        assert_eq!(distance("ale1", "ALE1"), 0);
    }

    #[test]
    fn only_one_can_have_been_meant() {
        let names = ["ALE1", "ALE2", "OMEGA"];
        assert_eq!(nearest("OMGEA", &names), Some("OMEGA"));
        assert_eq!(nearest("ale2", &names), Some("ALE2"));
        assert_eq!(nearest("ALE9", &names), None);
        assert_eq!(nearest("SETTLED", &names), None);
        assert_eq!(nearest("u", &["t", "candidates"]), None);
        assert_eq!(
            unknown("property", "ALE9", &names),
            "unknown property `ALE9`, expected `ALE1`, `ALE2` or `OMEGA`"
        );
        assert_eq!(unknown("property", "Omega", &names), "unknown property `Omega`, did you mean `OMEGA`?");
    }
}
