//! Runs of LaTeX: errors with the line of the source, warnings, and whether there is a document.
//!
//! ```text
//! ! Undefined control sequence.
//! l.4 \undefinedmacro
//!                    {x}
//! LaTeX Warning: Citation `oak' on page 1 undefined on input line 3.
//! Overfull \hbox (29.8pt too wide) in paragraph at lines 3--7
//! Output written on a.pdf (1 page, 49213 bytes).
//! ```

use std::ops::Range;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::fingerprint::fingerprint;
use crate::line::{self, shorten};
use crate::output::Output;
use crate::rows::fold::{Template, Templates};
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "latex",
    runs,
    marks: Marks::OneOf(&[&["\nThis is ", "TeX, Version "]]),
    recognises,
    reduce,
};

const PROGRAMS: [&str; 11] = [
    "latex", "latexmk", "lualatex", "luatex", "pdflatex", "pdftex", "platex", "tectonic", "tex",
    "xelatex", "xetex",
];
const LINE_CHARS: usize = 240;
/// It breaks longer lines, wherever that is.
const WIDTH: usize = 79;
/// Lines of help that follow an error before the line of the source, at most.
const HELP_LINES: usize = 12;
/// What is in the first line of a warning, behind who states it.
const WARNINGS: [&str; 3] = [" Warning: ", " warning: ", " warning ("];
/// What it states of boxes, shown by a few of them.
static BOXES: Beginnings<2> = Beginnings::new(["Overfull \\", "Underfull \\"]);
/// How a run ended, and what `latexmk` states of it.
static VERDICTS: Beginnings<3> =
    Beginnings::new(["Output written on ", "No pages of output", "Latexmk: "]);
/// Files that are opened and closed, fonts, pages, versions.
static NOISE: Beginnings<22> = Beginnings::new([
    "(",
    ")",
    "<",
    "[",
    "{",
    "]",
    "}",
    "This is ",
    "restricted \\write18",
    "entering extended mode",
    "LaTeX2e <",
    "L3 programming layer",
    "Document Class: ",
    "Babel <",
    "No file ",
    "Ok",
    "kpathsea: ",
    "mktex",
    "Font metrics written",
    "Transcript written on ",
    "ABD: ",
    "Chapter ",
]);

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program())
}

fn recognises(input: &Input<'_>) -> Match {
    let names_itself = |line: &str| line.starts_with("This is ") && line.has_text("TeX, Version ");
    if input.beginning().any(names_itself) {
        Match::Certain
    } else if runs(input)
        && input
            .beginning()
            .any(|line| is_error(line) || is_warning(line))
    {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader {
        below: Below::Nothing,
        is_broken: false,
        messages: Vec::new(),
        boxes: Templates::default(),
        unknown: Unknown::default(),
        output,
    };
    let mut lines = input.lines();
    let mut start = 0;
    while let Some(line) = lines.next() {
        let end = input.text.len() - lines.unread_bytes();
        reader.line(line, start..end);
        start = end;
    }
    reader.finish(input.text);
}

/// What was said last, to which other lines may belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Below {
    Nothing,
    /// An error, this many lines ago.
    Error(usize),
    /// The line of the source with an error: the rest of it is a line of its own.
    Source,
    /// What ran away is in the next line.
    Runaway,
    /// A message that is shown, up to a blank line.
    Message,
    /// A box that is too wide, up to a blank line.
    Box,
    /// What is not shown, as far as it is one line.
    Noise,
}

struct Reader<'a, 'o> {
    below: Below,
    /// Whether the line before was as long as lines may be, so that this one goes on with it.
    is_broken: bool,
    /// Where warnings and verdicts stand in the text.
    messages: Vec<Range<usize>>,
    boxes: Templates<'a>,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    /// A line, which is `here` in the text.
    fn line(&mut self, text: &'a str, here: Range<usize>) {
        let goes_on = std::mem::replace(&mut self.is_broken, text.len() >= WIDTH);
        if is_error(text) {
            self.output.failed();
            self.tell(text, Below::Error(0));
        } else if is_source(text) {
            self.tell(text, Below::Source);
        } else if is_warning(text) || VERDICTS.begin(text) {
            self.messages.push(here);
            self.below = Below::Message;
        } else if text.starts_with("Runaway ") {
            self.tell(text, Below::Runaway);
        } else if BOXES.begin(text) {
            self.boxes.add(here.start, text);
            self.below = Below::Box;
        } else if text.trim_ascii().is_empty() {
            if !matches!(self.below, Below::Error(_)) {
                self.below = Below::Nothing;
            }
        } else if self.below == Below::Message && (goes_on || is_of_package(text)) {
            if let Some(message) = self.messages.last_mut() {
                message.end = here.end;
            }
        } else {
            self.other(text, goes_on);
        }
    }

