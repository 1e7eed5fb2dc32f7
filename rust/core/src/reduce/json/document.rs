//! A JSON text and the lines around it: warnings that a program wrote beside what it was asked for.

use crate::lines::lines;

/// A text with more lines before or after its JSON is of another kind.
const MOST_AROUND_LINES: usize = 40;

/// One JSON text as a terminal shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::reduce) struct Document<'a> {
    /// The lines before it.
    pub(in crate::reduce) before: &'a str,
    /// From the first bracket to the last.
    pub(in crate::reduce) text: &'a str,
    /// The lines after it.
    pub(in crate::reduce) after: &'a str,
}

impl<'a> Document<'a> {
    /// The part of `text` that begins and ends like one object with a key, or like one list; nothing else
    /// of it is looked at.
    pub(in crate::reduce) fn find(text: &'a str) -> Option<Self> {
        let mut start = 0;
        let begins = lines(text).take(MOST_AROUND_LINES).any(|line| {
            // Most lines begin with a letter.
            if line
                .as_bytes()
                .first()
                .is_some_and(u8::is_ascii_alphanumeric)
            {
                start += line.len() + 1;
                return false;
            }
            let shown = line.trim_start();
            let indent = line.len() - shown.len();
            let found = shown.starts_with(['{', '['])
                && opens(text.get(start + indent..).unwrap_or_default());
            start += if found { indent } else { line.len() + 1 };
            found
        });
        let rest = text.get(start..).filter(|_| begins)?;
        let closing = if rest.starts_with('{') { '}' } else { ']' };
        let mut end = rest.len();
        let ends = rest.rsplit('\n').take(MOST_AROUND_LINES).any(|line| {
            let shown = line.trim_end();
            let found = shown.ends_with(closing);
            if found {
                end -= line.len() - shown.len();
            } else {
                end = end.saturating_sub(line.len() + 1);
            }
            found
        });
        let document = rest.get(..end).filter(|_| ends)?;
        Some(Self {
            before: text.get(..start)?.trim(),
            text: document,
            after: rest.get(end..)?.trim(),
        })
    }

    /// The lines around it that say something.
    pub(in crate::reduce) fn around(&self) -> impl Iterator<Item = &'a str> {
        let said = |part: &'a str| lines(part).filter(|line| !line.trim().is_empty());
        said(self.before).chain(said(self.after))
    }
}

/// Whether `text` begins like an object with a key or like a list of values.
fn opens(text: &str) -> bool {
    let is_blank = |sign: char| matches!(sign, ' ' | '\t' | '\n' | '\r');
    let text = text.trim_start_matches(is_blank);
    if let Some(inside) = text.strip_prefix('{') {
        return inside.trim_start_matches(is_blank).starts_with('"');
    }
    let Some(inside) = text.strip_prefix('[') else {
        return false;
    };
    let inside = inside.trim_start_matches(is_blank);
    if inside.starts_with(['{', '[', '"']) {
        return true;
    }
    // A number is all that stands before the next value: no date, no part of a sentence.
    let number = inside.strip_prefix('-').unwrap_or(inside);
    let of_number = |sign: char| sign.is_ascii_digit() || matches!(sign, '.' | 'e' | 'E' | '+');
    let rest = number.trim_start_matches(of_number);
    number.starts_with(|first: char| first.is_ascii_digit())
        && rest.trim_start_matches(is_blank).starts_with([',', ']'])
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn warnings_before_and_after_a_text_are_no_part_of_it() {
        let text = "tool warn old setting\n\n{\n  \"oak\": [1]\n}\n\n2 problems\n";
        let document = Document::find(text).unwrap();
        assert_eq!(document.text, "{\n  \"oak\": [1]\n}");
        assert_eq!(
            document.around().collect::<Vec<_>>(),
            ["tool warn old setting", "2 problems"]
        );
    }

    #[test]
    fn a_text_alone_has_nothing_around_it() {
        let document = Document::find(" [\n1,\n2\n]\n").unwrap();
        assert_eq!((document.before, document.after), ("", ""));
        assert_eq!(document.text, "[\n1,\n2\n]");
    }

    #[test]
    fn numbers_may_begin_a_list() {
        for text in ["[1, 2]", "[ -0.5e+3 ,\n7]", "[12]"] {
            assert_eq!(Document::find(text).unwrap().text, text);
        }
    }

    #[test]
    fn lines_that_only_look_like_a_bracket_are_no_text() {
        for text in [
            "[INFO] building\n[INFO] built [oak]\n",
            "{oak}\n}",
            "{\"oak\": 1",
            "[1/3] elm\n[2/3] ash\n",
            "[2026-11-22 18:57:57,221] INFO oak\n[Previous line repeated 996 more times]\n",
            "elm\n",
            "",
        ] {
            assert_eq!(Document::find(text), None, "{text}");
        }
        let far = format!("{}{{\"oak\": 1}}", "elm\n".repeat(40));
        assert_eq!(Document::find(&far), None);
    }
}
