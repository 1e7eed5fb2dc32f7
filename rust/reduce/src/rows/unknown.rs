//! Lines that no rule of a family recognises.

pub(crate) mod in_place;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::line::{is_bad, is_ruler, shorten};
use crate::output::Output;
use ethos_registry_core::clean::is_progress;
use ethos_registry_core::find_text::{FindText as _, any_of};

/// How many of the first lines are kept.
const FIRST: usize = 10;
/// How many of the last lines are kept.
const LAST: usize = 6;
/// How many lines between them that report a problem are kept.
const BAD: usize = 14;
/// How many lines that differ only in numbers are kept, in addition to the last one.
const ALIKE: usize = 2;
/// For how many groups of such lines the last one is kept.
const LAST_ALIKE: usize = 4;
const ALIKE_BAD: usize = 8;
/// How many log records that only report progress are kept, in addition to the last one.
const RECORDS: usize = 3;
const LINE_CHARS: usize = 240;
/// The reason for a failure is often at the end of a long line.
const BAD_CHARS: usize = 400;
/// Characters of progress bars that do not occur in sentences.
const BAR_SIGNS: [&str; 10] = [
    "... [", "%|", "B/s", "it/s", "s/it", "[=", "[#", "\u{2501}", "\u{2588}", "eta ",
];

static BAR: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(BAR_SIGNS));

