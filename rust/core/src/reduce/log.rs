//! Logs: templates with their counts, and everything that is odd or bad.

mod record;

use super::fold::{Masks, Numbered, Template, Templates, coarse_mask};
use super::generic::kind::{is_library_frame, tells_of_failure};
use super::input::Input;
use super::latest::Latest;
use super::line::{indent, shorten};
use super::output::Output;
use super::route::{Family, Marks, Match};
use record::{Level, is_answered, is_record, is_start, level, message, status};

pub(super) const FAMILY: Family = Family {
    name: "log",
    runs,
    marks: Marks::OneOf(&[
        &["\n{"],
        &["\n["],
        &["0:0"],
        &["\nINFO"],
        &["\nDEBUG"],
        &["\nWARN"],
        &["\nERROR"],
        &["\nlevel="],
        &["\ntime="],
    ]),
    recognises,
    reduce,
};

/// What is shown at most: a share of the log, within bounds.
const SHOWN_SHARE: usize = 8;
/// Of a long log only so much beside a smaller share.
const LONG_SHARE: usize = 40;
const LONG_BYTES: usize = 2_500;
const MIN_SHOWN_BYTES: usize = 1_500;
const MAX_SHOWN_BYTES: usize = 16_000;
/// Bad records, warnings and odd answers may take so much of a short log too.
const MIN_ODD_BYTES: usize = 4_000;
/// The share of that for bad records that differ only in numbers.
const HOT_SHARE: usize = 2;
const LAST_LINES: usize = 8;
/// So many of them matter more than warnings.
const VERY_LAST_LINES: usize = 3;
const RARE_TEMPLATES: usize = 30;
const COMMON_TEMPLATES: usize = 12;
const START_TEMPLATES: usize = 4;
/// Beyond so many templates only the first words of a message tell one from another.
const MAX_TEMPLATES: usize = 400;
const HOT_CHARS: usize = 600;
const LINE_CHARS: usize = 240;
/// Bad records and lines of tracebacks that are remembered one by one.
const MAX_HOT_RECORDS: usize = 2_000;
const MAX_BLOCK_LINES: usize = 120;

/// Programs that print files as they are.
const PRINTERS: [&str; 9] = [
    "cat", "tail", "head", "less", "more", "zcat", "bat", "tac", "sed",
];
/// So few lines are asked for to be read.
const ASKED_LINES: usize = 50;

fn runs(input: &Input<'_>) -> bool {
    match input.program() {
        "journalctl" | "dmesg" => true,
        "docker" | "kubectl" | "podman" | "heroku" | "pm2" => input.subcommand() == "logs",
        program => PRINTERS.contains(&program),
    }
}

/// Likely and certain alike when most of the first lines are records.
fn recognises(input: &Input<'_>) -> Match {
    let few = input
        .number(&["-n", "--lines", "-"])
        .is_some_and(|lines| lines <= ASKED_LINES);
    if few {
        return Match::No;
    }
    let mut records = 0_usize;
    let mut others = 0_usize;
    for line in input.beginning().take(200) {
        if is_record(line) {
            records += 1;
        } else if !line.is_empty() && indent(line) == 0 {
            others += 1;
        }
    }
    if records >= 8 && records >= 2 * others {
        Match::Certain
    } else {
        Match::No
    }
}

/// A row that may be shown; the less its rank, the more it matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    rank: u8,
    number: usize,
    line: &'a str,
    times: usize,
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader::of(input.text.len());
    for (number, line) in input.lines().enumerate() {
        reader.line(number, line);
    }
    if reader.failed {
        output.failed();
    }
    let bytes = input.text.len();
    let budget = (bytes / SHOWN_SHARE)
        .min(bytes / LONG_SHARE + LONG_BYTES)
        .clamp(MIN_SHOWN_BYTES, MAX_SHOWN_BYTES);
    let mut rows = reader.rows(budget);
    rows.sort_unstable();
    let odd_budget = budget.max(MIN_ODD_BYTES);
    let mut shown = 0;
    rows.retain(|row| {
        let bytes = row.line.len().min(row.max_chars()) + 1;
        let most = if row.rank <= ODD_STATUS {
            odd_budget
        } else {
            budget
        };
        let fits = shown + bytes <= most;
        shown += if fits { bytes } else { 0 };
        fits
    });
    rows.sort_unstable_by_key(|row| (row.number, std::cmp::Reverse(row.times)));
    rows.dedup_by_key(|row| row.number);
    for row in rows {
        let text = shorten(row.line, row.max_chars());
        if row.times == 1 && row.rank <= ENDS {
            output.fact(&text);
        } else {
            output.repeated(&text, row.times);
        }
    }
}

/// Bad records and what follows them.
const HOT: u8 = 0;
/// The first line and the very last ones.
const ENDS: u8 = 1;
const WARNING: u8 = 2;
const ODD_STATUS: u8 = 3;
const LAST: u8 = 4;
const START: u8 = 5;
const BAD_WORD: u8 = 6;
const CALM: u8 = 7;
const COMMON: u8 = 8;
const RARE: u8 = 9;

