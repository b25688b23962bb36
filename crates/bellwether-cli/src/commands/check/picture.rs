//! The picture that `--diagram` asks for: of the first violation, if there is one.

use std::fs::Permissions;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::trouble::Trouble;

/// The file for it. Its old content stays until there is something to draw.
pub(super) struct Picture {
    path: PathBuf,
    beside: NamedTempFile,
}

impl Picture {
    pub(super) fn reserve(path: &Path) -> Result<Self, Trouble> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(cannot(path, &"it is a directory"));
        }
        let mut builder = Builder::new();
        let beside = builder.permissions(Permissions::from_mode(0o644)).tempfile_in(parent);
        Ok(Self { path: path.to_owned(), beside: beside.map_err(|error| cannot(path, &error.kind()))? })
    }

    pub(super) fn draw(mut self, svg: &str) -> Result<PathBuf, Trouble> {
        self.beside.write_all(svg.as_bytes()).map_err(|error| cannot(&self.path, &error))?;
        self.beside.persist(&self.path).map_err(|error| cannot(&self.path, &error.error))?;
        Ok(self.path)
    }
}

fn cannot(path: &Path, why: &dyn std::fmt::Display) -> Trouble {
    Trouble::failed(format!("cannot write {}: {why}", path.display()))
}
