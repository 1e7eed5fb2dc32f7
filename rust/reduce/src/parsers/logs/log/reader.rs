//! Reads a log line by line.

use super::MIN_ODD_BYTES;
use super::record::{
    Level, explanation, heads_backtrace, is_news, is_place, is_record, is_script_warning, is_start,
    level, message,
};
use super::source::{BySource, Form, exited_badly};
use crate::generic::kind::{is_library_frame, tells_of_failure};
use crate::input::Input;
use crate::line::fingerprint::{ends_in_nought, ends_in_number, fingerprint};
use crate::line::frame::is_exception;
use crate::line::latest::Latest;
use crate::line::library::{is_library, is_library_name};
use crate::line::mask::{Masks, coarse_mask};
use crate::line::{exit_code, indent, is_refusal, status};
use crate::rows::fold::{Numbered, Template, Templates};
use ethos_registry_core::find_text::FindText as _;

/// The part of this share for bad records that differ only in numbers.
const HOT_SHARE: usize = 2;
const LAST_LINES: usize = 8;
/// How many of these are more important than warnings.
const VERY_LAST_LINES: usize = 3;
const RARE_TEMPLATES: usize = 30;
const COMMON_TEMPLATES: usize = 12;
const START_TEMPLATES: usize = 4;
/// Beyond this number of templates, messages are distinguished only by their first words.
const MAX_TEMPLATES: usize = 400;
const HOT_CHARS: usize = 600;
const LINE_CHARS: usize = 240;
/// How many bad records and lines of tracebacks are remembered one by one.
const MAX_HOT_RECORDS: usize = 2_000;
const MAX_BLOCK_LINES: usize = 120;

/// A row that may be shown; lower ranks matter more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Row<'a> {
    pub(super) rank: u8,
    pub(super) number: usize,
    pub(super) line: &'a str,
    pub(super) times: usize,
}

/// Bad records and their continuation lines.
const HOT: u8 = 0;
/// The first line and the very last ones.
pub(super) const ENDS: u8 = 1;
const START: u8 = 2;
const WARNING: u8 = 3;
const ODD_STATUS: u8 = 4;
pub(super) const EXPLANATION: u8 = 5;
const BAD_WORD: u8 = 6;
const ODD_NUMBER: u8 = 7;
const LAST: u8 = 8;
const CALM: u8 = 9;
const COMMON: u8 = 10;
const RARE: u8 = 11;

impl<'a> Row<'a> {
    fn new(rank: u8, here: Numbered<'a>, times: usize) -> Self {
        Self {
            rank,
            number: here.number,
            line: here.line,
            times,
        }
    }

    pub(super) fn max_chars(&self) -> usize {
        if self.rank <= ENDS {
            HOT_CHARS
        } else {
            LINE_CHARS
        }
    }
}

/// Properties that records share if they differ only in digits.
#[derive(Clone, Copy)]
struct Shape {
    mask: u64,
    /// The offset of the digits of an HTTP status.
    status: Option<usize>,
    /// Whether their digits are an exit status.
    exits: bool,
    /// Whether they end with a number, which may be zero.
    numbered: bool,
    /// Otherwise, the template of those records, and the template of those with a zero.
    templates: [Option<u32>; 2],
}

/// The state of one source.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Whether the next line may continue a bad record.
    in_block: bool,
    /// The indentation of a library frame: more indented lines below it belong to it.
    frame: Option<usize>,
    /// In a Rust backtrace: whether the last function is foreign code.
    backtrace: Option<bool>,
    /// Whether the explanation of the bad record was already shown for another one.
    repeats: bool,
}

impl Place {
    /// Below a record of this rank.
    fn below(rank: u8) -> Self {
        Self {
            in_block: rank == HOT,
            ..Self::default()
        }
    }

    /// Whether `told`, the continuation of a bad record, shows more than a call and its location.
    fn shows(&mut self, told: &str) -> bool {
        if self.repeats || told.trim().bytes().all(|sign| matches!(sign, b'^' | b'~')) {
            // It points into a source line.
            return false;
        }
        if let Some(shown) = self.backtrace_line(told.trim()) {
            return shown;
        }
        let from = indent(told);
        if self.frame.take().is_some_and(|frame| from > frame) {
            return false;
        }
        if is_library_frame(told.trim_start()) {
            self.frame = Some(from);
            return false;
        }
        true
    }

