//! What `git blame` says: which commits wrote which lines.

use std::fmt::Write as _;

use hashbrown::HashMap;

use super::beginnings::Beginnings;
use super::fingerprint::without_numbers;
use super::input::Input;
use super::line;
use super::output::Output;
use super::route::{Family, Marks, Match};
use super::source::{is_head, is_mark};
use crate::find_text::FindText as _;

pub(super) const FAMILY: Family = Family {
    name: "git blame",
    runs,
    marks: Marks::OneOf(&[&["0)"]]),
    recognises,
    reduce,
};

/// More commits than this are left to the generic rule.
const COMMITS: usize = 2_048;
/// Ranges of one commit that are named.
const RANGES: usize = 24;
/// Lines of another form that are shown.
const UNKNOWN_LINES: usize = 30;
/// Ranges of so many lines are shown whole if there is room.
const SHORT_RANGE: usize = 3;
const SAMPLE_CHARS: usize = 120;
/// How lines begin that are alike in every file.
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
        || (runs(input) && input.beginning().any(|line| parse(line).is_some()))
    {
        Match::Likely
    } else {
        Match::No
    }
}

/// One line of the file, and who wrote it when.
struct Line<'a> {
    name: &'a str,
    who: &'a str,
    number: &'a str,
    code: &'a str,
}

/// `3cd2135f path (Ada 2026-01-08 10:21:00 +0000  7) code`, also without path, author and date.
fn parse(line: &str) -> Option<Line<'_>> {
    let bare = line.strip_prefix('^').unwrap_or(line);
    let end = bare.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (name, rest) = bare.split_at_checked(end)?;
    if name.len() < 7 || !rest.starts_with([' ', '\t']) {
        return None;
    }
    for at in memchr::memchr_iter(b')', rest.as_bytes()) {
        let before = rest.get(..at)?;
        let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (who, number) = before.split_at_checked(before.len() - digits)?;
        if digits > 0 && who.ends_with([' ', '\t']) {
            let open = memchr::memchr(b'(', who.as_bytes());
            return Some(Line {
                name,
                who: open.map_or("", |open| who.get(open + 1..).unwrap_or_default()),
                number,
                code: rest.get(at + 1..)?,
            });
        }
    }
    None
}

/// `Ada B 2026-01-08 10:21:00 +0000`.
fn author_and_date(who: &str) -> (&str, &str) {
    let who = who.trim();
    let is_date =
        |word: &&str| word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
    let date = who.split(' ').find(is_date).unwrap_or("");
    let author = who.split(date).next().filter(|_| !date.is_empty());
    (author.unwrap_or(who).trim(), date)
}

/// Why a line of code is shown, the best reason first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Head,
    Comment,
    First,
    Longest,
    Short,
}

/// A line of code that tells something of a range of so many lines.
struct Sample<'a> {
    code: &'a str,
    /// Which line of the file it is.
    at: u32,
    range_lines: u32,
    reason: Reason,
}

#[derive(Default)]
struct Commit<'a> {
    name: &'a str,
    author: &'a str,
    date: &'a str,
    ranges: Vec<(&'a str, &'a str)>,
    lines: usize,
    samples: Vec<Sample<'a>>,
}

