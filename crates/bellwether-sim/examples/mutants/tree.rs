//! A copy of the sources, in which bugs can be planted.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xxhash_rust::xxh3::Xxh3;

use super::said;

/// The copy. It stays where it is, so that what was built of it need not be built again.
pub(crate) struct Tree {
    pub(crate) path: PathBuf,
    /// Changes with any source or test that can have a say in a verdict.
    pub(crate) fingerprint: u64,
}

/// Brings the copy up to date with all that git knows or would add. Files that are the same are left alone, or everything
/// would be built anew.
pub(crate) fn copy(root: &Path, to: &Path) -> Result<Tree, String> {
    let listing = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let names = String::from_utf8(listing.stdout).map_err(|error| error.to_string())?;
    let names: BTreeSet<_> = names.split('\0').filter(|name| root.join(name).is_file()).collect();
    if names.is_empty() {
        return Err("git lists no files here".into());
    }
    remove_others(to, to, &names)?;
    let mut hash = Xxh3::new();
    for name in names {
        let (source, copy) = (root.join(name), to.join(name));
        let bytes = fs::read(&source).map_err(said(&source))?;
        if has_a_say(name) {
            hash.update(name.as_bytes());
            hash.update(&bytes);
        }
        if fs::read(&copy).ok().as_ref() != Some(&bytes) {
            let folder = copy.parent().expect("it is in the copy");
            fs::create_dir_all(folder).and_then(|()| fs::write(&copy, &bytes)).map_err(said(&copy))?;
        }
    }
    Ok(Tree { path: to.to_owned(), fingerprint: hash.digest() })
}

fn has_a_say(name: &str) -> bool {
    let judges = name.starts_with("crates/bellwether-proto/") || name.starts_with("crates/bellwether-sim/");
    (judges && !name.contains("/examples/")) || name.starts_with("scenarios/")
}

/// What was removed from the sources goes from the copy as well; what was built there stays.
fn remove_others(folder: &Path, copy: &Path, names: &BTreeSet<&str>) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry.map_err(said(folder))?.path();
        let name = path.strip_prefix(copy).expect("it is in the copy").to_string_lossy().into_owned();
        if name == "target" {
            continue;
        } else if path.is_dir() {
            remove_others(&path, copy, names)?;
        } else if !names.contains(name.as_str()) {
            fs::remove_file(&path).map_err(said(&path))?;
        }
    }
    Ok(())
}
