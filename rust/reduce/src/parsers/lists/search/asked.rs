//! What the command line asks of a search.

use crate::input::Input;
use crate::line::place;

/// Long options that ask for lines around the hits.
const CONTEXT_OPTIONS: [&str; 3] = ["--context", "--after-context", "--before-context"];
/// Long options that ask for names of files alone.
const FILES_OPTIONS: [&str; 3] = [
    "--files-with-matches",
    "--files-without-match",
    "--name-only",
];
/// Letters after which a pattern, a file or a number is, maybe in the same word.
const WITH_VALUE: [char; 11] = ['A', 'B', 'C', 'd', 'D', 'e', 'f', 'g', 'j', 'm', 't'];

/// The letters of a short word options, `rn` of `-rnA3`; empty for another word.
fn letters(word: &str) -> &str {
    let options = word.strip_prefix('-').unwrap_or_default();
    let letters = options.split(WITH_VALUE).next().unwrap_or_default();
    letters.strip_prefix('-').map_or(letters, |_| "")
}

fn has_letter(input: &Input<'_>, any_of: &[char]) -> bool {
    let mut words = input.words.iter().skip(1);
    words.any(|word| letters(word).contains(any_of))
}

/// Whether it reads what another program wrote, and passes lines on unchanged: `grep` without a
/// file, that does not number them.
pub(super) fn filters(input: &Input<'_>) -> bool {
    if !matches!(input.program(), "grep" | "egrep" | "fgrep" | "zgrep")
        || has_letter(input, &['r', 'R', 'n', 'c', 'b', 'H'])
        || ["--recursive", "--line-number", "--count"]
            .iter()
            .any(|option| input.has(option))
    {
        return false;
    }
    let mut words = input.words.iter().skip(1).map(String::as_str);
    let mut operands = 0;
    while let Some(word) = words.next() {
        match word {
            "-e" | "-f" => {
                // The pattern is named: what else there is are files.
                operands += 1;
                words.next();
            }
            "-A" | "-B" | "-C" | "-m" => {
                words.next();
            }
            _ => operands += usize::from(!word.starts_with('-') || word == "-"),
        }
    }
    operands <= 1
}

/// Whether lines around the hits were asked for: `-C3`, `-rnA 3`, `-5`, `--context=3`, `git grep -W`.
pub(super) fn asks_for_context(input: &Input<'_>) -> bool {
    let short = |word: &String| {
        let options = word.strip_prefix('-').unwrap_or_default();
        // What follows these is a pattern, a file or a number.
        let options = options.split(['e', 'f', 'g', 'j', 'm', 't']).next();
        options.is_some_and(|options| {
            let letters = options.trim_end_matches(|sign: char| sign.is_ascii_digit());
            letters.bytes().all(|byte| byte.is_ascii_alphabetic())
                && (letters.contains(['A', 'B', 'C']) || letters.len() < options.len())
        })
    };
    CONTEXT_OPTIONS.iter().any(|option| input.has(option))
        || input.git_is(&["grep"]) && (input.has("-W") || input.has("--function-context"))
        || input.words.iter().skip(1).any(short)
}

/// Whether only the names of files were asked for: `-l`, `-rl`, `--files-without-match`.
pub(super) fn asks_for_files(input: &Input<'_>) -> bool {
    // To `rg`, `-L` means to follow links.
    let letters = if input.program() == "rg" {
        &['l'][..]
    } else {
        &['l', 'L']
    };
    let asked = FILES_OPTIONS.iter().any(|option| input.has(option)) || has_letter(input, letters);
    asked && !holds_hits(input)
}

/// Whether only the counts of the hits were asked for: `-c`, `-rc`, `--count`.
pub(super) fn asks_for_counts(input: &Input<'_>) -> bool {
    let asked = input.has("--count") || input.has("--count-matches") || has_letter(input, &['c']);
    asked && !holds_hits(input)
}

/// Whether an earlier search printed the hits: `src/oak.py:3:text`.
fn holds_hits(input: &Input<'_>) -> bool {
    let is_hit = |line| place(line).is_some_and(|found| !found.rest.is_empty());
    input.beginning().any(is_hit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    #[test]
    fn who_asked_for_files_or_counts_may_have_searched_for_hits_before() {
        let asks = |option: &str, text: &str| {
            let words = ["grep", option, "leaf", "."].map(str::to_owned);
            let input = Input {
                text,
                words: &words,
                exit: Exit::Success,
            };
            asks_for_files(&input) || asks_for_counts(&input)
        };
        for (option, rows) in [
            ("-rl", "./oak.py\n./elm.py\n"),
            ("-rc", "./oak.py:3\n./elm.py:0\n"),
        ] {
            assert!(asks(option, rows));
            assert!(!asks(option, &("./ash.py:3:a leaf\n".to_owned() + rows)));
        }
    }
}
