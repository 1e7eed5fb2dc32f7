//! Lines of the test harness of Rust and of nextest.

use ethos_registry_core::find_text::FindText as _;

/// The result of a test in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It failed.
    Failed,
    /// It passed or was ignored.
    Other,
    /// It was measured.
    Measured,
}

/// `test tests::a ... ok`, `test tests::a ... bench: 7 ns/iter`.
pub(super) fn outcome(line: &str) -> Option<Outcome> {
    if is_passed(line) {
        return Some(Outcome::Other);
    }
    if line.ends_with(" --- FAILED") {
        return Some(Outcome::Failed);
    }
    let (_, end) = line.strip_prefix("test ")?.rsplit_text(" ... ")?;
    if end.starts_with("FAILED") {
        Some(Outcome::Failed)
    } else if end.starts_with("bench:") {
        Some(Outcome::Measured)
    } else {
        ["ok", "ignored", "should panic"]
            .iter()
            .any(|word| end.starts_with(word))
            .then_some(Outcome::Other)
    }
}

/// `test tests::a ... ok`, the most frequent line.
pub(super) fn is_passed(line: &str) -> bool {
    line.starts_with("test ") && line.ends_with(" ... ok")
}

/// The test in a line with a result.
pub(super) fn name(line: &str) -> &str {
    let line = line.strip_prefix("test ").unwrap_or(line);
    let end = line.find_text(" ... ").or_else(|| line.find_text(" --- "));
    let name = line.get(..end.unwrap_or(line.len())).unwrap_or(line);
    name.strip_suffix(" - should panic").unwrap_or(name)
}

/// Whether a line names a failed test in the list of them: `    tests::a`, `    src/lib.rs - a (line 3)`.
pub(super) fn is_listed(line: &str) -> bool {
    let Some(name) = line.strip_prefix("    ") else {
        return false;
    };
    let name = name.trim_ascii_end();
    let is_path = |sign: u8| sign.is_ascii_alphanumeric() || matches!(sign, b'_' | b':');
    name.has_text("::") && name.bytes().all(is_path)
        || name.has_text(".rs - ") && name.ends_with(')') && !name.starts_with(' ')
}

/// `Running unittests src/lib.rs` without the path of the binary.
pub(super) fn without_binary(target: &str) -> &str {
    match target.rsplit_once(" (") {
        Some((name, binary)) if binary.ends_with(')') && binary.contains('/') => name,
        _ => target,
    }
}

/// Whether nextest shows a line that a test printed.
pub(super) fn is_shown(line: &str, body: &str) -> bool {
    line.starts_with("    ") && outcome(body).is_none() && !is_marks(body)
}

/// Marks of tests that ran, with their count: `....i... 88/188`.
pub(super) fn is_marks(line: &str) -> bool {
    let (marks, count) = line.split_once(' ').unwrap_or((line, ""));
    !marks.is_empty()
        && marks.bytes().all(|mark| matches!(mark, b'.' | b'i' | b'F'))
        && count
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'/')
}

