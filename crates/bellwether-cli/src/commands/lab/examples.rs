//! The scenarios to begin with.

use std::borrow::Cow;

use serde_json::{Value, json};

/// A scenario file.
#[derive(Clone, Debug)]
pub(super) struct Example {
    /// Its name, or the path as it was typed.
    pub(super) name: String,
    pub(super) text: Cow<'static, str>,
}

macro_rules! built_in {
    ($($name:literal)+) => {
        [$(($name, include_str!(concat!("../../../../../scenarios/", $name, ".toml")))),+]
    };
}

/// At least one of each family, and the flaws that are easiest to follow. The first is what the page opens with.
const BUILT_IN: &[(&str, &str)] = &built_in! {
    "est06a-lost-halt-printed"
    "est06b-lost-ldr-printed"
    "est07-old-rej-printed"
    "s03-six-nodes"
    "egm01-old-ready-printed"
    "egm02-stuck-reorganizing-printed"
    "s01-path-of-invitations"
    "eso01-late-new-leader-printed"
    "era06-restart-printed"
    "era07-lost-query-printed"
    "c43-only-the-smallest-is-timely"
    "thm1-adversary"
    "efb04-premature-printed"
    "fb-flapping"
    "ring-and-a-cut-link"
    "partition-and-merge"
    "agent-crash"
    "agent-partition"
    "agent-transfer"
    "exclusive-crash"
    "exclusive-pause"
    "exclusive-drift"
};

/// The files that were named, then what is built in.
pub(super) fn all(files: Vec<Example>) -> Vec<Example> {
    let built_in =
        BUILT_IN.iter().map(|(name, text)| Example { name: (*name).to_owned(), text: (*text).into() });
    files.into_iter().chain(built_in).collect()
}

impl Example {
    /// What the page lists.
    pub(super) fn entry(&self) -> Value {
        json!({ "name": self.name, "shows": self.shows() })
    }

    /// What a scenario shows, as the comment says with which it begins.
    fn shows(&self) -> String {
        let comment = self.text.lines().map_while(|line| line.strip_prefix('#'));
        let words: Vec<_> = comment.map(str::trim).take_while(|line| !line.is_empty()).collect();
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use bellwether_sim::scenario::Scenario;

    use super::*;

    #[test]
    fn what_is_built_in_can_be_played_and_says_what_it_shows() {
        for example in all(Vec::new()) {
            Scenario::parse(&example.name, &example.text).unwrap();
            assert!(!example.shows().is_empty(), "{}", example.name);
        }
    }
}
