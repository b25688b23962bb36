//! Where things are from left to right: the clock, a lane for each node, and one for the links.

use crate::svg::{width, wrap};

/// Half of the band of a lane; that of a leader is wider.
pub(super) const BAND: f64 = 4.0;
/// Half of the band of a node that leads.
pub(super) const LEADER_BAND: f64 = 7.0;
/// The size of what is written beside lanes and arrows.
pub(super) const SMALL: f64 = 11.0;
/// The size of what is written across lanes.
pub(super) const BANNER: f64 = 12.0;
/// From one line of text to the next, in its size.
pub(super) const LEADING: f64 = 1.2;

const CLOCK: f64 = 84.0;
const MARGIN: f64 = 16.0;
const BESIDE_FIRST: f64 = 112.0;
const BESIDE_LAST: f64 = 132.0;
const LINKS: f64 = 150.0;
const NARROWEST: f64 = 640.0;

/// How much wider bold text is.
const BOLD: f64 = 1.13;

/// From left to right.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    lanes: usize,
    gap: f64,
    with_links: bool,
}

impl Frame {
    pub(super) fn new(lanes: usize, with_links: bool) -> Self {
        let gap = match lanes {
            0..=3 => 220.0,
            4 => 190.0,
            5 => 165.0,
            6 => 150.0,
            _ => 132.0,
        };
        Self { lanes, gap, with_links }
    }

    /// The middle of a lane.
    pub(super) fn lane(&self, lane: usize) -> f64 {
        self.left() + BESIDE_FIRST + self.gap * lane as f64
    }

    /// From one lane to the next.
    pub(super) fn gap(&self) -> f64 {
        self.gap
    }

    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Where the clock ends and the lanes begin.
    pub(super) fn left(&self) -> f64 {
        MARGIN + CLOCK
    }

    /// Where the lanes and what is beside them end.
    pub(super) fn right(&self) -> f64 {
        (self.lane(self.lanes.saturating_sub(1)) + BESIDE_LAST).max(NARROWEST - MARGIN)
    }

    /// The middle of the band of the links, if they have one.
    pub(super) fn links(&self) -> Option<f64> {
        self.with_links.then(|| self.right() + 14.0)
    }

    /// The width of the picture.
    pub(super) fn width(&self) -> f64 {
        self.right() + if self.with_links { LINKS } else { 0.0 } + MARGIN
    }

    /// The lines of a text across the lanes.
    pub(super) fn wrap_banner(&self, text: &str) -> Vec<String> {
        wrap(text, (self.right() - self.left() - 16.0) / (BANNER * BOLD))
    }

    /// The lines of a text beside a lane, with so much room between them.
    pub(super) fn wrap_note(&self, text: &str, room: f64) -> Vec<String> {
        wrap(text, (self.gap - room) / (SMALL * BOLD))
    }

    /// The lines of a text beside the band of the links.
    pub(super) fn wrap_links(&self, text: &str) -> Vec<String> {
        wrap(text, (LINKS - 30.0) / SMALL)
    }

    /// The lines of a text across the whole picture.
    pub(super) fn wrap_page(&self, text: &str, size: f64) -> Vec<String> {
        wrap(text, (self.width() - 2.0 * MARGIN) / size)
    }

    /// How far from the edge things begin.
    pub(super) fn margin(&self) -> f64 {
        MARGIN
    }
}

/// How wide a text beside a lane is.
pub(super) fn small(text: &str) -> f64 {
    width(text) * SMALL
}

/// How wide a bold text beside a lane is.
pub(super) fn small_bold(text: &str) -> f64 {
    small(text) * BOLD
}
