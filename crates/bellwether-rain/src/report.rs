//! What a worker reports to observers.

use serde::{Deserialize, Serialize};

use crate::job::Place;
use crate::rows::Rows;

/// Something that a worker did, or that happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Report {
    /// It is up.
    Up {
        /// How many shards its disk still had.
        held: u32,
    },
    /// It is in a view that is in service, and works.
    InService {
        /// Which view.
        view: u64,
        /// The fault manager.
        leader: u32,
        /// Who is in it.
        members: Vec<u32>,
        /// For every tile, who works on it; 0 if it is finished. Empty if all wait.
        owners: Vec<u32>,
        /// How many members are needed, if there are too few.
        waits_for: Option<u32>,
    },
    /// It is in no view that is in service.
    OutOfService,
    /// It has noticed that it is dead.
    Dead,
    /// It has computed a row.
    Computed {
        /// Which.
        place: Place,
    },
    /// Enough members keep a row.
    Safe {
        /// Which.
        place: Place,
        /// How many shards the worker itself keeps, of all rows.
        held: u32,
    },
    /// As the leader of a new view it has found out which rows are known.
    Recovered {
        /// The view.
        view: u64,
        /// How many members it has.
        members: u32,
        /// How many are needed, if those are too few. Then nothing was found out.
        waits_for: Option<u32>,
        /// Who failed.
        failed: Vec<u32>,
        /// Who came back.
        readmitted: Vec<u32>,
        /// For every tile, the rows that are safe. Empty if nothing was found out.
        known: Vec<Rows>,
        /// How many rows of failed nodes it rebuilt that are new since the view before; all rows, if all nodes
        /// came back at once.
        rows: u32,
        /// How many rows could not be rebuilt.
        lost: u32,
        /// How many shards it replaced at members that lacked them.
        replaced: u32,
        /// How long that took.
        ms: u64,
    },
    /// As the leader of a new view it could not find out.
    RecoveryFailed {
        /// The view.
        view: u64,
        /// Why.
        why: String,
    },
    /// It has rejected shards.
    Rejected {
        /// For their checksum.
        damaged: u32,
        /// Because they are older than what it knows.
        old: u32,
    },
    /// Its disk takes no shards any more, or takes them again.
    Disk {
        /// Why it does not; `None` if it does.
        trouble: Option<String>,
    },
    /// Something else went wrong.
    Trouble {
        /// What.
        what: String,
    },
}
