//! The application that Franceschetti and Bruck showed on the RAIN system (1998, section 4): machines compute a fractal
//! and keep their progress in coded shards on each other's disks; some fail, and the elected fault manager rebuilds
//! their results from the remaining shards and hands their work on.
//!
//! ```text
//!   compute a row ──► code: n shards, any k rebuild it ──► one to each member's store ──► k have it: the row is safe
//!
//!   new view ──► its leader asks all members what they hold ──► rebuilds what the failed had done, replaces missing
//!                shards ──► a task: who continues which tile, without the rows that are known ──► view in service
//! ```
//!
//! Everything but [`worker`] and [`collect`] is a function of its inputs. Those two speak TCP. Whatever elects tells
//! them who is in which view ([`notice`]).

#![forbid(unsafe_code)]

pub mod code;
pub mod collect;
mod connection;
pub mod deal;
pub mod disk;
pub mod fractal;
mod frames;
pub mod image;
pub mod job;
pub mod notice;
pub mod picture;
pub mod recovery;
pub mod report;
pub mod rows;
pub mod shard;
pub mod store;
pub mod task;
pub mod wire;
pub mod worker;