/// Lines one after the other that one commit wrote.
struct Range<'a> {
    first: Line<'a>,
    last_number: &'a str,
    lines: u32,
    /// Telling lines, each with its place: the first one, the longest one, all while it is short.
    first_code: Option<(u32, &'a str)>,
    longest: (u32, &'a str),
    short: Vec<(u32, &'a str)>,
    samples: Vec<Sample<'a>>,
}

impl<'a> Range<'a> {
    fn new(first: Line<'a>) -> Self {
        Self {
            last_number: first.number,
            lines: 0,
            first_code: None,
            longest: (0, ""),
            short: Vec::new(),
            samples: Vec::new(),
            first,
        }
    }

    /// Takes a line of it, the one of that place in the file.
    fn push(&mut self, at: u32, number: &'a str, code: &'a str) {
        self.lines += 1;
        self.last_number = number;
        let code = code.trim();
        if code.is_empty() || BOILERPLATE.begin(code) {
            return;
        }
        let is_comment =
            || is_mark(code) || code.find_text("# ").is_some() || code.find_text("// ").is_some();
        if is_head(code) {
            self.sample(at, code, Reason::Head);
        } else if is_comment() {
            self.sample(at, code, Reason::Comment);
        } else {
            if self.first_code.is_none() {
                self.first_code = Some((at, code));
            } else if self.short.len() < SHORT_RANGE {
                self.short.push((at, code));
            }
            if code.len() >= self.longest.1.len() {
                self.longest = (at, code);
            }
        }
    }

    fn sample(&mut self, at: u32, code: &'a str, reason: Reason) {
        self.samples.push(Sample {
            code,
            at,
            range_lines: 0,
            reason,
        });
    }

    /// The lines that tell most of it, in their order.
    fn samples(mut self) -> Vec<Sample<'a>> {
        let first = self.first_code;
        if let Some((at, code)) = first {
            self.sample(at, code, Reason::First);
        }
        let (longest, code) = self.longest;
        let has_longest = !code.is_empty() && first.is_none_or(|(at, _)| at != longest);
        if has_longest {
            self.sample(longest, code, Reason::Longest);
        }
        if self.lines as usize <= SHORT_RANGE {
            for (at, code) in std::mem::take(&mut self.short) {
                if at != longest {
                    self.sample(at, code, Reason::Short);
                }
            }
        }
        for sample in &mut self.samples {
            sample.range_lines = self.lines;
        }
        self.samples.sort_by_key(|sample| sample.at);
        self.samples
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut commits: Vec<Commit<'_>> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut unknown = Vec::new();
    let mut unknown_lines = 0;
    let mut range: Option<Range<'_>> = None;
    let mut at = 0;
    for source in input.lines() {
        let Some(line) = parse(source) else {
            unknown_lines += 1;
            if unknown.len() < UNKNOWN_LINES {
                unknown.push(source);
            }
            continue;
        };
        let (number, code) = (line.number, line.code);
        if range
            .as_ref()
            .is_none_or(|range| range.first.name != line.name)
        {
            close(range.replace(Range::new(line)), &mut commits, &mut index);
            if commits.len() > COMMITS {
                return;
            }
        }
        if let Some(range) = &mut range {
            range.push(at, number, code);
        }
        at += 1;
    }
    close(range, &mut commits, &mut index);
    let lines: usize = commits.iter().map(|commit| commit.lines).sum();
    if commits.len() > COMMITS || unknown_lines > lines / 4 + 1 {
        return;
    }
    for line in unknown {
        output.fact(&line::shorten(line, SAMPLE_CHARS));
    }
    write(input, &commits, output);
}

/// Adds the lines of one range to their commit.
fn close<'a>(
    range: Option<Range<'a>>,
    commits: &mut Vec<Commit<'a>>,
    index: &mut HashMap<&'a str, usize>,
) {
    let Some(range) = range else {
        return;
    };
    let next = commits.len();
    let at = *index.entry(range.first.name).or_insert(next);
    if at == next {
        let (author, date) = author_and_date(range.first.who);
        commits.push(Commit {
            name: range.first.name,
            author,
            date,
            ..Commit::default()
        });
    }
    if let Some(commit) = commits.get_mut(at) {
        if commit.ranges.len() <= RANGES {
            commit.ranges.push((range.first.number, range.last_number));
        }
        commit.lines += range.lines as usize;
        commit.samples.extend(range.samples());
    }
}

/// The commits, and of their code as much as there is room for.
fn write(input: &Input<'_>, commits: &[Commit<'_>], output: &mut Output) {
    let heads: Vec<String> = commits.iter().map(head).collect();
    let heads_bytes: usize = heads.iter().map(|head| head.len() + 1).sum();
    let mut room = (input.text.len() * 196 / 1_000).saturating_sub(heads_bytes);
    let mut samples: Vec<(usize, &Sample<'_>)> = commits
        .iter()
        .flat_map(|commit| &commit.samples)
        .enumerate()
        .collect();
    let mut kinds = hashbrown::HashSet::new();
    samples.retain(|(_, sample)| kinds.insert(without_numbers(sample.code)));
    let all = commits.iter().map(|commit| commit.samples.len()).sum();
    samples.sort_by_key(|(_, sample)| (sample.reason, std::cmp::Reverse(sample.range_lines)));
    let mut shown = vec![false; all];
    for (index, sample) in samples {
        let bytes = sample.code.len().min(SAMPLE_CHARS) + 1;
        if let (Some(left), Some(shown)) = (room.checked_sub(bytes), shown.get_mut(index)) {
            room = left;
            *shown = true;
        }
    }
    let mut shown = shown.into_iter();
    for (head, commit) in heads.iter().zip(commits) {
        output.summary(head, 0);
        for sample in &commit.samples {
            if shown.next() == Some(true) {
                output.fact(&line::shorten(sample.code, SAMPLE_CHARS));
            }
        }
    }
}

/// `3cd2135f Ada 2026-01-08 1-5 8 10-30`.
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
    head
}

#[cfg(test)]
mod tests;
