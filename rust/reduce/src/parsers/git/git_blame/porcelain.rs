//! Blame in its formats for programs: `--porcelain`, `--line-porcelain`.

use super::parse::Line;
use super::{Blame, COMMITS};
use crate::input::Input;

/// How many digits of a commit id are shown.
const NAME_CHARS: usize = 8;

/// Whether the text begins in one of these formats.
pub(super) fn is_it(input: &Input<'_>) -> bool {
    input
        .beginning()
        .next()
        .is_some_and(|line| head(line).is_some())
}

/// The commit id and the line number in `3cd2…40 digits 7 9 3`.
fn head(line: &str) -> Option<(&str, &str)> {
    let mut words = line.split(' ');
    let name = words.next()?;
    let is_name =
        matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_number =
        |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    words.next().filter(is_number)?;
    let number = words.next().filter(is_number)?;
    (is_name && words.all(|word| is_number(&word)))
        .then(|| (name.get(..NAME_CHARS).unwrap_or(name), number))
}

/// Reads lines of code, each with the lines about its commit above it.
pub(super) fn read<'a>(input: &Input<'a>, blame: &mut Blame<'a>) {
    let (mut name, mut number) = ("", "");
    let (mut author, mut date, mut summary) = ("", "", "");
    let mut lines = input.lines();
    let mut line_end = 0;
    while let Some(source) = lines.next() {
        let line_start = line_end;
        line_end = input.text.len() - lines.unread_bytes();
        if let Some(code) = source.strip_prefix('\t') {
            let line = Line {
                name,
                who: "",
                number,
                code,
            };
            blame.push(&line, line_start + source.len());
            let commit = blame.commits.get_mut(usize::from(blame.range.commit));
            // Only the first line of a commit shows its author.
            if let Some(commit) = commit.filter(|commit| commit.author.is_empty()) {
                commit.author = author;
                commit.date = date;
                commit.summary = summary;
            }
            (author, date, summary) = ("", "", "");
        } else if let Some(found) = head(source) {
            (name, number) = found;
        } else if let Some((key, value)) = source.split_once(' ') {
            match key {
                "author" => author = value,
                "author-time" => date = value,
                "summary" => summary = value,
                _ => {}
            }
        }
        if blame.commits.len() > COMMITS {
            return;
        }
    }
}
