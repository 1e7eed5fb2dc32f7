//! What is done to an output of no known family: noise goes, what repeats itself is folded, and of
//! much text the beginning, the end, the bad and the odd lines stay.

mod findings;
mod forms;
pub(super) mod kind;
mod select;
mod signs;
mod table;
mod words;

use std::borrow::Cow;
use std::fmt::Write as _;

use super::diagnostics::Annotation;
use super::exit_code;
use super::fingerprint::{ends_in_nought, ends_in_number, fingerprint, mixed, noughts};
use super::fold::{Numbered, Templates, mask};
use super::input::Input;
use super::latest::Latest;
use super::line;
use super::output::Output;
use super::traceback::is_python_frame;
use crate::clean;
use crate::lines::lines;
use kind::{Kind, passed_mark};
use table::{Blocks, Table, exact, is_told_apart};

const LINE_CHARS: usize = 200;
const BAD_CHARS: usize = 400;
const RECORD_CHARS: usize = 700;
/// Bad lines that are kept with their numbers, and lines below one that belong to it.
const WHOLE_BAD_LINES: usize = 100;
const DETAIL_LINES: usize = 6;
/// What is left of a source is taken for one part in so many of it at least.
const OVERWRITTEN_SHARE: usize = 3;
/// Gaps of fewer lines are not told one by one; the account has them.
const TOLD_GAP: usize = 10;

/// A row that may be shown.
#[derive(Clone, Debug)]
struct Row<'a> {
    number: usize,
    line: &'a str,
    kind: Kind,
    /// How many lines it stands for.
    times: usize,
    /// The how manieth line it is of those that belong to a bad one; 0 for none.
    detail: usize,
    /// Whether a number of it is another than in nearly all lines that are like it else.
    is_odd: bool,
    /// How many other findings say the same, and the places of those that are shown.
    alike: usize,
    more: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn new(number: usize, line: &'a str, kind: Kind, times: usize) -> Self {
        Self {
            number,
            line,
            kind,
            times,
            detail: 0,
            is_odd: false,
            alike: 0,
            more: Vec::new(),
        }
    }
}

/// The lines that an agent needs of any text.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let rows = findings::grouped(&rows(input.text));
    let all = rows.len();
    // Much that was overwritten is out already: what is left may be shown the more.
    let bytes = input
        .text
        .len()
        .max(output.source_bytes() / OVERWRITTEN_SHARE);
    let rows = select::selected(rows, bytes, input.exit);
    write(&rows, rows.len() < all, output);
}

/// What lines have in common that differ in digits alone.
#[derive(Clone, Copy)]
struct Shape {
    mask: u64,
    kind: Kind,
    /// Whether their digits say how something ended, or how many there are of what matters.
    counts: bool,
    /// Whether a number ends them: nought says something else than any other, as of `leaf 7 returned 0`.
    numbered: bool,
    /// The template to which those of them belong that are told by their mask, and that of those with a nought.
    templates: [Option<u32>; 2],
}

impl Shape {
    fn of(line: &str) -> Self {
        let kind = kind::kind(line);
        Self {
            mask: mask(line),
            kind,
            counts: kind == Kind::Verdict || exit_code::is_told(line),
            numbered: ends_in_number(line),
            templates: [None; 2],
        }
    }

    /// What `line` is, one of those that it was made for.
    fn kind(&self, line: &str) -> Kind {
        if self.counts && exit_code::is_bad(line) {
            Kind::Bad
        } else {
            self.kind
        }
    }

    /// With which others `line` is folded.
    fn key(&self, line: &str) -> u64 {
        if self.counts {
            mixed(self.mask, noughts(line))
        } else if self.is_nought(line) {
            mixed(self.mask, 1)
        } else {
            self.mask
        }
    }

    /// The template of lines like `line`.
    fn template(&mut self, line: &str) -> &mut Option<u32> {
        let is_nought = self.is_nought(line);
        let [other, nought] = &mut self.templates;
        if is_nought { nought } else { other }
    }

    fn is_nought(&self, line: &str) -> bool {
        self.numbered && ends_in_nought(line)
    }
}

