#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::tested::unmarked::reduce_kind as reduce;
use crate::{Kind, Request};

fn reduced(command: &str, text: &str, code: i64) -> String {
    let request = Request {
        command: Some(command),
        ranged: false,
        ok: code == 0,
        exit_code: Some(code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap()
}

fn passing(number: usize) -> String {
    (0..number)
        .map(|number| format!("test_n{number} (pkg.test_a.CaseA.test_n{number}) ... ok\n"))
        .collect::<Vec<_>>()
        .concat()
}

const FAILURE: &str = "======================================================================\nFAIL: test_b (pkg.test_a.CaseA.test_b) (i=3)\nWhat b does.\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/p/pkg/test_a.py\", line 12, in test_b\n    self.assertEqual(f(), 4)\n    ~~~~~~~~~~~~~~~~^^^^^^^^\n  File \"/usr/lib/python3.13/unittest/case.py\", line 885, in assertEqual\n    assertion_func(first, second, msg=msg)\nAssertionError: 3 != 4\n\n";

#[test]
fn further_failures_of_one_test_do_not_tell_its_place_again() {
    let passed = "test_a (pkg.test_a.CaseA.test_a) ... ok\n".repeat(40);
    let text = passed
        + &format!(
            "{FAILURE}{}",
            FAILURE
                .replace("(i=3)", "(i=4)")
                .replace("3 != 4", "5 != 4")
        )
        + "Ran 41 tests in 0.010s\n\nFAILED (failures=2)\n";
    let text = reduced("python -m unittest", &text, 1);
    assert_eq!(text.matches("line 12").count(), 1, "{text}");
    assert!(text.contains("(i=4)\nAssertionError: 5 != 4\n"), "{text}");
}

#[test]
fn a_failure_keeps_head_place_and_exception() {
    let text = passing(40)
        + "test_b (pkg.test_a.CaseA.test_b) ... FAIL\n\n"
        + FAILURE
        + "----------------------------------------------------------------------\nRan 41 tests in 0.010s\n\nFAILED (failures=1)\n";
    let reduced = reduced("python -m unittest -v", &text, 1);
    assert_eq!(
        reduced.rsplit_once('\n').unwrap().0,
        "FAIL: test_b (pkg.test_a.CaseA.test_b) (i=3)\n\
        File \"/p/pkg/test_a.py\", line 12, in test_b\nAssertionError: 3 != 4\n\
        Ran 41 tests in 0.010s\nFAILED (failures=1)"
    );
}

#[test]
fn of_a_passing_run_only_the_counts_stay() {
    let text = passing(40) + "\n-----\nRan 40 tests in 0.010s\n\nOK (skipped=2)\n";
    let reduced = reduced("./check.sh", &text, 0);
    assert!(
        reduced.starts_with("Ran 40 tests in 0.010s\nOK (skipped=2)\n["),
        "{reduced}"
    );
}

#[test]
fn a_run_that_was_cut_off_gets_no_verdict() {
    let text = passing(40) + "test_b (pkg.test_a.CaseA.test_b) ... ERROR\n";
    let reduced = reduced("python -m unittest -v", &text, 1);
    assert!(
        reduced.contains("test_b (pkg.test_a.CaseA.test_b) ... ERROR\n"),
        "{reduced}"
    );
    assert!(
        !reduced.contains("\nOK") && !reduced.contains("Ran "),
        "{reduced}"
    );
}

#[test]
fn what_stands_around_the_tests_stays() {
    let text = "> app check\n".to_owned()
        + &passing(40)
        + "DeprecationWarning: old\n\n"
        + FAILURE
        + "-----\nRan 41 tests in 0.010s\n\nFAILED (failures=1)\nmake: *** [check] Error 1\n";
    let reduced = reduced("make check", &text, 2);
    for kept in [
        "> app check\n",
        "DeprecationWarning: old\n",
        "make: *** [check] Error 1\n",
    ] {
        assert!(reduced.contains(kept), "{reduced}");
    }
}

#[test]
fn what_an_example_of_a_docstring_gave_stays() {
    let passes = "test_leaf (oak.T.test_leaf) ... ok\n".repeat(30);
    let text = "F\n======================================================================\nFAIL: fall (oak.leaf)\nDoctest: oak.leaf.fall\n\
                ----------------------------------------------------------------------\nTraceback (most recent call last):\n  \
                File \"/usr/lib/python3.12/doctest.py\", line 2247, in runTest\n    raise self.failureException(x)\n\
                AssertionError: Failed doctest test for oak.leaf.fall\n  File \"/srv/oak/leaf.py\", line 7, in fall\n\n\
                ----------------------------------------------------------------------\nFile \"/srv/oak/leaf.py\", line 9, in oak.leaf.fall\n\
                Failed example:\n    fall(3)\nExpected:\n    [1, 2]\nGot:\n    [1, 2, 3]\n\n\n\
                ----------------------------------------------------------------------\nRan 1 test in 0.1s\n\nFAILED (failures=1)\n";
    let short = reduced("python -m unittest", &format!("{passes}{text}"), 1);
    assert!(
        short.contains("Failed example:\nfall(3)\nExpected:\n[1, 2]\nGot:\n[1, 2, 3]\n"),
        "{short}"
    );
    assert!(!short.contains("doctest.py"), "{short}");
}

/// The report of tests of `names`, each of which fails in a line of its own with what `error` states of it.
fn failing(names: &[&str], error: fn(&str) -> String) -> String {
    let failure = |(line, name): (usize, &&str)| {
        format!(
            "======================================================================\nERROR: test_{name} (t.Oak.test_{name})\n\
             ----------------------------------------------------------------------\nTraceback (most recent call last):\n  \
             File \"/app/t.py\", line {line}, in test_{name}\n    grow_up_to_the_very_top()\n  File \"/app/oak.py\", line 7, in grow\n    fall_down_from_the_top()\n{}\n\n",
            error(name)
        )
    };
    let failures: String = names.iter().enumerate().map(failure).collect();
    format!(
        "{}{failures}----------------------------------------------------------------------\nRan 9 tests in 0.001s\n\n\
         FAILED (errors={})\n",
        passing(40),
        names.len()
    )
}

#[test]
fn a_frame_below_a_test_is_told_again_by_the_name_of_its_file() {
    let text = failing(&["bark", "leaf"], |name| format!("KeyError: '{name}'"));
    let reduced = reduced("python -m unittest", &text, 1);
    assert_eq!(reduced.matches("/app/oak.py").count(), 1, "{reduced}");
    for told in [
        "in test_leaf\noak.py\", line 7, in grow\nKeyError: 'leaf'\n",
        "File \"/app/t.py\", line 1, in test_leaf",
    ] {
        assert!(reduced.contains(told), "{reduced}");
    }
}

#[test]
fn failures_that_say_the_same_stand_below_the_first_with_their_places() {
    let error = |name: &str| {
        let key = if name == "bark" { "bark" } else { "x" };
        format!("KeyError: '{key}'")
    };
    let text = failing(&["root", "bark", "leaf", "twig"], error);
    let reduced = reduced("python -m unittest", &text, 1);
    assert!(
        reduced.starts_with(
            "ERROR: test_root (t.Oak.test_root)\nFile \"/app/t.py\", line 0, in test_root\n\
             File \"/app/oak.py\", line 7, in grow\nKeyError: 'x'\n\
             also ERROR: test_leaf (t.Oak.test_leaf) t.py\", line 2\n\
             also ERROR: test_twig (t.Oak.test_twig) t.py\", line 3\n\
             ERROR: test_bark (t.Oak.test_bark)\n"
        ),
        "{reduced}"
    );
}

#[test]
fn what_a_test_says_of_its_assertion_is_told_behind_the_difference() {
    let said = FAILURE.replace(
        "AssertionError: 3 != 4\n",
        "AssertionError: Lists differ: [1, 2, 3, 4, 5, 6, 7, 8] != [1, 2, 4, 3, 5, 6, 7, 8]\n\nFirst differing element \
         2:\n3\n4\n\n- [1, 2, 3, 4]\n?        ---\n\n+ [1, 2, 4, 3]\n?     +++\n : order of trees\n",
    );
    let text = passing(40) + &said + "Ran 41 tests in 0.002s\n\nFAILED (failures=1)\n";
    let reduced = reduced("python -m unittest", &text, 1);
    assert!(reduced.contains(": order of trees\n"), "{reduced}");
}

#[test]
fn the_first_difference_is_told_of_values_that_were_cut() {
    let said = FAILURE.replace(
        "AssertionError: 3 != 4\n",
        "AssertionError: Lists differ: ['oa[900 chars]f 8', 'leaf 9'] != ['oa[900 chars]f eight', 'leaf 9']\n\n\
         First differing element 88:\n'leaf 8'\n'leaf eight'\n\n  ['oak',\n   'elm',\n",
    );
    let text = passing(40) + &said + "Ran 41 tests in 0.002s\n\nFAILED (failures=1)\n";
    let reduced = reduced("python -m unittest", &text, 1);
    let told = "First differing element 88:\n'leaf 8'\n'leaf eight'\n";
    assert!(reduced.contains(told), "{reduced}");
}

#[test]
fn heads_of_failures_whose_rulers_were_filtered_away_all_stay() {
    let head = |n: usize| format!("FAIL: test_{n} (t.Oak.test_{n})\nAssertionError: {n} != 0\n");
    let heads = (1..60).map(head).collect::<Vec<_>>().concat();
    let text = format!(
        "{}{heads}Ran 99 tests in 0.001s\nFAILED (failures=59)\n",
        passing(40)
    );
    let reduced = reduced("python -m unittest -v 2>&1 | grep -v '^ '", &text, 0);
    for n in 1..60 {
        assert!(reduced.contains(&head(n)), "{reduced}");
    }
}

#[test]
fn unexpected_successes_below_one_ruler_are_all_told() {
    let text = passing(40)
        + "======================================================================\nUNEXPECTED SUCCESS: test_a (t.Oak.test_a)\n\
           UNEXPECTED SUCCESS: test_b (t.Oak.test_b)\n\
           ----------------------------------------------------------------------\nRan 42 tests in 0.001s\n\n\
           FAILED (unexpected successes=2)\n";
    let reduced = reduced("python -m unittest", &text, 1);
    assert!(
        reduced.starts_with("UNEXPECTED SUCCESS: test_a (t.Oak.test_a)\nUNEXPECTED SUCCESS: test_b (t.Oak.test_b)\nRan 42"),
        "{reduced}"
    );
}

#[test]
fn a_message_of_several_lines_is_told_behind_a_long_first_one() {
    let said = FAILURE.replace(
        "AssertionError: 3 != 4\n",
        "AssertionError: False is not true : the leaf is not there\nlook in oak.toml\n- 1\n+ 2\nDiff is 900 characters long.\n",
    );
    let text = passing(40) + &said + "Ran 41 tests in 0.002s\n\nFAILED (failures=1)\n";
    let reduced = reduced("python -m unittest", &text, 1);
    assert!(
        reduced.contains("the leaf is not there\nlook in oak.toml\nRan 41"),
        "{reduced}"
    );
}

#[test]
fn failures_that_no_ruler_heads_are_told_with_their_tests() {
    let failure = |test: &str, line: u32, error: &str| {
        format!(
            "Failure in pkg.test_a.CaseA.{test}\n  File \"/usr/lib/python3.13/unittest/case.py\", line 57, in testPartExecutor\n    yield\n  File \"/p/pkg/test_a.py\", line {line}, in {test}\n    self.assertEqual(f(), {line})\n{error}\n\n"
        )
    };
    let text = ".".repeat(900)
        + "\n\n"
        + &failure("test_b", 12, "AssertionError: 3 != 12")
        + &failure("test_c", 14, "AssertionError: 3 != 14")
        + "Ran 902 tests in 0.207s using 2 processes\n\nFAILED (failures=2, passes=900)\n";
    let text = reduced("green pkg", &text, 1);
    assert_eq!(
        text.rsplit_once('\n').unwrap().0,
        "Failure in pkg.test_a.CaseA.test_b\nFile \"/p/pkg/test_a.py\", line 12, in test_b\n\
        AssertionError: 3 != 12\nFailure in pkg.test_a.CaseA.test_c\n\
        File \"/p/pkg/test_a.py\", line 14, in test_c\nAssertionError: 3 != 14\n\
        Ran 902 tests in 0.207s using 2 processes\nFAILED (failures=2, passes=900)"
    );
}
