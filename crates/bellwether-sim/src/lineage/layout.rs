//! Where the boxes of the picture stand, and where the lines between them run.
//!
//! A row for each generation. In a row, a group stands below the middle of its parents as far as there is room. A line to a group
//! more than one row above has a lane of its own in each row between, as if it were a very narrow group, so that it passes
//! beside the boxes and not behind them; lines to the same group share theirs.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::lineage::ROOT;
use bellwether_proto::ident::{GroupId, NodeId};

use super::Lineage;

pub(super) const MARGIN: f64 = 24.0;
pub(super) const BOX_HEIGHT: f64 = 46.0;
const TOP: f64 = 84.0;
const ROW: f64 = 92.0;
const GAP: f64 = 18.0;
/// Of a lane; there is a gap on either side of it as well.
const LANE: f64 = 2.0;

/// Where a box is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) middle: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    row: usize,
}

/// Where everything is.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) places: BTreeMap<GroupId, Place>,
    /// By row, and the group to which the lines there lead: where they pass.
    lanes: BTreeMap<(usize, GroupId), f64>,
}

/// What stands in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slot {
    Group(GroupId),
    /// Lines to that group pass.
    Lane(GroupId),
}

impl Layout {
    /// A layout of these groups, each with a box of that width. A parent that is not drawn is replaced by the
    /// root.
    pub(super) fn new(
        lineage: &Lineage,
        drawn: &[GroupId],
        root: f64,
        width: impl Fn(GroupId) -> f64,
    ) -> Self {
        let rows = rows(lineage, drawn);
        let width = |slot: Slot| match slot {
            Slot::Group(ROOT) => root,
            Slot::Group(group) => width(group),
            Slot::Lane(_) => LANE,
        };
        let span = |row: &BTreeSet<Slot>| row.iter().map(|slot| width(*slot) + GAP).sum::<f64>() - GAP;
        let widest = rows.values().map(span).fold(0.0, f64::max);
        let mut layout = Self { places: BTreeMap::new(), lanes: BTreeMap::new() };
        for (row, slots) in &rows {
            let order = layout.order(lineage, *row, slots, MARGIN + widest / 2.0);
            let widths: Vec<f64> = order.iter().map(|(_, slot)| width(*slot)).collect();
            for ((_, slot), (middle, width)) in order.iter().zip(row_places(&order, &widths, widest)) {
                layout.put(*row, *slot, middle, width);
            }
        }
        layout
    }

    fn put(&mut self, row: usize, slot: Slot, middle: f64, width: f64) {
        match slot {
            Slot::Group(group) => {
                self.places.insert(group, Place { middle, top: top(row), width, row });
            }
            Slot::Lane(to) => {
                self.lanes.insert((row, to), middle);
            }
        }
    }

    /// The slots of a row as they want to stand. Those with the same wish, by the first of their members.
    fn order(&self, lineage: &Lineage, row: usize, slots: &BTreeSet<Slot>, middle: f64) -> Vec<(f64, Slot)> {
        let wish = |slot: &Slot| {
            let above: Vec<f64> = match slot {
                Slot::Group(ROOT) => Vec::new(),
                Slot::Group(group) => {
                    self.ends(lineage, *group).into_iter().map(|to| self.above(row, to)).collect()
                }
                Slot::Lane(to) => vec![self.above(row, *to)],
            };
            if above.is_empty() { middle } else { above.iter().sum::<f64>() / above.len() as f64 }
        };
        let first = |slot: &Slot| -> Option<NodeId> {
            let Slot::Group(group) = slot else { return None };
            lineage.groups().get(group)?.members.first().copied()
        };
        let mut order: Vec<(f64, Slot)> = slots.iter().map(|slot| (wish(slot), *slot)).collect();
        order.sort_by(|(a, one), (b, other)| {
            a.total_cmp(b).then(first(one).cmp(&first(other))).then(one.cmp(other))
        });
        order
    }

