//! What a page of HTML states: its headings as they are, its text, links and forms, and the traceback that a server
//! shows in it.

mod entity;
mod reader;
mod tag;

use hashbrown::HashMap;

use self::reader::{Piece, Reader};
use super::body::write_other;
use crate::line::fingerprint::without_digits;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// The text of a page takes one in this many bytes of it, and no more and no fewer than these.
const SHARE: usize = 10;
const MOST_BYTES: usize = 4_000;
const FEWEST_BYTES: usize = 1_000;
/// Beside a traceback the text is of less use.
const BYTES_BESIDE_TRACEBACK: usize = 600;
const LINE_CHARS: usize = 300;
/// How many further bad lines, and headings, are shown.
const MAX_BAD: usize = 10;
const MAX_HEADINGS: usize = 30;
/// How many lines of a form are shown one by one: of more the first, with how many they are.
const MAX_ALIKE: usize = 3;
/// The beginning of a Python traceback.
const TRACEBACK: &str = "Traceback (most recent call last)";
/// The beginning of a frame of Java.
const JAVA_FRAME: &str = "\n\tat ";

/// Writes what `html` states.
pub(super) fn write(html: &str, output: &mut Output) {
    let mut page = Page::default();
    Reader::new(html).read(&mut |piece| page.push(piece));
    page.write(html.len(), output);
}

/// What is to be shown of a page.
#[derive(Default)]
struct Page {
    rows: Vec<Row>,
    /// Rows by their form.
    forms: HashMap<u64, (usize, usize)>,
    /// How much the rows hold, and how many of them are headings, and bad lines beyond what will fit.
    bytes: usize,
    headings: usize,
    bad: usize,
    traceback: Option<String>,
}

/// Lines of one form.
struct Row {
    text: String,
    times: usize,
    is_heading: bool,
}

impl Page {
    fn push(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Heading(heading) => {
                self.headings += 1;
                if self.headings <= MAX_HEADINGS {
                    self.row(heading, true);
                }
            }
            Piece::Line(line) => self.line(line),
            Piece::Block(block) => self.block(block),
        }
    }

    fn line(&mut self, line: &str) {
        let fits = self.bytes <= MOST_BYTES;
        let form = without_digits(line);
        let next = self.rows.len();
        if let Some((first, times)) = self.forms.get_mut(&form) {
            *times += 1;
            if *times > MAX_ALIKE {
                if let Some(row) = self.rows.get_mut(*first) {
                    row.times += 1;
                }
                return;
            }
        } else if fits {
            self.forms.insert(form, (next, 1));
        }
        if fits {
            self.row(line, false);
        } else if self.bad < MAX_BAD && is_bad(line) {
            self.bad += 1;
            self.row(line, false);
        }
    }

    fn row(&mut self, text: &str, is_heading: bool) {
        self.bytes += text.len();
        self.rows.push(Row {
            text: shorten(text, LINE_CHARS).into_owned(),
            times: 1,
            is_heading,
        });
    }

    /// Text whose lines are as they are.
    fn block(&mut self, block: &str) {
        let of_java = || block.has_text(JAVA_FRAME).then_some(0);
        let at = block.find_text(TRACEBACK).or_else(of_java);
        let at = at.filter(|_| self.traceback.is_none());
        let (before, traceback) = block
            .split_at_checked(at.unwrap_or(block.len()))
            .unwrap_or_default();
        for line in before.lines().map(str::trim_end) {
            if !line.is_empty() {
                self.line(line);
            }
        }
        if at.is_some() {
            self.traceback = Some(traceback.to_owned());
        }
    }

    fn write(self, bytes: usize, output: &mut Output) {
        let mut left = if self.traceback.is_some() {
            BYTES_BESIDE_TRACEBACK
        } else {
            (bytes / SHARE).clamp(FEWEST_BYTES, MOST_BYTES)
        };
        // What is bad is in the traceback.
        let mut bad = if self.traceback.is_some() { MAX_BAD } else { 0 };
        for row in &self.rows {
            let text = match row.times {
                1 => &row.text,
                // Several can be on one line of the source.
                times => &format!("{} ({times} like this)", row.text),
            };
            let fits = text.len() < left;
            let is_told = fits || row.is_heading || bad < MAX_BAD && is_bad(text);
            if is_told {
                bad += usize::from(!fits && !row.is_heading);
                left = left.saturating_sub(text.len() + 1);
                output.summary(text, 0);
            } else {
                // What is left is the rest of a long text: it goes as a whole.
                left = 0;
            }
        }
        if let Some(traceback) = self.traceback {
            write_other(&traceback, output);
        }
    }
}

#[cfg(test)]
mod tests;