    /// Whether `told` is shown as a line of a Rust backtrace; `None` when it is not part of one.
    fn backtrace_line(&mut self, told: &str) -> Option<bool> {
        if heads_backtrace(told) {
            self.backtrace = Some(true);
            return Some(false);
        }
        let foreign = self.backtrace.as_mut()?;
        if let Some(place) = told.strip_prefix("at ") {
            return Some(!*foreign && !is_library(place));
        }
        let function = told
            .split_once(": ")
            .filter(|(number, _)| number.bytes().all(|sign| sign.is_ascii_digit()));
        let Some((_, name)) = function else {
            self.backtrace = None;
            return None;
        };
        // A name without a crate is a C function.
        *foreign = is_library_name(name) || name.starts_with('<') || !name.has_text("::");
        Some(!*foreign)
    }
}

/// The state of the reader.
pub(super) struct Reader<'a> {
    shapes: Latest<Shape>,
    masks: Masks,
    templates: Templates<'a>,
    /// For each template its importance, and whether it is a record.
    ranks: Vec<(u8, bool)>,
    hot: Vec<Numbered<'a>>,
    block: Vec<Numbered<'a>>,
    /// Explanations of bad records that are separate records.
    explanations: Vec<Numbered<'a>>,
    form: Form,
    places: BySource<'a, Place>,
    ends: Vec<Numbered<'a>>,
    pub(super) failed: bool,
}

impl<'a> Reader<'a> {
    /// The state before the first line of a log.
    pub(super) fn of(input: &Input<'a>) -> Self {
        Self {
            shapes: Latest::of(input.text.len()),
            masks: Masks::default(),
            templates: Templates::watching(),
            ranks: Vec::new(),
            hot: Vec::new(),
            block: Vec::new(),
            explanations: Vec::new(),
            form: Form::of(input),
            places: BySource::default(),
            ends: Vec::new(),
            failed: false,
        }
    }

    pub(super) fn line(&mut self, number: usize, line: &'a str) {
        if line.is_empty() {
            return;
        }
        let here = Numbered { number, line };
        let (source, told) = self.form.split(line);
        let place = self.places.of(source);
        let goes_on = told.starts_with([' ', '\t']) && !is_record(told);
        // If the beginning of a log was cut off, it may start below a bad record.
        place.in_block |= number == 0 && goes_on;
        if place.in_block && goes_on {
            let shown = place.shows(told);
            if shown || place.backtrace.is_none() {
                self.end(here);
            }
            if shown {
                self.block_line(here);
            }
            return;
        }
        let in_block = place.in_block;
        self.end(here);
        if in_block && let Some(said) = explanation(told) {
            let is_news = is_news(said, self.explanations.iter().map(|here| here.line));
            self.places.of(source).repeats = !is_news;
            if is_news {
                self.explanations.push(here);
            }
            return;
        }
        let template = self.template(here, told);
        let (rank, record) = self.ranks.get(template).copied().unwrap_or((CALM, true));
        if rank == HOT {
            self.failed = true;
            if self.hot.len() < MAX_HOT_RECORDS {
                self.hot.push(here);
            }
        }
        let place = self.places.of(source);
        if record {
            *place = Place::below(rank);
        } else if rank == HOT {
            place.in_block = true;
        } else if place.in_block && place.shows(told) {
            self.block_line(here);
        }
    }

    /// Remembers the first line and the last ones.
    fn end(&mut self, here: Numbered<'a>) {
        if self.ends.len() > LAST_LINES {
            self.ends.remove(1);
        }
        self.ends.push(here);
    }

    fn block_line(&mut self, here: Numbered<'a>) {
        let explained = self.explanations.last();
        let block = match explained.filter(|above| above.number + 1 == here.number) {
            Some(_) => &mut self.explanations,
            None => &mut self.block,
        };
        if block.len() < MAX_BLOCK_LINES {
            block.push(here);
        }
    }

    /// The template of a line whose text after the source is `told`.
    fn template(&mut self, here: Numbered<'a>, told: &str) -> usize {
        let Numbered { number, line } = here;
        if is_place(told) {
            let template = self.templates.add_alike(fingerprint(line), number, line);
            self.ranks
                .resize(self.ranks.len().max(template + 1), (CALM, false));
            return template;
        }
        let shape = self.shapes.like(line).get_or_insert_with(|| Shape {
            mask: self.masks.mask(line),
            status: status::place(line),
            exits: exit_code::is_told(line),
            numbered: ends_in_number(line),
            templates: [None; 2],
        });
        let refused = shape.status.and_then(|at| status::refused(line, at));
        let is_nought = shape.numbered && ends_in_nought(line);
        let [other, nought] = &mut shape.templates;
        let known = if is_nought { nought } else { other };
        if let (Some(template), None) = (*known, refused) {
            self.templates.again(Some(template), number, line);
            return template as usize;
        }
        let fine = shape.mask;
        let failed = shape.exits && exit_code::is_bad(line);
        let ended = u64::from(failed) | u64::from(is_nought) << 1;
        let key = fine.wrapping_add(u64::from(refused.unwrap_or_default()) << 2 | ended);
        let template = self.templates.add_told_apart(key, fine, number, line);
        if template == self.ranks.len() {
            let rank = if failed || exited_badly(line) {
                HOT
            } else {
                rank(told, refused.is_some())
            };
            self.ranks.push((rank, is_record(told)));
        }
        if refused.is_none() && !shape.exits {
            *known = u32::try_from(template).ok();
        }
        template
    }

