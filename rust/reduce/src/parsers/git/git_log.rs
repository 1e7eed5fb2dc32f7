//! Output of `git log` in its formats: every requested commit with its subject.

mod blocks;
mod commit;
mod style;

use commit::{Commit, Commits};
use hashbrown::HashSet;
use style::{Style, style};

pub(crate) use commit::{is_stat, is_total, without_bar};

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "git log",
    runs,
    marks: Marks::OneOf(&[&["\ncommit ", "\nAuthor: "]]),
    recognises,
    reduce,
};

/// How many commits are shown if no number was requested.
const COMMITS: usize = 200;
/// From this size on, a list with one line per commit shows older commits only at merges or if they have names.
const MANY_BYTES: usize = 5_000;
/// How many of the newest commits of such a list keep their subject, and how many keep their id.
const NEWEST: usize = 20;
const NAMED: usize = 30;
/// How many of the newest commits of a log in blocks keep their complete subject.
const NEWEST_BLOCKS: usize = 50;
/// How many subjects of one author are shown.
const SUBJECTS_OF_AUTHOR: usize = 200;
/// A subject is not cut to fewer characters, because it would not be informative.
const LEAST_SUBJECT_CHARS: usize = 16;
/// The length of each subject if a number of commits was requested.
const ASKED_SUBJECT_CHARS: usize = 60;
/// With more commits, files are shown only while there is space.
const COMMITS_WITH_FILES: usize = 40;
/// How many rows of files are shown for each of several commits.
const FILES: usize = 40;
/// With at most this many commits, messages are complete.
const WHOLE_MESSAGES: usize = 5;
const SUBJECT_CHARS: usize = 120;
/// A row of another log may contain two complete ids and a subject.
const ROW_CHARS: usize = 200;
const AUTHORS: usize = 30;
/// How many lines of another form are shown.
const UNKNOWN_LINES: usize = 30;
/// Options that add diffs to a log, which belong to another family.
const PATCH_OPTIONS: [&str; 5] = ["-p", "-u", "--patch", "-L", "--cc"];

fn runs(input: &Input<'_>) -> bool {
    input.git_is(&["log", "shortlog", "reflog", "rev-list", "whatchanged"])
        && !PATCH_OPTIONS.iter().any(|option| input.has(option))
}

fn recognises(input: &Input<'_>) -> Match {
    let mut lines = input.beginning().skip_while(|line| line.is_empty());
    let Some(first) = lines.next() else {
        return Match::No;
    };
    if input.beginning().any(|line| line.starts_with("diff --")) {
        return Match::No;
    }
    let full = commit::full_head(first).is_some_and(|name| name.len() == 40);
    if full && lines.take(3).any(|line| line.starts_with("Author: ")) {
        Match::Certain
    } else if input.git_is(&["shortlog"]) || runs(input) && style(input).is_some() {
        Match::Likely
    } else {
        Match::No
    }
}

