//! Tables and paragraphs that fit a terminal.

use comfy_table::presets::{ASCII_MARKDOWN, NOTHING};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width};

/// How wide a paragraph may be: as much as every terminal has.
pub(crate) const WIDTH: usize = 80;

/// How wide a label is at least, with what parts it from its text.
pub(crate) const LABEL: usize = 17;

/// A label for a paragraph.
pub(crate) fn label(text: &str) -> String {
    format!("{text:<LABEL$}")
}

/// Labels and their paragraphs, in two columns, the first as wide as the longest label wants.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries(Vec<(String, String)>);

impl Entries {
    pub(crate) fn add(&mut self, label: impl Into<String>, text: impl Into<String>) {
        self.0.push((label.into(), text.into()));
    }

    /// One paragraph after the other.
    pub(crate) fn paragraphs(&self) -> impl Iterator<Item = String> {
        let widest = self.0.iter().map(|(label, _)| columns_of(label) + 1).max().unwrap_or(0).max(LABEL);
        self.0.iter().map(move |(label, text)| hanging(&format!("{label:<widest$}"), text))
    }
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Text, broken between words where the terminal is too narrow.
    Text(&'static str),
    /// Text that is never broken.
    Whole(&'static str),
    /// Numbers: never broken, and aligned on the right.
    Number(&'static str),
}

/// A table with one line for each row if the terminal is wide enough. Without a terminal there is no limit.
pub(crate) fn table(columns: &[Column], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(columns.iter().map(|column| column.title()));
    table.add_rows(&rows);
    for (at, (column, layout)) in columns.iter().zip(table.column_iter_mut()).enumerate() {
        layout.set_padding((0, if at + 1 < columns.len() { 2 } else { 0 }));
        match column {
            Column::Text(title) => {
                let cells = rows.iter().map(|row| row[at].as_str());
                let word = cells.chain([*title]).flat_map(str::split_whitespace).map(columns_of).max();
                let word = u16::try_from(word.unwrap_or(0)).unwrap_or(u16::MAX);
                layout.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(word)));
            }
            Column::Whole(_) => {
                layout.set_constraint(ColumnConstraint::ContentWidth);
            }
            Column::Number(_) => {
                layout.set_constraint(ColumnConstraint::ContentWidth);
                layout.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table.trim_fmt()
}

/// A table as Markdown has it, its columns aligned for those who read the source.
pub(crate) fn markdown(columns: &[Column], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| column.title()));
    table.add_rows(rows);
    for (column, layout) in columns.iter().zip(table.column_iter_mut()) {
        if let Column::Number(_) = column {
            layout.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// A label and the text it stands for, wrapped, each line of the text as far in as the first. It is broken at spaces,
/// not at no-break spaces, which are printed as spaces.
pub(crate) fn hanging(label: &str, text: &str) -> String {
    let indent = columns_of(label);
    let mut all = label.to_owned();
    let mut column = indent;
    for (place, word) in text.split(' ').filter(|word| !word.is_empty()).enumerate() {
        let wide = columns_of(word);
        if place > 0 && column + 1 + wide > WIDTH {
            all.push('\n');
            all.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else if place > 0 {
            all.push(' ');
            column += 1;
        }
        all.push_str(word);
        column += wide;
    }
    all.replace('\u{a0}', " ")
}

impl Column {
    fn title(self) -> &'static str {
        match self {
            Self::Text(title) | Self::Whole(title) | Self::Number(title) => title,
        }
    }
}

/// How many columns a terminal needs for it, near enough for names and sentences.
fn columns_of(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_hangs_from_its_label() {
        let words = "word ".repeat(40);
        let text = hanging("  label  ", &words);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("  label  word word"));
        assert!(lines[1..].iter().all(|line| line.starts_with("         word")));
        assert!(lines.iter().all(|line| columns_of(line) <= WIDTH && line.trim_end() == *line));
        assert_eq!(hanging("- ", "Halt\u{a0}4"), "- Halt 4");
        assert_eq!(hanging("- ", &"x".repeat(100)), format!("- {}", "x".repeat(100)));
    }

    #[test]
    fn a_long_label_makes_room_for_all() {
        let mut entries = Entries::default();
        entries.add("A3", "holds");
        entries.add("", "more");
        let narrow: Vec<_> = entries.paragraphs().collect();
        assert_eq!(narrow, [format!("{:<LABEL$}holds", "A3"), format!("{:<LABEL$}more", "")]);
        entries.add("ONE-LEADER-PER-VIEW", "word ".repeat(20));
        let wide: Vec<_> = entries
            .paragraphs()
            .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert_eq!(wide[..2], [format!("{:<20}holds", "A3"), format!("{:<20}more", "")]);
        assert!(wide[2].starts_with("ONE-LEADER-PER-VIEW word ") && wide[3].starts_with(&" ".repeat(20)));
        assert!(wide.iter().all(|line| columns_of(line) <= WIDTH));
    }

    #[test]
    fn a_table_that_is_not_on_a_terminal_has_a_line_for_each_row() {
        let row = |name: &str, count: &str| vec![name.to_owned(), count.to_owned()];
        let rows = vec![row(&"long ".repeat(50), "1"), row("short", "20")];
        let text = table(&[Column::Text("name"), Column::Number("count")], rows);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].ends_with("      1") && lines[2].ends_with("     20"));
    }
}
