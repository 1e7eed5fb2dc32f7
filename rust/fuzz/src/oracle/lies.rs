//! What a reduced text states that the text does not say.

use std::collections::HashSet;

use ethos_registry_core::clean;

use super::Broken;
use crate::case::Case;

/// Words by which programs say that all is well.
const GREEN: [&str; 6] = ["passed", "ok", "OK", "0 errors", "Success", "no issues"];
/// What the numbers of a verdict count.
const COUNTED: [&str; 10] = [
    "passed", "failed", "error", "errors", "failure", "failures", "warning", "warnings", "tests",
    "skipped",
];

/// Longer numbers are names of commits.
const COUNT_DIGITS: usize = 7;

/// The first lie of `reduced`, if there is one.
pub(super) fn of(case: &Case<'_>, reduced: &str) -> Option<Broken> {
    let cleaned = clean::terminal(&case.text);
    if reduced.trim().is_empty() && !cleaned.trim().is_empty() {
        return Some(Broken::Empty);
    }
    // Most lines are in the text as they are, and looking for each in all of it takes long.
    let lines: HashSet<&str> = cleaned.lines().collect();
    let all_lines = cleaned.lines().count();
    // Families close up what a line is padded with.
    let unpadded: String = cleaned.split_whitespace().collect();
    let failed = case.exit_code != Some(0);
    let last = reduced.lines().next_back().unwrap_or_default();
    if !lines.contains(last) && !is_account_of(last, all_lines) {
        return Some(Broken::Account);
    }
    for line in reduced.lines().filter(|line| !lines.contains(line)) {
        if !counts_lines_of(line, all_lines, &cleaned) {
            return Some(Broken::Account);
        }
        if !coordinates_stand_in(line, &unpadded) {
            return Some(Broken::Coordinate);
        }
        if !counts_stand_in(line, &cleaned) {
            return Some(Broken::Count);
        }
        if failed && !green_words_stand_in(line, &cleaned) {
            return Some(Broken::GreenLine);
        }
    }
    None
}

/// Whether the account that closes an input, if it is one, counts all lines, and leaves out no more.
fn is_account_of(last: &str, all_lines: usize) -> bool {
    let account = last
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(" lines left out]"))
        .and_then(|line| line.split_once(" of "));
    account.is_none_or(|(left_out, all)| {
        let number = |text: &str| text.parse::<usize>().ok();
        // The line that shows the exit code is not one of the output.
        number(all).is_some_and(|all| all == all_lines || all + 1 == all_lines)
            && number(left_out) <= number(all)
    })
}

/// Whether a line that states how many lines are here, or are like it, names no more than there are.
fn counts_lines_of(line: &str, all_lines: usize, text: &str) -> bool {
    let gap = line
        .strip_prefix('[')
        .and_then(|line| line.strip_suffix(" lines left out]"));
    let alike = line.rsplit_once(" \u{d7}").map(|(_, times)| times);
    let lines = gap.or(alike).and_then(|lines| lines.parse::<usize>().ok());
    // The text may state it itself, in a line that was shortened or held more than can be seen.
    let said = alike.map_or_else(|| line.to_owned(), |alike| format!(" \u{d7}{alike}"));
    lines.is_none_or(|lines| lines <= all_lines || text.contains(&said))
}

/// What is between the marks of what was left out or folded in a line.
fn pieces(line: &str) -> impl Iterator<Item = &str> {
    let parts = line.split(['\u{2026}', '[', ']', '\u{d7}']);
    parts.map(|part| part.trim_matches(|c: char| c == '.' || c.is_whitespace()))
}

/// Whether each `path:line` of a line is in the text, which has no blanks: as it is, or path and
/// line number alone, where a format names the path once above its lines.
fn coordinates_stand_in(line: &str, text: &str) -> bool {
    pieces(line).all(|piece| {
        let mut colons = piece.match_indices(':').map(|(colon, _)| colon);
        colons.all(|colon| {
            let before = piece.get(..colon).unwrap_or_default();
            let after = piece.get(colon + 1..).unwrap_or_default();
            let in_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
            let path = before
                .rsplit(|c: char| !in_path(c))
                .next()
                .and_then(|path| path.rsplit("...").next())
                .unwrap_or_default();
            // The number of a line of context is written before what the line states: `137-a.py:3`.
            let path = path.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
            let number = after
                .split(|c: char| !c.is_ascii_digit())
                .next()
                .unwrap_or_default();
            let is_path = path.contains('.') && path.contains(char::is_alphabetic);
            let stands = |part: &str| text.contains(part);
            !is_path || number.is_empty() || (stands(path) && stands(number))
        })
    })
}

/// Whether each number before a verdict word is in the text, and the word too.
fn counts_stand_in(line: &str, text: &str) -> bool {
    let mut before = "";
    line.split_whitespace().all(|word| {
        // `(4)` states how many are shown here, `7%` is a share.
        let number = before.trim_start_matches(['(', '[']);
        let number = number.trim_end_matches([',', ':', ';', '.']);
        before = word;
        let is_count = !number.is_empty()
            && number.len() <= COUNT_DIGITS
            && number.bytes().all(|byte| byte.is_ascii_digit());
        !is_count
            || !COUNTED.contains(&bare(word))
            || (stands_free(text, number) && stands_free(text, bare(word)))
    })
}

/// Whether each word of success of a line is in a line of the text, beside a neighbour that it has
/// here too.
fn green_words_stand_in(line: &str, text: &str) -> bool {
    if !GREEN.iter().any(|green| line.contains(green)) {
        return true;
    }
    // How often a line is there, and how much of it is not shown, is said of it, not by it.
    let words = line
        .split_whitespace()
        .filter(|word| !word.starts_with('\u{d7}'));
    // Beside what is not shown stand parts of words.
    let words = words.filter(|word| !word.contains("...[") && !word.contains("]..."));
    let words: Vec<&str> = words.map(bare).filter(|word| !word.is_empty()).collect();
    GREEN.iter().all(|green| {
        let green: Vec<&str> = green.split(' ').collect();
        let places = words.windows(green.len()).enumerate();
        places.filter(|(_, words)| *words == green).all(|(at, _)| {
            // A cut takes the neighbours away; a line of its own can be beside a place here.
            let green_line = green.join(" ");
            let alone = || text.lines().any(|line| bare(line) == green_line);
            if green.len() > 1 || line.contains(" chars]...") || alone() {
                return stands_free(text, &green_line);
            }
            let before = at.checked_sub(1).and_then(|at| words.get(at));
            let after = words.get(at + green.len());
            let green = green.join(" ");
            text.lines()
                .filter(|line| stands_free(line, &green))
                .any(|line| {
                    let neighbours = [before, after].into_iter().flatten();
                    before.or(after).is_none()
                        || neighbours.into_iter().any(|word| line.contains(word))
                })
        })
    })
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Whether `words` stand in `line` without letters or digits on either side.
fn stands_free(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let before = line.get(..at).and_then(|part| part.chars().next_back());
        let after = line
            .get(at + words.len()..)
            .and_then(|part| part.chars().next());
        let is_free = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        is_free(before) && is_free(after)
    })
}
