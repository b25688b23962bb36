//! Exhaustive search: every state that a cluster can be in, within bounds that are stated.
//!
//! A [`System`] is the very [`Node`](bellwether_proto::node::Node) that ships, on a few machines, with every order of
//! arrivals, expiries, crashes and recoveries; [`explore`] looks at all of its states and judges each. What is covered:
//!
//! - **Time.** Each node has a clock of its own, which stands still until its next deadline expires, and that may happen at
//!   any time: any node may be any number of times faster than any other, and any message take any time. Distances
//!   between the deadlines of one node are kept. What arrives between two deadlines of a node arrives right after the
//!   first, or with [`Bounds::waits`] also right before the second; nobody is woken late. For algorithms that promise
//!   nothing unless messages arrive within δ, time passes for all alike (`together.rs`).
//! - **Messages.** Channels keep the order for algorithms that need it, and keep none for the others.
//! - **Crashes** come between steps, and in the middle of one after anything that was written or sent. Recovery is from disk.
//! - **Detectors** are replaced by one of the class that the algorithm assumes, and what drives consistent links by an
//!   oracle (`oracle.rs`, `links.rs`).
//!
//! States that behave alike are one state: they are told apart by their canonical form, with each node's deadlines as
//! distances from its own clock and counters reduced to their order, in 64 bits. Ids decide ties in every algorithm here, so
//! there is no symmetry to use.
//!
//! Safety is judged in every state, the algorithm's invariants at every step, and liveness by what becomes of every state if
//! nothing befalls it any more (`calm.rs`).

mod agents;
mod bounds;
mod broken;
mod calm;
mod channels;
mod connections;
mod interned;
mod links;
mod oracle;
mod path;
mod program;
mod promised;
mod record;
mod search;
mod state;
mod system;
mod together;
mod transition;
mod turn;

pub use agents::{Origin, can_search_agents};
pub use bounds::{Bounds, Reached, UNBOUNDED};
pub use broken::{Breach, Broken};
pub use calm::INSTANTS_MAX;
pub use oracle::{may_lie, may_lose};
pub use path::{Story, story};
pub use program::Ask;
pub use promised::{can_search, judgeable, judgeable_of_agents, promised, promised_by_agents};
pub use search::{Counterexample, Extent, Flow, Limits, Outcome, Progress, explore, flaws};
pub use state::{Scratch, State};
pub use system::{Fault, NODES_MAX, Reductions, Successor, System};
pub use transition::Transition;
