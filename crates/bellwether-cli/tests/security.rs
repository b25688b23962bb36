//! Real agents under attack. Whatever comes is refused, counted and logged; who leads stays who leads, and memory is bounded.

mod api;
mod certificates;
mod content;
mod crowd;
mod duplicates;
mod impostor;
mod records;
mod replay;
mod siege;
pub(crate) mod stranger;
mod trickle;