    /// The rows that may be shown; what does not fit into `budget` bytes is left out later.
    pub(super) fn rows(&mut self, budget: usize) -> Vec<Row<'a>> {
        let mut rows = Vec::new();
        let odd = self.templates.odd();
        let odd = odd.iter().take(RARE_TEMPLATES);
        rows.extend(odd.map(|odd| Row::new(ODD_NUMBER, odd.first, odd.count)));
        let very_last = self.ends.len().saturating_sub(VERY_LAST_LINES);
        rows.extend(self.ends.iter().enumerate().map(|(at, here)| {
            let rank = if at == 0 || at >= very_last {
                ENDS
            } else {
                LAST
            };
            Row::new(rank, *here, 1)
        }));
        rows.extend(self.block.iter().map(|here| Row::new(HOT, *here, 1)));
        rows.extend(self.explanations.iter().map(|here| {
            let is_detail = level(here.line) == Level::Warning;
            Row::new(if is_detail { WARNING } else { EXPLANATION }, *here, 1)
        }));
        let hot_bytes: usize = self.hot.iter().map(|here| here.line.len() + 1).sum();
        if hot_bytes <= budget.max(MIN_ODD_BYTES) / HOT_SHARE && self.hot.len() < MAX_HOT_RECORDS {
            rows.extend(self.hot.iter().map(|here| Row::new(HOT, *here, 1)));
        } else {
            for template in self.ranked(HOT) {
                rows.extend(
                    template
                        .shown()
                        .map(|(here, times)| Row::new(HOT, here, times)),
                );
            }
        }
        for (rank, most) in [
            (START, START_TEMPLATES),
            (WARNING, usize::MAX),
            (ODD_STATUS, usize::MAX),
            (BAD_WORD, RARE_TEMPLATES),
        ] {
            rows.extend(
                self.ranked(rank)
                    .take(most)
                    .map(|template| Row::new(rank, template.first, template.count)),
            );
        }
        rows.extend(self.calm_rows());
        rows
    }

    fn ranked(&self, rank: u8) -> impl Iterator<Item = &Template<'a>> {
        let ranked = self.templates.iter().zip(&self.ranks);
        ranked
            .filter(move |(_, (of_template, _))| *of_template == rank)
            .map(|(template, _)| template)
    }

    /// The most frequent and the rarest templates of records that are not bad.
    fn calm_rows(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let by_words = |templates: &Templates<'a>, words| {
            templates.merged(|template| coarse_mask(message(template.first.line), words))
        };
        // Messages with the same first five words have the same first two.
        let mut merged = None;
        for words in [5, 2] {
            let templates = merged.as_ref().unwrap_or(&self.templates);
            if templates.len() > MAX_TEMPLATES {
                merged = Some(by_words(templates, words));
            }
        }
        let templates = merged.as_ref().unwrap_or(&self.templates);
        let mut common: Vec<Template<'a>> = templates.iter().copied().collect();
        common.sort_by_key(|template| (std::cmp::Reverse(template.count), template.first.number));
        let mut rare = common.split_off(common.len().min(COMMON_TEMPLATES));
        rare.reverse();
        rare.truncate(RARE_TEMPLATES);
        let common = common
            .into_iter()
            .map(|template| Row::new(COMMON, template.first, template.count));
        let rare = rare
            .into_iter()
            .map(|template| Row::new(RARE, template.first, template.count));
        common.chain(rare)
    }
}

/// The importance of the records of a template, decided by one of them.
fn rank(line: &str, refused: bool) -> u8 {
    match level(line) {
        Level::Hot => HOT,
        // An error that `main` of a program returned, or an uncaught exception, below its log.
        Level::Calm if line.starts_with("Error: ") || is_exception(line) => HOT,
        Level::Warning => WARNING,
        Level::Calm if is_script_warning(line) => WARNING,
        Level::Calm if refused || is_refusal(line) => ODD_STATUS,
        Level::Calm if is_start(line) => START,
        Level::Calm if tells_of_failure(message(line)) => BAD_WORD,
        Level::Calm => CALM,
    }
}
