//! Commits in the formats of `git log`.

use std::borrow::Cow;

use super::style::is_counted_file;
use super::{AUTHORS, COMMITS, UNKNOWN_LINES, WHOLE_MESSAGES};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::FindText as _;

/// Trailers about people and tools, not about the change.
const TRAILERS_OF_PEOPLE: [&str; 8] = [
    "Signed-off-by",
    "Co-authored-by",
    "Co-Authored-By",
    "Reviewed-by",
    "Acked-by",
    "Tested-by",
    "Change-Id",
    "Cc",
];
/// Prefixes of lines of a commit message that describe effects on others.
static IMPORTANCE: Beginnings<6> = Beginnings::new([
    "BREAKING",
    "This reverts commit ",
    "Fixes #",
    "Closes #",
    "Resolves #",
    "(cherry picked from commit ",
]);
/// Lines between a commit id and its message that are not shown.
static OTHER_HEADS: Beginnings<6> = Beginnings::new([
    "Merge:",
    "Commit:",
    "CommitDate:",
    "Reflog:",
    "Reflog message:",
    "gpg:",
]);
/// The symbols of a bar of changes.
const SIGNS: [char; 2] = ['+', '-'];
/// How many digits of a commit id are shown.
const NAME_CHARS: usize = 8;

/// `line` without the drawn graph before it.
pub(super) fn without_graph(line: &str) -> &str {
    if !line.starts_with(['*', '|', '/', '\\', '_']) {
        return line;
    }
    let mut last = '|';
    let end = line.find(|sign| {
        let is_drawn = match std::mem::replace(&mut last, sign) {
            // The name of a file may begin with one of the other symbols, `.github`, `_static`.
            ' ' => matches!(sign, '*' | '|' | '/' | '\\' | ' '),
            _ => matches!(sign, '*' | '|' | '/' | '\\' | ' ' | '_' | '-' | '.'),
        };
        !is_drawn
    });
    line.get(end.unwrap_or(line.len())..).unwrap_or_default()
}

/// The commit id in `commit 2463db40…`.
pub(super) fn full_head(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("commit ")?;
    let name = rest.split(' ').next()?;
    is_name(name).then_some(name)
}

/// The commit id and the text after it in `2463db40 Subject`.
pub(super) fn line(row: &str) -> Option<(&str, &str)> {
    let row = row.strip_prefix('"').unwrap_or(row);
    let end = row.bytes().take_while(u8::is_ascii_hexdigit).count();
    let (name, rest) = row.split_at_checked(end)?;
    let ended = !rest.starts_with(|sign: char| sign.is_alphanumeric());
    (is_name(name) && ended).then_some((name, rest))
}

/// An abbreviated commit id.
pub(super) fn short_name(name: &str) -> &str {
    name.get(..NAME_CHARS).unwrap_or(name)
}

/// Whether `name` is a complete id.
pub(super) fn is_name_of_object(name: &str) -> bool {
    matches!(name.len(), 40 | 64)
}

/// Whether `source` is a commit on one line, `2463db40 Subject`, or an error of git.
fn is_row(source: &str) -> bool {
    source.starts_with("fatal: ")
        || line(source).is_some_and(|(_, rest)| rest.starts_with([' ', '\t']))
}

fn is_name(word: &str) -> bool {
    (7..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A commit; its message and files are in the lines of all commits.
#[derive(Debug, Default)]
pub(super) struct Commit<'a> {
    head: &'a str,
    subject: &'a str,
    /// The start of its message, the start of its files, and the end of these.
    message: u32,
    files: u32,
    end: u32,
}

impl Commit<'_> {
    /// Its id, its branches and tags, and its subject.
    pub(super) fn row(&self) -> String {
        let names = self.names();
        let blank = if names.is_empty() { "" } else { " " };
        format!("{}{blank}{names} {}", self.name(), self.subject)
    }

    /// Its branches and tags, in parentheses.
    pub(super) fn names(&self) -> &str {
        self.head.split_once(' ').map_or("", |(_, names)| names)
    }

    pub(super) fn name(&self) -> &str {
        short_name(self.head.split(' ').next().unwrap_or(self.head))
    }
}

