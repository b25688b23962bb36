//! The code that ships, as text: without comments and without tests.

use std::collections::BTreeSet;

use super::files::sources;

/// A file of a crate's `src`.
pub(super) struct Code {
    /// From the root of the repository, with slashes.
    pub(super) path: String,
    pub(super) krate: String,
    /// The names of its module and those above it, from the root of the crate; none for the root itself.
    pub(super) module: Vec<String>,
    /// Without comments and tests.
    pub(super) text: String,
}

impl Code {
    /// The module of the crate's root that it belongs to.
    pub(super) fn top(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }
}

/// All of it.
pub(super) fn code() -> Vec<Code> {
    let all: Vec<Code> = sources().into_iter().filter_map(|file| read(file.path, &file.text)).collect();
    let tests: BTreeSet<_> = all.iter().flat_map(test_modules).collect();
    let is_test = |code: &Code| {
        (1..=code.module.len())
            .any(|depth| tests.contains(&(code.krate.clone(), code.module[..depth].to_vec())))
    };
    let shipped = all.into_iter().filter(|code| !is_test(code));
    shipped.map(|code| Code { text: without_inline_tests(&code.text).to_owned(), ..code }).collect()
}

fn read(path: String, text: &str) -> Option<Code> {
    let (krate, file) = path.strip_prefix("crates/")?.split_once("/src/")?;
    let module = file.strip_suffix(".rs")?.split('/').map(str::to_owned);
    let module = module.filter(|name| name != "lib" && name != "main").collect();
    Some(Code { krate: krate.to_owned(), module, text: without_comments(text), path })
}

/// The modules of other files that a file declares for tests alone.
fn test_modules(code: &Code) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut lines = code.text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            continue;
        }
        let declared = lines.next().and_then(|line| line.split_once("mod ")?.1.strip_suffix(';'));
        if let Some(name) = declared {
            let module = code.module.iter().cloned().chain([name.to_owned()]).collect();
            found.push((code.krate.clone(), module));
        }
    }
    found
}

/// Tests of a file are its last part.
fn without_inline_tests(text: &str) -> &str {
    let begin = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    &text[..begin]
}

fn without_comments(text: &str) -> String {
    let code = |line: &str| line.split("//").next().unwrap_or_default().trim_end().to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}

/// The words of a text that begin after `prefix`.
pub(super) fn names_after<'t>(text: &'t str, prefix: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let begins = !text[..at].ends_with(is_of_word);
        let rest = &text[at + prefix.len()..];
        let name = &rest[..rest.find(|c| !is_of_word(c)).unwrap_or(rest.len())];
        (begins && !name.is_empty()).then_some(name)
    })
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[test]
fn code_is_what_ships() {
    let path = || "crates/bellwether/src/a/b.rs".to_owned();
    let text = "use crate::x; // crate::y\n#[cfg(test)]\nmod rig;\nfn f() {}\n\n#[cfg(test)]\nmod tests {\n  use crate::z;\n}";
    let code = read(path(), text).expect("it is of a crate");
    assert_eq!((code.krate.as_str(), code.top()), ("bellwether", Some("a")));
    assert_eq!(
        test_modules(&code),
        [("bellwether".to_owned(), ["a", "b", "rig"].map(str::to_owned).to_vec())]
    );
    assert_eq!(names_after(without_inline_tests(&code.text), "crate::").collect::<Vec<_>>(), ["x"]);
    assert_eq!(names_after("mycrate::x", "crate::").count(), 0);
}
