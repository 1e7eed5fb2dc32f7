//! The lines of an input that a pattern matches, with their neighbours, within limits.

use std::collections::VecDeque;

use memchr::{memchr, memchr_iter, memrchr};

use output::{Output, clipped};

mod output;
mod pattern;

pub use pattern::{Pattern, PatternError};

/// Is between the number of a matching line and its text.
const MATCH_MARK: char = ':';
/// The same for a neighbour of one.
const NEIGHBOUR_MARK: char = '-';

/// So much is searched before its lines are counted: it is still in the cache then.
const WINDOW_BYTES: usize = 256 << 10;

/// How much of what is found is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many lines before and after a match are shown with it.
    pub context_lines: usize,
    /// How many matching lines are shown; all are counted.
    pub max_matches: u64,
    /// How many characters are shown; a line that does not fit ends the text.
    pub max_chars: usize,
    /// Of a longer line the part around its match is shown.
    pub max_line_bytes: usize,
    /// The number of the first line.
    pub first_number: u32,
}

/// A search through an input that is handed over in pieces.
///
/// What is found reads `7:text` for a match in line 7, `6-text` for its neighbours, with `--` between
/// groups of lines that do not touch. A line ends with `\n`; a `\r` before it does not belong to it.
#[derive(Clone, Debug)]
pub struct Grep {
    pattern: Pattern,
    limits: Limits,
    output: Output,
    matches: u64,
    shown: u64,
    /// The number of the line that the next piece begins with.
    next_number: u64,
    /// The last lines of the pieces so far that are not shown, as they would be.
    before: VecDeque<String>,
    /// How many of the next lines are neighbours of the last match.
    after_left: usize,
}

impl Grep {
    /// A search that has seen nothing yet.
    #[must_use]
    pub fn new(pattern: Pattern, limits: Limits) -> Self {
        Self {
            pattern,
            limits,
            output: Output::new(limits.max_chars, limits.context_lines > 0),
            matches: 0,
            shown: 0,
            next_number: u64::from(limits.first_number),
            before: VecDeque::new(),
            after_left: 0,
        }
    }

