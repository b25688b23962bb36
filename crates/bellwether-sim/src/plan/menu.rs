//! The faults that a plan draws from, each as often as it is to come up.

/// What can be drawn next; see [`Fault`](crate::scenario::Fault).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pick {
    Crash,
    Recover,
    CrashBeforeSend,
    Pause,
    Resume,
    Cut,
    CutOneWay,
    Partition,
    Heal,
    Slow,
    DropNext,
}

/// Each as often as it is to be drawn.
pub(super) const MENU: [Pick; 14] = {
    use Pick::{
        Crash, CrashBeforeSend, Cut, CutOneWay, DropNext, Heal, Partition, Pause, Recover, Resume, Slow,
    };
    [
        Crash,
        Crash,
        Recover,
        Recover,
        CrashBeforeSend,
        Pause,
        Resume,
        Resume,
        Cut,
        CutOneWay,
        Partition,
        Heal,
        Slow,
        DropNext,
    ]
};
/// That many of them happen in a synchronous system.
pub(super) const MENU_SYNCHRONOUS: usize = 5;
/// That many, if nodes may stop running as well.
pub(super) const MENU_SILENT: usize = 8;
