//! Lines of pytest that separate and close its report.

use ethos_registry_core::find_text::FindText as _;

/// The title in a ruler of `sign`: `FAILURES` in `==== FAILURES ====`.
pub(super) fn title(line: &str, sign: char) -> Option<&str> {
    let inner = line.trim_end().strip_prefix(sign)?.strip_suffix(sign)?;
    let inner = inner.trim_matches(sign);
    let title = inner.strip_prefix(' ')?.strip_suffix(' ')?;
    (!title.trim_matches([' ', sign]).is_empty()).then_some(title)
}

/// The name in the header of a failure: `____ test_total ____`.
pub(super) fn header(line: &str) -> Option<&str> {
    match line.as_bytes().first()? {
        b'_' => title(line, '_'),
        0xE2 => title(line, '―'),
        _ => None,
    }
}

/// The counts that close a session, without the ruler: `1 failed, 2 passed in 0.12s`.
pub(super) fn verdict(line: &str) -> Option<&str> {
    let line = line.trim();
    let text = line.trim_matches('=').trim();
    let (counts, time) = text.rsplit_text(" in ")?;
    if !time.starts_with(|first: char| first.is_ascii_digit()) || !time.contains('s') {
        return None;
    }
    let mut counted = counts.split(", ");
    let known =
        counts == "no tests ran" || counted.all(|count| is_count(count) || is_collection(count));
    known.then_some(text)
}

/// Whether counts say what was collected and not run: `4/9 tests collected (5 deselected)`.
pub(super) fn is_collection(counts: &str) -> bool {
    let (number, rest) = counts.split_once(' ').unwrap_or_default();
    let counted = number == "no"
        || !number.is_empty()
            && number
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'/');
    counted && (rest.starts_with("tests collected") || rest.starts_with("test collected"))
}

/// Whether a verdict describes a failure.
pub(super) fn is_failure(verdict: &str) -> bool {
    verdict.contains(" failed") || verdict.contains(" error") || verdict.starts_with("no tests ")
}

fn is_count(count: &str) -> bool {
    const WORDS: [&str; 14] = [
        "failed",
        "passed",
        "skipped",
        "deselected",
        "xfailed",
        "xpassed",
        "warning",
        "warnings",
        "error",
        "errors",
        "rerun",
        "reruns",
        "subtests",
        "selected",
    ];
    count.split_once(' ').is_some_and(|(number, word)| {
        !number.is_empty()
            && number.bytes().all(|byte| byte.is_ascii_digit())
            && WORDS.contains(&word.split(' ').next().unwrap_or(word))
    })
}

/// Whether `line` consists of test marks, with the file before and the percentage after: `tests/test_a.py ..F.s   [
/// 35%]`.
pub(super) fn is_marks(line: &str) -> bool {
    let marks = without_share(line).trim_end();
    let marks = marks.rsplit_once(' ').map_or(marks, |(path, marks)| {
        if path
            .rsplit_once('.')
            .is_some_and(|(_, suffix)| suffix.trim_end().len() <= 4)
        {
            marks
        } else {
            ""
        }
    });
    !marks.is_empty()
        && marks.chars().all(|mark| {
            matches!(
                mark,
                '.' | 'F'
                    | 'E'
                    | 's'
                    | 'x'
                    | 'X'
                    | 'R'
                    | 'p'
                    | 'P'
                    | ','
                    | 'u'
                    | '-'
                    | '✓'
                    | '⨯'
                    | '✗'
            )
        })
}

