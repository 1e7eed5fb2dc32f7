//! What is done to an output of no known family: noise goes, what repeats itself is folded, and of
//! much text the beginning, the end, the bad and the odd lines stay.

pub(super) mod kind;

use super::fold::{Templates, first_word_mask, literal_mask, mask, shape_mask};
use super::input::Input;
use super::line;
use super::output::Output;
use crate::clean;
use kind::{Kind, kind, passed_mark};

/// Folded text of at most this length is shown whole.
const WHOLE_BYTES: usize = 8_000;
/// Of longer text this share is shown at most, but never less than `WHOLE_BYTES`.
const SHOWN_SHARE: usize = 10;
const MAX_SHOWN_BYTES: usize = 24_000;
const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 20;
const LINE_CHARS: usize = 300;
/// Bad lines that are kept with their numbers, and lines below one that belong to it.
const WHOLE_BAD_LINES: usize = 100;
const DETAIL_LINES: usize = 6;
/// Lines that are odd when text is cut: no more than this many are alike, and so many at most.
const RARE_COUNT: usize = 2;
const RARE_LINES: usize = 60;
const COMMON_TEMPLATES: usize = 12;
/// Gaps of fewer lines are not told one by one; the account has them.
const TOLD_GAP: usize = 10;

/// A row that may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row<'a> {
    number: usize,
    line: &'a str,
    times: usize,
    detail: bool,
}

/// The lines that an agent needs of any text.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut rows = rows(input.text);
    let bytes: usize = rows.iter().map(|row| row.line.len() + 1).sum();
    if bytes > WHOLE_BYTES {
        let budget = (input.text.len() / SHOWN_SHARE).clamp(WHOLE_BYTES, MAX_SHOWN_BYTES);
        rows = selected(&rows, budget);
        write_with_gaps(&rows, output);
    } else {
        for row in rows {
            output.repeated(&line::shorten(row.line, LINE_CHARS), row.times);
        }
    }
}

/// The rows of the folded text, in their order.
fn rows(text: &str) -> Vec<Row<'_>> {
    let mut templates = Templates::default();
    let mut details = Vec::new();
    let mut bad = Block::default();
    let mut progress: Option<(usize, &str)> = None;
    for (number, line) in text.lines().enumerate() {
        let found = kind(line);
        if found == Kind::Noise {
            continue;
        }
        if let Some((at, state)) = progress.take() {
            let same_bar = found == Kind::Progress && clean::same_bar(state, line);
            if !same_bar {
                templates.add(at, state);
            }
        }
        match found {
            Kind::Progress => progress = Some((number, line)),
            Kind::Passed => {
                let mark = passed_mark(line.trim()).unwrap_or_default();
                templates.add_alike(mask(mark), number, line);
            }
            Kind::Place => {
                bad.open(line);
                templates.add_alike(literal_mask(line), number, line);
            }
            Kind::Bad if bad.count < WHOLE_BAD_LINES => {
                bad.open(line);
                templates.add_alike(literal_mask(line), number, line);
            }
            _ if bad.holds(line) => details.push(Row {
                number,
                line,
                times: 1,
                detail: true,
            }),
            _ => {
                templates.add(number, line);
            }
        }
    }
    if let Some((at, state)) = progress {
        templates.add(at, state);
    }
    let mut rows = details;
    rows.extend(
        templates
            .iter()
            .flat_map(super::fold::Template::shown)
            .map(|(line, times)| Row {
                number: line.number,
                line: line.line,
                times,
                detail: false,
            }),
    );
    rows.sort_unstable();
    rows
}

/// The bad line above, and how much of what follows belongs to it.
#[derive(Default)]
struct Block {
    count: usize,
    indent: usize,
    left: usize,
}

impl Block {
    fn open(&mut self, line: &str) {
        self.count += 1;
        self.indent = line::indent(line);
        self.left = if self.count <= WHOLE_BAD_LINES {
            DETAIL_LINES
        } else {
            0
        };
    }

    /// Whether `line` stands deeper than the bad line above it.
    fn holds(&mut self, line: &str) -> bool {
        if self.left == 0 || line::indent(line) <= self.indent {
            self.left = 0;
            return false;
        }
        self.left -= 1;
        true
    }
}

