//! Extended grapheme clusters (UAX #29): where an input may be cut.

use unicode_segmentation::UnicodeSegmentation;

use super::Source;

/// How many characters the first window behind a cut holds; each further one holds twice the same number.
const FIRST_WINDOW_CHARS: usize = 64;

/// The last boundary between extended grapheme clusters (UAX #29) at or before `position`.
///
/// `position` lies before the last character. Whether a cluster ends there depends only on what
/// precedes it and on the one character after it, so windows grow backwards from it, twice as
/// long each time, until they hold a pair of characters that is a boundary in every context: the
/// work is linear in the distance to that pair.
///
/// # Errors
/// What the source reports.
pub fn cluster_boundary<S: Source + ?Sized>(
    source: &S,
    position: usize,
) -> Result<usize, S::Error> {
    let mut size = FIRST_WINDOW_CHARS;
    loop {
        let (start, window) =
            source.window(position.saturating_sub(size), position.saturating_add(1))?;
        let restart = if start == 0 {
            Some(0)
        } else {
            certain_boundary(&window)
        };
        if let Some(restart) = restart {
            let last = last_boundary(&window, restart);
            return Ok(start.saturating_add(source.width(window.get(..last).unwrap_or_default())));
        }
        size = size.saturating_mul(2);
    }
}

/// Where the last pair of characters parts that is a boundary in every context.
fn certain_boundary(window: &str) -> Option<usize> {
    let mut characters = window.char_indices().rev();
    let (mut at, mut right) = characters.next()?;
    for (before, left) in characters {
        if always_part(left, right) {
            return Some(at);
        }
        (at, right) = (before, left);
    }
    None
}

/// The last cluster boundary before the last character of `window`, walking from `restart`.
fn last_boundary(window: &str, restart: usize) -> usize {
    let limit = window.char_indices().next_back().map_or(0, |(at, _)| at);
    let walked = window.get(restart..).unwrap_or_default();
    walked
        .grapheme_indices(true)
        .map(|(offset, _)| restart.saturating_add(offset))
        .take_while(|boundary| *boundary <= limit)
        .last()
        .unwrap_or(restart)
}

fn always_part(left: char, right: char) -> bool {
    left == '\n'
        || (right == '\n' && left != '\r')
        || (is_a_cluster_alone(left) && is_a_cluster_alone(right))
}

/// Whether `character` neither extends, prepends, joins, pairs nor conjoins: two such neighbours
/// are two clusters whatever is around them. Not complete: it holds the bulk of what is written.
fn is_a_cluster_alone(character: char) -> bool {
    matches!(character,
        ' '..='~'
        | '\u{00c0}'..='\u{02ff}' // Latin letters
        | '\u{0370}'..='\u{0482}' // Greek and Cyrillic, up to the combining signs
        | '\u{048a}'..='\u{052f}'
        | '\u{0531}'..='\u{0556}' // Armenian letters
        | '\u{0561}'..='\u{0587}'
        | '\u{05d0}'..='\u{05ea}' // Hebrew letters
        | '\u{0621}'..='\u{064a}' // Arabic letters
        | '\u{0904}'..='\u{0939}' // Devanagari letters: a conjunct needs a sign between them
        | '\u{0e01}'..='\u{0e30}' // Thai consonants
        | '\u{10d0}'..='\u{10ff}' // Georgian letters
        | '\u{2010}'..='\u{2027}' // punctuation
        | '\u{2030}'..='\u{205e}'
        | '\u{2100}'..='\u{2bff}' // arrows, boxes, dingbats: an emoji style is a sign behind one
        | '\u{3000}'..='\u{3029}' // CJK punctuation
        | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' // kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // CJK ideographs
        | '\u{ac00}'..='\u{d7a3}' // whole Hangul syllables
        | '\u{e000}'..='\u{f8ff}' // symbols of terminal fonts
        | '\u{ff01}'..='\u{ff60}' // full width
        | '\u{1f300}'..='\u{1f3fa}' // pictographs: only a joiner between two would join them
        | '\u{1f400}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1f9ff}'
        | '\u{20000}'..='\u{2fffd}'
        | '\u{fffd}')
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::GraphemeCursor;

    use super::*;

    #[test]
    fn two_characters_that_stand_alone_part_in_every_context() {
        let contexts = [
            "",
            "\u{1100}",
            "\u{1f469}\u{200d}",
            "\u{915}\u{94d}",
            "\u{1f1e6}",
            "\u{600}",
        ];
        let others = "a~\u{fffd}éдאعकกか漢가😀𠀀\n".chars();
        let sampled = |code: u32| {
            code < 0x3100 || (0x1_f000..0x2_0000).contains(&code) || code.is_multiple_of(97)
        };
        let all = (0..=u32::from(char::MAX))
            .filter(|code| sampled(*code))
            .filter_map(char::from_u32);
        for character in all.filter(|character| is_a_cluster_alone(*character)) {
            for (left, right) in others
                .clone()
                .flat_map(|other| [(other, character), (character, other)])
            {
                for context in contexts {
                    let text = format!("{context}{left}{right}");
                    let at = text.len() - right.len_utf8();
                    let mut cursor = GraphemeCursor::new(at, text.len(), true);
                    assert_eq!(cursor.is_boundary(&text, 0), Ok(true), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn boundaries_are_found_behind_long_clusters() {
        let text = format!("ab{}c", "\u{301}".repeat(1_000));
        let end = text.len() - 1;
        assert_eq!(cluster_boundary(text.as_str(), end), Ok(end));
        assert_eq!(cluster_boundary(text.as_str(), end - 2), Ok(1));
    }

    #[test]
    fn regional_indicators_pair_from_where_they_begin() {
        for count in [2, 3, 300, 301] {
            let text = format!("x{}", "\u{1f1e6}".repeat(count));
            let last = text.len() - 4;
            let has_one_left_over = count % 2 == 1;
            assert_eq!(
                cluster_boundary(text.as_str(), last),
                Ok(if has_one_left_over { last } else { last - 4 })
            );
        }
    }
}