    /// Where a line to that group crosses the row above this one.
    fn above(&self, row: usize, to: GroupId) -> f64 {
        let lane = row.checked_sub(1).and_then(|above| self.lanes.get(&(above, to)));
        lane.copied().unwrap_or(self.places[&to].middle)
    }

    /// The groups to which lines lead from that one: its parents, and the root for those that are not drawn.
    pub(super) fn ends(&self, lineage: &Lineage, group: GroupId) -> BTreeSet<GroupId> {
        let parents = lineage.groups()[&group].parents.iter();
        parents.map(|parent| if self.places.contains_key(parent) { *parent } else { ROOT }).collect()
    }

    /// The points of the line from a group up to another: always from the top of a row to the foot of the one above, and in a
    /// lane, straight, from its foot to its top.
    pub(super) fn line(&self, from: GroupId, to: GroupId) -> Vec<(f64, f64)> {
        let (start, end) = (self.places[&from], self.places[&to]);
        let mut points = vec![(start.middle, start.top)];
        for row in (end.row + 1..start.row).rev() {
            let x = self.lanes[&(row, to)];
            points.extend([(x, top(row) + BOX_HEIGHT), (x, top(row))]);
        }
        points.push((end.middle, end.top + BOX_HEIGHT));
        points
    }

    pub(super) fn right(&self) -> f64 {
        let boxes = self.places.values().map(|place| place.middle + place.width / 2.0);
        boxes.chain(self.lanes.values().copied()).fold(0.0, f64::max)
    }

    pub(super) fn bottom(&self) -> f64 {
        self.places.values().map(|place| place.top + BOX_HEIGHT).fold(TOP, f64::max)
    }
}

fn top(row: usize) -> f64 {
    TOP + ROW * row as f64
}

/// What stands in each row: the root in the first, then generation by generation, and the lanes.
fn rows(lineage: &Lineage, drawn: &[GroupId]) -> BTreeMap<usize, BTreeSet<Slot>> {
    let generations = lineage.generations();
    let first = drawn.iter().map(|group| generations[group]).min().unwrap_or(0);
    let row: BTreeMap<GroupId, usize> =
        drawn.iter().map(|group| (*group, generations[group] - first + 1)).collect();
    let mut rows = BTreeMap::from([(0, BTreeSet::from([Slot::Group(ROOT)]))]);
    for (group, below) in &row {
        rows.entry(*below).or_default().insert(Slot::Group(*group));
        for parent in &lineage.groups()[group].parents {
            let (to, above) = row.get(parent).map_or((ROOT, 0), |above| (*parent, *above));
            for between in above + 1..*below {
                rows.entry(between).or_default().insert(Slot::Lane(to));
            }
        }
    }
    rows
}

/// The middle and the width of each, as near to where it wants to be as the others in its row let it.
fn row_places(order: &[(f64, Slot)], widths: &[f64], widest: f64) -> Vec<(f64, f64)> {
    let mut after: f64 = widths.iter().sum::<f64>() + GAP * (order.len() as f64 - 1.0);
    let mut x = MARGIN;
    let mut places = Vec::new();
    for ((wanted, _), width) in order.iter().zip(widths) {
        // Not so far to the right that those that follow have no room.
        let left = (wanted - width / 2.0).max(x).min((MARGIN + widest - after).max(x));
        places.push((left + width / 2.0, *width));
        x = left + width + GAP;
        after -= width + GAP;
    }
    centre(&mut places, order);
    places
}

/// Those that were pushed aside were all pushed to the right: the row as a whole goes back, as far as there is room.
fn centre(places: &mut [(f64, f64)], order: &[(f64, Slot)]) {
    let pushed = places.iter().zip(order).map(|((middle, _), (wanted, _))| middle - wanted).sum::<f64>();
    let room = places.first().map_or(0.0, |(middle, width)| middle - width / 2.0 - MARGIN);
    let back = (pushed / places.len() as f64).clamp(0.0, room.max(0.0));
    places.iter_mut().for_each(|(middle, _)| *middle -= back);
}
