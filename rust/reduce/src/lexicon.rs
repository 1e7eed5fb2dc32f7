//! What lines of any program are, by words and patterns.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use hashbrown::HashSet;

use crate::format::{Patterns, seen};
use crate::source::Kind;

/// Kinds in the order in which they decide, with their keys.
const ORDER: [(&str, Kind); 10] = [
    ("noise", Kind::Noise),
    ("passed", Kind::Passed),
    ("progress", Kind::Progress),
    ("frame", Kind::Frame),
    ("verdict", Kind::Verdict),
    ("failure", Kind::Failure),
    ("warning", Kind::Warning),
    ("hint", Kind::Hint),
    ("change", Kind::Change),
    ("heading", Kind::Heading),
];

/// The lexicon of the package.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    patterns: Option<Patterns>,
    kinds: Vec<Kind>,
    words: Option<AhoCorasick>,
    failure_words: usize,
    segment: Option<Patterns>,
    library: Option<Patterns>,
    /// Members of JSON that matter, that do not, and that name a rule.
    pub(crate) keys: HashSet<String>,
    pub(crate) dull_keys: HashSet<String>,
    pub(crate) rule_keys: HashSet<String>,
}

/// The lexicon, read at the first use.
pub(crate) fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    LEXICON.get_or_init(|| {
        let table: toml::Table = include_str!("lexicon.toml").parse().unwrap_or_default();
        let texts = |key: &str| -> Vec<String> {
            let values = table.get(key).and_then(toml::Value::as_array);
            let texts = values.into_iter().flatten().filter_map(toml::Value::as_str);
            texts.map(str::to_owned).collect()
        };
        let set = |key: &str| {
            let texts = texts(key);
            Patterns::new(texts.iter().map(|text| (key, text.as_str()))).ok()
        };
        let ordered: Vec<(Kind, String)> = ORDER
            .iter()
            .flat_map(|(key, kind)| texts(key).into_iter().map(move |text| (*kind, text)))
            .collect();
        let failures = texts("failure_words");
        let words = failures.iter().cloned().chain(texts("warning_words"));
        Lexicon {
            patterns: Patterns::new(ordered.iter().map(|(_, text)| ("lexicon", text.as_str())))
                .ok(),
            kinds: ordered.iter().map(|(kind, _)| *kind).collect(),
            // A hook starts for each call, and this kind is made faster than the default one.
            words: AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::LeftmostLongest)
                .build(words)
                .ok(),
            failure_words: failures.len(),
            segment: set("segment"),
            library: set("library"),
            keys: texts("keys").into_iter().collect(),
            dull_keys: texts("dull_keys").into_iter().collect(),
            rule_keys: texts("rule_keys").into_iter().collect(),
        }
    })
}

impl Lexicon {
    /// The kind of a line of any program.
    pub(crate) fn kind(&self, line: &str) -> Kind {
        let by_word = self.by_word(line);
        let is_bad = by_word == Some(Kind::Failure);
        let found = self.patterns.iter().flat_map(|patterns| patterns.all(line));
        let mut kinds = found.filter_map(|pattern| self.kinds.get(pattern).copied());
        // A line that names a failure is neither passed nor progress.
        let by_pattern =
            kinds.find(|kind| !is_bad || !matches!(kind, Kind::Passed | Kind::Progress));
        let place = |kind: Kind| ORDER.iter().position(|(_, known)| *known == kind);
        match (by_word, by_pattern) {
            (Some(word), Some(pattern)) if place(word) < place(pattern) => word,
            (_, Some(pattern)) => pattern,
            (Some(word), None) => word,
            (None, None) => Kind::Plain,
        }
    }

    /// The worse kind of the words of a line.
    fn by_word(&self, line: &str) -> Option<Kind> {
        let words = self.words.as_ref()?;
        let bytes = seen(line);
        let mut found = None;
        for word in words.find_iter(bytes) {
            if !is_whole(bytes, word.start(), word.end()) {
                continue;
            }
            if word.pattern().as_usize() < self.failure_words {
                return Some(Kind::Failure);
            }
            found = Some(Kind::Warning);
        }
        found
    }

    /// Whether a name in a line contains a word for a failure.
    pub(crate) fn is_named_badly(&self, line: &str) -> bool {
        self.words.iter().any(|words| {
            words
                .find_iter(line)
                .any(|word| word.pattern().as_usize() < self.failure_words)
        })
    }

    /// Whether a line names the command whose output follows.
    pub(crate) fn is_segment(&self, line: &str) -> bool {
        self.segment
            .as_ref()
            .is_some_and(|patterns| patterns.any(line))
    }

    /// Whether a frame is in a library.
    pub(crate) fn is_library(&self, line: &str) -> bool {
        self.library
            .as_ref()
            .is_some_and(|patterns| patterns.any(line))
    }
}

/// Whether a word is neither part of a longer one nor of a path or a name with dots or hyphens.
fn is_whole(bytes: &[u8], start: usize, end: usize) -> bool {
    let byte = |at: Option<usize>| at.and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let before = byte(start.checked_sub(1));
    let after = byte(Some(end));
    let joined = matches!(after, b'.' | b'-') && is_word(byte(Some(end + 1)));
    !(is_word(before)
        || matches!(before, b'.' | b'/' | b'-')
        || is_word(after)
        || after == b'/'
        || joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_whole() {
        for (line, kind) in [
            ("an error: no door", Kind::Failure),
            ("test_error PASSED", Kind::Passed),
            ("src/error.rs", Kind::Heading),
            ("error-handler loaded", Kind::Plain),
            ("the file could not be read", Kind::Failure),
            ("3 deprecated calls", Kind::Warning),
            ("oak grows", Kind::Plain),
        ] {
            assert_eq!(lexicon().kind(line), kind, "{line}");
        }
    }
}