/// A stretch of unrecognised lines: all are kept if they are few. Otherwise the first, the last and those that report a
/// problem are kept, without repeats that differ only in numbers.
#[derive(Debug, Default)]
pub(crate) struct Unknown<'a> {
    first: Vec<(usize, &'a str)>,
    bad: Vec<(usize, &'a str)>,
    last: Vec<(usize, &'a str)>,
    next_last: usize,
    /// The line number: kept lines are shown in order.
    number: usize,
    /// The last state of a progress bar.
    bar: Option<(usize, &'a str)>,
    /// The last of lines that differ only in numbers: a series of values ends with the newest.
    last_alike: Vec<(usize, &'a str)>,
    /// How many records report progress, and the last one that is not among the first.
    records: usize,
    last_record: Option<(usize, &'a str)>,
}

impl<'a> Unknown<'a> {
    /// Adds a line. Empty lines and rulers are ignored.
    pub(crate) fn push(&mut self, line: &'a str) {
        if line.trimmed().is_empty() || is_ruler(line) {
            return;
        }
        self.number += 1;
        if is_bar(line) {
            self.bar = Some((self.number, line));
            return;
        }
        if reports_progress(line) {
            self.records += 1;
            if self.records > RECORDS {
                self.last_record = Some((self.number, line));
                return;
            }
        }
        if self.first.len() >= FIRST && self.bad.len() >= BAD {
            self.push_last(line);
            return;
        }
        let held = self.first.iter().chain(&self.bad).chain(&self.last);
        let held = held.filter(|(_, held)| alike(held, line));
        let alike = held.clone().count();
        if alike >= ALIKE_BAD || (alike >= ALIKE && !is_bad(line)) {
            let is_held = held.clone().any(|(_, held)| *held == line);
            self.push_alike(line, is_held);
            return;
        }
        if self.first.len() < FIRST {
            self.first.push((self.number, line));
        } else if self.bad.len() < BAD && is_bad(line) {
            self.bad.push((self.number, line));
        } else {
            self.push_last(line);
        }
    }

    /// Remembers `line` as the last one of its group, unless it is kept already.
    fn push_alike(&mut self, line: &'a str, is_held: bool) {
        self.last_alike.retain(|(_, last)| !alike(last, line));
        if !is_held && self.last_alike.len() < LAST_ALIKE {
            self.last_alike.push((self.number, line));
        }
    }

    fn push_last(&mut self, line: &'a str) {
        let line = (self.number, line);
        if self.last.len() < LAST {
            self.last.push(line);
        } else if let Some(oldest) = self.last.get_mut(self.next_last) {
            *oldest = line;
            self.next_last = (self.next_last + 1) % LAST;
        }
    }

    /// Writes the kept lines and removes them.
    pub(crate) fn write(&mut self, output: &mut Output) {
        // Other lines are only kept when the first ones are complete.
        if self.first.is_empty() && self.bar.is_none() {
            return;
        }
        let mut held = std::mem::take(&mut self.first);
        held.append(&mut self.bad);
        held.append(&mut self.last);
        held.append(&mut self.last_alike);
        held.extend(self.last_record);
        held.extend(self.bar);
        held.sort_unstable_by_key(|(number, _)| *number);
        for (_, line) in &held {
            let most = if is_bad(line) { BAD_CHARS } else { LINE_CHARS };
            let line = shorten(line.trim_end(), most);
            if is_bad(&line) {
                output.fact(&line);
            } else {
                output.context(&line);
            }
        }
        *self = Self::default();
    }
}

/// Whether `line` is a log record that begins with a level below a warning.
fn reports_progress(line: &str) -> bool {
    let rest = match line.as_bytes().first() {
        Some(b'I') => line.strip_prefix("INFO"),
        Some(b'D') => line.strip_prefix("DEBUG"),
        _ => None,
    };
    rest.is_some_and(|rest| rest.starts_with([' ', ':', '\t'])) && !is_bad(line)
}

/// Whether `line` is a state of a progress bar, not a sentence with a percentage.
pub(crate) fn is_bar(line: &str) -> bool {
    let line = line.trim_end();
    let signs = || BAR.as_ref().is_some_and(|signs| signs.is_match(line));
    (line.ends_with('%') || signs()) && is_progress(line) && !is_bad(line)
}

/// Whether two lines differ only in digits.
fn alike(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    if one.first() != other.first() {
        return false;
    }
    loop {
        let same = same_bytes(one, other);
        let (rest, other_rest) = (one.get(same..), other.get(same..));
        let (one_rest, digits) = without_number(rest.unwrap_or_default());
        let (other_rest, other_digits) = without_number(other_rest.unwrap_or_default());
        if digits == 0 && other_digits == 0 {
            return one_rest.is_empty() && other_rest.is_empty();
        }
        (one, other) = (one_rest, other_rest);
    }
}

/// The length of the common prefix.
fn same_bytes(one: &[u8], other: &[u8]) -> usize {
    let (words, _) = one.as_chunks::<8>();
    let (other_words, _) = other.as_chunks::<8>();
    let pairs = words.iter().zip(other_words);
    let same = 8 * pairs.take_while(|(one, other)| one == other).count();
    let rest = one.iter().zip(other).skip(same);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// `bytes` after the digits they begin with, and the number of these digits.
fn without_number(bytes: &[u8]) -> (&[u8], usize) {
    let digits = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    (bytes.get(digits..).unwrap_or_default(), digits)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn lines_stay_in_their_order() {
        let mut unknown = Unknown::default();
        let rows: Vec<String> = (0..60)
            .map(|number| "x".repeat(number) + " grows")
            .collect();
        for row in &rows {
            unknown.push(row);
        }
        unknown.push("SEVERE error: no water");
        unknown.push("oak falls");
        let mut output = Output::default();
        unknown.write(&mut output);
        let text = output.finish(62, usize::MAX);
        assert!(
            text.contains("x grows\nSEVERE error: no water\noak falls\n"),
            "{text}"
        );
        for number in 0..9 {
            unknown.push(rows.get(number).map_or("", |row| row));
            unknown.push("INFO: a leaf");
        }
        unknown.push("SEVERE error: no sun");
        let mut output = Output::default();
        unknown.write(&mut output);
        let text = output.finish(19, usize::MAX);
        assert!(
            text.contains("INFO: a leaf\nSEVERE error: no sun\n"),
            "{text}"
        );
    }

    #[test]
    fn what_a_server_answered_to_a_request_that_it_refused_stays() {
        let mut unknown = Unknown::default();
        let rows: Vec<String> = (0..60)
            .map(|number| "x".repeat(number) + " grows")
            .collect();
        let refusal = "{\"detail\":[{\"type\":\"missing\",\"msg\":\"Field required\"}]}";
        let (before, after) = rows.split_at(30);
        for row in before {
            unknown.push(row);
        }
        unknown.push(refusal);
        for row in after {
            unknown.push(row);
        }
        let mut output = Output::default();
        unknown.write(&mut output);
        assert!(output.finish(61, usize::MAX).contains(refusal));
    }

    fn written(lines: &[String]) -> String {
        let mut unknown = Unknown::default();
        for line in lines {
            unknown.push(line);
        }
        let mut output = Output::default();
        unknown.write(&mut output);
        output.finish(lines.len(), usize::MAX)
    }

    #[test]
    fn few_lines_stay_in_their_order() {
        let lines = ["one", "", "=====", "two"].map(str::to_owned);
        assert_eq!(written(&lines), "one\ntwo\n[2 of 4 lines left out]");
    }

    #[test]
    fn of_records_that_report_progress_the_first_and_the_last_stay() {
        let record = |word: &str| format!("INFO  [oak.move] Running upgrade {word}");
        let mut lines: Vec<String> = ["a", "b", "c", "d", "e"].map(record).to_vec();
        lines.push("INFO: no error was found".to_owned());
        assert_eq!(
            written(&lines),
            "INFO  [oak.move] Running upgrade a\nINFO  [oak.move] Running upgrade b\nINFO  [oak.move] Running \
             upgrade c\nINFO  [oak.move] Running upgrade e\nINFO: no error was found\n[1 of 6 lines left out]"
        );
    }

    #[test]
    fn of_many_lines_the_ends_and_the_bad_ones_stay() {
        let word = |number: u8| char::from(b'a' + number % 26).to_string().repeat(3);
        let mut lines: Vec<String> = (0..26).map(word).collect();
        *lines.get_mut(15).unwrap() = "disk error".to_owned();
        let text = written(&lines);
        for kept in ["aaa\n", "disk error\n", "zzz\n"] {
            assert!(text.contains(kept), "{text}");
        }
        assert!(!text.contains("nnn"), "{text}");
    }

    #[test]
    fn of_progress_only_the_last_state_stays() {
        let lines = ["load: 5%", "text", "load: 10%", "load: 99%"].map(str::to_owned);
        assert_eq!(written(&lines), "text\nload: 99%\n[2 of 4 lines left out]");
        assert!(!is_bar("coverage of 80% not reached"));
    }

    #[test]
    fn lines_that_differ_in_numbers_alone_stay_twice() {
        let lines: Vec<String> = (0..9).map(|number| format!("row {number}")).collect();
        assert_eq!(
            written(&lines),
            "row 0\nrow 1\nrow 8\n[6 of 9 lines left out]"
        );
    }

    #[test]
    fn a_progress_bar_stands_where_its_last_state_did() {
        let lines = [
            "1: 100%|##| 8/8",
            "1: loss=8",
            "2: 100%|##| 8/8",
            "2: loss=4",
            "3: 100%|##| 8/8",
        ];
        let mut lines = lines.map(str::to_owned).to_vec();
        lines.extend(["3: loss=2", "saved"].map(str::to_owned));
        assert_eq!(
            written(&lines),
            "1: loss=8\n2: loss=4\n3: 100%|##| 8/8\n3: loss=2\nsaved\n[2 of 7 lines left out]"
        );
    }

    #[test]
    fn lines_are_alike_when_nothing_but_digits_differ() {
        let line = "oak 12 of 345 leaves and 6";
        for other in [
            "oak 7 of 345 leaves and 60",
            "oak  of 3 leaves and ",
            "oak 121 of 34567 leaves and 6",
            line,
        ] {
            assert!(alike(line, other) && alike(other, line), "{other}");
        }
        for other in [
            "oak 12 of 345 leaves and 6 more",
            "oak 12 of 345 leaves or 6",
            "oak 12 off 345 leaves and 6",
            "elm 12 of 345 leaves and 6",
            "",
        ] {
            assert!(!alike(line, other) && !alike(other, line), "{other}");
        }
    }
}
