//! The output of a failed test, as pytest shows it below the failure.

use super::sugar::is_drawn_row;
use crate::line::is_bad;
use ethos_registry_core::find_text::FindText as _;

/// How many bad lines of captured output are kept.
const BAD: usize = 3;
/// If a test printed at most this many lines, they are all kept.
const SHORT: usize = 3;
/// A longer line is the dump of a value; the failure shows the relevant part of it.
const SHORT_CHARS: usize = 120;

/// The beginning of a traceback.
const PYTHON_HEAD: &str = "Traceback (most recent call last):";

/// Reads the sections of captured output below one failure.
#[derive(Debug)]
pub(super) struct Captured<'a> {
    kept: Vec<&'a str>,
    bad: usize,
    /// The lines of the open section, unless there are too many or it is a log.
    short: Option<Vec<&'a str>>,
    /// Whether short sections are shown.
    tells_short: bool,
    /// Whether the next line is below the header of a traceback.
    in_frames: bool,
}

impl<'a> Captured<'a> {
    pub(super) fn new(tells_short: bool) -> Self {
        Self {
            kept: Vec::new(),
            bad: 0,
            short: None,
            tells_short,
            in_frames: false,
        }
    }

    /// A ruler: `------- Captured stderr call -------`. The output of fixtures is the same for every test.
    pub(super) fn section(&mut self, ruler: &str) {
        self.end_section();
        let printed = ruler.contains(" Captured std") && ruler.contains(" call ");
        self.short = (printed && self.tells_short).then(Vec::new);
    }

    pub(super) fn line(&mut self, line: &'a str) {
        let is_frame = line.ends_with(PYTHON_HEAD)
            || self.in_frames && (line.is_empty() || line.starts_with(' '));
        // The exception follows the frames.
        let raised = self.in_frames && !is_frame;
        self.in_frames = is_frame;
        if is_frame {
            self.short = None;
        } else if raised || is_bad(line) {
            if self.bad < BAD {
                self.bad += 1;
                self.kept.append(&mut self.short.take().unwrap_or_default());
                self.kept.push(line);
            }
            self.short = None;
        } else if let Some(short) = &mut self.short {
            let is_dump = line.len() > SHORT_CHARS && line.char_count() > SHORT_CHARS;
            if line.trim().is_empty() || is_drawn_row(line) || is_dump {
                // Rulers that a plugin prints between all sections are not output.
            } else if short.len() == SHORT {
                self.short = None;
            } else {
                short.push(line);
            }
        }
    }

    /// The lines that are kept from all sections.
    pub(super) fn finish(mut self) -> Vec<&'a str> {
        self.end_section();
        self.kept
    }

    fn end_section(&mut self) {
        self.kept.append(&mut self.short.take().unwrap_or_default());
        self.in_frames = false;
    }
}
