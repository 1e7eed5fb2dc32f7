#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "
> shop@2.1.0 test
> vitest run

 RUN  v3.0.1 /home/dev/shop

 ❯ test/cart.spec.ts (3 tests | 1 failed) 12ms
   ✓ cart > is empty 1ms
   × cart > totals 9ms
     → expected 3 to be 4 // Object.is equality
 ✓ test/tax.spec.ts (40 tests) 8ms

⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/ship.spec.ts [ test/ship.spec.ts ]
Error: Failed to load url ./rates
 ❯ test/ship.spec.ts:1:1
      1| import { rates } from './rates';
       | ^

⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  test/cart.spec.ts > cart > totals
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ total src/cart.ts:9:11
      7| export function total() {
 ❯ test/cart.spec.ts:14:22
 ❯ node_modules/vitest/dist/run.js:1:2

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[2/2]⎯

 Test Files  2 failed | 1 passed (3)
      Tests  1 failed | 42 passed (43)
   Duration  1.20s (transform 71ms)

npm error Lifecycle script `test` failed with error:
";

fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("npm test"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn a_failure_is_told_once_with_its_places() {
    assert_eq!(
        reduced(FAILING),
        "FAIL  test/ship.spec.ts [ test/ship.spec.ts ]\nError: Failed to load url ./rates\n\
        test/ship.spec.ts:1:1\nFAIL  test/cart.spec.ts > cart > totals\n\
        AssertionError: expected 3 to be 4 // Object.is equality\n\
        src/cart.ts:9:11 test/cart.spec.ts:14:22\nTest Files  2 failed | 1 passed (3)\n\
        Tests  1 failed | 42 passed (43)\nDuration  1.20s\n[33 of 43 lines left out]"
    );
}

#[test]
fn what_a_cut_left_only_in_the_outline_stays() {
    let (outline, rest) = FAILING.split_once("\n⎯⎯⎯⎯⎯⎯ Failed Suites").unwrap();
    let (_, totals) = rest.split_once("[2/2]⎯\n").unwrap();
    let text = reduced(&format!("{outline}\n{totals}"));
    assert!(
        text.contains("× cart > totals 9ms\n→ expected 3 to be 4"),
        "{text}"
    );
}

#[test]
fn a_difference_that_the_message_does_not_tell_stays() {
    let text = FAILING.replace("- 4\n+ 3", "- \"unit\": \"kg\",\n+ \"unit\": \"lb\",");
    assert!(reduced(&text).contains("- \"unit\": \"kg\",\n+ \"unit\": \"lb\","));
}

#[test]
fn a_passing_run_gives_the_totals_and_the_coverage() {
    let text = format!(
        " RUN  v1.6.0 /home/dev/shop\n\n{} Test Files  2 passed (2)\n      Tests  80 passed (80)\n\n % Coverage report from v8\n---|---|---|---|---|---\nFile | % Stmts | % Branch | % Funcs | % Lines | Uncovered\n cart.ts | 80.1 | 50 | 100 | 80.1 | 9-11\n",
        " ✓ test/tax.spec.ts (40 tests) 8ms\n".repeat(2),
    );
    let text = terminal::reduce(&text, Some("vitest"), Exit::Success, usize::MAX)
        .unwrap()
        .0;
    assert!(
        text.starts_with("Test Files  2 passed (2)\nTests  80 passed (80)\nFile | "),
        "{text}"
    );
    assert!(
        text.contains(" cart.ts | 80.1 | 50 | 100 | 80.1 | 9-11\n"),
        "{text}"
    );
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        " RUN  v1.6.0 /a\n\n{} Test Files  1 passed (1)\n      Tests  90 passed (90)\n\nclosing timed out after 10000ms\n",
        " ✓ test/tax.spec.ts > adds 8ms\n".repeat(90),
    );
    let text = reduced(&text);
    assert!(text.contains("closing timed out"), "{text}");
    assert!(
        text.contains("RUN  v1.6.0"),
        "the generic family has it: {text}"
    );
}

#[test]
fn other_programs_in_the_same_output_are_not_lost() {
    let text = FAILING.replace(
        "\n RUN",
        "\nsrc/cart.ts:3:7: warning: unused variable\n\n RUN",
    );
    assert!(reduced(&text).contains("src/cart.ts:3:7: warning: unused variable\n"));
}

#[test]
fn of_many_places_the_first_and_the_outermost_are_told() {
    let frames = (1..9)
        .map(|at| format!(" ❯ f{at} src/part.ts:{at}:1\n"))
        .collect::<Vec<_>>()
        .concat();
    let text = format!(
        " RUN  v3.0.1 /srv/shop\n\n FAIL  test/a.spec.ts > b > c\nTypeError: x is not a function\n{frames} \
         ❯ test/a.spec.ts:41:5\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n"
    );
    let filler = " ✓ test/b.spec.ts (4 tests) 8ms\n".repeat(40);
    let reduced = reduced(&text.replace("\n FAIL", &format!("\n{filler}\n FAIL")));
    assert!(
        reduced.contains("src/part.ts:1:1 src/part.ts:2:1 src/part.ts:3:1 src/part.ts:4:1 src/part.ts:5:1 … test/a.spec.ts:41:5"),
        "{reduced}"
    );
}

#[test]
fn a_message_of_json_tells_its_message_and_the_same_depths_are_told_once() {
    let failure = |test: &str, line: usize| {
        let frames = (1..6)
            .map(|at| format!(" ❯ f{at} src/part.ts:{at}:1\n"))
            .collect::<Vec<_>>()
            .concat();
        format!(
            " FAIL  test/a.spec.ts > {test}\nOakError: [\n  {{\n    \"origin\": \"leaf\",\n    \"code\": \"too_small\",\n    \
             \"path\": [],\n    \"message\": \"leaf {line} is small\"\n  }}\n]\n{frames} ❯ test/a.spec.ts:{line}:5\n\n"
        )
    };
    let filler = " ✓ test/b.spec.ts (4 tests) 8ms\n".repeat(60);
    let reduced = reduced(&format!(
        " RUN  v3.0.1 /srv/shop\n\n{filler}\n{}{} Test Files  1 failed (1)\n      Tests  2 failed (2)\n",
        failure("one", 41),
        failure("two", 52)
    ));
    assert!(
        reduced.contains("\"message\": \"leaf 41 is small\"")
            && reduced.contains("\"message\": \"leaf 52 is small\""),
        "{reduced}"
    );
    assert!(reduced.contains("\n… test/a.spec.ts:52:5\n"), "{reduced}");
    assert_eq!(reduced.matches("src/part.ts:3:1").count(), 1, "{reduced}");
}

#[test]
fn failed_tests_of_older_versions_are_named_where_their_blocks_were_cut_away() {
    let passed = " ✓ test/oak.spec.ts (3 tests) 2ms\n".repeat(40);
    let text = format!(
        " RUN  v1.6.1 /home/dev/shop\n\n ❯ test/cart.spec.ts  (3 tests | 1 failed) 12ms\n   ❯ test/cart.spec.ts > cart > totals\n     → expected 3 to be 4\n{passed}"
    );
    let command = Some("npx vitest run 2>&1 | head -46");
    let (reduced, _) = terminal::reduce(&text, command, Exit::Success, usize::MAX).unwrap();
    assert!(
        reduced.contains("❯ test/cart.spec.ts > cart > totals\n→ expected 3 to be 4\n"),
        "{reduced}"
    );
}

#[test]
fn counts_that_are_drawn_while_tests_run_go_where_the_last_ones_stand() {
    let drawn = FAILING.replace(
        " ✓ test/tax.spec.ts",
        "\n Test Files 1 failed | 0 passed (3)\n      Tests 1 failed | 2 passed (43)\n   Start at 03:37:51\n   Duration 405ms\n ✓ test/tax.spec.ts",
    );
    assert_eq!(
        reduced(&drawn).rsplit_once('\n').unwrap().0,
        reduced(FAILING).rsplit_once('\n').unwrap().0
    );
}

#[test]
fn totals_that_a_test_prints_are_none_of_the_run() {
    let printed = "stdout | test/tax.spec.ts > tax > sums\n      Tests  5 passed (5)\n\n";
    let text = FAILING.replace(
        "\n\u{23af}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af} Failed Suites",
        &format!("\n{printed}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af}\u{23af} Failed Suites"),
    );
    assert_ne!(text, FAILING);
    let told = terminal::reduce(&text, Some("vitest run"), Exit::Failure, usize::MAX)
        .unwrap()
        .0;
    assert!(!told.contains("5 passed (5)"), "{told}");
}

#[test]
fn a_second_run_ends_what_was_open_in_the_first() {
    for begins in [" RUN  v3.0.1", " DEV  v3.0.1"] {
        let cut = " FAIL  test/tax.spec.ts > tax > sums\nError: no leaf\n";
        let second = FAILING.replacen(" RUN  v3.0.1", begins, 1);
        let text = reduced(&[" RUN  v3.0.1 /home/dev/shop\n\n", cut, &second].concat());
        assert!(
            text.contains("Error: no leaf\n") && !text.contains("v3.0.1"),
            "{text}"
        );
    }
}

#[test]
fn tests_that_were_not_run_after_a_failure_are_not_listed() {
    let rows = "   · ship > sails\n   · ship > anchors at noon\n   ↓ later\n";
    let first = FAILING
        .find("\n\n")
        .map_or(FAILING.len(), |first| first + 2);
    let (head, rest) = FAILING.split_at(first);
    let told = reduced(&[head, rows, rest].concat());
    assert!(!told.contains("anchors at noon"), "{told}");
    assert_eq!(
        told.rsplit_once('\n').unwrap().0,
        reduced(FAILING).rsplit_once('\n').unwrap().0
    );
}

#[test]
fn a_test_that_was_tried_again_is_told_once() {
    let failure = " FAIL  test/oak.spec.ts > oak > grows\n".repeat(3)
        + "AssertionError: expected 3 to be 4 // Object.is equality\n ❯ test/oak.spec.ts:7:9\n\n";
    let text = format!(
        "\n RUN  v3.2.7 /home/dev/oak\n\n ❯ test/oak.spec.ts (20 tests | 1 failed) 10ms\n   × oak > grows 26ms (retry x2)\n     \
         → expected 3 to be 4 // Object.is equality\n     → expected 3 to be 4 // Object.is equality\n\n\
         ⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n{failure} Test Files  1 failed (1)\n      Tests  1 failed | 19 passed (20)\n"
    );
    let told = reduced(&text);
    assert_eq!(told.matches("oak > grows").count(), 1, "{told}");
    assert_eq!(told.matches("expected 3 to be 4").count(), 1, "{told}");
}

#[test]
fn what_a_test_that_passed_wrote_to_the_stream_of_errors_is_told_once() {
    let head = "\n RUN  v3.0.1 /home/dev/oak\n\n";
    let said = "stderr | test/oak.test.ts > grows\nsap runs low\n    at more\n\n".repeat(9);
    let rows = (0..40).map(|number| format!(" \u{2713} test/leaf{number}.test.ts (4 tests) 8ms\n"));
    let rows = rows.collect::<Vec<_>>().concat();
    let text =
        format!("{head}{said}{rows}\n Test Files  41 passed (41)\n      Tests  164 passed (164)\n");
    let (told, _) = terminal::reduce(&text, Some("vitest run"), Exit::Success, usize::MAX).unwrap();
    assert_eq!(told.matches("sap runs low").count(), 1, "{told}");
}
