//! How each state was first reached: eight bytes for each, from which paths are rebuilt.

/// The states in the order in which they were found.
#[derive(Debug)]
pub(crate) struct Log {
    /// The state before, and the step from it.
    entries: Vec<(u32, u32)>,
}

impl Log {
    /// With the first state, which comes from nowhere.
    pub(crate) fn with_first() -> Self {
        Self { entries: vec![(0, 0)] }
    }

    /// Adds a state, and gives its number.
    pub(crate) fn add(&mut self, parent: u32, step: u32) -> u32 {
        let number = u32::try_from(self.entries.len()).expect("memory ends before numbers do");
        self.entries.push((parent, step));
        number
    }

    /// The steps from the first state to that one.
    pub(crate) fn path(&self, mut state: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        while state != 0 {
            let (parent, step) = self.entries[state as usize];
            steps.push(step);
            state = parent;
        }
        steps.reverse();
        steps
    }

    pub(crate) fn bytes(&self) -> usize {
        self.entries.capacity() * size_of::<(u32, u32)>()
    }
}
