//! Output of `git blame`: which commits wrote which lines.

mod parse;
mod porcelain;

use std::fmt::Write as _;

use hashbrown::{HashMap, HashSet};

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::line::fingerprint::without_numbers;
use crate::line::source::{is_head, is_mark};
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;
use parse::{Line, author_and_date, parse};

pub(crate) const FAMILY: Family = Family {
    name: "git blame",
    runs,
    marks: Marks::OneOf(&[&["0)"]]),
    recognises,
    reduce,
};

/// Outputs with more commits are left to the generic rules.
const COMMITS: usize = 2_048;
/// How many ranges of one commit are named.
const RANGES: usize = 24;
/// How many lines of another form are shown.
const UNKNOWN_LINES: usize = 30;
/// Ranges of up to this many lines are shown completely if there is space.
const SHORT_RANGE: usize = 3;
const SAMPLE_CHARS: usize = 120;
/// The base size of a long reduced file, to which a share of the file is added.
const LONG_BYTES: usize = 1_000;
const LONG_SHARE: usize = 20;
/// Prefixes of lines that are alike in every file.
static BOILERPLATE: Beginnings<10> = Beginnings::new([
    "import ", "from ", "#include", "use ", "using ", "package ", "\"\"\"", "@", "}", ")",
]);

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["blame", "annotate"])
}

fn recognises(input: &Input<'_>) -> Match {
    let (mut lines, mut blamed) = (0_usize, 0_usize);
    for line in input.beginning().take(40) {
        lines += 1;
        let dated = |line: Line<'_>| !author_and_date(line.who).1.is_empty();
        blamed += usize::from(parse(line).is_some_and(dated));
    }
    if lines > 0 && blamed == lines && lines >= 8 {
        Match::Certain
    } else if blamed * 2 > lines
        || runs(input) && porcelain::is_it(input)
        || (runs(input) && input.beginning().any(|line| parse(line).is_some()))
    {
        Match::Likely
    } else {
        Match::No
    }
}

/// Whether `code` holds `# ` or `// `.
fn is_comment(code: &str) -> bool {
    let bytes = code.as_bytes();
    memchr::memchr2_iter(b'#', b'/', bytes).any(|at| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.starts_with(b"# ") || rest.starts_with(b"// ")
    })
}

/// The reason why a line of code is shown, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Head,
    Comment,
    First,
    Longest,
    Short,
}

/// A line of code that represents a range of lines. There may be as many as the file has lines, so it is small.
#[derive(Clone, Copy)]
struct Sample {
    /// The offset in the text.
    start: u32,
    bytes: u32,
    range_lines: u32,
    commit: u16,
    reason: Reason,
}

impl Sample {
    fn code<'a>(&self, text: &'a str) -> &'a str {
        let start = self.start as usize;
        text.get(start..start + self.bytes as usize)
            .unwrap_or_default()
    }

    /// The position below its commit.
    fn place(&self) -> (u16, u32) {
        (self.commit, self.start)
    }
}

#[derive(Default)]
struct Commit<'a> {
    name: &'a str,
    author: &'a str,
    date: &'a str,
    summary: &'a str,
    ranges: Vec<(&'a str, &'a str)>,
    lines: usize,
}

/// A part of the text: its offset and its length.
type Piece = (u32, u32);

/// Consecutive lines of one commit.
#[derive(Default)]
struct Range<'a> {
    commit: u16,
    first_number: &'a str,
    last_number: &'a str,
    lines: u32,
    /// The index of its first sample.
    samples_from: usize,
    /// Informative lines: the first one, the longest one, and all of them while the range is short.
    first_code: Option<Piece>,
    longest: Piece,
    short: [Option<Piece>; SHORT_RANGE],
}

/// Commits with their lines.
#[derive(Default)]
struct Blame<'a> {
    text: &'a str,
    commits: Vec<Commit<'a>>,
    index: HashMap<&'a str, u16>,
    /// Samples of lines, each of a different kind.
    samples: Vec<Sample>,
    kinds: HashSet<u64>,
    range: Range<'a>,
}

impl<'a> Blame<'a> {
    /// Reads a line; `code_end` is where it ends in the text.
    fn push(&mut self, line: &Line<'a>, code_end: usize) {
        let commit = self.commits.get(usize::from(self.range.commit));
        if self.range.lines == 0 || commit.is_none_or(|commit| commit.name != line.name) {
            self.end_range();
            self.range = Range {
                commit: self.commit(line),
                first_number: line.number,
                samples_from: self.samples.len(),
                ..Range::default()
            };
        }
        let range = &mut self.range;
        range.lines += 1;
        range.last_number = line.number;
        let start = code_end - line.code.trim_start().len();
        let code = line.code.trimmed();
        let (Ok(start), Ok(bytes)) = (u32::try_from(start), u32::try_from(code.len())) else {
            return;
        };
        if code.is_empty() || BOILERPLATE.begin(code) {
            return;
        }
        let piece = (start, bytes);
        if is_head(code) {
            self.sample(piece, Reason::Head);
        } else if is_comment(code) || is_mark(code) {
            self.sample(piece, Reason::Comment);
        } else {
            if range.first_code.is_none() {
                range.first_code = Some(piece);
            } else if let Some(place) = range.short.iter_mut().find(|place| place.is_none()) {
                *place = Some(piece);
            }
            if bytes >= range.longest.1 {
                range.longest = piece;
            }
        }
    }

