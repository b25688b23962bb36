//! Real agents, and what may befall them: crashes, pauses, disks, requests, impostors.
//!
//! | what | file |
//! |---|---|
//! | processes that are killed | `crashes.rs` |
//! | processes that are stopped and go on | `pauses.rs` |
//! | how such runs are judged, and that the judge cannot be fooled | `judged.rs` |
//! | that a crash makes one leader and not several | `flicker.rs` |
//! | every algorithm of the agent | `protocols.rs` |
//! | leaders that go on purpose | `handover.rs` |
//! | leaders that are preferred | `priorities.rs` |
//! | views, and who is in them | `views.rs` |
//! | state files that are damaged or lost | `state_file.rs` |
//! | disks that are full | `full_disk.rs` |
//! | disks that are slow | `slow_disk.rs` |
//! | processes that may open few files | `descriptors.rs` |
//! | output that nobody reads | `log.rs` |
//! | addresses and ids that are taken | `taken.rs` |
//! | members of two builds | `upgrade.rs` |

mod crashes;
mod descriptors;
mod flicker;
mod full_disk;
mod handover;
pub(crate) mod judged;
mod log;
pub(crate) mod pauses;
mod priorities;
mod protocols;
mod slow_disk;
mod state_file;
mod taken;
mod upgrade;
mod views;

use std::env;
use std::io::{self, Write};

/// A test that cannot be run is not one that passed.
pub(crate) fn skip(what: &str, why: &str) {
    skip_unless_required("BELLWETHER_REQUIRE_NET", what, why);
}

/// The same of what that variable makes a failure.
pub(crate) fn skip_unless_required(variable: &str, what: &str, why: &str) {
    assert_ne!(env::var(variable).as_deref(), Ok("1"), "cannot be run: {why}");
    // Past the test's output, which nobody sees.
    let _ = writeln!(io::stderr(), "skipped: {what}: {why}");
}
