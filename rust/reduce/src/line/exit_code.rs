//! Exit codes as other programs report them: `exited with code 1`, `exit status 2`, `"exit_code": 0`. The digits of
//! such a line must not be masked.

use memchr::memchr2_iter;

/// `exit`, `Exit` and `EXIT` without the first letter, which also match longer words.
const WORDS: [&str; 2] = ["xit", "XIT"];
const WORD_BYTES: usize = 3;
/// What may be between the word and the number, in lower case.
const BETWEEN: [&str; 7] = ["ed", "status", "with", "code", "value", "non-zero", "s"];
const MOST_BETWEEN: usize = 4;

/// Whether `line` shows an exit code. The answer is the same for all lines that differ only in digits.
pub(crate) fn is_told(line: &str) -> bool {
    codes(line).next().is_some()
}

/// Whether `line` shows an exit code other than 0.
pub(crate) fn is_bad(line: &str) -> bool {
    codes(line).any(|code| code.bytes().any(|digit| digit != b'0'))
}

/// The digits of each exit code in `line`.
fn codes(line: &str) -> impl Iterator<Item = &str> {
    memchr2_iter(b'x', b'X', line.as_bytes()).filter_map(move |at| {
        let word = line.get(at..at + WORD_BYTES)?;
        let is_word = WORDS.contains(&word) && begins_word(line.get(..at)?);
        is_word.then(|| code(line.get(at + WORD_BYTES..)?))?
    })
}

/// Whether `before` ends with the first letter of a word.
fn begins_word(before: &str) -> bool {
    let mut last = before.bytes().rev();
    matches!(last.next(), Some(b'e' | b'E'))
        && last.next().is_none_or(|byte| !byte.is_ascii_alphabetic())
}

/// The digits that follow the word.
fn code(text: &str) -> Option<&str> {
    let mut rest = text;
    for _ in 0..=MOST_BETWEEN {
        rest = rest.trim_start_matches([' ', '_', '-', ':', '=', '"', '\'', '(']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let behind = rest.as_bytes().get(digits);
            let is_number = behind.is_none_or(|byte| !byte.is_ascii_alphanumeric());
            return rest.get(..digits).filter(|_| is_number);
        }
        let word = BETWEEN.iter().find(|word| {
            let begins = rest.get(..word.len());
            begins.is_some_and(|begins| begins.eq_ignore_ascii_case(word))
        })?;
        rest = rest.get(word.len()..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    #[test]
    fn no_fold_hides_a_code_nor_that_a_count_is_not_nought() {
        let forms: [fn(usize, u8) -> String; 5] = [
            |number, code| format!("task {number} finished with exit code {code}\n"),
            |number, code| format!("job {number}: exit status {code}\n"),
            |number, code| format!("{{\"job\": {number}, \"exit_code\": {code}}}\n"),
            |number, count| format!("checked oak{number}: {count} problems\n"),
            |number, code| {
                format!(
                    "2026-01-02 10:00:{:02} INFO oak exited: {code}\n",
                    number % 60
                )
            },
        ];
        for form in forms {
            let all = (0..120).map(|number| form(number, u8::from(number == 57)));
            let text: String = all.collect();
            let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
            assert!(told.contains(form(57, 1).trim_end()), "{told}");
            assert!(told.lines().count() < 20, "{told}");
        }
    }

    #[test]
    fn a_code_is_told_in_many_ways() {
        for line in [
            "oak-1 exited with code 1",
            "job 7: exit status 2",
            "{\"job\": 7, \"exit_code\": 137}",
            "Exit: -9",
            "EXIT CODE = 3",
            "exit 1, 20 -> 10 characters",
            "(exitcode=1)",
            "Command returned non-zero exit status 4.",
            "first exit 0, then exit 1",
        ] {
            assert!(is_told(line) && is_bad(line), "{line}");
        }
        for line in ["oak exited with code 0", "exit status: 00", "ExitCode=0"] {
            assert!(is_told(line) && !is_bad(line), "{line}");
        }
    }

    #[test]
    fn other_words_tell_none() {
        for line in [
            "exit",
            "existing 3 oaks",
            "brexit 2016",
            "exit the house, 4 doors",
            "exit 3rd door",
            "taxi 3 exits",
        ] {
            assert!(!is_told(line), "{line}");
        }
    }
}
