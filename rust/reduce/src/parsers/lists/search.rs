//! Hits of searches: `grep`, `rg` plain, with headings and `--json`, `git grep`.

mod asked;
mod hits;
mod json;
mod pattern;

use std::borrow::Cow;

use asked::{asks_for_context, asks_for_counts, asks_for_files, filters};
use hits::{Hits, Reader, Row};
pub(crate) use pattern::Pattern;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::line::fingerprint::without_numbers;
use crate::line::long_line::hidden_chars;
use crate::line::mask::mask;
use crate::line::source::is_head;
use crate::output::Output;
use crate::parsers::lists::listing::lists_files;
use crate::parsers::lists::process::packages::is_found;
use crate::parsers::logs::log::is_record;
use crate::rows::names::{FOLDS, Folders};
use ethos_registry_core::command::searches;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "search",
    runs,
    marks: Marks::OneOf(&[&["\n{\"type\":\"begin\""]]),
    recognises,
    reduce,
};

/// Up to this many hits are all shown with their text.
const HITS_WITH_TEXT: usize = 45;
/// The same where lines around the hits were asked for, which go first, and for the definitions of one file.
const HITS_WITH_LINES_AROUND: usize = 150;
/// The lines around the hits are all shown in outputs up to this size.
const CONTEXT_BYTES: usize = 6_000;
/// The same where the command asks for them.
const ASKED_CONTEXT_CHARS: usize = 24_000;
/// A longer text of a hit is cut around what was searched for.
const TEXT_CHARS: usize = 160;
/// So long are lines that are no longer read, only looked for.
const LONG_LINE_BYTES: usize = 1_000;
/// Beside a share of the output, up to this many bytes of hits are shown.
const MORE_BYTES: usize = 4_000;
/// The hits of a file with at most this many are shown although others have the same message.
const FEW_HITS: usize = 4;
/// How many kinds of inputs are distinguished at most.
const KINDS: usize = 8_192;
/// The inputs of the hits have this many bytes at least.
const LEAST_BYTES: usize = 900;
/// Inputs that are alike so far are not distinguished, except for records of a log.
const BEGINNING_BYTES: usize = 40;
/// An input needs more room than this.
const LEAST_ROOM: usize = 8;
/// How many lines of no known form are shown.
const UNKNOWN_LINES: usize = 30;
/// Up to this many bytes of paths every one is shown as it is.
const FILES_BYTES: usize = 24_000;
/// How lines begin in which these programs report an error.
static COMPLAINTS: Beginnings<7> = Beginnings::new([
    "grep: ", "egrep: ", "fgrep: ", "zgrep: ", "rg: ", "fatal: ", "ack: ",
]);

fn runs(input: &Input<'_>) -> bool {
    searches(input.program()) && !is_found(input) && !filters(input) && !lists_files(input)
        || input.git_is(&["grep"])
        || (input.program() == "xargs" && input.words.iter().any(|word| searches(word)))
}

