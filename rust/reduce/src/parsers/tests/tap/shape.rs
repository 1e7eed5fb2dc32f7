//! Recognises single lines of the protocol, or of `prove`.

use crate::rows::report::{MAX_NAMES, Names, changed_line};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// `1..12`
pub(super) fn is_plan(trimmed: &str) -> bool {
    trimmed.strip_prefix("1..").is_some_and(|last| {
        let number = last.split(' ').next().unwrap_or_default();
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A test point: `not ok 3 - title # TODO later`.
pub(super) struct Point {
    pub(super) failed: bool,
    pub(super) excused: bool,
    pub(super) numbered: bool,
}

impl Point {
    pub(super) fn read(trimmed: &str) -> Option<Self> {
        let (ok, rest) = match trimmed.strip_prefix("not ok") {
            Some(rest) => (false, rest),
            None => (true, trimmed.strip_prefix("ok")?),
        };
        if !(rest.is_empty() || rest.starts_with(' ')) {
            return None;
        }
        let excused = rest.contains("# TODO") || rest.contains("# SKIP") || rest.contains("# skip");
        let numbered = rest
            .trim_start()
            .starts_with(|sign: char| sign.is_ascii_digit());
        Some(Self {
            failed: !ok && !excused,
            excused,
            numbered,
        })
    }
}

/// The titles in comments of Perl's test modules: `#   Failed test 'title'`.
pub(super) fn commented(text: &str) -> Names<'_> {
    let mut names = Names::default();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"#   Failed test '") {
        let rest = text
            .get(at + "#   Failed test '".len()..)
            .unwrap_or_default();
        let title = lines(rest).next().and_then(|line| line.strip_suffix('\''));
        if let Some(title) = title.filter(|_| names.len() < MAX_NAMES) {
            names.insert(title);
        }
    }
    names
}

/// What `prove` repeats in its summary, or prints for a run without failures.
const END_NOTES: [&str; 3] = ["ok", "All tests successful.", "No subtests run"];

/// A file that `prove` reports as passed: `t/a.t .. ok`.
pub(super) fn is_passed_file(trimmed: &str) -> bool {
    let ok = trimmed.strip_suffix(" ok").or_else(|| {
        let (before, _) = trimmed.split_text(" ok ")?;
        Some(before)
    });
    let dots = |file: &str| file.ends_with(" ..") || file.ends_with("...");
    ok.is_some_and(dots) || dots(trimmed) && trimmed.contains(" ..") || END_NOTES.contains(&trimmed)
}

/// The key and the value of a field: `actual  : 36`.
pub(super) fn key_value(trimmed: &str) -> Option<(&str, &str)> {
    let (key, value) = trimmed.split_once(':')?;
    let key = key.trim_end();
    is_key(key).then_some((key, value))
}

/// The changed line, or the message of an unexpected error, in a line of a diff.
pub(super) fn difference(trimmed: &str) -> Option<String> {
    let thrown = || trimmed.starts_with("message: ").then(|| trimmed.to_owned());
    changed_line(trimmed).or_else(thrown)
}

/// Whether the value is on the lines that follow.
pub(super) fn opens_value(value: &str) -> bool {
    value.starts_with(['|', '>']) || matches!(value, "{" | "[")
}

/// Whether a value is only the first line of several: `"Object {`.
pub(super) fn opens(value: &str) -> bool {
    value.starts_with('"') && value.ends_with(['{', '['])
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a command requests the protocol: `--tap`, `--test-reporter=tap`, `-R tap`.
pub(super) fn asks_for_protocol(words: &[String]) -> bool {
    let is_form = |form: &str| matches!(form, "tap" | "tap-flat");
    let named = |word: &str| {
        word.split_once("reporter=")
            .is_some_and(|(_, form)| is_form(form))
    };
    let apart = |words: &[String]| match words {
        [option, form] => (option == "-R" || option.ends_with("reporter")) && is_form(form),
        _ => false,
    };
    words.iter().any(|word| word == "--tap" || named(word)) || words.windows(2).any(apart)
}
