//! From files to scenarios.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use bellwether_sim::scenario::{Overrides, Scenario};

use crate::args::sim::SimArgs;
use crate::output::Printer;

/// Reads every file before anything runs, and reports all that are wrong.
pub(super) fn all(args: &SimArgs, out: &Printer) -> Option<Vec<Scenario>> {
    let overrides = Overrides { protocol: args.protocol, variant: args.variant, seed: args.seed };
    let mut scenarios = Vec::new();
    for path in &args.files {
        match one(path, &overrides) {
            Ok(scenario) => scenarios.push(scenario),
            Err(error) => out.error(error),
        }
    }
    (scenarios.len() == args.files.len()).then_some(scenarios)
}

/// Reads one file.
pub(crate) fn one(path: &Path, overrides: &Overrides) -> Result<Scenario, String> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{file}: there is no such file, expected a scenario"),
        ErrorKind::IsADirectory => format!("{file}: found a directory, expected a scenario file"),
        _ => format!("{file}: cannot be read: {error}"),
    })?;
    let text = text(&bytes).map_err(|error| format!("{file}:{error}"))?;
    Scenario::parse_with(&file, text, overrides).map_err(|error| error.to_string())
}

/// The text, or the place where it ceases to be text.
fn text(bytes: &[u8]) -> Result<&str, String> {
    str::from_utf8(bytes).map_err(|error| {
        let (before, after) = bytes.split_at(error.valid_up_to());
        let before = String::from_utf8_lossy(before);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |last| last.chars().count()) + 1;
        format!("{line}:{column}: found the byte 0x{:02x}, expected text in UTF-8", after[0])
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn what_is_not_text_is_located() {
        assert_eq!(text("δ".as_bytes()), Ok("δ"));
        let error = text(b"# caf\xc3\xa9\n# \xc3\xa9\xff").unwrap_err();
        assert_eq!(error, "2:4: found the byte 0xff, expected text in UTF-8");
        assert!(text(b"\xff").unwrap_err().starts_with("1:1:"));
    }
}