/// Writes the output of `git shortlog`: authors with their counts, and their subjects.
fn by_author(input: &Input<'_>, output: &mut Output) {
    let mut subjects = 0;
    for text in input.lines().filter(|text| !text.trim().is_empty()) {
        subjects = if text.starts_with("      ") {
            subjects + 1
        } else {
            0
        };
        if subjects <= SUBJECTS_OF_AUTHOR {
            output.fact(&line::shorten(text.trim(), SUBJECT_CHARS));
        }
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let cut = Some(output.asked_lines()).filter(|lines| *lines > 0);
    let asked = input.number(&["-n", "--max-count", "-"]).or(cut);
    // Commits beyond the requested number are from another command.
    let asked = asked.map(|asked| asked.max(COMMITS));
    if input.ending().any(|line| line.has_text("fatal: ")) {
        output.failed();
    }
    if input.git_is(&["shortlog"]) {
        return by_author(input, output);
    }
    match style(input) {
        Some(Style::Full) => full(input, asked, output),
        Some(Style::Lines) => lines(input, asked, output),
        Some(Style::Blocks) => blocks::write(input, asked, output),
        Some(Style::Rows) => blocks::rows(input, asked, output),
        None => {}
    }
    output.stays_unless_shorter(input.text);
}

/// Writes one line per commit: `2463db40 (tag: v1) Subject`.
fn lines(input: &Input<'_>, asked: Option<usize>, output: &mut Output) {
    let by_range = input.words.iter().any(|word| word.contains(".."));
    let few = asked.is_some() || by_range || input.text.len() < MANY_BYTES;
    let mut row_of_names = String::new();
    let mut waiting: Option<&str> = None;
    let mut commits = 0;
    let mut names = 0;
    let mut unknown = 0;
    let mut told = false;
    for source in input.lines() {
        let row = commit::without_graph(source).trim_end();
        let Some((name, rest)) = commit::line(row) else {
            if is_total(row) || row.starts_with(' ') && row.contains(" | ") {
                // The files of a commit are below it, and are removed together with its row.
                if told {
                    output.fact(&without_bar(row));
                }
                continue;
            }
            if unknown < UNKNOWN_LINES && !row.is_empty() {
                unknown += 1;
                output.fact(&line::shorten(row, SUBJECT_CHARS));
            }
            continue;
        };
        commits += 1;
        waiting = None;
        let subject = rest.trim_start();
        let meets = subject.starts_with('(') || subject.starts_with("Merge ");
        if (few && commits <= asked.unwrap_or(COMMITS)) || commits <= NEWEST || meets {
            flush(&mut row_of_names, &mut names, output);
            output.fact(&line::shorten(row, SUBJECT_CHARS));
            told = true;
            continue;
        }
        told = false;
        if commits <= NAMED {
            row_of_names.push_str(if row_of_names.is_empty() { "" } else { " " });
            row_of_names.push_str(name);
            names += 1;
        } else {
            waiting = Some(row);
        }
    }
    flush(&mut row_of_names, &mut names, output);
    // The oldest commit of all shows where the history begins.
    if let Some(row) = waiting {
        output.fact(&line::shorten(row, SUBJECT_CHARS));
    }
}

fn flush(row: &mut String, names: &mut usize, output: &mut Output) {
    if !row.is_empty() {
        output.summary(row, *names);
        row.clear();
        *names = 0;
    }
}

/// Writes one block per commit, with author, date, message and perhaps files.
fn full(input: &Input<'_>, asked: Option<usize>, output: &mut Output) {
    let shown = asked.unwrap_or(COMMITS).max(1);
    let commits = Commits::read(input, shown);
    let shown = shown.min(commits.all.len());
    let mut room = Room::new(input, &commits, shown);
    if asked.is_some() {
        room.subject_chars = room.subject_chars.max(ASKED_SUBJECT_CHARS);
    }
    for other in &commits.before {
        output.fact(&line::shorten(other, SUBJECT_CHARS));
    }
    for (index, commit) in commits.all.iter().enumerate() {
        let last = index + 1 == commits.all.len();
        if index >= shown && !last {
            continue;
        }
        let chars = if index < NEWEST_BLOCKS || last {
            SUBJECT_CHARS
        } else {
            room.subject_chars
        };
        if chars < LEAST_SUBJECT_CHARS && commit.names().is_empty() {
            output.summary(commit.name(), 1);
        } else {
            let before = commit.name().len() + commit.names().len() + 2;
            output.summary(&head(&commit.row(), chars + before), 2);
        }
        for body in commits.message(commit) {
            if commits.all.len() <= WHOLE_MESSAGES || commit::is_telling(body) {
                output.fact(&line::shorten(commit::told(body), SUBJECT_CHARS));
            }
        }
        files(&commits, commit, &mut room, output);
    }
    for row in &commits.rows {
        output.fact(&line::shorten(row, ROW_CHARS));
    }
    people(input, &commits, output);
}

/// The space in the reduced text for commits after the newest.
struct Room {
    subject_chars: usize,
    files_bytes: usize,
    /// Totals that were shown before.
    totals: HashSet<String>,
}

impl Room {
    fn new(input: &Input<'_>, commits: &Commits<'_>, shown: usize) -> Self {
        let rows = commits.all.iter().take(shown);
        let totals = rows.clone().flat_map(|commit| commits.files(commit));
        let totals: usize = totals
            .filter(|row| is_total(row))
            .map(|row| row.len() + 1)
            .sum();
        let newest = rows
            .take(NEWEST_BLOCKS)
            .map(|commit| commit.row().len() + 1);
        let newest: usize = newest.sum();
        // The authors and the account need some space, too.
        let left = (input.text.len() * 19 / 100).saturating_sub(totals + newest + 200);
        let older = shown.saturating_sub(NEWEST_BLOCKS);
        let files_bytes = if commits.all.len() > COMMITS_WITH_FILES {
            left.saturating_sub(older * 10)
        } else {
            usize::MAX
        };
        let subject_chars = if totals > 0 {
            0
        } else {
            (left / older.max(1)).saturating_sub(12)
        };
        Self {
            subject_chars: subject_chars.min(SUBJECT_CHARS),
            files_bytes,
            totals: HashSet::new(),
        }
    }
}

/// The first `chars` characters of `row`, with a symbol if it was cut.
fn head(row: &str, chars: usize) -> String {
    match row.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", row.get(..end).unwrap_or(row).trim_end()),
        None => row.to_owned(),
    }
}

/// Writes the files of a commit while there is space, and their total.
fn files(commits: &Commits<'_>, commit: &Commit<'_>, room: &mut Room, output: &mut Output) {
    let mut left_out = 0;
    let most = if commits.all.len() > 1 {
        FILES
    } else {
        usize::MAX
    };
    let one_file = commits.files(commit).len() == 2;
    for (index, source) in commits.files(commit).iter().enumerate() {
        let row = without_bar(source);
        let fits = index < most && row.len() < room.files_bytes;
        if is_total(source) && one_file && !room.totals.insert(row.clone().into_owned()) {
            // The row of a single file contains the same numbers.
            continue;
        }
        if !fits && !is_total(source) {
            left_out += 1;
            continue;
        }
        if !is_total(source) {
            room.files_bytes -= row.len() + 1;
        }
        if room.files_bytes > FILES {
            output.gap(std::mem::take(&mut left_out));
        }
        output.fact(&row);
    }
    if room.files_bytes > FILES {
        output.gap(left_out);
    }
}

/// Writes the authors, and the dates of the newest and the oldest commit.
fn people(input: &Input<'_>, commits: &Commits<'_>, output: &mut Output) {
    let mut authors = commits.authors.clone();
    authors.sort_by_key(|(_, commits)| std::cmp::Reverse(*commits));
    let room = input.text.len() * 18 / 100;
    let has_files = commits
        .all
        .iter()
        .any(|commit| !commits.files(commit).is_empty());
    // The most frequent author is always shown, the others while there is space next to the files.
    let others = authors.len().saturating_sub(1);
    for (index, (author, _)) in authors.into_iter().enumerate() {
        let is_full = has_files && output.len() > room;
        if is_full && others > 0 {
            if index == 0 {
                let row = format!("Author: {author} +{others}");
                output.summary(&row, 0);
            }
            break;
        }
        output.summary(&format!("Author: {author}"), 0);
    }
    if output.len() > room {
        return;
    }
    if !commits.newest.is_empty() {
        output.summary(&format!("Date: {} … {}", commits.newest, commits.oldest), 0);
    }
}

#[cfg(test)]
mod tests;
