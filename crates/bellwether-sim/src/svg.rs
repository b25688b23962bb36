//! Writes SVG: elements, attributes and text, all escaped. Knows about how wide a text is.

use std::fmt::{Display, Write};

/// A document in the making.
#[derive(Debug, Default)]
pub(crate) struct Svg {
    out: String,
    open: Vec<&'static str>,
}

/// The attributes of an element.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

impl Svg {
    /// An element without content.
    pub(crate) fn empty(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.begin(tag, attributes);
        self.out.push_str("/>\n");
    }

    /// An element with nothing but text.
    pub(crate) fn text(&mut self, tag: &str, attributes: Attributes<'_>, text: &str) {
        self.begin(tag, attributes);
        let _ = writeln!(self.out, ">{}</{tag}>", escaped(text));
    }

    /// A line of text, and after it more of it in another class.
    pub(crate) fn text_with_tail(
        &mut self,
        attributes: Attributes<'_>,
        text: &str,
        (class, tail): (&str, &str),
    ) {
        self.begin("text", attributes);
        let (text, tail) = (escaped(text), escaped(tail));
        let _ = writeln!(self.out, ">{text} <tspan class=\"{class}\">{tail}</tspan></text>");
    }

    /// An element whose content follows, up to [`Svg::close`].
    pub(crate) fn open(&mut self, tag: &'static str, attributes: Attributes<'_>) {
        self.begin(tag, attributes);
        self.out.push_str(">\n");
        self.open.push(tag);
    }

    /// Ends the element that was opened last.
    pub(crate) fn close(&mut self) {
        let tag = self.open.pop().expect("what is closed was opened");
        let _ = writeln!(self.out, "</{tag}>");
    }

    /// What a pointer that rests on the open element shows.
    pub(crate) fn title(&mut self, text: &str) {
        self.text("title", &[], text);
    }

    /// What was written elsewhere, as it is.
    pub(crate) fn append(&mut self, written: &str) {
        self.out.push_str(written);
    }

    /// The document.
    pub(crate) fn finish(self) -> String {
        assert!(self.open.is_empty(), "what is opened is closed");
        self.out
    }

    fn begin(&mut self, tag: &str, attributes: Attributes<'_>) {
        self.out.extend(["<", tag]);
        for (name, value) in attributes {
            let _ = write!(self.out, " {name}=\"{}\"", escaped(&value.to_string()));
        }
    }
}

/// A coordinate, with a tenth of a unit: more than a screen shows, and the same digits on every machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        match (tenths / 10, tenths % 10) {
            (whole, 0) => write!(f, "{whole}"),
            (0, part) if part < 0 => write!(f, "-0.{}", -part),
            (whole, part) => write!(f, "{whole}.{}", part.abs()),
        }
    }
}

/// The text as XML takes it. What XML has no way to say at all, such as a bell, is shown as a box.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\t' | '\n' | '\r' => escaped.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

/// How wide a text is, in units of its size. Fonts differ, so this is on the safe side of the usual ones.
pub(crate) fn width(text: &str) -> f64 {
    let wide = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | '(' | ')' | '[' | ']' | '·' | ' ' => {
            0.33
        }
        't' | 'f' | 'r' | '-' | '"' | '{' | '}' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '★' | '→' | '…' => 1.0,
        c if c.is_uppercase() => 0.74,
        c if c.is_ascii_digit() => 0.64,
        _ => 0.62,
    };
    text.chars().map(wide).sum()
}

/// The text in lines of at most that width, broken between words.
pub(crate) fn wrap(text: &str, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + 0.33 <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_escaped() {
        let mut svg = Svg::default();
        svg.open("g", &[("class", &"a\"b")]);
        svg.title("1 < 2 && \u{7}\n'x'");
        svg.close();
        assert_eq!(
            svg.finish(),
            "<g class=\"a&quot;b\">\n<title>1 &lt; 2 &amp;&amp; \u{fffd} 'x'</title>\n</g>\n"
        );
    }

    #[test]
    fn coordinates_have_one_digit_at_most() {
        let shown = [0.0, 1.04, 1.06, -0.26, -2.5, 100.0].map(|x| Px(x).to_string());
        assert_eq!(shown, ["0", "1", "1.1", "-0.3", "-2.5", "100"]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two three", 5.0), ["one two", "three"]);
        assert_eq!(wrap("", 5.0), Vec::<String>::new());
        assert_eq!(wrap("overlongword", 2.0), ["overlongword"]);
    }
}
