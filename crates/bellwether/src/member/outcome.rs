//! What the work of a leader may return.

use std::fmt::Display;

/// What the work of a leader may return to [`Member::run`](super::Member::run): nothing, whether it failed, or nothing ever.
pub trait Outcome {
    /// Why the work failed, if it did.
    fn failure(self) -> Option<String>;
}

impl Outcome for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<T, E: Display> Outcome for Result<T, E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| error.to_string())
    }
}

/// Work that loops for ever is what most leaders do.
#[expect(private_interfaces, reason = "the type is public; only the way to spell it is not")]
impl Outcome for Never {
    fn failure(self) -> Option<String> {
        self
    }
}

/// The type of what never returns, which has no other stable name.
type Never = <fn() -> ! as Returns>::Value;

trait Returns {
    type Value;
}

impl<T> Returns for fn() -> T {
    type Value = T;
}