/// The rows of the folded text, in their order.
fn rows(text: &str) -> Vec<Row<'_>> {
    let mut templates = Templates::watching();
    // Of the first line of each template.
    let mut kinds: Vec<Kind> = Vec::new();
    let mut shapes = Latest::of(text.len());
    let mut details = Vec::new();
    let mut bad = Block::default();
    let mut progress: Option<(usize, &str)> = None;
    // The indent of a frame of Python in a library: what stands deeper below it is its source.
    let mut frame: Option<usize> = None;
    let mut table = Table::default();
    let mut blocks = Blocks::default();
    for (number, line) in lines(text).enumerate() {
        let begins_block = blocks.begin(line);
        if line.is_empty() || frame.is_some_and(|depth| line::indent(line) > depth) {
            continue;
        }
        frame = None;
        let shape = shapes.like(line).get_or_insert_with(|| Shape::of(line));
        let found = shape.kind(line);
        if table.holds(line, found) {
            templates.add_alike(fingerprint(line), number, line);
            kinds.resize(templates.len(), Kind::Plain);
            continue;
        }
        if found == Kind::Noise {
            frame = Some(line::indent(line)).filter(|_| is_python_frame(line.trim_start()));
            continue;
        }
        if let Some((at, state)) = progress.take() {
            let same_bar = found == Kind::Progress && clean::same_bar(state, line);
            if !same_bar {
                templates.add(at, state);
                kinds.resize(templates.len(), Kind::Progress);
            }
        }
        match found {
            Kind::Progress => progress = Some((number, line)),
            Kind::Passed => {
                if !templates.again(*shape.template(line), number, line) {
                    let mark = passed_mark(line.trim()).unwrap_or_default();
                    let template = templates.add_alike(mask(mark), number, line);
                    *shape.template(line) = u32::try_from(template).ok();
                }
            }
            Kind::Finding if bad.holds(line) => details.push(bad.row(number, line, found)),
            Kind::Place | Kind::Finding | Kind::Header => {
                bad.open(line);
                templates.add_alike(fingerprint(line), number, line);
            }
            Kind::Bad if bad.count < WHOLE_BAD_LINES => {
                bad.open(line);
                templates.add_alike(fingerprint(line), number, line);
            }
            _ if bad.holds(line) => details.push(bad.row(number, line, found)),
            // A row of mere numbers says nothing else: `776 200` of `uniq -c`, nor does how many rows there are.
            _ if begins_block || is_told_apart(line, text.len()) => {
                templates.add_alike(exact(line, number), number, line);
            }
            _ => {
                if !templates.again(*shape.template(line), number, line) {
                    let template = templates.add_masked(shape.key(line), number, line);
                    let told = u32::try_from(template).ok().filter(|_| !shape.counts);
                    *shape.template(line) = told;
                }
            }
        }
        kinds.resize(templates.len(), found);
    }
    if let Some((at, state)) = progress {
        templates.add(at, state);
        kinds.resize(templates.len(), Kind::Progress);
    }
    let mut odd = templates.odd();
    odd.sort_unstable_by_key(|odd| odd.first.number);
    let mut others: Vec<Numbered<'_>> = Vec::new();
    for template in templates.iter() {
        others.extend(template.shown().skip(1).map(|(here, _)| here));
    }
    others.sort_unstable_by_key(|here| here.number);
    let mut rows = Vec::with_capacity(details.len() + templates.len() + others.len());
    let others = others.into_iter().map(|here| {
        let shape = *shapes.like(here.line);
        let kind = shape
            .unwrap_or_else(|| Shape::of(here.line))
            .kind(here.line);
        Row::new(here.number, here.line, kind, 1)
    });
    let odd = odd.into_iter().map(|odd| {
        let kind = kinds.get(odd.template).copied().unwrap_or(Kind::Plain);
        Row {
            is_odd: true,
            ..Row::new(odd.first.number, odd.first.line, kind, odd.count)
        }
    });
    let details = in_order(details.into_iter(), odd);
    let firsts = templates.iter().zip(&kinds);
    let firsts = firsts.filter_map(|(template, kind)| {
        let (here, times) = template.shown().next()?;
        Some(Row::new(here.number, here.line, *kind, times))
    });
    rows.extend(in_order(in_order(firsts, details), others));
    rows
}

/// The rows of both, which are in their order, in their order.
fn in_order<'a>(
    some: impl Iterator<Item = Row<'a>>,
    others: impl Iterator<Item = Row<'a>>,
) -> impl Iterator<Item = Row<'a>> {
    let mut some = some.peekable();
    let mut others = others.peekable();
    std::iter::from_fn(move || match (some.peek(), others.peek()) {
        (Some(one), Some(other)) if other.number < one.number => others.next(),
        (Some(_), _) => some.next(),
        (None, _) => others.next(),
    })
}

