//! `bellwether demo`: real agents that compute a picture, or write a file, and are killed while they do.

mod disks;
mod rain;
mod run;
mod writer;
