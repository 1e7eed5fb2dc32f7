//! Pages that tell how a program is used: what `--help` prints, pages of `man`, `go doc`.
//!
//! Short ones were asked for to be read. Of long ones all headings, options and commands are shown, each with the
//! first line of what is said of it.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{is_ruler, shorten};
use crate::output::Output;
use crate::rows::report::squeezed;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "manual",
    runs,
    marks: Marks::OneOf(&[&["\nusage:"], &["\nUsage:"], &["\nUSAGE:"], &["(0)"]]),
    recognises,
    reduce,
};

/// What was asked for to be read stays whole up to this size.
const WHOLE_BYTES: usize = 8_000;
/// Fewer options among the first lines prove no page.
const LEAST_OPTIONS: usize = 6;
/// One of the first this many lines states how a program is called.
const FIRST_LINES: usize = 24;
const LINE_CHARS: usize = 160;
/// One blank represents this many before a line.
const INDENT_SHARE: usize = 4;
/// How much room `-x, ` takes.
const SHORT_COLUMNS: usize = 4;
/// A longer line that ends with a colon is prose.
const HEADING_BYTES: usize = 40;
/// Lines that tell how a program is called.
const USAGE_LINES: usize = 16;
/// How they begin.
const USAGES: [&str; 4] = ["usage:", "Usage:", "USAGE:", "Usage :"];

fn runs(input: &Input<'_>) -> bool {
    let program = input.program();
    let asks = |word: &String| word.starts_with("--help");
    matches!(program, "man" | "perldoc")
        || program == "go" && input.subcommand() == "doc"
        || input.words.iter().skip(1).any(asks)
        || input.words.get(1).is_some_and(|word| word == "help")
}

/// Certain where a page of `man` begins, or one that was asked for states how a program is called.
fn recognises(input: &Input<'_>) -> Match {
    if input.beginning().take(3).any(is_page_head) {
        return Match::Certain;
    }
    if !runs(input) {
        return Match::No;
    }
    let called = |line: &str| USAGES.iter().any(|usage| line.starts_with(usage));
    let options = || {
        input
            .beginning()
            .filter(|line| is_option(line.trim_start()))
    };
    if options().take(LEAST_OPTIONS).count() < LEAST_OPTIONS {
        let is_page = input.program() == "go";
        return if is_page { Match::Likely } else { Match::No };
    }
    if input.beginning().take(FIRST_LINES).any(called) {
        Match::Certain
    } else {
        Match::Likely
    }
}

/// `OAK-GROW(1)   Manual of Trees   OAK-GROW(1)`.
fn is_page_head(line: &str) -> bool {
    let line = line.trim();
    if !line.ends_with(')') || !line.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return false;
    }
    let mut words = line.split_ascii_whitespace();
    let (first, last) = (words.next(), words.next_back());
    let section = first.and_then(|word| word.split_once('('));
    section.is_some_and(|(_, section)| section.starts_with(|sign: char| sign.is_ascii_digit()))
        && first == last
}

/// `-x`, `--leaf=N`, not the mark of an item of a list.
fn is_option(text: &str) -> bool {
    let mut signs = text.bytes().skip_while(|sign| *sign == b'-');
    text.starts_with('-')
        && signs
            .next()
            .is_some_and(|sign| sign.is_ascii_alphanumeric() || matches!(sign, b'?' | b'#' | b'['))
        && !text.starts_with("---")
}

/// Whether `text` is a name and, further to the right, what is said of it.
fn is_row(text: &str) -> bool {
    let gap = text.find_text("   ").or_else(|| text.find('\t'));
    gap.is_some_and(|gap| gap > 0)
}

