//! The graph as a picture: time runs down, a box for each group, lines up to the groups it came from.
//!
//! A row for each generation. In a row, a group stands below the middle of its parents as far as there is room.

use std::collections::{BTreeMap, BTreeSet};

use bellwether_proto::group::history::ROOT;
use bellwether_proto::ident::GroupId;
use bellwether_proto::time::Time;

use super::{Lineage, Vertex, name};
use crate::svg::{Px, Svg, width};

/// More groups than this nobody can follow: the latest are drawn.
pub(super) const GROUPS_MAX: usize = 120;

const MARGIN: f64 = 24.0;
const TOP: f64 = 84.0;
const BOX_HEIGHT: f64 = 46.0;
const ROW: f64 = 92.0;
const GAP: f64 = 18.0;
const TEXT: f64 = 12.0;

/// Where a box is.
#[derive(Clone, Copy)]
struct Place {
    middle: f64,
    top: f64,
    width: f64,
}

/// The picture, under that title.
pub fn svg(lineage: &Lineage, title: &str, about: &str) -> String {
    let drawn = latest(lineage);
    let places = layout(lineage, &drawn);
    let right = places.values().map(|place| place.middle + place.width / 2.0).fold(0.0, f64::max);
    let heading = width(title) * 17.0;
    let page = (right.max(heading + MARGIN).max(width(about) * TEXT + MARGIN)) + MARGIN;
    let bottom = places.values().map(|place| place.top + BOX_HEIGHT).fold(TOP, f64::max) + MARGIN;
    let mut svg = Svg::default();
    let view = format!("0 0 {} {}", Px(page), Px(bottom));
    svg.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &Px(page)),
            ("height", &Px(bottom)),
            ("viewBox", &view),
            ("role", &"img"),
        ],
    );
    svg.title(title);
    svg.text("style", &[], CSS);
    svg.empty("rect", &[("class", &"bg"), ("width", &Px(page)), ("height", &Px(bottom))]);
    svg.text("text", &[("class", &"title"), ("x", &Px(MARGIN)), ("y", &Px(34.0))], title);
    let left_out = lineage.groups().len() - drawn.len();
    let earlier =
        if left_out > 0 { format!(" · {left_out} earlier groups left out") } else { String::new() };
    let about = format!("{about}{earlier}");
    svg.text("text", &[("class", &"about"), ("x", &Px(MARGIN)), ("y", &Px(56.0))], &about);
    for group in &drawn {
        edges(&mut svg, &lineage.groups()[group], places[group], &places);
    }
    let now: BTreeSet<GroupId> = lineage.heads().values().copied().collect();
    if let Some(place) = places.get(&ROOT) {
        let called = if left_out > 0 { "earlier groups" } else { "initial group" };
        vertex(&mut svg, *place, "root", called, "all nodes");
    }
    for group in &drawn {
        let Vertex { at, .. } = &lineage.groups()[group];
        let class = if now.contains(group) { "now" } else { "past" };
        let first = format!("{} · {}", name(*group), clock(*at));
        vertex(&mut svg, places[group], class, &first, &members(&lineage.groups()[group]));
    }
    svg.close();
    svg.finish()
}

/// The groups that are drawn.
fn latest(lineage: &Lineage) -> Vec<GroupId> {
    let mut groups: Vec<(Time, GroupId)> =
        lineage.groups().iter().map(|(group, vertex)| (vertex.at, *group)).collect();
    groups.sort_unstable();
    groups.drain(..groups.len().saturating_sub(GROUPS_MAX));
    groups.into_iter().map(|(_, group)| group).collect()
}

fn layout(lineage: &Lineage, drawn: &[GroupId]) -> BTreeMap<GroupId, Place> {
    let generations = lineage.generations();
    let first = drawn.iter().map(|group| generations[group]).min().unwrap_or(0);
    let mut rows: BTreeMap<usize, Vec<GroupId>> = BTreeMap::new();
    for group in drawn {
        rows.entry(generations[group] - first).or_default().push(*group);
    }
    let widest = rows.values().map(|row| span(lineage, row)).fold(box_width("initial group"), f64::max);
    let middle = MARGIN + widest / 2.0;
    let root = Place { middle, top: TOP, width: box_width("initial group") };
    let mut places = BTreeMap::from([(ROOT, root)]);
    for (row, groups) in rows {
        let top = TOP + ROW * (row as f64 + 1.0);
        let wanted = |group: &GroupId| {
            let parents = lineage.groups()[group].parents.iter();
            let above: Vec<f64> =
                parents.filter_map(|parent| places.get(parent)).map(|place| place.middle).collect();
            if above.is_empty() { middle } else { above.iter().sum::<f64>() / above.len() as f64 }
        };
        let mut order: Vec<(f64, GroupId)> = groups.iter().map(|group| (wanted(group), *group)).collect();
        // Below its parents; those with the same parents, by the first of their members.
        order.sort_by(|(a, one), (b, other)| {
            let first = |group: &GroupId| lineage.groups()[group].members.first().copied();
            a.total_cmp(b).then(first(one).cmp(&first(other))).then(one.cmp(other))
        });
        for (group, place) in row_places(lineage, &order, top, widest) {
            places.insert(group, place);
        }
    }
    places
}

