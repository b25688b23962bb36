//! A deterministic world for Bellwether's state machines, and the checkers that judge its runs.
//!
//! A [`scenario::Scenario`] says what runs and what goes wrong; [`run::run`] plays it in a [`world::World`] and returns
//! a [`report::Report`]. The world writes a trace; the checkers in [`check`] judge the trace, never the world, so that
//! they can judge recorded runs of a real cluster as well.
//!
//! The same scenario and seed give the same trace, and the same hash of it, on every machine.

#![forbid(unsafe_code)]

mod adversary;
mod blueprint;
pub mod campaign;
mod chance;
pub mod check;
mod clock;
pub mod diagram;
pub mod environment;
pub mod exclusive;
pub mod explore;
pub mod flaw;
pub mod journal;
pub mod lineage;
pub mod measure;
mod model;
mod net;
pub mod operations;
pub mod plan;
pub mod plot;
mod queue;
pub mod recorded;
pub mod report;
pub mod run;
pub mod scenario;
pub mod shiviz;
pub mod shrink;
mod svg;
pub mod swarm;
pub mod trace_file;
mod visited;
mod votes;
pub mod world;
