//! Numbers drawn from a seed, so that what was drawn can be drawn again.

/// A linear congruence: nothing rests on how good it is.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn of(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub(crate) fn below<N: TryFrom<u64> + Into<u64>>(&mut self, end: N) -> N {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        N::try_from((self.0 >> 33) % end.into())
            .unwrap_or_else(|_| unreachable!("it is below a number of its kind"))
    }
}