/// All commits of a log.
#[derive(Debug, Default)]
pub(super) struct Commits<'a> {
    pub(super) all: Vec<Commit<'a>>,
    /// The first lines before the first commit.
    pub(super) before: Vec<&'a str>,
    /// The authors, with the number of commits of each.
    pub(super) authors: Vec<(&'a str, usize)>,
    /// The dates of the first and the last commit.
    pub(super) newest: &'a str,
    pub(super) oldest: &'a str,
    /// Commits in one-line format after them, from another log, and errors about commits that could not be shown.
    pub(super) rows: Vec<&'a str>,
    lines: Vec<&'a str>,
}

impl<'a> Commits<'a> {
    /// Reads the first `shown` commits and the last one, and the authors of all.
    pub(super) fn read(input: &Input<'a>, shown: usize) -> Self {
        let mut commits = Self::default();
        let mut in_files = false;
        for source in input.lines() {
            let row = without_graph(source);
            if row.starts_with("commit ") && full_head(row).is_some() {
                commits.close(in_files);
                in_files = false;
                commits.next(row, shown);
                continue;
            }
            let text = row.trim_ascii();
            if text.is_empty() {
                continue;
            }
            let at = index(commits.lines.len());
            let few = commits.all.len() <= WHOLE_MESSAGES;
            let Some(commit) = commits.all.last_mut() else {
                if commits.before.len() < UNKNOWN_LINES {
                    commits.before.push(source);
                }
                continue;
            };
            let drawn = row.len() != source.len();
            // A custom format may have no subject between the id and the files.
            if commit.subject.is_empty() && !is_counted_file(row) {
                let indented = drawn || source.starts_with("    ");
                match commit.head_line(text, indented) {
                    Some(Told::Author(author)) => commits.wrote(author),
                    Some(Told::Date(date)) => commits.dated(date.trim()),
                    None => {}
                }
                continue;
            }
            if !drawn && is_row(source) {
                if commits.rows.len() < COMMITS {
                    commits.rows.push(source);
                }
                continue;
            }
            // Rows of files are indented by one blank, messages by four.
            let is_message = !in_files && !drawn && source.starts_with("    ");
            if !in_files && !is_message && is_file(row, drawn) {
                in_files = true;
                commit.files = at;
            }
            if in_files || few || is_telling(text) {
                commits.lines.push(text);
            }
        }
        commits.close(in_files);
        commits
    }

    /// Begins a commit; of those that are not shown only the last is kept.
    fn next(&mut self, row: &'a str, shown: usize) {
        if self.all.len() > shown
            && let Some(last) = self.all.pop()
        {
            self.lines.truncate(last.message as usize);
        }
        self.all.push(Commit {
            head: row.strip_prefix("commit ").unwrap_or(row),
            message: index(self.lines.len()),
            ..Commit::default()
        });
    }

    fn dated(&mut self, date: &'a str) {
        if self.all.len() == 1 {
            self.newest = date;
        }
        self.oldest = date;
    }

    fn wrote(&mut self, author: &'a str) {
        let known = self.authors.iter_mut().find(|(known, _)| *known == author);
        if let Some((_, commits)) = known {
            *commits += 1;
        } else if self.authors.len() < AUTHORS && !author.is_empty() {
            self.authors.push((author, 1));
        }
    }

    fn close(&mut self, in_files: bool) {
        let end = index(self.lines.len());
        if let Some(commit) = self.all.last_mut() {
            commit.end = end;
            if !in_files {
                commit.files = end;
            }
        }
    }

    /// The lines of the message after the subject.
    pub(super) fn message(&self, commit: &Commit<'_>) -> &[&'a str] {
        let lines = self
            .lines
            .get(commit.message as usize..commit.files as usize);
        lines.unwrap_or_default()
    }

    /// The rows of its files, and their total.
    pub(super) fn files(&self, commit: &Commit<'_>) -> &[&'a str] {
        let lines = self.lines.get(commit.files as usize..commit.end as usize);
        lines.unwrap_or_default()
    }
}

