//! Which rows stay when not all can.

use super::super::fold::{Templates, first_word_mask, literal_mask, mask, shape_mask};
use super::super::input::Exit;
use super::kind::{Kind, kind, place_length};
use super::{LINE_CHARS, Row};

/// Text of at most this length is shown whole when nothing in it is a finding.
const WHOLE_BYTES: usize = 8_000;
/// What is shown of a text with findings: of them one part in so many, of all else in so many.
const FINDINGS_SHARE: usize = 4;
const MIN_FINDINGS_BYTES: usize = 8_000;
const MAX_BYTES: usize = 24_000;
/// However short the text is, this much may be shown of it.
const MIN_REST_BYTES: usize = 180;
/// All rows together take this share of the text unless more of them are findings: 1 in 5.6.
const REST_SHARE: (usize, usize) = (18, 100);
/// Of a long text without findings, the share that is shown.
const PLAIN_SHARE: usize = 10;
const HEAD_LINES: usize = 40;
const TAIL_LINES: usize = 20;
/// Of a text with findings the last rows, among them the verdict.
const VERDICT_LINES: usize = 4;
/// Lines below a bad one that matter as much.
const FIRST_DETAILS: usize = 2;
const RARE_COUNT: usize = 2;
const RARE_LINES: usize = 60;
const COMMON_TEMPLATES: usize = 12;

/// How much a row matters; the less, the more.
const TOP: u8 = 0;
const NEW: u8 = 1;
const HEADER: u8 = 2;
const FINDING: u8 = 3;
const DETAIL: u8 = 4;
const HEAD: u8 = 5;
const RARE: u8 = 6;
const COMMON: u8 = 7;
const PLAIN: u8 = 8;

/// Of `rows`, the rows of a text of `bytes`, those that matter most, in their order.
pub(super) fn selected(rows: Vec<Row<'_>>, bytes: usize, exit: Exit) -> Vec<Row<'_>> {
    let kinds: Vec<Kind> = rows.iter().map(|row| kind(row.line)).collect();
    let is_finding = |kind: &&Kind| matches!(kind, Kind::Bad | Kind::Place | Kind::Finding);
    let findings = kinds.iter().filter(is_finding).count();
    let failed = exit != Exit::Success && findings > 0 || findings * 3 >= rows.len();
    let size: usize = rows.iter().map(Row::bytes).sum();
    let rest = (bytes / REST_SHARE.1 * REST_SHARE.0).clamp(MIN_REST_BYTES, MAX_BYTES);
    if size <= rest || !failed && size <= WHOLE_BYTES {
        return rows;
    }
    let ranks = ranks(&rows, &kinds, failed);
    let (most, rest) = if failed {
        let most = (bytes / FINDINGS_SHARE).clamp(MIN_FINDINGS_BYTES, MAX_BYTES);
        (most, rest)
    } else {
        let most = (bytes / PLAIN_SHARE).clamp(WHOLE_BYTES, MAX_BYTES);
        (most, most)
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let rank = |index: usize| ranks.get(index).copied().unwrap_or(PLAIN);
    order.sort_by_key(|index| rank(*index));
    let mut used = 0;
    let mut keep = vec![false; rows.len()];
    for index in order {
        let row_bytes = rows.get(index).map_or(0, Row::bytes);
        let limit = if rank(index) <= FINDING { most } else { rest };
        if !failed && rank(index) == PLAIN || used + row_bytes > limit {
            continue;
        }
        used += row_bytes;
        if let Some(kept) = keep.get_mut(index) {
            *kept = true;
        }
    }
    let mut kept = keep.into_iter();
    let mut rows = rows;
    rows.retain(|_| kept.next().unwrap_or_default());
    rows
}

fn ranks(rows: &[Row<'_>], kinds: &[Kind], failed: bool) -> Vec<u8> {
    let mut words = Templates::default();
    let mut shapes = Templates::default();
    let mut messages = Templates::default();
    let mut paths = Templates::default();
    for row in rows {
        words.add_alike(first_word_mask(row.line), row.number, row.line);
        shapes.add_alike(shape_mask(row.line), row.number, row.line);
        messages.add_alike(mask(message(row.line)), row.number, row.line);
        paths.add_alike(literal_mask(path(row.line)), row.number, row.line);
    }
    let mut common: Vec<_> = rows.iter().map(|row| row.times).collect();
    common.sort_unstable_by(|one, other| other.cmp(one));
    let common = common.get(COMMON_TEMPLATES).copied().unwrap_or(1).max(1);
    let (head, tail) = if failed {
        (2, VERDICT_LINES)
    } else {
        (HEAD_LINES, TAIL_LINES)
    };
    let tail_from = rows.len().saturating_sub(tail);
    let mut rare = 0;
    rows.iter()
        .zip(kinds)
        .enumerate()
        .map(|(index, (row, kind))| {
            if index >= tail_from {
                return TOP;
            }
            match kind {
                Kind::Verdict => TOP,
                Kind::Bad => match messages.first(mask(message(row.line))) {
                    Some(first) if first != row.number => FINDING,
                    _ => TOP,
                },
                Kind::Place | Kind::Finding | Kind::Warning => {
                    let known = messages.first(mask(message(row.line))) != Some(row.number)
                        && paths.first(literal_mask(path(row.line))) != Some(row.number);
                    if known { FINDING } else { NEW }
                }
                Kind::Header => HEADER,
                Kind::Change => FINDING,
                _ if (1..=FIRST_DETAILS).contains(&row.detail) => FINDING,
                _ if row.detail > 0 => DETAIL,
                _ if index < head => HEAD,
                Kind::Hint => PLAIN,
                _ if row.times > common => COMMON,
                _ => {
                    let odd = rare < RARE_LINES
                        && words.times(first_word_mask(row.line)) <= RARE_COUNT
                        && shapes.times(shape_mask(row.line)) <= RARE_COUNT;
                    rare += usize::from(odd);
                    if odd { RARE } else { PLAIN }
                }
            }
        })
        .collect()
}

/// What a finding says, without its place.
fn message(line: &str) -> &str {
    let text = line.trim();
    let length = place_length(text).unwrap_or_default();
    let message = text.get(length..).unwrap_or_default();
    let message = message.trim_start_matches(['^', '-', '~', ' ']);
    if message.is_empty() { text } else { message }
}

/// The file that a finding is in; empty when it begins with none.
fn path(line: &str) -> &str {
    let text = line.trim();
    let place = place_length(text).and_then(|length| text.get(..length));
    place
        .and_then(|place| place.split([':', '(']).next())
        .unwrap_or_default()
}

impl Row<'_> {
    /// The bytes that the row takes when it is shown.
    pub(super) fn bytes(&self) -> usize {
        let more: usize = self.more.iter().map(|place| place.len() + 1).sum();
        self.line.len().min(LINE_CHARS) + 1 + more
    }
}
