//! A name that is held through a guard, until it is given back.

use std::sync::Arc;

use crate::shared::Shared;

/// A member that leaves waits for this to go.
#[derive(Debug)]
pub(crate) struct Seated(Arc<Shared>);

impl Seated {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        shared.elections.seats.take();
        Self(shared)
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.0.elections.seats.free();
    }
}
