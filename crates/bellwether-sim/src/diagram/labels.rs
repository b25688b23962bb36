//! Puts labels where there is room.

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rect {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) from: (f64, f64),
    pub(super) to: (f64, f64),
}

/// What has been put down so far.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    taken: Vec<Rect>,
    lines: Vec<Line>,
}

impl Rect {
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    /// Whether some of the line is inside (by the method of Liang and Barsky).
    fn is_crossed(&self, line: &Line) -> bool {
        let ((x, y), (dx, dy)) = (line.from, (line.to.0 - line.from.0, line.to.1 - line.from.1));
        let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
        let sides = [
            (-dx, x - self.x),
            (dx, self.x + self.width - x),
            (-dy, y - self.y),
            (dy, self.y + self.height - y),
        ];
        for (speed, room) in sides {
            if speed == 0.0 {
                if room < 0.0 {
                    return false;
                }
            } else if speed < 0.0 {
                enters = enters.max(room / speed);
            } else {
                leaves = leaves.min(room / speed);
            }
        }
        enters < leaves
    }
}

impl Sheet {
    /// Nothing may be put there.
    pub(super) fn take(&mut self, rect: Rect) {
        self.taken.push(rect);
    }

    /// Labels had better not be put on it.
    pub(super) fn avoid(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Takes the first of the candidates that is free, if any is; of several, one that the fewest lines cross.
    /// The label's own line does not count.
    pub(super) fn place(&mut self, candidates: &[Rect], own: Option<Line>) -> Option<usize> {
        let free = |rect: &Rect| !self.taken.iter().any(|taken| taken.overlaps(rect));
        let crossings = |rect: &Rect| {
            self.lines.iter().filter(|line| Some(**line) != own && rect.is_crossed(line)).count()
        };
        let candidates_free = candidates.iter().enumerate().filter(|(_, rect)| free(rect));
        let (best, rect) = candidates_free.min_by_key(|(_, rect)| crossings(rect))?;
        self.taken.push(*rect);
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn rect(x: f64, y: f64) -> Rect {
        Rect { x, y, width: 10.0, height: 10.0 }
    }

    #[test]
    fn rectangles_that_only_touch_do_not_overlap() {
        assert!(!rect(0.0, 0.0).overlaps(&rect(10.0, 0.0)));
        assert!(rect(0.0, 0.0).overlaps(&rect(9.0, 9.0)));
    }

    #[test]
    fn lines_cross_a_rectangle_from_any_side_and_miss_it() {
        let line = |x1, y1, x2, y2| Line { from: (x1, y1), to: (x2, y2) };
        let rect = rect(0.0, 0.0);
        assert!(rect.is_crossed(&line(-5.0, 5.0, 20.0, 6.0)));
        assert!(rect.is_crossed(&line(5.0, -5.0, 5.0, 20.0)));
        assert!(!rect.is_crossed(&line(-5.0, 5.0, 5.0, 25.0)));
        assert!(!rect.is_crossed(&line(-9.0, 5.0, -1.0, 5.0)), "it ends before");
    }

    #[test]
    fn a_label_goes_where_it_is_free_and_few_lines_are() {
        let mut sheet = Sheet::default();
        sheet.take(rect(0.0, 0.0));
        let line = Line { from: (20.0, 5.0), to: (29.0, 5.0) };
        sheet.avoid(line);
        let candidates = [rect(5.0, 5.0), rect(20.0, 0.0), rect(40.0, 0.0)];
        assert_eq!(sheet.place(&candidates, Some(line)), Some(1), "its own line is no obstacle");
        assert_eq!(sheet.place(&candidates, None), Some(2));
        assert_eq!(sheet.place(&candidates, None), None);
    }
}