impl<'a> Commit<'a> {
    /// Reads a line before the message, or its first line, which is `indented`. Returns the author or date in it.
    fn head_line(&mut self, text: &'a str, indented: bool) -> Option<Told<'a>> {
        match text.as_bytes().first() {
            Some(b'A') if text.starts_with("Author:") => {
                let author = text.get("Author:".len()..).unwrap_or_default().trim();
                let name = author.split_text(" <").map_or(author, |(name, _)| name);
                return Some(Told::Author(name));
            }
            Some(b'A') if text.starts_with("AuthorDate:") => {
                return Some(Told::Date(
                    text.get("AuthorDate:".len()..).unwrap_or_default(),
                ));
            }
            Some(b'D') if text.starts_with("Date:") => {
                return Some(Told::Date(text.get("Date:".len()..).unwrap_or_default()));
            }
            _ if indented && !OTHER_HEADS.begin(text) => self.subject = text,
            _ => {}
        }
        None
    }
}

/// What a header line contains of a commit.
enum Told<'a> {
    Author(&'a str),
    Date(&'a str),
}

/// A position among lines, limited to the range of the type.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Whether a line after the message is a row about a file: of `--stat`, `--numstat`,
/// `--name-status` or `--name-only`.
fn is_file(row: &str, drawn: bool) -> bool {
    is_stat(row) || is_total(row) || (!drawn && !row.starts_with(' '))
}

/// The path before the last bar, and the count after it.
fn stat(row: &str) -> Option<(&str, &str)> {
    let bar = memchr::memrchr(b'|', row.as_bytes())?;
    let path = row.get(..bar)?.strip_suffix(' ')?;
    Some((path, row.get(bar + 1..)?.strip_prefix(' ')?))
}

/// Whether `row` is ` src/a.c | 38 +++--` or ` a.png | Bin 0 -> 12 bytes`.
pub(crate) fn is_stat(row: &str) -> bool {
    stat(row).is_some_and(|(_, count)| {
        let count = count.trim_ascii();
        let digits = count.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            return count.starts_with("Bin ") || count == "Bin";
        }
        let bar = count.get(digits..).unwrap_or_default();
        bar.is_empty() || bar.trim_ascii_start().starts_with(SIGNS) && bar.ends_with(SIGNS)
    })
}

/// Whether `row` is ` 3 files changed, 83 insertions(+), 12 deletions(-)`.
pub(crate) fn is_total(row: &str) -> bool {
    let row = row.trim_start();
    row.starts_with(|sign: char| sign.is_ascii_digit())
        && (row.contains(" file changed") || row.contains(" files changed"))
}

/// A row of `--stat` with only the first symbol of each kind in its bar.
pub(crate) fn without_bar(row: &str) -> Cow<'_, str> {
    let row = row.trim();
    if !is_stat(row) {
        return row.into();
    }
    let Some((path, count)) = stat(row) else {
        return row.into();
    };
    let path = path.trim_end();
    let count = count.trim();
    let Some((number, bar)) = count.split_once(' ').filter(|_| !count.starts_with("Bin")) else {
        return format!("{path} {count}").into();
    };
    // Added lines come first.
    let sign = if bar.starts_with('+') && bar.ends_with('-') {
        "+-"
    } else {
        bar.get(..1).unwrap_or("")
    };
    [path, " ", number, " ", sign].concat().into()
}

/// Whether a line of a message describes effects on others.
pub(super) fn is_telling(text: &str) -> bool {
    if IMPORTANCE.begin(text) {
        return true;
    }
    let bytes = text.as_bytes();
    let end = memchr::memchr(b':', bytes).filter(|end| bytes.get(end + 1) == Some(&b' '));
    let Some(key) = end.and_then(|end| text.get(..end)) else {
        return false;
    };
    let is_key = |sign: char| sign.is_ascii_alphanumeric() || sign == '-';
    key.starts_with(|sign: char| sign.is_ascii_uppercase())
        && key.chars().all(is_key)
        && !TRAILERS_OF_PEOPLE.contains(&key)
}

/// The line as it is shown, with the commit id as short as elsewhere.
pub(super) fn told(text: &str) -> &str {
    for beginning in ["This reverts commit ", "(cherry picked from commit "] {
        if text.starts_with(beginning) {
            return text.get(..beginning.len() + NAME_CHARS).unwrap_or(text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_shrink_to_their_signs() {
        assert_eq!(without_bar(" a/b.c   |  38 +++++---"), "a/b.c 38 +-");
        assert_eq!(without_bar(" a => b | 2 --"), "a => b 2 -");
        assert_eq!(
            without_bar(" x.png | Bin 0 -> 12 bytes"),
            "x.png Bin 0 -> 12 bytes"
        );
        assert_eq!(without_bar("M\tpath"), "M\tpath");
    }

    #[test]
    fn only_lines_that_begin_with_a_name_are_commits() {
        assert_eq!(line("0123abc Subject"), Some(("0123abc", " Subject")));
        assert_eq!(line("feedback is good"), None);
        assert_eq!(line("added a thing"), None);
    }
}