fn recognises(input: &Input<'_>) -> Match {
    if json::is_events(input) {
        Match::Certain
    } else if runs(input) {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if asks_for_counts(input) {
        return counts(input, output);
    }
    if asks_for_files(input) {
        return files(input, output);
    }
    let mut reader = Reader::new(input);
    let mut hits = Hits::default();
    reader.read(&mut hits);
    if hits.rows.is_empty() || hits.unknown_lines > hits.rows.len() / 4 {
        // Lines of one file without numbers, or only names of files: nothing repeats there by form.
        return long_lines(input, output);
    }
    let pattern = Pattern::of(input.words);
    complain(&hits, output);
    if !(reader.unread_bytes() == 0 && with_text(input, &hits, &pattern, output)) {
        let mut sampled = SampledHits::new(input, &pattern);
        loop {
            sampled.write(&hits, reader.unread_bytes(), output);
            if reader.unread_bytes() == 0 {
                break;
            }
            others(&hits, output);
            hits.clear();
            reader.read(&mut hits);
            complain(&hits, output);
        }
    }
    others(&hits, output);
    output.stays_unless_shorter(input.text);
}

/// A few lines, some of them so long that only what is around the hits can be shown.
fn long_lines(input: &Input<'_>, output: &mut Output) {
    let is_long = |line: &str| line.len() > LONG_LINE_BYTES;
    if !input.lines().any(is_long) || input.lines().nth(HITS_WITH_TEXT).is_some() {
        return;
    }
    let pattern = Pattern::of(input.words);
    for line in input.lines() {
        if is_complaint(line) {
            output.failed();
        }
        output.summary(&shown(line, &pattern), 1);
    }
}

fn complain(hits: &Hits<'_>, output: &mut Output) {
    for line in &hits.complaints {
        output.failed();
        output.fact(&line::shorten(line, TEXT_CHARS));
    }
}

fn others(hits: &Hits<'_>, output: &mut Output) {
    for line in hits.unknown.iter().chain(&hits.counts) {
        output.fact(&line::shorten(line, TEXT_CHARS));
    }
}

fn is_complaint(line: &str) -> bool {
    COMPLAINTS.begin(line)
}

/// `grep -c`: the files that have hits.
fn counts(input: &Input<'_>, output: &mut Output) {
    let goes = |line: &str| line.ends_with(":0") || is_complaint(line);
    if !input.lines().any(goes) {
        return output.stays();
    }
    for line in input.lines() {
        if is_complaint(line) {
            output.failed();
            output.fact(&line::shorten(line, TEXT_CHARS));
        } else if !line.ends_with(":0") {
            output.fact(line);
        }
    }
    output.stays_unless_shorter(input.text);
}

/// `grep -l`: every path as it is, for it goes into the next command; of very many the names under their
/// folders.
fn files(input: &Input<'_>, output: &mut Output) {
    if input.text.len() <= FILES_BYTES && !input.lines().any(is_complaint) {
        return output.stays();
    }
    let folds = FOLDS.get(..2).unwrap_or_default();
    let mut folders = Folders::new(folds, FILES_BYTES, input.text.len(), output);
    let mut lines = input.lines();
    while let Some(line) = lines.next() {
        if is_complaint(line) {
            folders.output.failed();
            folders.output.fact(&line::shorten(line, TEXT_CHARS));
            continue;
        }
        let (folder, name) = line.rsplit_text("/").unwrap_or(("", line));
        folders.add(folder, name, "");
        if folders.is_full() {
            folders.write(lines.unread_bytes());
        }
    }
    folders.write(0);
    output.stays_unless_shorter(input.text);
}

/// `text` without the blanks around it; a long one only around what was searched for.
fn shown<'a>(text: &'a str, pattern: &Pattern) -> Cow<'a, str> {
    let text = text.trim_ascii();
    if text.len() <= TEXT_CHARS {
        return text.into();
    }
    let Some(at) = pattern.find(text).filter(|at| *at > TEXT_CHARS / 2) else {
        return line::shorten(text, TEXT_CHARS);
    };
    let mut from = at - TEXT_CHARS / 4;
    while !text.is_char_boundary(from) {
        from -= 1;
    }
    let around: String = text
        .get(from..)
        .unwrap_or_default()
        .chars()
        .take(TEXT_CHARS)
        .collect();
    let left_out = text.char_count() - around.char_count() + hidden_chars(text);
    format!("...{around}...[{left_out} chars more]").into()
}

/// Every hit with its text, if they are few or asked for; of the lines around them all, or only heads
/// of definitions. Whether it was done.
fn with_text(input: &Input<'_>, hits: &Hits<'_>, pattern: &Pattern, output: &mut Output) -> bool {
    let may_be_all = hits.found <= HITS_WITH_LINES_AROUND;
    let most = if hits.has_context || may_be_all && hits.is_outline() {
        HITS_WITH_LINES_AROUND
    } else {
        HITS_WITH_TEXT
    };
    let asked = hits.has_context
        && asks_for_context(input)
        && input.text.char_count() <= ASKED_CONTEXT_CHARS;
    if !asked && hits.found > most.max(output.asked_lines()) {
        return false;
    }
    let whole_context = asked || input.text.len() <= CONTEXT_BYTES;
    let repeats_path = hits.has_context && !hits.headings;
    let mut path = None;
    let mut around = hashbrown::HashSet::new();
    let mut line = String::new();
    for row in &hits.rows {
        let Row { number, text, hit } = row.row;
        // A line near a hit that repeats another one is not shown again.
        let known = !hit && around.len() < KINDS && !around.insert(text.trim_ascii());
        if !hit && (known || text.trim_ascii().is_empty() || !(whole_context || is_head(text))) {
            continue;
        }
        let new = path != Some(hits.path(row));
        // The only file that is searched has no name, and no mark after it.
        let is_named = row.file > 0 || !hits.path(row).is_empty();
        path = Some(hits.path(row));
        if new && hits.headings {
            output.summary(hits.path(row), 1);
        }
        let mark = if hit { ":" } else { "-" };
        line.clear();
        if !hits.headings && is_named && (new || repeats_path && hit) {
            line.push_str(hits.path(row));
            line.push_str(mark);
        }
        if !number.is_empty() {
            line.push_str(number);
            line.push_str(mark);
        }
        line.push_str(&shown(text, pattern));
        output.summary(&line, 1);
    }
    true
}

