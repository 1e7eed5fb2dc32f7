//! A JSON text and the lines around it: warnings that a program wrote beside what it was asked for.

use memchr::memchr2;

use ethos_registry_core::lines::lines;

/// An input with more lines before or after its JSON is of another kind.
const MOST_AROUND_LINES: usize = 40;

/// One JSON text as a terminal shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    /// The lines before it.
    pub(crate) before: &'a str,
    /// From the first bracket to the last.
    pub(crate) text: &'a str,
    /// The lines after it.
    pub(crate) after: &'a str,
}

impl<'a> Document<'a> {
    /// The part of `text` that begins and ends like one object with a key, or like one list; nothing else
    /// of it is looked at.
    pub(crate) fn find(text: &'a str) -> Option<Self> {
        let start = start(text)?;
        let rest = text.get(start..)?;
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
        ends.then(|| Self::of(text, start, start + end))?
    }

    /// The same with every bracket looked at, when something after the text ends like it: the object or list, and those
    /// that are directly after it.
    pub(crate) fn balanced(text: &'a str) -> Option<Self> {
        let start = start(text)?;
        let end = start + values_end(text.get(start..)?)?;
        let few = lines(text.get(end..)?).nth(MOST_AROUND_LINES).is_none();
        few.then(|| Self::of(text, start, end))?
    }

    fn of(text: &'a str, start: usize, end: usize) -> Option<Self> {
        Some(Self {
            before: text.get(..start)?.trim(),
            text: text.get(start..end)?,
            after: text.get(end..)?.trim(),
        })
    }

    /// The lines around it that are not empty.
    pub(crate) fn around(&self) -> impl Iterator<Item = &'a str> {
        said(self.before).chain(said(self.after))
    }
}

/// The lines of `part` that are not empty.
pub(crate) fn said(part: &str) -> impl Iterator<Item = &str> {
    lines(part).filter(|line| !line.trim().is_empty())
}

/// Where in one of the first lines an object or a list begins.
fn start(text: &str) -> Option<usize> {
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
        let found =
            shown.starts_with(['{', '[']) && opens(text.get(start + indent..).unwrap_or_default());
        start += if found { indent } else { line.len() + 1 };
        found
    });
    begins.then_some(start)
}

/// Where the last of the objects and lists ends with which `text` begins.
pub(crate) fn values_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut end) = (0_usize, None);
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    end = Some(at);
                }
            }
            b'"' if depth > 0 => loop {
                let rest = bytes.get(at..)?;
                at += memchr2(b'"', b'\\', rest)? + 1;
                if bytes.get(at - 1) == Some(&b'"') {
                    break;
                }
                at += 1;
            },
            _ if depth == 0 && !byte.is_ascii_whitespace() => break,
            _ => {}
        }
    }
    end.filter(|_| depth == 0)
}

/// Whether `text` begins like an object with a key or like a list of values, in JSON or as Python prints them.
fn opens(text: &str) -> bool {
    let is_blank = |sign: char| matches!(sign, ' ' | '\t' | '\n' | '\r');
    let text = text.trim_start_matches(is_blank);
    if let Some(inside) = text.strip_prefix('{') {
        return inside.trim_start_matches(is_blank).starts_with(['"', '\'']);
    }
    let Some(inside) = text.strip_prefix('[') else {
        return false;
    };
    let inside = inside.trim_start_matches(is_blank);
    if inside.starts_with(['{', '[', '"', '\'', '(']) {
        return true;
    }
    // A number is all that precedes the next value: no date, no part of a sentence.
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
    fn what_ends_like_a_text_behind_it_is_no_part_of_it() {
        let text = "[{\"oak\": \"]\\\"\"}]\n{\"elm\": [1]}\n\nUsage:\n  tree list [options]\n";
        let document = Document::balanced(text).unwrap();
        assert_eq!(document.text, "[{\"oak\": \"]\\\"\"}]\n{\"elm\": [1]}");
        assert_eq!(document.after, "Usage:\n  tree list [options]");
        for open in ["[{\"oak\": 1}", "{\"oak\": \"", "[1]]"] {
            assert_eq!(Document::balanced(open), None, "{open}");
        }
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
