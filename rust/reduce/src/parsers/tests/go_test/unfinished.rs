//! Tests that began and did not end, because the run was stopped or its text cut.

use hashbrown::HashMap;

use super::frames::LATE;
use super::packages::packages;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::{MAX_NAMES, MESSAGE_CHARS};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// This many of them are named.
const NAMED: usize = 10;
/// This many more of them are named for what they said.
const SAYING: usize = 40;
/// Lines of each that are shown.
const LINES: usize = 10;
/// How the last line of a package that came to its end begins.
const ENDS: [&str; 7] = [
    "FAIL",
    "PASS",
    "ok  \t",
    "?   \t",
    "coverage: ",
    "exit status ",
    "DONE ",
];

/// Writes those of `package`, which was stopped because of its time, unless it states itself which they are.
pub(super) fn write_late(package: &str, output: &mut Output) {
    let before = package
        .split_text(LATE)
        .map_or(package, |(before, _)| before);
    if !package.has_text("\nrunning tests:\n") {
        write_of(before, output);
    }
}

/// Writes those of the last package of `text`.
pub(super) fn write(text: &str, output: &mut Output) {
    let text = packages(text).last().unwrap_or_default();
    let last = text
        .trim_ascii_end()
        .rsplit('\n')
        .next()
        .unwrap_or_default();
    if last.starts_with('{') || ENDS.iter().any(|end| last.starts_with(end)) {
        return;
    }
    write_of(text, output);
}

/// Writes the tests that began in `text` and did not end there.
fn write_of(text: &str, output: &mut Output) {
    let mut begun: Vec<&str> = Vec::new();
    let mut open: HashMap<&str, isize> = HashMap::new();
    // What each of those states that did not end yet.
    let mut said: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut running = "";
    for line in lines(text) {
        if let Some(name) = line.strip_prefix("=== RUN   ") {
            running = name.trim_end();
            if begun.len() < MAX_NAMES {
                begun.push(running);
            }
            *open.entry(running).or_default() += 1;
        } else if let Some(rest) = line.strip_prefix("=== ") {
            running = rest.split_ascii_whitespace().nth(1).unwrap_or_default();
        } else if let Some(verdict) = line.trim_start().strip_prefix("--- ") {
            let name = verdict.split_once(": ").map_or(verdict, |(_, name)| name);
            let name = name.split(" (").next().unwrap_or(name);
            said.remove(name);
            if let Some(times) = open.get_mut(name) {
                *times -= 1;
            }
        } else if line.starts_with("panic: ") {
            // The run states itself which tests were running.
            return;
        } else if !line.trim().is_empty() && (said.len() < SAYING || said.contains_key(running)) {
            let said = said.entry(running).or_default();
            if said.len() < LINES {
                said.push(line);
            }
        }
    }
    begun.retain(|name| open.get(name).is_some_and(|times| *times > 0));
    if begun.is_empty() {
        return;
    }
    output.failed();
    let first = begun.len().saturating_sub(NAMED);
    let mut left_out = 0;
    for (index, name) in begun.iter().enumerate() {
        let said = said.remove(name).unwrap_or_default();
        if index < first && said.is_empty() {
            left_out += 1;
            continue;
        }
        output.gap(std::mem::take(&mut left_out));
        output.fact(&format!("=== RUN   {name}"));
        for line in said {
            output.fact(&shorten(line, MESSAGE_CHARS));
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use crate::input::Exit;
    use crate::tested::unmarked as terminal;

    #[test]
    fn a_test_that_did_not_end_is_named_with_what_it_said() {
        let passed = "=== RUN   TestElm\n--- PASS: TestElm (0.00s)\n".repeat(40);
        let text = format!(
            "{passed}=== RUN   TestOak\n=== RUN   TestOak/leaf\n    oak_test.go:7: waits for rain\n"
        );
        let (reduced, _) =
            terminal::reduce(&text, Some("go test -v ./..."), Exit::Failure, usize::MAX).unwrap();
        assert_eq!(
            reduced,
            "=== RUN   TestOak\n=== RUN   TestOak/leaf\n    oak_test.go:7: waits for rain\n[80 of 83 lines left out]"
        );
    }

    #[test]
    fn what_tests_said_before_the_cut_stays_with_their_names() {
        let quiet = |range: std::ops::Range<usize>| -> String {
            range
                .map(|number| format!("=== RUN   TestOak/leaf_{number}\n"))
                .collect::<Vec<_>>()
                .concat()
        };
        let text = format!(
            "=== RUN   TestOak\n{}    oak_test.go:7: no rain\n{}",
            quiet(0..20),
            quiet(20..60)
        );
        let (reduced, _) = terminal::reduce(
            &text,
            Some("go test -v ./... | head -62"),
            Exit::Success,
            usize::MAX,
        )
        .unwrap();
        assert!(
            reduced.contains("=== RUN   TestOak/leaf_19\n    oak_test.go:7: no rain\n"),
            "{reduced}"
        );
    }

    #[test]
    fn the_tests_that_ran_when_the_time_was_over_are_named() {
        let passed = "=== RUN   TestElm\n--- PASS: TestElm (0.00s)\n".repeat(40);
        let stack = "goroutine 9 [running]:\ntesting.(*M).startAlarm.func1()\n\t/usr/lib/go/src/testing/testing.go:2036 +0x8e\n\n\
                     goroutine 7 [sleep]:\nexample.org/oak.TestOak.func1(0x0?)\n\t/w/oak_test.go:4 +0x25\n";
        let text = |running: &str| {
            let text = format!(
                "{passed}--- FAIL: TestAsh (0.00s)\n    oak_test.go:2: no\n=== RUN   TestOak\n=== RUN   TestOak/leaf\n\
                 panic: test timed out after 1s\n{running}\n{stack}FAIL\texample.org/oak\t1.0s\nFAIL\n"
            );
            terminal::reduce(&text, Some("go test -v ."), Exit::Failure, usize::MAX)
                .unwrap()
                .0
        };
        let told = text("");
        assert!(
            told.contains(
                "panic: test timed out after 1s\n=== RUN   TestOak\n=== RUN   TestOak/leaf\ngoroutine 7 [sleep]:\n\
                 oak.TestOak.func1 /w/oak_test.go:4\n"
            ),
            "{told}"
        );
        let told = text("running tests:\n\tTestOak/leaf (1s)\n");
        assert!(
            told.contains("TestOak/leaf (1s)\n") && !told.contains("=== RUN"),
            "{told}"
        );
    }

    #[test]
    fn a_run_that_came_to_its_end_has_no_such_tests() {
        let passed = "=== RUN   TestElm\n--- PASS: TestElm (0.00s)\n".repeat(40);
        let text = format!("=== RUN   TestOak\n{passed}PASS\nok  \toak\t0.1s\n");
        let (reduced, _) =
            terminal::reduce(&text, Some("go test -v ./..."), Exit::Success, usize::MAX).unwrap();
        assert_eq!(reduced, "ok oak 0.1s\n[82 of 83 lines left out]");
    }
}
