//! Paper conformance: one file per document, one test per claim of its ledger in `docs/papers`.

mod franceschetti_bruck_1998;
mod garcia_molina_1982;
mod invitations;
mod ledger;
mod modelled;
mod overtaking;
mod papers;
mod raynal_2007;
mod souto_2021;
mod souto_invitations;
mod stoller_1997;
mod watching;
