//! The marks of lines that are left out.

use ethos_registry_core::find_text::FindText as _;

use crate::source::{Kind, Source};

/// The end of the account.
pub(crate) const ACCOUNTED: &str = " lines left out]";
/// Around the number of characters of pieces that are left out.
pub(crate) const PIECES_START: &str = "...[";
pub(crate) const PIECES_END: &str = " chars]...";
/// Of a gap mark, all but the number.
pub(crate) const GAP_CHARS: usize = "[\n".len() + ACCOUNTED.len();
/// Of the mark of pieces, all but the number.
pub(crate) const PIECE_CHARS: usize = PIECES_START.len() + PIECES_END.len() + "\n".len();
/// Of the account, all but the numbers.
pub(crate) const ACCOUNT_CHARS: usize = "[ of \n".len() + ACCOUNTED.len();
/// A gap of that many lines may be shorter than its mark.
const SHORT_GAP: usize = 2;

/// The characters of the lines of a gap, if they are no more than those of its mark: then they are shown.
pub(crate) fn short_gap(
    source: &Source<'_>,
    inner: impl Iterator<Item = usize>,
    lines: usize,
) -> Option<usize> {
    let most = mark(lines).len() + 1;
    let (mut found, mut filled, mut chars) = (0, 0, 0);
    for number in inner {
        let line = &source.lines[number];
        found += 1;
        if line.kind != Kind::Blank {
            filled += 1;
            chars += source.at(number).char_count() + 1;
        }
        if line.is_piece || filled > SHORT_GAP || chars > most {
            return None;
        }
    }
    (found == lines && filled > 0).then_some(chars)
}

/// What states that lines are left out.
pub(crate) fn mark(lines: usize) -> String {
    let plural = if lines == 1 { "" } else { "s" };
    format!("[{lines} line{plural} left out]")
}

/// How many digits `number` has.
pub(crate) fn digits(number: usize) -> usize {
    number.max(1).ilog10() as usize + 1
}
