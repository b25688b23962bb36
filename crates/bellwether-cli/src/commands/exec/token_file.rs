//! The file that has the token of the holder.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::trouble::Trouble;

/// Everybody may read it, as far as the process's mask lets them: a token is no secret.
const MODE: u32 = 0o666;

/// Whoever reads the file finds this token, or what was there before, and nothing in between.
pub(super) fn write(file: &Path, token: u64) -> Result<(), Trouble> {
    let cannot = |error| Trouble::failed(format!("cannot write the token to {}: {error}", file.display()));
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut new = tempfile::Builder::new();
    let new = new.prefix(".token-").permissions(Permissions::from_mode(MODE)).tempfile_in(dir);
    let mut new = new.map_err(cannot)?;
    writeln!(new, "{token}").map_err(cannot)?;
    new.persist(file).map_err(|error| cannot(error.error))?;
    Ok(())
}
