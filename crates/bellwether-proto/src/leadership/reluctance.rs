//! Why leadership stays where it is.

/// Why leadership is not handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reluctance {
    /// This node does not lead.
    NotLeading,
    /// The other leads already: it is this node.
    LeadsAlready,
    /// The other cannot be reached.
    NotConnected,
    /// The other does not stand.
    StandsAside,
    /// The other has not answered for a while.
    Silent,
    /// The algorithm has fixed priorities.
    Algorithm,
}
