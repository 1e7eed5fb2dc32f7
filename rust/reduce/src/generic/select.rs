//! Selects the rows that are kept when not all can be.

use super::kind::{Kind, place_length};
use super::{LINE_CHARS, Row, line_chars};
use crate::input::Exit;
use crate::line::fingerprint::fingerprint;
use crate::line::mask::{first_word_mask, mask, shape_mask};
use crate::rows::fold::Templates;

/// Text of at most this length is kept if it has no finding.
const WHOLE_BYTES: usize = 8_000;
/// With findings, one part in the first number may be findings, and one part in the second number other rows.
const FINDINGS_SHARE: usize = 4;
const MIN_FINDINGS_BYTES: usize = 8_000;
const MAX_BYTES: usize = 24_000;
/// However short the text is, this much of the rest may be shown.
const MIN_REST_BYTES: usize = 4000;
/// All rows together take this share of the text unless more of them are findings: 1 in 5.6.
const REST_SHARE: (usize, usize) = (18, 100);
/// The share of a long text without findings that is shown.
const PLAIN_SHARE: usize = 10;
const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 20;
/// How many of the last rows of an input with findings are kept, as they contain the verdict.
const VERDICT_LINES: usize = 4;
/// How many lines below a bad line are as important as that line.
const FIRST_DETAILS: usize = 2;
/// At most one row in this many can be a file path that is a heading.
const HEADERS_SHARE: usize = 2;
const RARE_COUNT: usize = 2;
const RARE_LINES: usize = 60;
const COMMON_TEMPLATES: usize = 12;

/// Ranks of rows; lower ranks matter more.
const TOP: u8 = 0;
const NEW: u8 = 1;
const HEADER: u8 = 2;
const FINDING: u8 = 3;
const DETAIL: u8 = 4;
const HEAD: u8 = 5;
const RARE: u8 = 6;
const COMMON: u8 = 7;
const PLAIN: u8 = 8;

/// The most important of `rows`, the rows of an input of `bytes`, in order.
pub(super) fn selected(rows: Vec<Row<'_>>, bytes: usize, exit: Exit) -> Vec<Row<'_>> {
    let is_finding = |row: &&Row<'_>| matches!(row.kind, Kind::Bad | Kind::Place | Kind::Finding);
    let findings = rows.iter().filter(is_finding).count();
    let is_report = matches!(exit, Exit::Failure | Exit::Unknown) && findings > 0;
    let failed = is_report || findings * 3 >= rows.len();
    let size: usize = rows.iter().map(Row::bytes).sum();
    let rest = (bytes / REST_SHARE.1 * REST_SHARE.0).clamp(MIN_REST_BYTES, MAX_BYTES);
    if size <= rest || !failed && size <= WHOLE_BYTES {
        return rows;
    }
    let ranks = ranks(&rows, failed);
    let (most, rest) = if failed {
        let most = (bytes / FINDINGS_SHARE).clamp(MIN_FINDINGS_BYTES, MAX_BYTES);
        (most, rest)
    } else {
        let most = (bytes / PLAIN_SHARE).clamp(WHOLE_BYTES, MAX_BYTES);
        (most, most)
    };
    let mut used = 0;
    let mut keep = vec![false; rows.len()];
    for rank in TOP..=if failed { PLAIN } else { COMMON } {
        let limit = if rank <= FINDING { most } else { rest };
        let ranked = rows.iter().zip(&ranks).zip(&mut keep);
        for ((row, _), kept) in ranked.filter(|((_, of_row), _)| **of_row == rank) {
            let row_bytes = row.bytes();
            *kept = used + row_bytes <= limit;
            used += if *kept { row_bytes } else { 0 };
        }
    }
    let mut kept = keep.into_iter();
    let mut rows = rows;
    rows.retain(|_| kept.next().unwrap_or_default());
    rows
}

/// Templates of rows, and how many rows match each.
#[derive(Default)]
struct Shared<'a> {
    templates: Templates<'a>,
}

impl<'a> Shared<'a> {
    /// The template of `key`, which `row` matches.
    fn add(&mut self, key: u64, row: &Row<'a>) -> usize {
        self.templates.add_alike(key, row.number, row.line)
    }

    /// Whether few rows match it.
    fn is_rare(&self, template: usize) -> bool {
        let template = self.templates.get(template);
        template.is_some_and(|template| template.count <= RARE_COUNT)
    }

