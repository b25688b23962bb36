//! What is promised, and how a promise is broken.

/// What is judged in every state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// Every grant that changes the holder has a larger token than all grants before it.
    TokenGrows,
    /// A token of a name names one holder.
    TokenOnce,
    /// Never do two agents hold one name of kind `lease`.
    OneHolder,
    /// A lease that a majority has buried is never valid again. `OneHolder` rests on it.
    DeadStays,
    /// What is decided of a name later follows from what was decided before.
    OneChain,
    /// What is decided of who votes later follows from what was decided before: one voter more or less at a time, by majorities of both.
    OneElectorate,
    /// Nothing is granted while the cluster was never whole.
    Whole,
    /// Whoever believes to hold a name holds it by a grant that is decided.
    ToldDecided,
    /// While nothing goes wrong any more, whoever campaigns is granted the name, or waits for one who holds it and knows it.
    Granted,
}

impl Promise {
    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TokenGrows => "TOKEN-GROWS",
            Self::TokenOnce => "TOKEN-ONCE",
            Self::OneHolder => "ONE-HOLDER",
            Self::DeadStays => "DEAD-STAYS",
            Self::OneChain => "ONE-CHAIN",
            Self::OneElectorate => "ONE-ELECTORATE",
            Self::Whole => "WHOLE",
            Self::ToldDecided => "TOLD-DECIDED",
            Self::Granted => "GRANTED",
        }
    }
}

/// A promise that is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which.
    pub promise: Promise,
    /// For people: in which way.
    pub what: String,
}