/// As near to where each wants to be as the others in its row let it.
fn row_places(lineage: &Lineage, order: &[(f64, GroupId)], top: f64, widest: f64) -> Vec<(GroupId, Place)> {
    let widths: Vec<f64> = order.iter().map(|(_, group)| vertex_width(lineage, *group)).collect();
    let mut after: f64 = widths.iter().sum::<f64>() + GAP * (order.len() as f64 - 1.0);
    let mut x = MARGIN;
    let mut places = Vec::new();
    for ((wanted, group), width) in order.iter().zip(widths) {
        // Not so far to the right that those that follow have no room.
        let left = (wanted - width / 2.0).max(x).min((MARGIN + widest - after).max(x));
        places.push((*group, Place { middle: left + width / 2.0, top, width }));
        x = left + width + GAP;
        after -= width + GAP;
    }
    places
}

fn span(lineage: &Lineage, row: &[GroupId]) -> f64 {
    row.iter().map(|group| vertex_width(lineage, *group) + GAP).sum::<f64>() - GAP
}

fn vertex_width(lineage: &Lineage, group: GroupId) -> f64 {
    let vertex = &lineage.groups()[&group];
    let first = format!("{} · {}", name(group), clock(vertex.at));
    box_width(&first).max(box_width(&members(vertex)))
}

fn box_width(text: &str) -> f64 {
    width(text) * TEXT + 20.0
}

fn members(vertex: &Vertex) -> String {
    if vertex.members.len() > 8 {
        return format!("{} nodes, led by {}", vertex.members.len(), vertex.coordinator);
    }
    match vertex.members.len() {
        0 => "members unknown".to_owned(),
        1 => format!("node {} alone", vertex.roll()),
        _ => format!("nodes {}", vertex.roll()),
    }
}

fn clock(at: Time) -> String {
    let millis = at.as_micros() / 1_000;
    format!("{}.{:03} s", millis / 1_000, millis % 1_000)
}

fn edges(svg: &mut Svg, vertex: &Vertex, place: Place, places: &BTreeMap<GroupId, Place>) {
    // What is not drawn is among the earlier groups.
    let ends: BTreeSet<(i64, i64)> = vertex
        .parents
        .iter()
        .filter_map(|parent| places.get(parent).or_else(|| places.get(&ROOT)))
        .map(|end| (end.middle as i64, (end.top + BOX_HEIGHT) as i64))
        .collect();
    for (x, y) in ends {
        let (from, to) = (place.middle, place.top);
        let half = (to + y as f64) / 2.0;
        let path = format!("M{} {}C{} {} {x} {} {x} {y}", Px(from), Px(to), Px(from), Px(half), Px(half));
        svg.empty("path", &[("class", &"edge"), ("d", &path)]);
    }
}

fn vertex(svg: &mut Svg, place: Place, class: &str, first: &str, second: &str) {
    let Place { middle, top, width } = place;
    svg.open("g", &[("class", &class)]);
    svg.empty(
        "rect",
        &[
            ("x", &Px(middle - width / 2.0)),
            ("y", &Px(top)),
            ("width", &Px(width)),
            ("height", &Px(BOX_HEIGHT)),
            ("rx", &6),
        ],
    );
    let line = |svg: &mut Svg, class: &str, dy: f64, text: &str| {
        let (x, y) = (Px(middle), Px(top + dy));
        svg.text("text", &[("class", &class), ("x", &x), ("y", &y), ("text-anchor", &"middle")], text);
    };
    line(svg, "name", 19.0, first);
    line(svg, "roll", 36.0, second);
    svg.close();
}

const CSS: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px;fill:#1b1f24}
.bg{fill:#fff}
.title{font-size:17px;font-weight:600}
.about,.roll{fill:#57606a}
.name{font-weight:600}
rect{stroke:#8c959f;stroke-width:1;fill:#f6f8fa}
.bg{stroke:none;fill:#fff}
.root rect{stroke-dasharray:4 3}
.now rect{stroke:#00875f;stroke-width:2.2;fill:#e6f6f1}
.edge{stroke:#6e7781;stroke-width:1.2;fill:none}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6edf3}
.about,.roll{fill:#9da7b3}
rect{stroke:#6e7781;fill:#161b22}
.bg{fill:#0d1117}
.now rect{stroke:#2fc79a;fill:#10302a}
.edge{stroke:#9da7b3}
}
";
