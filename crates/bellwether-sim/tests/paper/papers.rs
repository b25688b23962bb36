//! The papers whose claims are tested, and how what is there for the sake of each is named.

use std::ops::RangeInclusive;

/// Every paper that has a ledger.
pub(super) const PAPERS: &[Paper] = &[GARCIA_MOLINA, STOLLER, SOUTO, RAYNAL, FRANCESCHETTI_BRUCK];

const GARCIA_MOLINA: Paper = Paper {
    key: "garcia-molina-1982",
    tests: &["garcia_molina_1982.rs", "invitations.rs"],
    claims: 1..=13,
    erratum: "E-GM",
    errata: 1..=10,
    scenarios: &["egm"],
};

const STOLLER: Paper = Paper {
    key: "stoller-1997",
    tests: &["stoller_1997.rs"],
    claims: 14..=36,
    erratum: "E-ST",
    errata: 1..=14,
    scenarios: &["est", "s0", "s1", "c2", "c3"],
};

const SOUTO: Paper = Paper {
    key: "souto-2021",
    tests: &["souto_2021.rs", "souto_invitations.rs"],
    claims: 37..=41,
    erratum: "E-SO",
    errata: 1..=5,
    scenarios: &["eso", "so9"],
};

const RAYNAL: Paper = Paper {
    key: "raynal-2007",
    tests: &["raynal_2007.rs"],
    claims: 42..=57,
    erratum: "E-RA",
    errata: 1..=8,
    scenarios: &["era", "c4", "c5", "thm1"],
};

const FRANCESCHETTI_BRUCK: Paper = Paper {
    key: "franceschetti-bruck-1998",
    tests: &["franceschetti_bruck_1998.rs"],
    claims: 58..=70,
    erratum: "E-FB",
    errata: 1..=11,
    scenarios: &["efb", "fb-"],
};

/// What a paper's ledger is held against.
pub(super) struct Paper {
    /// The name of its ledger in `docs/papers`, without ending.
    pub(super) key: &'static str,
    /// The files in this folder with a test for each claim.
    pub(super) tests: &'static [&'static str],
    /// The numbers of its claims. No two papers have one in common.
    pub(super) claims: RangeInclusive<u32>,
    /// How the names of its errata begin; a number follows.
    pub(super) erratum: &'static str,
    /// Those numbers.
    pub(super) errata: RangeInclusive<u32>,
    /// How the names of the scenarios begin that exist for its sake.
    pub(super) scenarios: &'static [&'static str],
}