/// `running 3 tests`.
pub(super) fn is_announcement(line: &str) -> bool {
    line.strip_prefix("running ").is_some_and(|rest| {
        let number = rest
            .strip_suffix(" tests")
            .or_else(|| rest.strip_suffix(" test"));
        number.is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// The test whose output follows: `---- tests::a stdout ----`.
pub(super) fn failure_header(line: &str) -> Option<&str> {
    let inner = line.strip_prefix("---- ")?.strip_suffix(" ----")?;
    inner
        .strip_suffix(" stdout")
        .or_else(|| inner.strip_suffix(" stderr"))
}

/// A ruler of nextest, or the header of what a test printed: `stdout ───`.
pub(super) fn is_ruled(body: &str) -> bool {
    ["", "stdout ", "stderr "].iter().any(|head| {
        body.strip_prefix(head)
            .is_some_and(|rest| rest.starts_with('\u{2500}'))
    })
}

/// What a line of nextest reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next<'a> {
    /// A test failed: how, and its name with the crate.
    Failed(&'a str, &'a str),
    /// The counts.
    Summary,
    /// A test passed, or the run goes on.
    Other,
}

/// `PASS [   0.005s] (1/3) crate tests::a`, `Summary [   0.012s] 3 tests run: 2 passed, 1 failed`.
pub(super) fn nextest(line: &str) -> Option<Next<'_>> {
    const FAILED: [&str; 6] = ["FAIL", "TIMEOUT", "ABORT", "SIG", "TRY", "LEAK-FAIL"];
    const OTHER: [&str; 7] = ["PASS", "SLOW", "LEAK", "FLAKY", "SKIP", "START", "RETRY"];
    let body = line.trim_start();
    if body.len() == line.len() {
        return None;
    }
    if body.starts_with("Starting ") && body.contains(" tests across ") {
        return Some(Next::Other);
    }
    let (words, rest) = body.split_text(" [")?;
    let (time, rest) = rest.split_text("] ")?;
    if !is_time(time) {
        return None;
    }
    let word = words.split(' ').next().unwrap_or(words);
    if word == "Summary" {
        Some(Next::Summary)
    } else if OTHER.contains(&word) || words.ends_with(" PASS") {
        Some(Next::Other)
    } else if FAILED.iter().any(|failed| word.starts_with(failed)) {
        let counted = rest.trim_start().strip_prefix('(');
        let name = counted
            .and_then(|rest| rest.split_text(") "))
            .map_or(rest, |(_, name)| name);
        Some(Next::Failed(words.trim_end(), name.trim()))
    } else {
        None
    }
}

/// Whether nextest writes `time` between its brackets, `   0.008s` or `> 60.000s`: names of tests hold brackets too.
fn is_time(time: &str) -> bool {
    let seconds = time.trim_start_matches(['>', ' ']).strip_suffix('s');
    seconds.is_some_and(|seconds| {
        seconds.starts_with(|first: char| first.is_ascii_digit())
            && seconds
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// Whether a result is that of a target without tests.
pub(super) fn is_empty(result: &str) -> bool {
    const NOTHING: &str =
        "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    result.starts_with(NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_harness_are_told_apart() {
        assert_eq!(outcome("test a::b ... ok"), Some(Outcome::Other));
        assert_eq!(outcome("test a::b ... ignored, slow"), Some(Outcome::Other));
        assert_eq!(outcome("test a::b ... FAILED"), Some(Outcome::Failed));
        assert_eq!(outcome("test result: ok."), None);
        assert_eq!(outcome("a::b --- FAILED"), Some(Outcome::Failed));
        assert_eq!(name("test a::b - should panic ... FAILED"), "a::b");
        assert!(is_marks("..i. 88/188") && !is_marks("i am 5"));
        assert!(is_announcement("running 1 test") && is_announcement("running 12 tests"));
        assert!(!is_announcement("running all tests"));
        assert_eq!(
            failure_header("---- src/a.rs - f (line 3) stdout ----"),
            Some("src/a.rs - f (line 3)")
        );
    }

    #[test]
    fn lines_of_nextest_are_told_apart() {
        assert_eq!(
            nextest("        PASS [   0.005s] (1/3) app tests::a"),
            Some(Next::Other)
        );
        assert_eq!(
            nextest("        FAIL [   0.008s] app tests::b"),
            Some(Next::Failed("FAIL", "app tests::b"))
        );
        // A failed test of another runner, whose name holds brackets.
        assert_eq!(nextest(" FAIL  a.spec.js > sums [1,2] right"), None);
        assert_eq!(
            nextest("     SIGSEGV [   0.008s] (2/3) app tests::c"),
            Some(Next::Failed("SIGSEGV", "app tests::c"))
        );
        assert_eq!(
            nextest("     Summary [   0.012s] 3 tests run: 2 passed, 1 failed"),
            Some(Next::Summary)
        );
        assert_eq!(nextest("PASS [a] b"), None);
    }
}
