//! The graph for Graphviz.

use std::fmt::Write;

use super::{Lineage, name};

/// The graph of groups in the language of Graphviz: a box for each group, an arrow from each to those it came from.
pub fn dot(lineage: &Lineage) -> String {
    let mut out =
        String::from("digraph history {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    let heads: Vec<_> = lineage.heads().values().collect();
    for (group, vertex) in lineage.groups() {
        let style = if heads.contains(&group) { ", style=bold" } else { "" };
        let label = format!("{}\\nnodes {}", name(*group), vertex.roll());
        let _ = writeln!(out, "  \"{}\" [label=\"{label}\"{style}];", name(*group));
    }
    for (group, vertex) in lineage.groups() {
        for parent in &vertex.parents {
            let _ = writeln!(out, "  \"{}\" -> \"{}\";", name(*group), name(*parent));
        }
    }
    out.push_str("}\n");
    out
}
