//! A pattern that looks at one line at a time, and runs over many at once.

use std::fmt;

use regex::bytes::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind, Look, Repetition,
};

/// How deep a pattern may be nested: what walks it here ends there.
const MAX_NESTING: u32 = 128;
/// How much memory a compiled pattern may take.
const MAX_COMPILED_BYTES: usize = 4 << 20;
/// How much memory its states may take while it runs; they are made again when it is full.
const MAX_STATES_BYTES: usize = 4 << 20;
/// The flags there are: no case, `^` and `$` at lines, `.` takes all, Unicode.
const FLAGS: &str = "imsu";

/// A compiled pattern; it runs in linear time and never matches over the end of a line.
///
/// `^`, `$`, `\A` and `\z` stand at the ends of lines, also of lines that end with `\r\n` or `\r`.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
}

/// Why an input is not a pattern, or no set of flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// This flag does not exist.
    Flag(char),
    /// From this character on (counted from 0) it cannot be read, and why.
    Syntax(usize, String),
    /// Compiled, it would take more memory than is allowed.
    TooLarge,
}

impl fmt::Display for PatternError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(
                formatter,
                "there is no flag {flag:?}; the flags are i, m, s, u"
            ),
            Self::Syntax(at, why) => write!(formatter, "at character {at}: {why}"),
            Self::TooLarge => {
                formatter.write_str("it is too large; use fewer or shorter repetitions")
            }
        }
    }
}

impl Pattern {
    /// The regular expression `pattern`, or the plain text when `is_literal`.
    ///
    /// `flags` are any of `imsu`; only `i` (no case) makes a difference, because a line holds no end
    /// of a line and inputs are Unicode.
    ///
    /// # Errors
    /// The pattern cannot be read, needs what takes more than linear time (look-around, back
    /// references) or is too large; or a flag is unknown.
    pub fn new(pattern: &str, flags: &str, is_literal: bool) -> Result<Self, PatternError> {
        if let Some(flag) = flags.chars().find(|flag| !FLAGS.contains(*flag)) {
            return Err(PatternError::Flag(flag));
        }
        let escaped = is_literal.then(|| regex_syntax::escape(pattern));
        let parsed = ParserBuilder::new()
            .nest_limit(MAX_NESTING)
            .utf8(false)
            .multi_line(true)
            .crlf(true)
            .case_insensitive(flags.contains('i'))
            .build()
            .parse(escaped.as_deref().unwrap_or(pattern))
            .map_err(|error| syntax(pattern, &error))?;
        let regex = RegexBuilder::new(&within_line(&parsed).to_string())
            .size_limit(MAX_COMPILED_BYTES)
            .dfa_size_limit(MAX_STATES_BYTES)
            .build()
            .map_err(|_| PatternError::TooLarge)?;
        Ok(Self { regex })
    }

    /// Where some match in the first line that has one ends, from `start` on; `start` is the
    /// beginning of a line.
    pub(super) fn first_end(&self, lines: &[u8], start: usize) -> Option<usize> {
        self.regex.shortest_match_at(lines, start)
    }

    /// Where the first match in a line begins.
    pub(super) fn start_in(&self, line: &[u8]) -> Option<usize> {
        self.regex.find(line).map(|found| found.start())
    }

    /// Whether a line, without what ends it, matches.
    pub(super) fn matches(&self, line: &[u8]) -> bool {
        self.regex.is_match(line)
    }
}

fn syntax(pattern: &str, error: &regex_syntax::Error) -> PatternError {
    let (offset, why) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        _ => (0, "it is no regular expression".to_owned()),
    };
    let before = pattern.get(..offset).unwrap_or(pattern);
    PatternError::Syntax(before.chars().count(), why)
}

/// The same without anything that could match a line feed, and with every anchor at lines.
///
/// Groups go: only where a match ends is asked.
fn within_line(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&b'\n') => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(without_line_feed(class.clone())),
        HirKind::Look(Look::Start | Look::StartLF) => Hir::look(Look::StartCRLF),
        HirKind::Look(Look::End | Look::EndLF) => Hir::look(Look::EndCRLF),
        HirKind::Look(look) => Hir::look(*look),
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(within_line(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(capture) => within_line(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_line).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(within_line).collect()),
    }
}

fn without_line_feed(mut class: Class) -> Class {
    match &mut class {
        Class::Unicode(class) => {
            let line_feed = ClassUnicodeRange::new('\n', '\n');
            class.difference(&regex_syntax::hir::ClassUnicode::new([line_feed]));
        }
        Class::Bytes(class) => {
            let line_feed = ClassBytesRange::new(b'\n', b'\n');
            class.difference(&regex_syntax::hir::ClassBytes::new([line_feed]));
        }
    }
    class
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn ends(pattern: &str, lines: &str) -> Option<usize> {
        Pattern::new(pattern, "", false)
            .unwrap()
            .first_end(lines.as_bytes(), 0)
    }

    #[test]
    fn nothing_matches_over_the_end_of_a_line() {
        assert_eq!(ends(r"a\s*b", "a\nb\n"), None);
        assert_eq!(ends(r"(?s)a.*b", "a\nb\na b\n"), Some(7));
        assert_eq!(ends("a\nb", "a\nb\n"), None);
        assert_eq!(ends(r"a[^x]b", "a\nb"), None);
        assert_eq!(ends(r"(?-u:a[^x]b)", "a\nb"), None);
    }

    #[test]
    fn anchors_stand_at_lines() {
        for pattern in ["^b$", r"\Ab\z", "(?-m)^b$"] {
            assert_eq!(ends(pattern, "ab\nb\n"), Some(4), "{pattern}");
            assert_eq!(ends(pattern, "ab\r\nb\r\n"), Some(5), "{pattern}");
            assert_eq!(ends(pattern, "ab\nbb"), None, "{pattern}");
        }
    }

    #[test]
    fn an_invalid_pattern_is_reported_on_one_line() {
        for (pattern, message) in [
            ("é(", "at character 1: unclosed group"),
            (
                "a{2,1}",
                "at character 1: invalid repetition count range, the start must be <= the end",
            ),
            (
                "(?=a)",
                "at character 0: look-around, including look-ahead and look-behind, is not supported",
            ),
            (r"(a)\1", "at character 3: backreferences are not supported"),
            (r"\p{Nothing}", "at character 0: Unicode property not found"),
        ] {
            let error = Pattern::new(pattern, "", false).unwrap_err();
            assert_eq!(error.to_string(), message);
        }
        assert_eq!(
            Pattern::new(&"\\w{1000}".repeat(9), "", false).unwrap_err(),
            PatternError::TooLarge
        );
        assert_eq!(
            Pattern::new("a", "ig", false).unwrap_err(),
            PatternError::Flag('g')
        );
    }

    #[test]
    fn a_deep_pattern_is_refused() {
        let deep = "(".repeat(5_000) + &")".repeat(5_000);
        assert!(matches!(
            Pattern::new(&deep, "", false).unwrap_err(),
            PatternError::Syntax(_, _)
        ));
    }

    #[test]
    fn plain_text_is_taken_as_it_is() {
        let pattern = Pattern::new("a.b(", "i", true).unwrap();
        assert!(pattern.matches(b"xA.B("));
        assert!(!pattern.matches(b"axb("));
    }
}
