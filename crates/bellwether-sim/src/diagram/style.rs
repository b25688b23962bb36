//! Colours and lines. The colours are those of Okabe and Ito, which people with any kind of colour vision can tell
//! apart. Everything that a colour says is also said in words.

/// The style sheet. On paper it is always light.
pub(super) const CSS: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1b1f24}
.bg,.gone{fill:#fff}
.title{font-size:17px;font-weight:600}
.sub{font-size:12px}
.replay{font-size:11px;font-family:ui-monospace,'DejaVu Sans Mono',monospace;fill:#57606a}
.node{font-size:13px;font-weight:600}
.t{font-size:11px;fill:#57606a}
.s,.m,.n{font-size:11px}
.s,.m,.t{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.s{font-weight:600}
.m .id{font-size:9px;fill:#57606a}
.m.back{fill:#818b95}
.m.lost{fill:#b34700}
.n{fill:#b34700}
.legend{font-size:11px}
.lane{stroke:#8c959f;stroke-width:1;stroke-dasharray:2 3;fill:none}
.row{stroke:#d0d7de;stroke-width:.7;fill:none}
.election{fill:#e69f00}
.waiting{fill:#56b4e9}
.reorganizing{fill:#cc79a7}
.normal{fill:#009e73}
.dead{fill:#6e7781}
.unled{fill:#a8d8c8}
.paused{fill:url(#hatch)}
.hatching{stroke:#1b1f24;stroke-width:1.6}
.cut{fill:#d55e00}
.arrow{stroke:#30363d;stroke-width:.9;fill:none}
.head{fill:#30363d;stroke:#30363d;stroke-width:1;stroke-linejoin:round}
.decides .arrow{stroke-width:1.9}
.refused .head{fill:#fff}
.copy .arrow{stroke-dasharray:5 2}
.back .arrow{stroke:#afb8c1;stroke-width:.8}
.back .head{fill:#afb8c1;stroke:#afb8c1}
.lost .arrow,.cross{stroke:#d55e00;stroke-width:1.4;fill:none}
.crash{stroke:#d55e00;stroke-width:2.6;fill:none}
.flying{opacity:.45}
.flying .arrow{stroke-dasharray:4 3}
.dot{fill:#fff;stroke:#1b1f24;stroke-width:1.2}
.break{fill:#57606a;font-size:12px;font-style:italic}
.zig{stroke:#8c959f;stroke-width:1;fill:none}
.markline{stroke:#d55e00;stroke-width:2.2;fill:none}
.markbox{fill:#fff1e5;stroke:#d55e00;stroke-width:1}
.marktext{font-size:12px;font-weight:600;fill:#8a3800}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6edf3}
.bg,.gone{fill:#0d1117}
.replay,.t,.m .id,.break{fill:#9da7b3}
.s,.m,.t{stroke:#0d1117}
.m.back{fill:#7d8590}
.m.lost,.n{fill:#ffa15c}
.lane,.zig{stroke:#6e7781}
.row{stroke:#2b323b}
.unled{fill:#1f5c4a}
.hatching{stroke:#e6edf3}
.arrow{stroke:#c3ccd6}
.head{fill:#c3ccd6;stroke:#c3ccd6}
.refused .head{fill:#0d1117}
.back .arrow{stroke:#4b535d}
.back .head{fill:#4b535d;stroke:#4b535d}
.dot{fill:#0d1117;stroke:#e6edf3}
.markbox{fill:#3a1d08}
.marktext{fill:#ffb77d}
}
";
