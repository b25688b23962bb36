//! The simulator's tests, in one binary: one is linked in a fraction of the time that nineteen take, and its tests share all cores.

#![allow(clippy::duplicate_mod, reason = "the benchmarks stand alone, with what they share with the tests")]

#[path = "../benches/simulator/main.rs"]
mod benchmarks;
mod diagram;
mod exclusive;
mod explore;
mod families;
mod flaws;
mod groups;
mod invariants;
mod limits;
mod models;
mod mutants;
mod omega;
mod paper;
mod plans;
mod refused;
mod regressions;
mod resignations;
mod scenarios;
mod shiviz;
mod short_search;
mod shrink;
mod stability;
mod swarm;
mod world;
