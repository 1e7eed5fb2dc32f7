#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "
Running 6 tests using 2 workers

  ✓  1 [deck] › oak.spec.ts:3:3 › oak › grows (5ms)
  ✘  2 [deck] › oak.spec.ts:9:3 › oak › falls (12ms)
  ✘  3 [deck] › oak.spec.ts:9:3 › oak › falls (retry #1) (10ms)
  ✘  4 [hold] › oak.spec.ts:9:3 › oak › falls (12ms)
  ✘  5 [deck] › elm.spec.ts:2:1 › elm (9ms)
it rains


  1) [deck] › oak.spec.ts:9:3 › oak › falls ────────────────────────────

    Error: expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

      Object {
        \"a\": 1,
    -   \"b\": 3,
    +   \"b\": 2,
      }

       8 |   test('falls', () => {
    >  9 |     expect(tree).toEqual(felled);
         |                  ^
      10 |   });
        at /srv/wood/oak.spec.ts:9:18

    Error Context: test-results/oak-deck/error-context.md

    attachment #1: trace (application/zip) ─────────────────────────────────
    test-results/oak-deck/trace.zip
    Usage:

        npx playwright show-trace test-results/oak-deck/trace.zip

    ────────────────────────────────────────────────────────────────────────

    Retry #1 ───────────────────────────────────────────────────────────────

    Error: expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

      Object {
    -   \"b\": 3,
    +   \"b\": 2,
      }
        at /srv/wood/oak.spec.ts:9:18

  2) [hold] › oak.spec.ts:9:3 › oak › falls ────────────────────────────

    Error: expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

    -   \"b\": 3,
    +   \"b\": 2,
        at /srv/wood/oak.spec.ts:9:18

    Retry #1 ───────────────────────────────────────────────────────────────

    Error: expect(received).toEqual(expected) // deep equality

    - Expected  - 1
    + Received  + 1

    -   \"b\": 3,
    +   \"b\": 2,
        at /srv/wood/oak.spec.ts:9:18

  2 failed
    [deck] › oak.spec.ts:9:3 › oak › falls ─────────────────────────────
    [hold] › oak.spec.ts:9:3 › oak › falls ─────────────────────────────
  1 flaky
    [deck] › ash.spec.ts:2:1 › ash ─────────────────────────────────────
  1 did not run
  2 passed (3.1s)
";

fn reduced(text: &str, exit: Exit) -> String {
    terminal::reduce(text, Some("npm run e2e"), exit, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn a_failure_is_told_once_and_what_is_alike_in_a_few_words() {
    assert_eq!(
        reduced(FAILING, Exit::Failure),
        "Running 6 tests using 2 workers\n✘  5 [deck] › elm.spec.ts:2:1 › elm (9ms)\nit rains\n\
        1) [deck] › oak.spec.ts:9:3 › oak › falls\n\
        Error: expect(received).toEqual(expected) // deep equality\n-   \"b\": 3,\n+   \"b\": 2,\n\
        /srv/wood/oak.spec.ts:9:18\nError Context: test-results/oak-deck/error-context.md\n\
        attachment #1: trace (application/zip)\ntest-results/oak-deck/trace.zip\nRetry #1: alike\n\
        2) [hold] › oak.spec.ts:9:3 › oak › falls\nsays the same as 1)\n2 failed\n1 flaky\n\
        [deck] › ash.spec.ts:2:1 › ash\n1 did not run\n2 passed (3.1s)\n[64 of 82 lines left out]"
    );
}

#[test]
fn a_retry_that_says_something_else_is_told() {
    let (before, behind) = FAILING.split_once("    Retry #1").unwrap();
    let behind = behind.replacen("Error: expect(received)", "Error: the page was closed", 1);
    let reduced = reduced(&format!("{before}    Retry #1{behind}"), Exit::Failure);
    assert!(
        reduced.contains("Retry #1\nError: the page was closed"),
        "{reduced}"
    );
}

#[test]
fn a_run_that_passed_gives_its_totals() {
    let text = "Running 90 tests using 2 workers\n\n".to_owned()
        + &"  ✓  1 [deck] › oak.spec.ts:3:3 › oak › grows (5ms)\n".repeat(90)
        + "\n  1 skipped\n  89 passed (3.1s)\n";
    assert!(
        reduced(&text, Exit::Success)
            .starts_with("Running 90 tests using 2 workers\n1 skipped\n89 passed (3.1s)\n")
    );
}