    /// Whether `row` is the first that matches it.
    fn is_first(&self, template: usize, row: &Row<'_>) -> bool {
        let template = self.templates.get(template);
        template.is_some_and(|template| template.first.number == row.number)
    }
}
fn ranks(rows: &[Row<'_>], failed: bool) -> Vec<u8> {
    let mut words = Shared::default();
    let mut shapes = Shared::default();
    let mut messages = Shared::default();
    let mut paths = Shared::default();
    let alike: Vec<(usize, usize)> = rows
        .iter()
        .map(|row| {
            if tells(row.kind) {
                let length = place_length(row.line.trim()).unwrap_or_default();
                (
                    messages.add(mask(message(row.line, length)), row),
                    paths.add(fingerprint(path(row.line, length)), row),
                )
            } else {
                (0, 0)
            }
        })
        .collect();
    let shared: Vec<(usize, usize)> = rows
        .iter()
        .map(|row| {
            (
                words.add(first_word_mask(row.line), row),
                shapes.add(shape_mask(row.line), row),
            )
        })
        .collect();
    let mut common: Vec<_> = rows.iter().map(|row| row.times).collect();
    common.sort_unstable_by(|one, other| other.cmp(one));
    let common = common.get(COMMON_TEMPLATES).copied().unwrap_or(1).max(1);
    let (head, tail) = if failed {
        (2, VERDICT_LINES)
    } else {
        (HEAD_LINES, TAIL_LINES)
    };
    let tail_from = rows.len().saturating_sub(tail);
    // If most rows are only paths, they are not headings.
    let headers = rows.iter().filter(|row| row.kind == Kind::Header).count();
    let heads = headers * HEADERS_SHARE <= rows.len();
    let mut rare = 0;
    let shared = alike.into_iter().zip(shared);
    rows.iter()
        .zip(shared)
        .enumerate()
        .map(|(index, (row, ((message, path), (word, shape))))| {
            if index >= tail_from {
                return TOP;
            }
            match row.kind {
                Kind::Verdict => TOP,
                Kind::Bad if messages.is_first(message, row) => TOP,
                // The first line may contain the column names, or the command.
                _ if row.number == 0 => NEW,
                Kind::Place | Kind::Finding | Kind::Warning
                    if messages.is_first(message, row)
                        || paths.is_first(path, row) && !warns(row.line) =>
                {
                    NEW
                }
                kind if tells(kind) => FINDING,
                _ if row.stands_out => FINDING,
                Kind::Header if heads => HEADER,
                Kind::Header => COMMON,
                Kind::Change => FINDING,
                _ if (1..=FIRST_DETAILS).contains(&row.detail) => FINDING,
                _ if row.detail > 0 => DETAIL,
                _ if index < head => HEAD,
                Kind::Hint => PLAIN,
                _ if row.times > common => COMMON,
                _ => {
                    let odd = rare < RARE_LINES && words.is_rare(word) && shapes.is_rare(shape);
                    rare += usize::from(odd);
                    if odd { RARE } else { PLAIN }
                }
            }
        })
        .collect()
}

/// Whether a row of this kind helps to explain a problem.
fn tells(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Bad | Kind::Place | Kind::Finding | Kind::Warning
    )
}

/// Whether the message of a finding, after its location, begins with the word for a warning.
fn warns(line: &str) -> bool {
    let text = line.trim();
    let said = message(text, place_length(text).unwrap_or_default());
    let said = said.trim_start_matches([':', ' ', '[']);
    let word = said.get(..4).unwrap_or_default();
    ["warn", "info", "note"]
        .iter()
        .any(|mild| mild.eq_ignore_ascii_case(word))
}

/// The message of a finding, without its location of `place_bytes` bytes.
fn message(line: &str, place_bytes: usize) -> &str {
    let text = line.trim();
    let message = text.get(place_bytes..).unwrap_or_default();
    let message = message.trim_start_matches(['^', '-', '~', ' ']);
    if message.is_empty() { text } else { message }
}

/// The file of a finding; empty when it does not begin with one.
fn path(line: &str, place_bytes: usize) -> &str {
    let place = line.trim().get(..place_bytes).unwrap_or_default();
    place.split([':', '(']).next().unwrap_or_default()
}

impl Row<'_> {
    /// The length of the row in the output.
    pub(super) fn bytes(&self) -> usize {
        let more: usize = self.more.iter().map(|place| place.len() + 1).sum();
        self.line
            .len()
            .min(line_chars(self.line, self.kind, LINE_CHARS))
            + 1
            + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::output::Output;

    #[test]
    fn what_stands_behind_many_paths_is_not_crowded_out_by_them() {
        let letter = |number: u8| char::from(b'a' + number % 26);
        let path = |number: u8| {
            let name: String = [7, 11, 13, 17]
                .map(|by| letter(number / by))
                .iter()
                .collect();
            let (one, other) = (letter(number), letter(number / 26));
            format!("/usr/lib/forest/{name}/{one}/leaf{other}.so\n")
        };
        let paths: String = (0..=255_u8).map(path).collect();
        let rest = "elm said that it has no bark\n";
        let grows = |number| format!("{} grows\n", letter(number));
        let end: String = (0..25).map(grows).collect();
        let text = format!("{paths}{rest}{end}");
        let input = Input {
            text: &text,
            words: &[],
            exit: Exit::Success,
        };
        let mut output = Output::default();
        super::super::reduce(&input, &mut output);
        let told = output.finish(text.lines().count(), usize::MAX);
        assert!(told.len() < text.len(), "{told}");
        assert!(told.contains(rest), "{told}");
    }
}