impl<'a> Row<'a> {
    fn new(rank: u8, here: Numbered<'a>, times: usize) -> Self {
        Self {
            rank,
            number: here.number,
            line: here.line,
            times,
        }
    }

    fn max_chars(&self) -> usize {
        if self.rank <= ENDS {
            HOT_CHARS
        } else {
            LINE_CHARS
        }
    }
}

/// What records have in common that differ in digits alone.
#[derive(Clone, Copy)]
struct Shape {
    mask: u64,
    /// Whether their digits may hold a status, which tells them apart.
    answered: bool,
    /// The template to which they belong if they are not.
    template: Option<u32>,
}

/// What was read so far.
struct Reader<'a> {
    shapes: Latest<Shape>,
    masks: Masks,
    templates: Templates<'a>,
    /// Of each template, how much it matters and whether it is a record.
    ranks: Vec<(u8, bool)>,
    hot: Vec<Numbered<'a>>,
    block: Vec<Numbered<'a>>,
    in_block: bool,
    /// The indent of a frame of a library: what stands deeper below it goes with it.
    frame: Option<usize>,
    ends: Vec<Numbered<'a>>,
    failed: bool,
}

impl<'a> Reader<'a> {
    /// Nothing yet of a log of `bytes`.
    fn of(bytes: usize) -> Self {
        Self {
            shapes: Latest::of(bytes),
            masks: Masks::default(),
            templates: Templates::default(),
            ranks: Vec::new(),
            hot: Vec::new(),
            block: Vec::new(),
            in_block: false,
            frame: None,
            ends: Vec::new(),
            failed: false,
        }
    }

    fn line(&mut self, number: usize, line: &'a str) {
        if line.is_empty() {
            return;
        }
        let here = Numbered { number, line };
        if self.ends.len() > LAST_LINES {
            self.ends.remove(1);
        }
        self.ends.push(here);
        if self.in_block && line.starts_with([' ', '\t']) && !is_record(line) {
            self.block_line(here);
            return;
        }
        let template = self.template(here);
        let (rank, record) = self.ranks.get(template).copied().unwrap_or((CALM, true));
        if rank == HOT {
            self.failed = true;
            if self.hot.len() < MAX_HOT_RECORDS {
                self.hot.push(here);
            }
        }
        if record {
            self.in_block = rank == HOT;
            self.frame = None;
        } else if rank == HOT {
            self.in_block = true;
        } else if self.in_block {
            self.block_line(here);
        }
    }

    /// The template of a line.
    fn template(&mut self, here: Numbered<'a>) -> usize {
        let Numbered { number, line } = here;
        let shape = self.shapes.like(line).get_or_insert_with(|| Shape {
            mask: self.masks.mask(line),
            answered: is_answered(line),
            template: None,
        });
        if let Some(template) = shape.template {
            self.templates.again(Some(template), number, line);
            return template as usize;
        }
        let status = shape.answered.then(|| status(line)).flatten();
        let fine = shape.mask;
        let key = fine.wrapping_add(u64::from(status.unwrap_or_default()));
        let template = self.templates.add_alike_or(key, || fine, number, line);
        if template == self.ranks.len() {
            self.ranks.push((rank(line, status), is_record(line)));
        }
        if !shape.answered {
            shape.template = u32::try_from(template).ok();
        }
        template
    }

    /// A line below a bad record that is no record of its own.
    fn block_line(&mut self, here: Numbered<'a>) {
        if here
            .line
            .trim()
            .bytes()
            .all(|sign| matches!(sign, b'^' | b'~'))
        {
            // It points into a line of source.
            return;
        }
        let from = indent(here.line);
        if self.frame.take().is_some_and(|frame| from > frame) {
            return;
        }
        if is_library_frame(here.line.trim_start()) {
            self.frame = Some(from);
        } else if self.block.len() < MAX_BLOCK_LINES {
            self.block.push(here);
        }
    }

    /// What may be shown; what does not fit in `budget` bytes is left out later.
    fn rows(&self, budget: usize) -> Vec<Row<'a>> {
        let mut rows = Vec::new();
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
            (WARNING, usize::MAX),
            (ODD_STATUS, usize::MAX),
            (START, START_TEMPLATES),
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

    /// The commonest and the rarest templates of records that are not bad.
    fn calm_rows(&self) -> impl Iterator<Item = Row<'a>> + use<'a> {
        let by_words = |templates: &Templates<'a>, words| {
            templates.merged(|template| coarse_mask(message(template.first.line), words))
        };
        // What begins with the same five words begins with the same two.
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

/// How much the records of a template matter, told by one of them.
fn rank(line: &str, status: Option<u16>) -> u8 {
    match level(line) {
        Level::Hot => HOT,
        Level::Warning => WARNING,
        Level::Calm if status.is_some_and(|status| status >= 400) => ODD_STATUS,
        Level::Calm if is_start(line) => START,
        Level::Calm if tells_of_failure(line) => BAD_WORD,
        Level::Calm => CALM,
    }
}

#[cfg(test)]
mod tests;
