#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "TAP version 13
# Subtest: cart
    # Subtest: is empty
    ok 1 - is empty
      ---
      duration_ms: 0.4
      ...
    # Subtest: sums
    not ok 2 - sums
      ---
      duration_ms: 1.2
      location: '/home/dev/shop/cart.test.js:4:3'
      failureType: 'testCodeFailure'
      error: |-
        Expected values to be strictly equal:
        
        3 !== 4
        
      code: 'ERR_ASSERTION'
      expected: 4
      actual: 3
      stack: |-
        TestContext.<anonymous> (/home/dev/shop/cart.test.js:5:10)
        Test.run (node:internal/test_runner/test:796:25)
      ...
    1..2
not ok 1 - cart
  ---
  location: '/home/dev/shop/cart.test.js:1:1'
  failureType: 'subtestsFailed'
  error: '1 subtest failed'
  ...
ok 2 - later # SKIP no network
1..2
# tests 3
# pass 1
# fail 1
# cancelled 0
# duration_ms 57.1
";

fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("npm test"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn a_failure_keeps_error_values_and_places_and_its_suite_only_its_name() {
    assert_eq!(
        reduced(FAILING),
        "not ok 2 - sums\nExpected values to be strictly equal:\n3 !== 4\nexpected: 4\nactual: 3\n\
        /home/dev/shop/cart.test.js:4:3 /home/dev/shop/cart.test.js:5:10\nnot ok 1 - cart\n\
        error: '1 subtest failed'\n# tests 3\n# pass 1\n# fail 1\n[27 of 39 lines left out]"
    );
}

#[test]
fn keys_may_be_padded_and_values_have_several_lines() {
    let text = format!(
        "TAP version 13\n{}not ok 1 oak > grows\n  ---\n  message: height of the oak\n  actual  : 36\n  expected: 38\n  ...\nnot ok 2 oak > splits\n  ---\n  actual  : {{\n    \"rings\": 1\n  }}\n  ...\n",
        "ok 3 oak > stands\n".repeat(60),
    );
    let text = reduced(&text);
    assert!(
        text.starts_with(
            "not ok 1 oak > grows\nmessage: height of the oak\nactual : 36\nexpected: 38\n\
                 not ok 2 oak > splits\nactual: \"rings\": 1\n"
        ),
        "{text}"
    );
}

#[test]
fn comments_on_a_failure_stay() {
    let text = format!(
        "1..40\n{}not ok 40 it rounds\n# (in test file rounding.bats, line 5)\n#   `[ 1 -eq 2 ]' failed\n",
        "ok 1 it adds\n".repeat(39),
    );
    assert_eq!(
        reduced(&text),
        "not ok 40 it rounds\n# (in test file rounding.bats, line 5)\n# `[ 1 -eq 2 ]' failed\n\
        [40 of 43 lines left out]"
    );
}

#[test]
fn what_prove_sums_up_stays() {
    let text = "t/cart.t .. \n#   Failed test 'sums'\n#   at t/cart.t line 2.\n#          got: '3'\n#     expected: '4'\nDubious, test returned 1 (wstat 256, 0x100)\nFailed 1/9 subtests \nt/tax.t ... ok\n\nTest Summary Report\n-------------------\nt/cart.t (Wstat: 256 (exited 1) Tests: 9 Failed: 1)\n  Failed test:  2\n  Non-zero exit status: 1\nFiles=2, Tests=29,  0 wallclock secs ( 0.02 usr  0.00 sys +  0.05 cusr  0.01 csys =  0.08 CPU)\nResult: FAIL\n";
    let text = reduced(text);
    for kept in [
        "Failed test 'sums'",
        "got: '3'",
        "t/cart.t (Wstat",
        "Failed test: 2",
        "Result: FAIL",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        "TAP version 13\n{}1..90\n# tests 90\n# pass 90\n# fail 0\nout of memory\n",
        "ok 1 - adds\n".repeat(90)
    );
    let text = reduced(&text);
    assert!(
        text.contains("ok 1 - adds") && text.contains("out of memory"),
        "{text}"
    );
}

#[test]
fn a_value_that_the_message_tells_is_not_told_again() {
    let text = "TAP version 13\n1..41\nnot ok 1 - oak\n    ---\n    error:\n        name: \"AssertionError\"\n        message: \"expected 3.5 to be 3\"\n    at: \"/srv/oak.js:4:84\"\n    actual: \"3.5\"\n    expected: \"elm\"\n    ...\n".to_owned()
        + &"ok 2 - elm stands where it stood\n".repeat(40);
    let reduced = terminal::reduce(&text, Some("prove"), Exit::Failure, usize::MAX)
        .unwrap()
        .0;
    for kept in [
        "expected 3.5 to be 3",
        "expected: \"elm\"",
        "/srv/oak.js:4:84",
    ] {
        assert!(reduced.contains(kept), "{kept}: {reduced}");
    }
    assert!(!reduced.contains("actual"), "{reduced}");
}

#[test]
fn a_runner_that_was_asked_for_the_protocol_writes_it() {
    let text = format!(
        "{}not ok 31 Lamp burns\n  oil is 120 %\n  RangeError: oil is 120 %\n      at Context.<anonymous> (test/lamp.js:12:64)\n\
         # tests 31\n# pass 30\n# fail 1\n1..31\n",
        (1..31)
            .map(|number| format!("ok {number} Lamp turns {number}\n"))
            .collect::<Vec<_>>()
            .concat()
    );
    let (text, family) = terminal::reduce(
        &text,
        Some("npx mocha -R tap test"),
        Exit::Failure,
        usize::MAX,
    )
    .unwrap();
    assert_eq!(family, Some("tap"));
    for kept in [
        "not ok 31 Lamp burns",
        "RangeError: oil is 120 %",
        "test/lamp.js:12:64",
        "# fail 1",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    assert!(!text.contains("Lamp turns"), "{text}");
}

#[test]
fn tests_that_passed_before_the_counts_were_cut_off_are_told_by_the_last_of_them() {
    let passed = (1..60).map(|number| format!("ok {number} should be equal to {number}\n"));
    let text = format!("TAP version 13\n# adds\n{}", passed.collect::<String>());
    let command = Some("tape test/*.js | head -61");
    let (reduced, _) = terminal::reduce(&text, command, Exit::Success, usize::MAX).unwrap();
    assert_eq!(
        reduced,
        "ok 59 should be equal to 59\n[60 of 61 lines left out]"
    );
}

#[test]
fn what_ava_compares_and_what_was_thrown_stays() {
    let passed = "ok 1 - leaf\n".repeat(39);
    let text = format!(
        "TAP version 13\n{passed}not ok 40 - oak\n  ---\n    name: AssertionError\n    assertion: deepEqual\n    values:\n      \
         'Difference (- actual, + expected):': |-\n          leaf\n        - elm\n        + ash\n    at: 'test/oak.js:3:7'\n  ...\n\
         not ok 41 - throws\n  ---\n    message: Rejected promise returned by test\n    values:\n      'Rejected promise \
         returned by test. Reason:': |-\n        Error {{\n          message: 'no bark',\n        }}\n  ...\n\n1..41\n# tests \
         41\n# pass 39\n# fail 2\n"
    );
    let reduced = reduced(&text);
    for told in ["- elm\n+ ash\n", "'no bark'"] {
        assert!(reduced.contains(told), "{reduced}");
    }
}
