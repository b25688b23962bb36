//! Why an agent cannot be started with its configuration.

use std::fmt;

use crate::Status;

/// Why there is no configuration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ConfigError {
    /// The configuration is wrong: every problem that was found, one line each.
    Wrong(Vec<String>),
    /// Something that is named cannot be read.
    Failed(String),
}

impl ConfigError {
    pub(super) fn wrong(problem: impl Into<String>) -> Self {
        Self::Wrong(vec![problem.into()])
    }

    /// Every problem, one at a time.
    pub(crate) fn problems(&self) -> &[String] {
        match self {
            Self::Wrong(problems) => problems,
            Self::Failed(problem) => std::slice::from_ref(problem),
        }
    }

    /// How a command goes that ends with this.
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Wrong(_) => Status::BadInput,
            Self::Failed(_) => Status::Failed,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems().join("\n"))
    }
}

impl std::error::Error for ConfigError {}