/// What a line of the page is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heading,
    Usage,
    Option,
    Prose,
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if input.text.len() <= WHOLE_BYTES {
        output.stays();
        return;
    }
    let (mut kind, mut depth) = (Kind::Prose, 0);
    // How many lines more belong to what was shown last.
    let mut left: usize = 0;
    // Whether what was shown last has no line below it yet that is indented.
    let mut bare = false;
    // The column in which what is said of the open entry is.
    let mut said: Option<usize> = None;
    let mut apart = true;
    let mut told = Told::default();
    for line in input.lines() {
        let text = line.trim();
        if text.is_empty() || is_ruler(text) {
            apart = true;
            continue;
        }
        let here = column(line);
        let below = !apart && here > depth;
        // An input may name an option at the beginning of a line; where options have short names, those without
        // one stand deeper.
        let is_named = below
            && match said {
                Some(column) => here >= column,
                None => !(is_row(text) || text.starts_with("--") && here == depth + SHORT_COLUMNS),
            };
        let begins = begins_entry(line, text).filter(|begun| !(is_named && kind == *begun));
        let is_more = begins.is_none()
            && match kind {
                Kind::Heading => !apart && here == depth,
                Kind::Usage => here > depth,
                Kind::Option | Kind::Prose => here > depth || !apart && here == depth,
            };
        if is_more {
            said = said.or(Some(here));
            let explains = kind == Kind::Prose && bare && below;
            bare = false;
            if left > 0 || explains {
                left = left.saturating_sub(1);
                told.push(line, output);
            } else if !apart {
                told.is_cut = true;
            }
            apart = false;
            continue;
        }
        apart = false;
        kind = begins.unwrap_or(match text {
            "SYNOPSIS" => Kind::Usage,
            _ if here == 0 && is_heading(text) => Kind::Heading,
            _ => Kind::Prose,
        });
        depth = here;
        bare = true;
        said = None;
        left = match kind {
            Kind::Usage => USAGE_LINES,
            Kind::Option => usize::from(!is_row(text)),
            Kind::Heading | Kind::Prose => usize::from(here == 0),
        };
        told.push(line, output);
    }
    told.write(output);
}

/// The last line that is shown, which may go on in lines that are not.
#[derive(Default)]
struct Told<'a> {
    line: Option<&'a str>,
    is_cut: bool,
}

impl<'a> Told<'a> {
    fn push(&mut self, line: &'a str, output: &mut Output) {
        self.write(output);
        self.line = Some(line.trim_end());
    }

    fn write(&mut self, output: &mut Output) {
        let is_cut = std::mem::take(&mut self.is_cut);
        match self.line.take() {
            Some(line) if is_cut => {
                output.fact(&format!("{} ...", shorten(&compact(line), LINE_CHARS)));
            }
            Some(line) => output.fact(&shorten(&compact(line), LINE_CHARS)),
            None => {}
        }
    }
}

/// `line` without the blanks that fill it, and with less of those before it.
fn compact(line: &str) -> String {
    let indent = column(line).div_ceil(INDENT_SHARE);
    " ".repeat(indent) + &squeezed(line)
}

/// How far `line` is indented, as a terminal shows it.
fn column(line: &str) -> usize {
    let blanks = line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t'));
    blanks.fold(0, |column, byte| match byte {
        b'\t' => (column / 8 + 1) * 8,
        _ => column + 1,
    })
}

/// The kind of entry that begins with `line`, whatever is above it.
fn begins_entry(line: &str, text: &str) -> Option<Kind> {
    if USAGES.iter().any(|usage| line.starts_with(usage)) {
        Some(Kind::Usage)
    } else if line.len() <= HEADING_BYTES
        && line.ends_with(':')
        && line.starts_with(|first: char| first.is_ascii_alphabetic())
    {
        Some(Kind::Heading)
    } else if is_option(text) || is_row(text) {
        Some(Kind::Option)
    } else {
        None
    }
}

fn is_heading(text: &str) -> bool {
    text.ends_with(':')
        || text.starts_with('#')
        || !text.bytes().any(|byte| byte.is_ascii_lowercase())
}

#[cfg(test)]
mod tests;