    /// A search for the same in another text.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(self.pattern.clone(), self.limits)
    }

    /// Searches the next piece of the text: whole lines; only the last one may be open.
    pub fn feed(&mut self, lines: &[u8]) {
        let mut piece = Piece {
            lines,
            unshown: 0,
            unshown_number: self.next_number,
        };
        let mut start = 0;
        while start < lines.len() {
            let end = window_end(lines, start);
            self.search(&mut piece, start, end);
            start = end;
        }
        self.after(&mut piece, lines.len());
        self.remember(&piece);
    }

    /// Searches the lines from `start` to `end`, and counts them while they are near.
    fn search(&mut self, piece: &mut Piece<'_>, mut start: usize, end: usize) {
        let lines = part(piece.lines, 0, end);
        while start < end {
            let Some(found) = self.pattern.first_end(lines, start) else {
                break;
            };
            let line = Line::around(lines, start, found);
            if line.start == end {
                break; // nothing follows the last line
            }
            self.next_number += count(lines, start, line.start);
            // A match may have taken the carriage return, which does not belong to the line.
            if found <= line.end || self.pattern.matches(part(lines, line.start, line.end)) {
                self.found(piece, &line, self.next_number);
            }
            self.next_number += count(lines, line.start, line.next);
            start = line.next;
        }
        self.next_number += count(lines, start, end);
    }

    /// What is shown; no line feed at its end.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.output.text
    }

    /// How many lines match, shown or not.
    #[must_use]
    pub fn matches(&self) -> u64 {
        self.matches
    }

    /// How many of the matching lines are shown.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.shown
    }

    fn found(&mut self, piece: &mut Piece<'_>, line: &Line, number: u64) {
        self.matches += 1;
        if self.output.is_full {
            return;
        }
        self.after(piece, line.start);
        if self.shown >= self.limits.max_matches {
            self.output.is_full = true;
            return;
        }
        self.before(piece, line.start, number);
        let text = part(piece.lines, line.start, line.end);
        let is_long = text.len() > self.limits.max_line_bytes;
        let focus = is_long.then(|| self.pattern.start_in(text)).flatten();
        let text = clipped(text, focus.unwrap_or(0), self.limits.max_line_bytes);
        self.output.add(number, MATCH_MARK, &text);
        if !self.output.is_full {
            self.shown += 1;
        }
        self.after_left = self.limits.context_lines;
        piece.unshown = line.next;
        piece.unshown_number = number + 1;
    }

    /// Shows the lines up to `end` that stand right after the last match.
    fn after(&mut self, piece: &mut Piece<'_>, end: usize) {
        while self.after_left > 0 && piece.unshown < end && !self.output.is_full {
            self.after_left -= 1;
            self.before.clear();
            let line = Line::around(piece.lines, piece.unshown, piece.unshown);
            self.neighbour(piece.unshown_number, piece.lines, &line);
            piece.unshown = line.next;
            piece.unshown_number += 1;
        }
    }

    /// Shows the lines right before the match in line `number`, which begins at `end`.
    fn before(&mut self, piece: &Piece<'_>, end: usize, number: u64) {
        let mut wanted = self.limits.context_lines;
        let mut starts = Vec::new();
        let mut start = end;
        while wanted > 0 && start > piece.unshown {
            wanted -= 1;
            start = memrchr(b'\n', part(piece.lines, piece.unshown, start - 1))
                .map_or(piece.unshown, |found| piece.unshown + found + 1);
            starts.push(start);
        }
        let mut number = number - starts.len() as u64;
        if piece.unshown == 0 {
            let remembered = std::mem::take(&mut self.before);
            let skipped = remembered.len().saturating_sub(wanted);
            number -= (remembered.len() - skipped) as u64;
            for text in remembered.iter().skip(skipped) {
                self.output.add(number, NEIGHBOUR_MARK, text);
                number += 1;
            }
        }
        for start in starts.into_iter().rev() {
            let line = Line::around(piece.lines, start, start);
            self.neighbour(number, piece.lines, &line);
            number += 1;
        }
    }

    fn neighbour(&mut self, number: u64, lines: &[u8], line: &Line) {
        let text = clipped(
            part(lines, line.start, line.end),
            0,
            self.limits.max_line_bytes,
        );
        self.output.add(number, NEIGHBOUR_MARK, &text);
    }

    /// Keeps the last lines of a piece that can be before a match in the next one.
    fn remember(&mut self, piece: &Piece<'_>) {
        let wanted = self.limits.context_lines;
        if self.output.is_full || wanted == 0 {
            return;
        }
        if piece.unshown > 0 {
            self.before.clear();
        }
        let mut texts = Vec::new();
        let mut end = piece.lines.len();
        while texts.len() < wanted && end > piece.unshown {
            let start = memrchr(b'\n', part(piece.lines, piece.unshown, end - 1))
                .map_or(piece.unshown, |found| piece.unshown + found + 1);
            let line = Line::around(piece.lines, start, start);
            let text = part(piece.lines, line.start, line.end);
            texts.push(clipped(text, 0, self.limits.max_line_bytes).into_owned());
            end = start;
        }
        self.before.extend(texts.into_iter().rev());
        while self.before.len() > wanted {
            self.before.pop_front();
        }
    }
}

/// A piece of the text, and from where on nothing of it is shown yet.
struct Piece<'a> {
    lines: &'a [u8],
    unshown: usize,
    unshown_number: u64,
}

/// Where a line starts, where its text ends, and where the next one starts.
struct Line {
    start: usize,
    end: usize,
    next: usize,
}

impl Line {
    /// The line that holds the position `at`, which is not before `from`, the beginning of a line.
    fn around(lines: &[u8], from: usize, at: usize) -> Self {
        let start = memrchr(b'\n', part(lines, from, at)).map_or(from, |found| from + found + 1);
        let feed = memchr(b'\n', part(lines, at, lines.len())).map(|found| at + found);
        let end = feed.unwrap_or(lines.len());
        let has_return = feed.is_some() && part(lines, start, end).ends_with(b"\r");
        Self {
            start,
            end: if has_return { end - 1 } else { end },
            next: feed.map_or(lines.len(), |feed| feed + 1),
        }
    }
}