/// Whether `line` reports that one test ran: `tests/test_a.py::test_b PASSED   [ 35%]`.
pub(super) fn outcome(line: &str) -> Option<Outcome> {
    let text = without_share(line).trim_end();
    let text = match text.strip_prefix("[gw") {
        // With xdist the percentage and the result come first: `[gw0] [ 12%] FAILED tests/…`.
        Some(rest) => {
            let rest = rest.split_text("] ").map_or(rest, |(_, rest)| rest);
            rest.split_text("] ")
                .map_or(rest, |(_, rest)| rest)
                .split(' ')
                .next()
                .unwrap_or(rest)
        }
        None => text,
    };
    let text = match text.rsplit_text(" (") {
        Some((before, reason)) if reason.ends_with(')') => before,
        _ => text,
    };
    match text.rsplit(' ').next().unwrap_or(text) {
        "PASSED" | "SKIPPED" | "XFAIL" | "XPASS" | "RERUN" | "SUBPASS" | "SUBPASSED"
        | "SUBSKIP" => Some(Outcome::Other),
        "FAILED" | "ERROR" | "SUBFAIL" | "SUBFAILED" => Some(Outcome::Failed),
        _ => None,
    }
}

/// Whether `line` reports that one test passed, judged by its end; most lines of long runs do.
pub(super) fn is_passed(line: &str) -> bool {
    let bytes = line.trim_end().as_bytes();
    let text = match bytes {
        [text @ .., b'[', _, _, _, b'%', b']'] => text.trim_ascii_end(),
        text => text,
    };
    text.ends_with(b" PASSED")
}

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It failed.
    Failed,
    /// It passed, was skipped or failed as expected.
    Other,
}

/// Whether `line` is only a percentage: the row before was full of marks.
pub(super) fn is_share(line: &str) -> bool {
    line.ends_with(']') && without_share(line).trim().is_empty()
}

/// `line` without the progress at its end: `[ 35%]`, `[ 3/42]`.
fn without_share(line: &str) -> &str {
    let line = line.trim_end();
    let share = line
        .strip_suffix(']')
        .and_then(|rest| rest.rsplit_once('['));
    match share {
        Some((before, share))
            if share.bytes().all(|byte| {
                byte.is_ascii_digit() || matches!(byte, b' ' | b'%' | b'/' | b'.' | b'm' | b's')
            }) =>
        {
            before
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rulers_hold_titles() {
        assert_eq!(title("=== FAILURES ===", '='), Some("FAILURES"));
        assert_eq!(title("= a b =", '='), Some("a b"));
        assert_eq!(title("========", '='), None);
        assert_eq!(header("__ test_a[x_] __"), Some("test_a[x_]"));
        assert_eq!(header("_ _ _ _ _ _"), None);
        assert_eq!(header("―― test_a ――"), Some("test_a"));
    }

    #[test]
    fn only_counts_are_a_verdict() {
        for line in [
            "=== 1 failed, 2 passed in 0.12s ===",
            "2 passed, 1 warning, 2 subtests passed in 61.20s (0:01:01)",
            "= no tests ran in 0.01s =",
        ] {
            assert!(verdict(line).is_some(), "{line}");
        }
        for line in [
            "3 files in 0.1s",
            "passed in 3s",
            "1 failed",
            "1 passed in time",
        ] {
            assert_eq!(verdict(line), None, "{line}");
        }
    }

    #[test]
    fn progress_is_told_from_text() {
        for line in [
            "..F.s  [ 35%]",
            "tests/test_a.py .F [ 3/42]",
            "....",
            "a.py E",
        ] {
            assert!(is_marks(line), "{line}");
        }
        for line in ["Fail ...", "done", "", "see file.py for E's"] {
            assert!(!is_marks(line) && !is_share(line), "{line}");
        }
        assert!(is_share("        [ 67%]") && !is_share("  [oak]"));
        assert_eq!(outcome("a.py::b PASSED  [ 5%]"), Some(Outcome::Other));
        assert_eq!(
            outcome("[gw1] [ 12%] FAILED a.py::b "),
            Some(Outcome::Failed)
        );
        assert_eq!(
            outcome("a.py::b SKIPPED (needs x) [ 5%]"),
            Some(Outcome::Other)
        );
        assert_eq!(outcome("nothing"), None);
    }
}