    /// A line that states by itself what it is.
    fn tell(&mut self, text: &str, below: Below) {
        self.output.fact(&shorten(text.trim_end(), LINE_CHARS));
        self.below = below;
    }

    /// A line that the one before describes.
    fn other(&mut self, text: &'a str, goes_on: bool) {
        match self.below {
            // `(babel)    or the file is missing`: packages begin so what goes on.
            Below::Error(0) if goes_on || is_of_package(text) => {
                self.output.context(&shorten(text.trim_end(), LINE_CHARS));
            }
            Below::Runaway => self.tell(text, Below::Nothing),
            Below::Error(lines) if lines < HELP_LINES => self.below = Below::Error(lines + 1),
            Below::Source => self.below = Below::Nothing,
            Below::Box => {}
            Below::Noise if goes_on => {}
            _ if NOISE.begin(text.trim_start()) => self.below = Below::Noise,
            _ => {
                self.below = Below::Nothing;
                self.unknown.push(text);
            }
        }
    }

    /// Writes what is in `text` beside errors: many messages alike, or boxes, by one of them.
    fn finish(mut self, text: &str) {
        self.unknown.write(self.output);
        let mut boxes: Vec<_> = self.boxes.iter().flat_map(Template::shown).collect();
        boxes.sort_unstable();
        for (here, times) in boxes {
            self.output.repeated(&shorten(here.line, LINE_CHARS), times);
        }
        let mut alike = Templates::default();
        let messages = self.messages.into_iter();
        let messages: Vec<_> = messages
            .filter_map(|range| text.get(range))
            .enumerate()
            .map(|(number, message)| {
                let key = fingerprint(without_place(message));
                (message, alike.add_alike(key, number, message))
            })
            .collect();
        for (number, (message, template)) in messages.into_iter().enumerate() {
            let folded = alike.get(template).filter(|template| template.is_folded());
            match folded {
                None => tell_all(message, 1, self.output),
                Some(template) if template.first.number == number => {
                    tell_all(message, template.count, self.output);
                }
                Some(_) => {}
            }
        }
    }
}

/// Writes the lines of a message that represents `times` like it.
fn tell_all(message: &str, times: usize, output: &mut Output) {
    let mut lines = message.lines().peekable();
    while let Some(line) = lines.next() {
        let line = shorten(line, LINE_CHARS);
        if lines.peek().is_none() && times > 1 {
            output.repeated(&line, times);
        } else {
            output.fact(&line);
        }
    }
}

/// A message up to where it states where that is.
fn without_place(message: &str) -> &str {
    let places = [" on page ", " on input line "];
    let place = places.iter().filter_map(|words| message.find_text(words));
    message
        .get(..place.min().unwrap_or(message.len()))
        .unwrap_or(message)
}

/// `! Undefined control sequence.`, or with `-file-line-error` `./a.tex:4: Undefined control sequence.`
fn is_error(text: &str) -> bool {
    text.starts_with("! ")
        || line::place(text).is_some_and(|place| {
            let message = text.get(place.text.len()..).unwrap_or_default();
            place.path.has_text(".") && message.starts_with(": ")
        })
}

/// The line of the source at which an error was found: `l.4 \undefinedmacro`.
fn is_source(text: &str) -> bool {
    text.strip_prefix("l.")
        .is_some_and(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
}

/// `LaTeX Warning: ...`, `Package oak Warning: ...`, `pdfTeX warning (dest): ...`
fn is_warning(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_alphabetic())
        && WARNINGS.iter().any(|words| text.has_text(words))
}

/// Whether `text` goes on with a message of a package, whose name is in front: `(oak)   and more`.
fn is_of_package(text: &str) -> bool {
    text.strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .is_some_and(|(name, rest)| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric()) && rest.starts_with("  ")
        })
}

#[cfg(test)]
mod tests;
