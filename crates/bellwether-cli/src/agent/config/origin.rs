//! Where a configuration came from: enough to read it again, and to say what is different then.

mod stamp;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use bellwether_toml::Value;

use super::error::ConfigError;
use super::flags::Overrides;
use super::layers::Environment;
use super::{AgentConfig, RELOADED};

pub(crate) use stamp::Stamp;

#[derive(Clone)]
pub(crate) struct Origin {
    file: PathBuf,
    flags: Overrides,
    env: Environment,
    /// Secrets are among them.
    given: BTreeMap<&'static str, Value>,
    /// The files that the configuration names and that are read with it.
    named: Vec<PathBuf>,
    /// How the files were when they were read.
    stamp: Stamp,
}

impl Origin {
    /// What was given there, while the files that it names have not been read yet.
    pub(super) fn new(
        file: &Path,
        flags: &Overrides,
        env: &Environment,
        given: BTreeMap<&'static str, Value>,
        named: Vec<PathBuf>,
    ) -> Self {
        let (file, flags, env) = (file.to_owned(), flags.clone(), env.clone());
        let origin = Self { file, flags, env, given, named, stamp: Stamp::default() };
        Self { stamp: origin.look(), ..origin }
    }

    /// Reads everything again. Flags and variables are those that the process was started with.
    pub(crate) fn read_again(&self) -> Result<AgentConfig, ConfigError> {
        AgentConfig::load(&self.file, &self.flags, &self.env)
    }

    /// How the files were when they were read.
    pub(crate) fn stamp(&self) -> &Stamp {
        &self.stamp
    }

    /// How they are now.
    pub(crate) fn look(&self) -> Stamp {
        Stamp::of([&self.file].into_iter().chain(&self.named).map(PathBuf::as_path))
    }

    /// The keys that have another value there and that only a restart heeds.
    pub(crate) fn needs_restart(&self, later: &Self) -> Vec<&'static str> {
        let keys = self.given.keys().chain(later.given.keys().filter(|key| !self.given.contains_key(*key)));
        let differs = |key: &&'static str| self.given.get(key) != later.given.get(key);
        keys.copied().filter(|key| !RELOADED.contains(key)).filter(differs).collect()
    }
}

/// Nobody needs to see the rest.
impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("file", &self.file).finish_non_exhaustive()
    }
}
