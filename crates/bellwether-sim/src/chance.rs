//! Chance: random bits turned into decisions.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

/// A number below `bound`, from one draw; the bias is below one in 2^32 for any bound that a delay can have.
#[inline]
pub(crate) fn below(bound: u64, rng: &mut ChaCha8Rng) -> u64 {
    ((u128::from(rng.next_u64()) * u128::from(bound)) >> 64) as u64
}

/// A probability as a threshold for 64 random bits. If the outcome is certain, no bits are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chance {
    Never,
    Below(u64),
    Always,
}

impl Chance {
    pub(crate) fn of(probability: f64) -> Self {
        if probability <= 0.0 {
            Self::Never
        } else if probability >= 1.0 {
            Self::Always
        } else {
            Self::Below((probability * 2f64.powi(64)) as u64)
        }
    }

    #[inline]
    pub(crate) fn strikes(self, rng: &mut ChaCha8Rng) -> bool {
        match self {
            Self::Never => false,
            Self::Below(threshold) => rng.next_u64() < threshold,
            Self::Always => true,
        }
    }
}