/// The bad line above, and how much of what follows belongs to it.
#[derive(Default)]
struct Block {
    count: usize,
    indent: usize,
    /// Lines below it so far, and those that may still follow.
    told: usize,
    left: usize,
    /// Its message is in the next line, wherever that begins.
    announces: bool,
}

impl Block {
    fn open(&mut self, line: &str) {
        self.count += 1;
        self.indent = line::indent(line);
        self.told = 0;
        self.announces = line.trim_end().ends_with([':', '|']);
        self.left = if self.count <= WHOLE_BAD_LINES {
            DETAIL_LINES
        } else {
            0
        };
    }

    /// Whether `line` stands deeper than the bad line above it, is announced by it, or says more of it.
    fn holds(&mut self, line: &str) -> bool {
        let announced = std::mem::take(&mut self.announces) || is_more(line);
        if self.left == 0 || !announced && line::indent(line) <= self.indent {
            self.left = 0;
            return false;
        }
        self.left -= 1;
        self.told += 1;
        true
    }

    /// The row of a line that it holds.
    fn row<'a>(&self, number: usize, line: &'a str, kind: Kind) -> Row<'a> {
        Row {
            detail: self.told,
            ..Row::new(number, line, kind, 1)
        }
    }
}

/// Whether a database says with `line` more of the error above.
fn is_more(line: &str) -> bool {
    line.starts_with(['D', 'H', 'L'])
        && ["DETAIL:  ", "HINT:  ", "LINE "]
            .iter()
            .any(|beginning| line.starts_with(beginning))
}

/// `line` without the ruler at its end; of a finding also without padding, of one that points into
/// the source above without its indent.
fn compact(line: &str) -> Cow<'_, str> {
    if let Some(annotation) = Annotation::read(line) {
        // Its further lines, which are encoded in one, show source and advice.
        return Cow::Borrowed(annotation.first_line());
    }
    let line = line.trim_end_matches(['━', '─', '═', '―', '—', ' ', '\t']);
    let line = if line.ends_with("] ***") || line.ends_with("****") {
        line.trim_end_matches(['*', ' '])
    } else {
        line
    };
    let text = line.trim_start();
    if text.starts_with("^ ") {
        return Cow::Borrowed(text);
    }
    let found = kind::place_length(text).is_some();
    if !found || memchr::memmem::find(text.as_bytes(), b"  ").is_none() {
        return Cow::Borrowed(line);
    }
    let mut compact = String::with_capacity(line.len());
    for word in text.split_ascii_whitespace() {
        if !compact.is_empty() {
            compact.push(' ');
        }
        compact.push_str(word);
    }
    Cow::Owned(compact)
}

/// How much of a line is shown: of what failed or is wrong more, for why it is often stands last in it, and most
/// of an annotation and of the record that says why a task of a playbook failed.
fn line_chars(line: &str, kind: Kind) -> usize {
    let is_record = line.starts_with("fatal: [") || line.starts_with("failed: [");
    if is_record || Annotation::read(line).is_some() {
        RECORD_CHARS
    } else if matches!(kind, Kind::Bad | Kind::Finding | Kind::Warning) {
        BAD_CHARS
    } else {
        LINE_CHARS
    }
}

/// Writes `rows`, with the gaps between them when some were cut.
fn write(rows: &[Row<'_>], cut: bool, output: &mut Output) {
    let mut next = 0;
    for row in rows {
        let gap = row.number.saturating_sub(next);
        if cut && gap >= TOLD_GAP {
            output.gap(gap);
        }
        let line = compact(row.line);
        let line = line::shorten(&line, line_chars(row.line, row.kind));
        if row.alike == 0 {
            output.repeated(&line, row.times);
        } else {
            let hidden = row.alike - row.more.len();
            let mut text = line.into_owned();
            for place in &row.more {
                text.push(' ');
                text.push_str(place);
            }
            if hidden > 0 {
                let _ = write!(text, " ... {hidden} more");
            }
            output.summary(&text, 1 + row.more.len());
        }
        next = row.number + 1;
    }
}

#[cfg(test)]
mod tests;
