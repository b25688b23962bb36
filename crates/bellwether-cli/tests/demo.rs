//! `bellwether demo rain`: real agents that compute a picture, and are killed while they do.

mod disks;
mod rain;
mod run;
