//! Clients in other languages, and the page that says how to write one.
//!
//! | what | file |
//! |---|---|
//! | the client for Python | `python.rs` |
//! | stores that refuse old tokens | `fences.rs` |
//! | what a client and an agent say to each other | `transcript.rs` |

mod fences;
mod python;
mod transcript;
