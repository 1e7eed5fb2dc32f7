//! Replaces lines of binary files in an output by their count.

use std::borrow::Cow;

use memchr::memchr;

/// A line is binary when at least one in this many of its characters does not occur in text.
const CONTROL_SHARE: usize = 8;
/// The same for a line with many such characters.
const MANY_CONTROLS: usize = 16;
const MANY_CONTROLS_SHARE: usize = 64;
/// Up to this many bytes of text between two binary lines are there by chance.
const CHANCE_BYTES: usize = 40;
/// Only this many bytes of the first line can name the file format: `PNG`, `ELF`.
const NAME_BYTES: usize = 8;
const NAME_CHARS: usize = 3;

/// `text` with each run of binary lines replaced by one line that counts them:
/// `ELF...[142144 chars in 718 lines of no text]...`.
///
/// Only inputs with a NUL have such lines; text in the wrong encoding is still text. Names separated by
/// NULs (`find -print0`) are text.
pub(crate) fn counted(text: &str) -> Cow<'_, str> {
    if memchr(0, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len());
    let mut stretch = Stretch::default();
    for line in text.split_inclusive('\n') {
        if !is_text(line) {
            stretch.binary += stretch.behind + line.len();
            stretch.behind = 0;
        } else if stretch.binary > 0 && stretch.behind + line.len() <= CHANCE_BYTES {
            stretch.behind += line.len();
        } else {
            stretch.write(text, &mut written);
            written.push_str(line);
            stretch.start += line.len();
        }
    }
    stretch.write(text, &mut written);
    Cow::Owned(written)
}

/// A section of the input, in bytes: binary lines, and text after them that may belong to them.
#[derive(Default)]
struct Stretch {
    start: usize,
    binary: usize,
    behind: usize,
}

impl Stretch {
    /// Writes the section, and continues after it.
    fn write(&mut self, text: &str, written: &mut String) {
        if self.binary == 0 {
            return;
        }
        let end = self.start + self.binary;
        let binary = text.get(self.start..end).unwrap_or_default();
        let note = note(binary);
        // Escaped bytes are longer than other characters, so characters are compared, not bytes.
        let is_short = binary.chars().count() <= note.len();
        written.push_str(if is_short { binary } else { &note });
        self.start = end + self.behind;
        written.push_str(text.get(end..self.start).unwrap_or_default());
        (self.binary, self.behind) = (0, 0);
    }
}

/// The line that counts `binary`, a run of binary lines.
fn note(binary: &str) -> String {
    let (name, chars) = (name(binary), binary.chars().count());
    let lines = binary.split_inclusive('\n').count();
    let plural = if lines == 1 { "" } else { "s" };
    format!("{name}...[{chars} chars in {lines} line{plural} of no text]...\n")
}

/// The letters in the first bytes that name the file format; empty when there are none.
fn name(binary: &str) -> &str {
    let bytes = binary.as_bytes();
    let bytes = bytes.get(..NAME_BYTES).unwrap_or(bytes);
    let is_sign = |byte: &u8| byte.is_ascii_alphanumeric();
    let start = bytes.iter().position(is_sign).unwrap_or_default();
    let length = bytes
        .iter()
        .skip(start)
        .take_while(|byte| is_sign(byte))
        .count();
    let name = binary.get(start..start + length).unwrap_or_default();
    if name.len() >= NAME_CHARS { name } else { "" }
}

/// Whether few characters of `line` do not occur in text.
fn is_text(line: &str) -> bool {
    let (mut chars, mut controls) = (0_usize, 0_usize);
    let mut before = Sign::Text;
    for sign in line.chars() {
        let sign = match sign {
            '\0' => Sign::Nul,
            // Terminal control characters occur in text.
            '\u{1}'..='\u{6}'
            | '\u{10}'..='\u{1A}'
            | '\u{1C}'..='\u{1F}'
            | '\u{7F}'
            | '\u{FFFD}' => Sign::Control,
            _ => Sign::Text,
        };
        chars += 1;
        // NULs alone may separate names.
        controls += usize::from(sign == Sign::Control || sign == Sign::Nul && before != Sign::Text);
        before = sign;
    }
    let share = if controls < MANY_CONTROLS {
        CONTROL_SHARE
    } else {
        MANY_CONTROLS_SHARE
    };
    controls * share < chars
}

/// What a character shows about its line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Text,
    Nul,
    Control,
}

#[cfg(test)]
mod tests {
    use super::*;

    const IMAGE: &str = "\u{FFFD}PNG\r\n\u{1A}\n\0\0\0\rIHDR\0\0\u{1}\0\0\0\u{1}\n\
        \u{FFFD}\u{2}\u{FFFD}\u{FFFD}\u{1}\0\0\0\0\0\0\u{3}\0\0\0\0\u{4}\0\0\0\n";

    #[test]
    fn lines_of_a_binary_file_are_counted_under_the_name_of_its_format() {
        let text = format!("before\n{IMAGE}after\n");
        assert_eq!(
            counted(&text),
            "before\nPNG...[45 chars in 4 lines of no text]...\nafter\n"
        );
    }

    #[test]
    fn each_run_of_such_lines_is_counted_by_itself_unless_little_text_divides_it() {
        let text = format!(
            "{IMAGE}{}\n{IMAGE}by chance\n\0\0\0\0",
            "between ".repeat(9)
        );
        let written = counted(&text);
        let lines: Vec<&str> = written.lines().collect();
        assert_eq!(
            lines,
            [
                "PNG...[45 chars in 4 lines of no text]...",
                &"between ".repeat(9),
                "PNG...[59 chars in 6 lines of no text]...",
            ]
        );
    }

    #[test]
    fn of_one_line_the_count_is_in_the_singular() {
        assert_eq!(
            counted(&"\0".repeat(99)),
            "...[99 chars in 1 line of no text]...\n"
        );
    }

    #[test]
    fn a_note_that_is_no_shorter_is_not_written() {
        for text in ["\0\0\0\0", "\0\u{FFFD}\u{FFFD}\u{FFFD}\nand text\n"] {
            assert_eq!(counted(text), text);
        }
    }

    #[test]
    fn names_that_nuls_divide_are_text() {
        let text = "a.py\0b.py\0src/c.py\0".repeat(9);
        assert_eq!(counted(&text), text);
    }

    #[test]
    fn a_text_with_a_few_control_characters_is_text() {
        for text in [
            "caf\u{FFFD} and na\u{FFFD}ve words of another encoding\n",
            "a NUL \0 and a bell \u{7} in a long enough line\n\u{1B}[1mbold\u{1B}[0m\r\n",
        ] {
            assert_eq!(counted(text), text);
        }
    }
}