    /// The index of the commit of a line.
    fn commit(&mut self, line: &Line<'a>) -> u16 {
        let next = u16::try_from(self.commits.len()).unwrap_or(u16::MAX);
        let at = *self.index.entry(line.name).or_insert(next);
        if at == next {
            let (author, date) = author_and_date(line.who);
            self.commits.push(Commit {
                name: line.name,
                author,
                date,
                ..Commit::default()
            });
        }
        at
    }

    /// Keeps a line, unless a similar one is kept.
    fn sample(&mut self, (start, bytes): Piece, reason: Reason) {
        let sample = Sample {
            start,
            bytes,
            range_lines: 0,
            commit: self.range.commit,
            reason,
        };
        if self.kinds.insert(without_numbers(sample.code(self.text))) {
            self.samples.push(sample);
        }
    }

    /// Adds the most informative lines of the range.
    fn end_range(&mut self) {
        let range = std::mem::take(&mut self.range);
        if range.lines == 0 {
            return;
        }
        self.range.commit = range.commit;
        let Range {
            first_code: first,
            longest,
            ..
        } = range;
        let is_short = range.lines as usize <= SHORT_RANGE;
        let [one, two, three] = range
            .short
            .map(|piece| piece.filter(|piece| is_short && *piece != longest));
        let longest = Some(longest).filter(|longest| longest.1 > 0 && first != Some(*longest));
        let mut pieces = [
            (first, Reason::First),
            (longest, Reason::Longest),
            (one, Reason::Short),
            (two, Reason::Short),
            (three, Reason::Short),
        ];
        pieces.sort_unstable();
        for (piece, reason) in pieces {
            if let Some(piece) = piece {
                self.sample(piece, reason);
            }
        }
        for sample in self.samples.iter_mut().skip(range.samples_from) {
            sample.range_lines = range.lines;
        }
        if let Some(commit) = self.commits.get_mut(usize::from(range.commit)) {
            if commit.ranges.len() <= RANGES {
                commit.ranges.push((range.first_number, range.last_number));
            }
            commit.lines += range.lines as usize;
        }
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut blame = Blame {
        text: input.text,
        ..Blame::default()
    };
    if porcelain::is_it(input) {
        porcelain::read(input, &mut blame);
        blame.end_range();
        if blame.commits.len() <= COMMITS {
            write(input, &blame.commits, blame.samples, output);
        }
        return;
    }
    let mut unknown = Vec::new();
    let mut unknown_lines = 0;
    let mut lines = input.lines();
    let mut line_end = 0;
    while let Some(source) = lines.next() {
        let line_start = line_end;
        line_end = input.text.len() - lines.unread_bytes();
        let Some(line) = parse(source) else {
            unknown_lines += 1;
            if unknown.len() < UNKNOWN_LINES {
                unknown.push(source);
            }
            continue;
        };
        blame.push(&line, line_start + source.len());
        if blame.commits.len() > COMMITS {
            return;
        }
    }
    blame.end_range();
    let lines: usize = blame.commits.iter().map(|commit| commit.lines).sum();
    if unknown_lines > lines / 4 + 1 {
        return;
    }
    for line in unknown {
        output.fact(&line::shorten(line, SAMPLE_CHARS));
    }
    write(input, &blame.commits, blame.samples, output);
}

/// Writes the commits, and as much of their code as fits.
fn write(input: &Input<'_>, commits: &[Commit<'_>], mut samples: Vec<Sample>, output: &mut Output) {
    let heads: Vec<String> = commits.iter().map(head).collect();
    let heads_bytes: usize = heads.iter().map(|head| head.len() + 1).sum();
    let bytes = input.text.len();
    let most = (bytes * 196 / 1_000).min(bytes / LONG_SHARE + LONG_BYTES);
    let mut room = most.saturating_sub(heads_bytes);
    samples.sort_unstable_by_key(|sample| {
        let lines = std::cmp::Reverse(sample.range_lines);
        (sample.reason, lines, sample.place())
    });
    samples.retain(|sample| {
        let bytes = (sample.bytes as usize).min(SAMPLE_CHARS) + 1;
        let left = room.checked_sub(bytes);
        room = left.unwrap_or(room);
        left.is_some()
    });
    samples.sort_unstable_by_key(Sample::place);
    let mut shown = samples.iter().peekable();
    for (head, number) in heads.iter().zip(0..) {
        output.summary(head, 0);
        while let Some(sample) = shown.next_if(|sample| sample.commit == number) {
            output.fact(&line::shorten(sample.code(input.text), SAMPLE_CHARS));
        }
    }
}

/// `3cd2135f Ada 2026-01-08 1-5 8 10-30: subject`.
fn head(commit: &Commit<'_>) -> String {
    let mut head = commit.name.to_owned();
    for part in [commit.author, commit.date] {
        if !part.is_empty() {
            head.push(' ');
            head.push_str(part);
        }
    }
    for (first, last) in commit.ranges.iter().take(RANGES) {
        // Writing to a `String` cannot fail.
        let _ = if first == last {
            write!(head, " {first}")
        } else {
            write!(head, " {first}-{last}")
        };
    }
    if commit.ranges.len() > RANGES {
        let _ = write!(head, " … ({} lines)", commit.lines);
    }
    if !commit.summary.is_empty() {
        let _ = write!(head, ": {}", line::shorten(commit.summary, SAMPLE_CHARS));
    }
    head
}

#[cfg(test)]
mod tests;
