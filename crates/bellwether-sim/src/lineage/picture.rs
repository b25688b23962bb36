//! The graph as a picture: time runs down, a box for each group, lines up to the groups it came from.

use std::collections::BTreeSet;

use bellwether_proto::group::lineage::ROOT;
use bellwether_proto::ident::GroupId;
use bellwether_proto::time::Time;

use super::layout::{BOX_HEIGHT, Layout, MARGIN, Place};
use super::{Lineage, Vertex, name};
use crate::svg::{Px, Svg, width};

/// More groups than this nobody can follow: the latest are drawn.
pub(super) const GROUPS_MAX: usize = 120;

const TEXT: f64 = 12.0;
/// How much wider bold letters are, at most.
const BOLD: f64 = 1.15;

/// The picture, under that title.
pub fn svg(lineage: &Lineage, title: &str, about: &str) -> String {
    let drawn = latest(lineage);
    let layout =
        Layout::new(lineage, &drawn, box_width("initial group"), |group| vertex_width(lineage, group));
    let heading = width(title) * 17.0 * BOLD;
    let page = (layout.right().max(heading + MARGIN).max(width(about) * TEXT + MARGIN)) + MARGIN;
    let bottom = layout.bottom() + MARGIN;
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
        for to in layout.ends(lineage, *group) {
            svg.empty("path", &[("class", &"edge"), ("d", &path(&layout.line(*group, to)))]);
        }
    }
    let now: BTreeSet<GroupId> = lineage.heads().values().copied().collect();
    let called = if left_out > 0 { "earlier groups" } else { "initial group" };
    vertex(&mut svg, layout.places[&ROOT], "root", called, "all nodes");
    for group in &drawn {
        let Vertex { at, .. } = &lineage.groups()[group];
        let class = if now.contains(group) { "now" } else { "past" };
        let first = format!("{} · {}", name(*group), clock(*at));
        vertex(&mut svg, layout.places[group], class, &first, &members(&lineage.groups()[group]));
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

/// Curves between rows, straight in lanes.
fn path(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in points.iter().copied().enumerate() {
        let drawn = match at {
            0 => format!("M{} {}", Px(x), Px(y)),
            _ if at % 2 == 0 => format!("V{}", Px(y)),
            _ => {
                let (before, start) = points[at - 1];
                let half = (start + y) / 2.0;
                format!("C{} {} {} {} {} {}", Px(before), Px(half), Px(x), Px(half), Px(x), Px(y))
            }
        };
        path.push_str(&drawn);
    }
    path
}

fn vertex(svg: &mut Svg, place: Place, class: &str, first: &str, second: &str) {
    let Place { middle, top, width, .. } = place;
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