/// Of `rows` those that matter most, in their order, until they have `budget` bytes.
fn selected<'a>(rows: &[Row<'a>], budget: usize) -> Vec<Row<'a>> {
    let mut words = Templates::default();
    let mut shapes = Templates::default();
    for row in rows {
        words.add_alike(first_word_mask(row.line), row.number, row.line);
        shapes.add_alike(shape_mask(row.line), row.number, row.line);
    }
    let is_rare = |line: &str| {
        words.times(first_word_mask(line)) <= RARE_COUNT
            && shapes.times(shape_mask(line)) <= RARE_COUNT
    };
    let rare: Vec<usize> = rows
        .iter()
        .filter(|row| is_rare(row.line))
        .map(|row| row.number)
        .take(RARE_LINES)
        .collect();
    let mut common: Vec<_> = rows.iter().filter(|row| row.times > 1).collect();
    common.sort_by_key(|row| std::cmp::Reverse(row.times));
    let common: Vec<usize> = common
        .iter()
        .take(COMMON_TEMPLATES)
        .map(|row| row.number)
        .collect();
    let tail_from = rows.len().saturating_sub(TAIL_LINES);
    let rank = |index: usize, row: &Row<'_>| {
        let found = kind(row.line);
        if index >= tail_from {
            0
        } else if found == Kind::Bad {
            1
        } else if index < HEAD_LINES {
            2
        } else if row.detail || found == Kind::Verdict {
            3
        } else if found == Kind::Place {
            4
        } else if rare.binary_search(&row.number).is_ok() {
            5
        } else if common.contains(&row.number) {
            6
        } else if found == Kind::Warning {
            7
        } else {
            8
        }
    };
    let mut ranked: Vec<(usize, usize)> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| (rank(index, row), index))
        .filter(|(rank, _)| *rank < 8)
        .collect();
    ranked.sort_unstable();
    let mut left = budget;
    let mut kept = Vec::new();
    for (_, index) in ranked {
        let Some(row) = rows.get(index) else { continue };
        let bytes = row.line.len().min(LINE_CHARS) + 1;
        if bytes <= left {
            left -= bytes;
            kept.push(*row);
        }
    }
    kept.sort_unstable();
    kept
}

fn write_with_gaps(rows: &[Row<'_>], output: &mut Output) {
    let mut next = 0;
    for row in rows {
        let gap = row.number.saturating_sub(next);
        if gap >= TOLD_GAP {
            output.gap(gap);
        }
        output.repeated(&line::shorten(row.line, LINE_CHARS), row.times);
        next = row.number + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::input::Exit;

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn what_went_well_is_counted_and_what_failed_stays() {
        let mut text = (0..50)
            .map(|number| format!("ok {number} - adds\n"))
            .collect::<Vec<_>>()
            .concat();
        text.push_str("not ok 50 - divides\n    got: 0\n    expected: 1\n# done\n");
        assert_eq!(
            reduced(&text),
            "ok 0 - adds ×50\nok 49 - adds\nnot ok 50 - divides\n    got: 0\n    expected: 1\n# done\n\
             [48 of 54 lines left out]"
        );
    }

    #[test]
    fn places_are_never_folded() {
        let text = (0..40)
            .map(|line| format!("src/a.zz:{line}:1: odd thing\n"))
            .collect::<Vec<_>>()
            .concat();
        let reduced = reduced(&text);
        assert!((0..40).all(|line| reduced.contains(&format!("src/a.zz:{line}:1: odd"))));
    }

    #[test]
    fn of_a_long_text_the_ends_the_bad_and_the_odd_lines_stay() {
        let letter = |number: u32| char::from_u32(u32::from(b'a') + number % 26).unwrap_or('a');
        let mut lines: Vec<String> = (0..3_000)
            .map(|number| {
                let name: String = [1, 26, 676]
                    .map(|part| letter(number / part))
                    .iter()
                    .collect();
                format!("item {name} was looked at by the third part")
            })
            .collect();
        lines.insert(1_500, "engine stopped: cannot open door".to_owned());
        lines.insert(2_000, "nothing like the rest".to_owned());
        let text = lines.join("\n");
        let reduced = reduced(&text);
        for fact in [
            "item aaa was",
            "engine stopped: cannot open door",
            "nothing like the rest",
            "of 3002 lines left out]",
        ] {
            assert!(reduced.contains(fact), "{fact}: {reduced}");
        }
        assert!(reduced.len() < text.len() / 5, "{reduced}");
    }

    #[test]
    fn of_a_bar_the_last_state_stays() {
        let text = (0..=10)
            .map(|step| format!("[{}] {step}0%\n", "#".repeat(step)))
            .collect::<Vec<_>>()
            .concat();
        assert!(reduced(&text).starts_with("[##########] 100%\n"));
    }
}
