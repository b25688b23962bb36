//! What an engine has to do, for [`Kept`](super::Kept) to make an arbiter of it.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::{Candidacy, Name, Terms};

/// Something that keeps sessions and lines of those that want a name. Whoever is at the head of the line holds the name.
///
/// Every call is one question and its answer. A call that fails may have been done all the same: whoever asks again is answered as if
/// it had been asked once. A call may be dropped at any time.
pub trait Engine: fmt::Debug + Send + Sync + 'static {
    /// What its grants rest on.
    fn terms(&self) -> Terms;

    /// Opens a session, which ends when it is not renewed for the ttl that this returns. The clock starts when the engine hears of it:
    /// never before this is called.
    fn open(&self) -> impl Future<Output = Result<(String, Duration), Trouble>> + Send;

    /// Renews a session: it ends so much later than this was called. [`Trouble::Gone`] if it has ended.
    fn renew(&self, session: &str) -> impl Future<Output = Result<Duration, Trouble>> + Send;

    /// Ends a session, and frees what it holds and waits for.
    fn close(&self, session: &str) -> impl Future<Output = Result<(), Trouble>> + Send;

    /// Puts a session into the line of a name, at its end. A session may be there more than once, each time in another slot. If it is
    /// there in that slot already, it keeps its place. [`Trouble::Gone`] if the session has ended.
    fn enter(
        &self,
        session: &str,
        name: &Name,
        slot: u32,
        candidacy: &Candidacy,
    ) -> impl Future<Output = Result<Place, Trouble>> + Send;

    /// Takes somebody out of a line. Whoever is there in the same slot with another number stays.
    fn leave(&self, name: &Name, ticket: &Ticket) -> impl Future<Output = Result<(), Trouble>> + Send;

    /// Sets what whoever holds that ticket proclaims. False if nobody holds it.
    fn proclaim(
        &self,
        name: &Name,
        ticket: &Ticket,
        value: &[u8],
    ) -> impl Future<Output = Result<bool, Trouble>> + Send;

    /// The line of a name, as it is now.
    fn read(&self, name: &Name) -> impl Future<Output = Result<Line, Trouble>> + Send;

    /// Tells lines as they change, for ever: first those that there are, then those that have changed. Whatever it cannot tell for a
    /// while it tells afterwards. Returns only if it cannot go on, and is called again then.
    fn follow(&self, news: &News) -> impl Future<Output = Trouble> + Send;
}

/// Where lines are told.
pub struct News(pub(super) Box<dyn Fn(Told) + Send + Sync>);

/// What is told.
#[derive(Debug)]
pub(super) enum Told {
    Line(Name, Line),
    All(Vec<(Name, Line)>, u64),
}

impl News {
    /// How that line is now.
    pub fn line(&self, name: Name, line: Line) {
        (self.0)(Told::Line(name, line));
    }

    /// How all lines are. Whatever is not among them was empty at that time.
    pub fn all(&self, lines: Vec<(Name, Line)>, at: u64) {
        (self.0)(Told::All(lines, at));
    }
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("News")
    }
}

/// Somebody in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Whose.
    pub session: String,
    /// In which slot of that session.
    pub slot: u32,
    /// No other ticket of that name has this number, ever.
    pub number: u64,
}

/// What came of getting in line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Who it is.
    pub ticket: Ticket,
    /// Every line that is told as of then or later has the ticket in it, as long as it is in line.
    pub at: u64,
}

/// Who holds a name, and who waits for it, at some time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// When. Later ones have larger numbers; a number may mean the same for all names or for each on its own.
    pub at: u64,
    /// Those in line. The first holds the name.
    pub tickets: Vec<Ticket>,
    /// The token of the holder, or of the last one if that is known.
    pub token: u64,
    /// What the holder proclaims.
    pub value: Arc<[u8]>,
}

/// Why an engine did not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// It does not answer.
    #[error("no {engine} answers at {at}: {why}")]
    Unreachable {
        /// What was looked for.
        engine: &'static str,
        /// Where.
        at: String,
        /// Why.
        why: String,
    },
    /// It refuses: who asks may not, or it takes no writes.
    #[error("{engine} at {at} refuses: {why}")]
    Refused {
        /// What refuses.
        engine: &'static str,
        /// Where.
        at: String,
        /// In its words.
        why: String,
        /// Whether what was given is wrong, rather than what the world did.
        is_wrong: bool,
    },
    /// What is there is of no use.
    #[error("{at}: found {found}, expected {wanted}")]
    Unfit {
        /// Where.
        at: String,
        /// What is there.
        found: String,
        /// What should be.
        wanted: String,
    },
    /// The session has ended.
    #[error("the session has ended")]
    Gone,
}

impl Trouble {
    /// Whether what was given is wrong, rather than what the world did.
    pub fn is_bad_input(&self) -> bool {
        match self {
            Self::Refused { is_wrong, .. } => *is_wrong,
            Self::Unfit { .. } => true,
            Self::Unreachable { .. } | Self::Gone => false,
        }
    }
}