/// Every file with the inputs of some of its hits: no text twice, as long as there is room.
struct SampledHits<'i, 'p> {
    input: &'i Input<'i>,
    pattern: &'p Pattern,
    target_bytes: usize,
    written: usize,
    seen: hashbrown::HashSet<u64>,
    row: String,
}

impl<'i, 'p> SampledHits<'i, 'p> {
    fn new(input: &'i Input<'i>, pattern: &'p Pattern) -> Self {
        Self {
            input,
            pattern,
            target_bytes: input.target_chars(),
            written: 0,
            seen: hashbrown::HashSet::new(),
            row: String::new(),
        }
    }

    /// Writes `hits`, up to where this many bytes of the text are to come.
    fn write(&mut self, hits: &Hits<'_>, unread_bytes: usize, output: &mut Output) {
        let from = output.len();
        let all = self.input.text.len().max(1) as u128;
        let share = |target: usize| {
            let share = target as u128 * (all - unread_bytes as u128) / all;
            usize::try_from(share).unwrap_or(usize::MAX)
        };
        let bytes = self.input.text.len();
        let more = (bytes * 19 / 100).min(bytes / 20 + MORE_BYTES);
        let mut room = share(self.target_bytes + more)
            .saturating_sub(self.written)
            .max(LEAST_BYTES);
        let files = || hits.rows.chunk_by(|one, other| one.file == other.file);
        let mut files_left = files().count();
        for rows in files() {
            // No file has the inputs of all.
            let own = (room / files_left.max(1)).max(TEXT_CHARS).min(room);
            let mut own_room = own;
            let room_of_records = own / 2;
            files_left -= 1;
            let path = rows.first().map_or("", |row| hits.path(row));
            self.row.push_str(path);
            let is_named = !path.is_empty() || self.written > 0 || output.len() > from;
            let between = if is_named { ":" } else { "" };
            let (mut hits, mut shown) = (0, 0);
            let has_few_hits = rows
                .iter()
                .filter(|row| row.row.hit)
                .nth(FEW_HITS)
                .is_none();
            for Row { number, text, .. } in rows.iter().map(|row| row.row).filter(|row| row.hit) {
                hits += 1;
                let Some(text) = self.new_text(text, &mut own_room, room_of_records, has_few_hits)
                else {
                    continue;
                };
                let before = if shown == 0 { between } else { "" };
                let after = if number.is_empty() { "" } else { ":" };
                for part in [before, number, after, &text] {
                    self.row.push_str(part);
                }
                output.summary(&self.row, 1);
                self.row.clear();
                shown += 1;
            }
            room -= own - own_room;
            if hits > 0 && shown == 0 {
                let plural = if hits == 1 { "" } else { "s" };
                output.summary(&format!("{} ({hits} hit{plural})", self.row), 0);
            }
            self.row.clear();
        }
        self.written += output.len() - from;
    }

    /// The text of a hit that is shown if there is space and no similar text was shown. Log records with a similar
    /// beginning may differ later: they leave `for_others` of the space to other beginnings.
    fn new_text<'t>(
        &mut self,
        text: &'t str,
        room: &mut usize,
        for_others: usize,
        has_few_hits: bool,
    ) -> Option<Cow<'t, str>> {
        if *room <= LEAST_ROOM || self.seen.len() >= KINDS {
            return None;
        }
        let whole = text;
        let text = shown(whole, self.pattern);
        let left = room.checked_sub(text.len() + 2)?;
        let beginning = text.get(..BEGINNING_BYTES).unwrap_or(&text);
        let begins_anew = self.seen.insert(without_numbers(beginning));
        let says_anew = is_record(whole) && self.seen.insert(mask(whole).rotate_left(1));
        let is_new = begins_anew || has_few_hits || says_anew && left >= for_others;
        if is_new {
            *room = left;
        }
        is_new.then_some(text)
    }
}

#[cfg(test)]
mod tests;
