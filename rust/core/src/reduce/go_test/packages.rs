//! The parts of a text in which the names of tests mean the same: what each package said.

use memchr::{memchr, memmem};

use super::super::report::{MAX_NAMES, Names};
use super::VERDICT;

/// How the line begins that ends what a package said.
const FAILED: &str = "\nFAIL\t";
const PASSED: &str = "\nok  \t";

/// The parts of `text`, each up to the end of the line that closes a package.
pub(super) fn packages(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut failed = memmem::find_iter(bytes, FAILED).peekable();
    let mut passed = memmem::find_iter(bytes, PASSED).peekable();
    let mut from = 0;
    std::iter::from_fn(move || {
        let fails_first = match (failed.peek(), passed.peek()) {
            (Some(failed), Some(passed)) => failed < passed,
            (failed, _) => failed.is_some(),
        };
        let closing = if fails_first {
            failed.next()
        } else {
            passed.next()
        };
        let end = closing.and_then(|at| {
            let line = bytes.get(at + 1..)?;
            Some(at + 1 + memchr(b'\n', line)? + 1)
        });
        let part = text.get(from..end.unwrap_or(bytes.len()))?;
        from += part.len();
        (!part.is_empty()).then_some(part)
    })
}

/// The names of the tests that failed, as they stand in the text.
pub(super) fn failed(text: &str) -> Names<'_> {
    let mut names = Names::default();
    for at in memmem::find_iter(text.as_bytes(), VERDICT) {
        let rest = text.get(at + VERDICT.len()..).unwrap_or_default();
        let line = rest.get(..memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len()));
        let name = line.and_then(|line| line.split(" (").next());
        if let Some(name) = name.filter(|_| names.len() < MAX_NAMES) {
            names.insert(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_ends_with_the_line_that_closes_its_package() {
        let text = "--- FAIL: TestA (0.00s)\nFAIL\nFAIL\toak\t0.1s\nok  \telm\t0.2s\n--- FAIL: TestB (0.00s)\nFAIL\tash\t0.1s\nFAIL\n";
        let parts: Vec<&str> = packages(text).collect();
        assert_eq!(parts.concat(), text);
        let names: Vec<Vec<&str>> = parts
            .iter()
            .map(|part| failed(part).into_iter().collect())
            .collect();
        assert_eq!(names, [vec!["TestA"], vec![], vec!["TestB"], vec![]]);
    }

    #[test]
    fn a_text_of_no_package_is_one_part() {
        assert_eq!(packages("{\"Action\":\"run\"}\n").count(), 1);
        assert_eq!(packages("").count(), 0);
    }
}
