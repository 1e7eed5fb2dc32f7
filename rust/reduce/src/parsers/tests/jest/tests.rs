#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "
> shop@2.1.0 test
> jest

  console.error
    rate table is old

      4 | function rates() {
    > 5 |   console.error('rate table is old');
        |           ^

      at error (src/rates.js:5:11)

FAIL test/cart.test.js (5.1 s)
  cart
    ✓ is empty (1 ms)
    ✕ totals (9 ms)

  ● cart › totals

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      12 |   it('totals', () => {
    > 13 |     expect(total(cart)).toBe(4);
         |                         ^

      at Object.toBe (test/cart.test.js:13:25)
      at Object.<anonymous> (node_modules/jest/run.js:1:2)

FAIL test/ship.test.js
  ● Test suite failed to run

    Cannot find module './rates' from 'test/ship.test.js'

      at Object.require (test/ship.test.js:1:15)

PASS test/tax.test.js
Summary of all failing tests
FAIL test/cart.test.js (5.1 s)
  ● cart › totals

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      at Object.toBe (test/cart.test.js:13:25)


Test Suites: 2 failed, 1 passed, 3 total
Tests:       1 failed, 42 passed, 43 total
Snapshots:   0 total
Time:        1.25 s
Ran all test suites.
";

fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("npm test"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn a_failure_is_told_once_with_values_and_places() {
    assert_eq!(
        reduced(FAILING),
        "rate table is old\nsrc/rates.js:5:11\nFAIL test/cart.test.js (5.1 s)\n● cart › totals\n\
        .toBe(expected)\nExpected: 4\nReceived: 3\ntest/cart.test.js:13:25\nFAIL test/ship.test.js\n\
        ● Test suite failed to run\nCannot find module './rates' from 'test/ship.test.js'\n\
        test/ship.test.js:1:15\nTest Suites: 2 failed, 1 passed, 3 total\n\
        Tests: 1 failed, 42 passed, 43 total\nSnapshots: 0 total\nTime: 1.25 s\n\
        Ran all test suites.\n[40 of 57 lines left out]"
    );
}

#[test]
fn a_summary_whose_blocks_were_cut_away_is_shown() {
    let (_, summary) = FAILING.split_once("Summary of").unwrap();
    let text = reduced(&format!("  ✓ a (1 ms)\nSummary of{summary}"));
    assert!(
        text.contains("● cart › totals\n") && text.contains("Received: 3\n"),
        "{text}"
    );
}

#[test]
fn changed_lines_and_rows_of_coverage_stay() {
    let text = FAILING
            .replace(
                "    Expected: 4\n    Received: 3\n",
                "    - Expected  - 1\n    + Received  + 1\n\n      Object {\n    -   \"a\": 1,\n    +   \"a\": 2,\n      }\n",
            )
            .replace(
                "\nTest Suites",
                "\n---|---|---|---|---|---\nFile | % Stmts | % Branch | % Funcs | % Lines | Uncovered\n cart.js | 80.1 | 50 | 100 | 80.1 | 9-11\n\nTest Suites",
            );
    let text = reduced(&text);
    assert!(text.contains("- \"a\": 1,\n+ \"a\": 2,\n"), "{text}");
    assert!(
        text.contains(" cart.js | 80.1 | 50 | 100 | 80.1 | 9-11\n"),
        "{text}"
    );
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        "PASS test/tax.test.js\n{}\nTest Suites: 1 passed, 1 total\nTests:       90 passed, 90 total\nJest did not exit one second after the test run has completed.\n",
        "  ✓ adds (1 ms)\n".repeat(90),
    );
    let text = reduced(&text);
    assert!(
        text.contains("PASS test/tax.test.js") && text.contains("did not exit"),
        "{text}"
    );
}

#[test]
fn other_programs_in_the_same_output_are_not_lost() {
    let text = format!("src/cart.ts:3:7: warning: unused variable\n{FAILING}");
    assert!(reduced(&text).starts_with("src/cart.ts:3:7: warning: unused variable\n"));
}

#[test]
fn each_error_of_a_compiler_stays_and_the_source_that_it_shows_goes() {
    let mut text = String::from("FAIL test/cart.test.ts\n  ● Test suite failed to run\n\n");
    for column in 1..9 {
        let _ = write!(
            text,
            "    test/cart.test.ts:2:{column} - error TS230{column}: Cannot find name 'x{column}'.\n\n    \
             2 test('sums', () => x{column});\n                           ~~\n"
        );
    }
    text.push_str("\nTest Suites: 1 failed, 1 total\nTests:       0 total\n");
    let reduced = reduced(&text);
    for column in 1..9 {
        let error = format!("test/cart.test.ts:2:{column} - error TS230{column}: Cannot find name");
        assert!(reduced.contains(&error), "{error}: {reduced}");
    }
    assert!(!reduced.contains("2 test('sums'"), "{reduced}");
}

#[test]
fn failures_whose_suite_was_cut_away_are_known_by_their_titles() {
    let text = "      at Object.toBe (test/cart.test.js:13:25)\n\n  ● cart › ships\n\n    expect(received).toBe(expected)\n\n    Expected: 4\n    Received: 3\n\n      12 |   it('ships', () => {\n    > 13 |     expect(total(cart)).toBe(4);\n         |                         ^\n\n      at Object.toBe (test/cart.test.js:19:25)\n";
    let text = terminal::reduce(text, Some("npm test | tail -60"), Exit::Success, usize::MAX)
        .unwrap()
        .0;
    for kept in ["● cart › ships", "Expected: 4", "test/cart.test.js:19:25"] {
        assert!(text.contains(kept), "{text}");
    }
    assert!(!text.contains("it('ships'"), "{text}");
}

#[test]
fn what_stopped_the_run_stays_after_what_a_test_printed() {
    let text = format!(
        "{FAILING}\n  console.log\n    counted\n\n      at Object.log (test/ship.test.js:1:106)\n\n/srv/shop/test/ship.test.js:14\n    throw new Error('late');\n    ^\n\nError: late\n    at Timeout._onTimeout (/srv/shop/test/ship.test.js:2:47)\n\nNode.js v20.20.2\n"
    );
    let text = terminal::reduce(&text, Some("npx jest"), Exit::Failure, usize::MAX)
        .unwrap()
        .0;
    assert!(text.contains("\nError: late\n"), "{text}");
    assert!(text.contains("/srv/shop/test/ship.test.js:14\n"), "{text}");
}

#[test]
fn a_title_of_another_suite_is_no_repeat() {
    let block = |file: &str, line: usize| {
        format!(
            "FAIL test/{file}.test.js\n  ● cart › adds\n\n    expect(received).toBe(expected)\n\n    \
             Expected: {line}\n    Received: 0\n\n      at Object.toBe (test/{file}.test.js:{line}:5)\n\n"
        )
    };
    let passed: String = (0..40)
        .map(|number| format!("PASS test/p{number}.test.js\n"))
        .collect::<Vec<_>>()
        .concat();
    let text = [
        block("oak", 4),
        passed,
        "\nSummary of all failing tests\n".to_owned(),
        block("oak", 4),
        block("elm", 9),
        "\nTest Suites: 2 failed, 40 passed, 42 total\n".to_owned(),
    ];
    let text = reduced(&text.concat());
    assert_eq!(text.matches("test/oak.test.js:4:5").count(), 1, "{text}");
    assert!(
        text.contains("Expected: 9") && text.contains("test/elm.test.js:9:5"),
        "{text}"
    );
}

#[test]
fn what_tests_print_again_and_again_is_told_once() {
    let printed = |text: &str, line: usize| {
        format!(
            "    console.log\n      {text}\n\n      at Object.log (test/ship.test.js:{line}:3)\n\n"
        )
    };
    let text = format!(
        "FAIL test/ship.test.js\n  ● Console\n\n{}{}{}\n{FAILING}",
        printed("sails up", 3).repeat(20),
        printed("sails down", 4),
        printed("sails up", 3)
    );
    let reduced = reduced(&text);
    assert_eq!(reduced.matches("sails up\n").count(), 1, "{reduced}");
    assert!(
        reduced.contains("sails down\ntest/ship.test.js:4:3\n"),
        "{reduced}"
    );
}

#[test]
fn what_a_suite_prints_that_passed_stands_below_its_name() {
    let printed = "  ● Console\n\n    console.log\n      anchor up\n\n      at Object.log (test/port.test.js:3:3)\n\n";
    let reduced = reduced(&format!(
        "{FAILING}\nPASS test/port.test.js\n{printed}PASS test/tax.test.js\n\nTest Suites: 1 failed, 2 passed, 3 total\n"
    ));
    assert!(
        reduced.contains("PASS test/port.test.js\nanchor up\ntest/port.test.js:3:3\n"),
        "{reduced}"
    );
    assert!(!reduced.contains("PASS test/tax.test.js"), "{reduced}");
}

#[test]
fn what_runs_just_now_is_no_part_of_a_failure() {
    let drawn = FAILING
        .replace(
            "\n    Expected: 4",
            "\n RUNS  test/tax.test.js\n    Expected: 4",
        )
        .replace(
            "\n      at Object.require",
            "\n\n RUNS  test/tax.test.js\n      at Object.require",
        );
    assert_eq!(
        reduced(&drawn).rsplit_once('\n').unwrap().0,
        reduced(FAILING).rsplit_once('\n').unwrap().0
    );
}

#[test]
fn frames_whose_failure_was_cut_away_are_read_as_such() {
    let frames = "      at Parser.parse (node_modules/oak/lib/index.js:12:9)\n".repeat(20);
    let cut = format!("{frames}      at leaf (src/oak.js:7:3)\n{FAILING}");
    let command = Some("npx jest 2>&1 | tail -80");
    let (reduced, _) = terminal::reduce(&cut, command, Exit::Success, usize::MAX).unwrap();
    assert!(
        reduced.starts_with("src/oak.js:7:3\n") && !reduced.contains("Parser"),
        "{reduced}"
    );
}

#[test]
fn errors_and_warnings_stay_above_all_that_tests_print() {
    let said = |kind: &str, text: &str, column: usize| {
        format!(
            "    console.{kind}\n      {text}\n\n      at Object.log (test/oak.test.js:3:{column})\n\n"
        )
    };
    let mut text = "FAIL test/oak.test.js\n  \u{25cf} Console\n\n".to_owned();
    for number in 0..40 {
        text.push_str(&said("log", &format!("leaf {number}"), 9));
    }
    text.push_str(&said("error", "sap runs low", 30));
    text.push_str(&said("warn", "leaves() goes in 5.0", 50));
    text.push_str(
        "  \u{25cf} oak \u{203a} grows\n\n    dry\n\n      at Object.grow (test/oak.test.js:9:1)\n\n\
                   Test Suites: 1 failed, 1 total\nTests:       1 failed, 1 total\n",
    );
    let told = reduced(&text);
    for fact in [
        "leaf 0",
        "sap runs low",
        "test/oak.test.js:3:30",
        "leaves() goes in 5.0",
    ] {
        assert!(told.contains(fact), "{told}");
    }
    assert_eq!(told.matches("test/oak.test.js:3:9").count(), 1, "{told}");
}
