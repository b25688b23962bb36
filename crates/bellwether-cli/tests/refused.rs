//! Real agents that their peers answer and refuse, and agents that have met too few peers to lead.
//!
//! | what | file |
//! |---|---|
//! | who is refused does not lead, and everybody sees why | `odd.rs` |
//! | certificates that expire while a cluster runs, or soon | `expiry.rs` |
//! | a first election, and the last survivor | `first.rs` |

mod expiry;
mod first;
mod odd;
