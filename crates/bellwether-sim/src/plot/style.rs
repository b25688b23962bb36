//! Colours: those of Okabe and Ito, which people with any kind of colour vision tell apart, a little darker on white and
//! lighter on black. Everything that a colour says is also said in words beside it.

use bellwether_proto::election::Protocol;

/// On white, and on black.
const COLOURS: [(&str, &str); 8] = [
    ("#6e7781", "#9da7b3"),
    ("#d55e00", "#ff8a3d"),
    ("#0072b2", "#5aa9e6"),
    ("#b0568a", "#e29cc6"),
    ("#b87d00", "#f0b429"),
    ("#00875f", "#2fc79a"),
    ("#2f9fd6", "#a5d8ff"),
    ("#1b1f24", "#e6edf3"),
];

/// The colour of an algorithm: the same in every picture.
pub(super) fn colour(protocol: Protocol) -> usize {
    let place = Protocol::ALL.iter().position(|known| *known == protocol);
    place.unwrap_or(0) % COLOURS.len()
}

/// The style sheet. On paper it is always light.
pub(super) fn css() -> String {
    let class = |dark: bool| {
        let colour = move |(place, (on_white, on_black)): (usize, &(&str, &str))| {
            format!(".p{place}{{color:{}}}\n", if dark { on_black } else { on_white })
        };
        COLOURS.iter().enumerate().map(colour).collect::<String>()
    };
    format!(
        "{COMMON}{}@media screen and (prefers-color-scheme:dark){{\n{DARK}{}}}\n",
        class(false),
        class(true)
    )
}

const COMMON: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:12px;fill:#1b1f24}
.bg{fill:#fff}
.title{font-size:22px;font-weight:600}
.about{font-size:14px}
.head{font-size:15px;font-weight:600}
.unit,.note,.tick{fill:#57606a}
.name{font-size:13px;font-weight:600}
.never{fill:#b34700}
.value,.never{paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}
.grid{stroke:#d8dee4;stroke-width:1}
.axis{stroke:#8c959f;stroke-width:1}
.stroke{stroke:currentColor;stroke-width:2.5;fill:none;stroke-linejoin:round}
.lead{stroke:currentColor;stroke-width:1;fill:none}
.mark{fill:currentColor;stroke:#fff;stroke-width:1}
.whisker{stroke:currentColor;stroke-width:2}
.bar{fill:currentColor}
.median{fill:#fff;stroke:#1b1f24;stroke-width:1.2}
";

const DARK: &str = "\
text{fill:#e6edf3}
.bg{fill:#0d1117}
.unit,.note,.tick{fill:#9da7b3}
.never{fill:#ffa15c}
.value,.never{stroke:#0d1117}
.grid{stroke:#2b323b}
.axis{stroke:#6e7781}
.mark{stroke:#0d1117}
.median{fill:#0d1117;stroke:#e6edf3}
";
