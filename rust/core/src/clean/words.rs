//! Words of a diff that are distinguished by their colours alone.

use std::borrow::Cow;

use memchr::memmem;

/// How git draws a hunk's head, headers of files and commits, old and new words, and how colours end.
const HUNK: &str = "\u{1b}[36m@@";
const HEADS: [&str; 2] = ["\u{1b}[1m", "\u{1b}[33mcommit "];
const END: &str = "\u{1b}[m";
const WORDS: [(&str, [&str; 2]); 2] = [("\u{1b}[31m", ["[-", "-]"]), ("\u{1b}[32m", ["{+", "+}"])];

/// `text` with old and new words in hunks of diffs marked as `git diff --word-diff` marks them:
/// `a [-calm-]{+windy+} day`.
#[must_use]
pub fn marked_words(text: &str) -> Cow<'_, str> {
    if memmem::find(text.as_bytes(), HUNK.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut marked = String::with_capacity(text.len());
    let mut in_hunk = false;
    for line in text.split_inclusive('\n') {
        if line.starts_with(HUNK) {
            in_hunk = true;
            marked.push_str(line);
        } else if HEADS.iter().any(|head| line.starts_with(head)) {
            in_hunk = false;
            marked.push_str(line);
        } else if in_hunk {
            push_marked(&mut marked, line);
        } else {
            marked.push_str(line);
        }
    }
    Cow::Owned(marked)
}

fn push_marked(marked: &mut String, line: &str) {
    let mut rest = line;
    // Where none ends, no one looks for an end again.
    let mut may_end = true;
    while let Some(at) = memchr::memchr(0x1b, rest.as_bytes()) {
        let (before, colored) = rest.split_at_checked(at).unwrap_or_default();
        marked.push_str(before);
        let found = WORDS.iter().find_map(|(color, marks)| {
            let colored = colored.strip_prefix(color).filter(|_| may_end)?;
            let ended = colored.split_once(END);
            may_end = ended.is_some();
            ended.map(|(word, behind)| (marks, word, behind))
        });
        if let Some(([open, close], word, behind)) = found {
            marked.push_str(open);
            marked.push_str(word);
            marked.push_str(close);
            rest = behind;
        } else {
            let (sign, behind) = colored.split_at_checked(1).unwrap_or_default();
            marked.push_str(sign);
            rest = behind;
        }
    }
    marked.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_colours_are_marked_in_hunks_only() {
        let raw = "\u{1b}[31moak\u{1b}[m\n\u{1b}[1mdiff --git a/oak b/oak\u{1b}[m\n\u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[m\n\
                   a \u{1b}[31mcalm\u{1b}[m\u{1b}[32mwindy\u{1b}[m day\u{1b}[m\n\u{1b}[32mnew\u{1b}[m\n";
        let expected = "\u{1b}[31moak\u{1b}[m\n\u{1b}[1mdiff --git a/oak b/oak\u{1b}[m\n\u{1b}[36m@@ -1,2 +1,2 @@\u{1b}[m\n\
                    a [-calm-]{+windy+} day\u{1b}[m\n{+new+}\n";
        assert_eq!(marked_words(raw), expected);
        assert!(matches!(
            marked_words("\u{1b}[31moak\u{1b}[m\n"),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn colours_that_never_end_are_looked_through_once() {
        let open = "\u{1b}[31mx".repeat(200_000);
        let raw = format!("\u{1b}[36m@@ -1 +1 @@\u{1b}[m\n{open}\n");
        assert_eq!(marked_words(&raw), raw);
    }
}
