//! Lossless shortening: consecutive equal lines are counted.

use std::borrow::Cow;
use std::fmt::Write as _;

use ethos_registry_core::find_text::FindText as _;

const TIMES: &str = " \u{d7}";

/// `text` with each run of equal lines replaced by one line with a count: `line ×3`.
///
/// Text that already contains such counts is not changed, because they could not be distinguished.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    if !has_repeats(text) || text.has_text(TIMES) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let mut times = 1_usize;
        let mut last = line;
        while let Some(next) = lines.next_if(|next| next.strip_suffix('\n').unwrap_or(next) == body)
        {
            times += 1;
            last = next;
        }
        // A count is not shorter than a few short lines, and blank lines are not counted.
        let count = TIMES.len() + times.ilog10() as usize + 1;
        if times > 1 && !body.trim().is_empty() && (times - 1) * (body.len() + 1) > count {
            folded.push_str(body);
            let written = write!(folded, "{TIMES}{times}");
            debug_assert!(written.is_ok(), "a string takes all text");
            if last.ends_with('\n') {
                folded.push('\n');
            }
        } else {
            for _ in 1..times {
                folded.push_str(body);
                folded.push('\n');
            }
            folded.push_str(last);
        }
    }
    Cow::Owned(folded)
}

fn has_repeats(text: &str) -> bool {
    let mut last = "";
    text.split('\n').any(|line| {
        let is_equal = !line.is_empty() && line == last;
        last = line;
        is_equal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_lines_below_each_other_are_counted() {
        let text = "oak grows\noak grows\noak grows\nelm\n\n\n\n}\n}\n";
        let expected = "oak grows \u{d7}3\nelm\n\n\n\n}\n}\n";
        assert_eq!(folded(text), expected);
        assert_eq!(folded(expected), expected);
        assert_eq!(folded("oak grows\noak grows"), "oak grows \u{d7}2");
    }

    #[test]
    fn a_text_with_counts_of_its_own_stays() {
        let text = "oak grows \u{d7}2\noak grows\noak grows\n";
        assert_eq!(folded(text), text);
    }
}
