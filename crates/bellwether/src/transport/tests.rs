mod duplicates;
mod harness;
mod links;
mod names;
mod pressure;
mod refusals;
mod roster;
mod strangers;
