//! Paper conformance: one file per document, one test per claim of its ledger in `docs/papers`.

mod franceschetti_bruck_1998;
mod ledger;
mod modelled;
mod papers;
mod raynal_2007;
mod stoller_1997;
mod watching;
