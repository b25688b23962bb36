//! Why a command failed.

use crate::Status;
use crate::output::Printer;

/// What went wrong, and its exit code.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) status: Status,
    pub(crate) what: String,
}

impl Trouble {
    /// The input is wrong.
    pub(crate) fn wrong(what: impl Into<String>) -> Self {
        Self { status: Status::BadInput, what: what.into() }
    }

    /// It could not be done.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self { status: Status::Failed, what: what.into() }
    }

    /// Tells the user, in the place of any progress that was shown.
    pub(crate) fn told(self, out: &Printer) -> Status {
        out.progress_done();
        out.error(self.what);
        self.status
    }
}

/// Most texts say what is wrong with the input.
impl From<String> for Trouble {
    fn from(what: String) -> Self {
        Self::wrong(what)
    }
}