/// Where a part of about `WINDOW_BYTES` from `start` on ends, with a whole line.
fn window_end(lines: &[u8], start: usize) -> usize {
    let near = start.saturating_add(WINDOW_BYTES).min(lines.len());
    if let Some(found) = memrchr(b'\n', part(lines, start, near)) {
        return start + found + 1;
    }
    memchr(b'\n', part(lines, near, lines.len())).map_or(lines.len(), |found| near + found + 1)
}

fn part(lines: &[u8], start: usize, end: usize) -> &[u8] {
    lines.get(start..end).unwrap_or_default()
}

fn count(lines: &[u8], start: usize, end: usize) -> u64 {
    memchr_iter(b'\n', part(lines, start, end)).count() as u64
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    const LIMITS: Limits = Limits {
        context_lines: 0,
        max_matches: 100,
        max_chars: 10_000,
        max_line_bytes: 400,
        first_number: 1,
    };

    fn grep(pattern: &str, limits: Limits, pieces: &[&str]) -> Grep {
        let mut grep = Grep::new(Pattern::new(pattern, "", false).unwrap(), limits);
        for piece in pieces {
            grep.feed(piece.as_bytes());
        }
        grep
    }

    fn found(pattern: &str, context_lines: usize, pieces: &[&str]) -> String {
        let limits = Limits {
            context_lines,
            ..LIMITS
        };
        grep(pattern, limits, pieces).text().to_owned()
    }

    #[test]
    fn lines_are_numbered_from_one() {
        assert_eq!(found("a", 0, &["a\nb\nca\r\n"]), "1:a\n3:ca");
        assert_eq!(found("a", 0, &["b\na"]), "2:a");
        assert_eq!(found("a", 0, &[""]), "");
        assert_eq!(found("a", 0, &["b\n", "\n", "a\na\n"]), "3:a\n4:a");
    }

    #[test]
    fn a_pattern_that_matches_nothing_matches_each_line_once() {
        assert_eq!(found("", 0, &["a\n\nb\n"]), "1:a\n2:\n3:b");
        assert_eq!(found("^$", 0, &["a\n\r\n\nb"]), "2:\n3:");
        assert_eq!(found("x*", 0, &["a"]), "1:a");
    }

    #[test]
    fn a_carriage_return_before_the_line_feed_does_not_belong_to_the_line() {
        assert_eq!(found("a[^x]", 0, &["a\r\nab\r\n"]), "2:ab");
        assert_eq!(found(r"\r", 0, &["a\r\nb\rc\r\n"]), "2:b\rc");
        assert_eq!(found("a$", 0, &["a\r\n"]), "1:a");
    }

    #[test]
    fn neighbours_come_with_their_match() {
        let text = "1\n2\nx\n4\n5\n6\n7\nx\n9\n";
        assert_eq!(found("x", 1, &[text]), "2-2\n3:x\n4-4\n--\n7-7\n8:x\n9-9");
        assert_eq!(
            found("x", 2, &[text]),
            "1-1\n2-2\n3:x\n4-4\n5-5\n6-6\n7-7\n8:x\n9-9"
        );
    }

    #[test]
    fn how_a_text_is_cut_into_pieces_makes_no_difference() {
        let lines: Vec<String> = (0_u32..40)
            .map(|number| {
                let is_match = [3, 4, 9, 20, 39].contains(&number);
                format!("{}{number}\n", if is_match { "x" } else { "" })
            })
            .collect();
        for context_lines in 0..6 {
            let whole = found("x", context_lines, &[&lines.concat()]);
            for size in 1..15 {
                let pieces: Vec<String> = lines.chunks(size).map(<[String]>::concat).collect();
                let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
                assert_eq!(found("x", context_lines, &pieces), whole);
            }
        }
    }

    #[test]
    fn what_is_not_shown_is_counted() {
        let limits = Limits {
            max_matches: 2,
            context_lines: 1,
            ..LIMITS
        };
        let cut = grep("x", limits, &["x\nb\nx\nd\nx\nx\n"]);
        assert_eq!(cut.text(), "1:x\n2-b\n3:x\n4-d");
        assert_eq!((cut.shown(), cut.matches()), (2, 4));
        let limits = Limits {
            max_chars: 7,
            ..LIMITS
        };
        let cut = grep("x", limits, &["x\nx\nx\n"]);
        assert_eq!(cut.text(), "1:x\n2:x");
        assert_eq!((cut.shown(), cut.matches()), (2, 3));
    }
}
