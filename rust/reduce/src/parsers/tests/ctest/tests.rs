#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "Test project /home/dev/shop/build
      Start  1: cart_empty
 1/4 Test  #1: cart_empty .......................   Passed    0.00 sec
      Start  2: cart_total
 2/4 Test  #2: cart_total .......................***Failed    0.01 sec
[ RUN      ] Cart.Total
/home/dev/shop/cart_test.cpp:14: Failure
Expected equality of these values:
  3
  4

      Start  3: ship
 3/4 Test  #3: ship .............................***Exception: SegFault  0.10 sec
      Start  4: rates
Could not find executable rates_test
Looked in the following places:
rates_test
Release/rates_test
Unable to find executable: rates_test
 4/4 Test  #4: rates ............................***Not Run   0.00 sec

25% tests passed, 3 tests failed out of 4

Label Time Summary:
unit    =   0.01 sec*proc (2 tests)

Total Test time (real) =   0.12 sec

The following tests FAILED:
\t  2 - cart_total (Failed)
\t  3 - ship (SEGFAULT)
\t  4 - rates (Not Run)
Errors while running CTest
Output from these tests are in: /home/dev/shop/build/Testing/Temporary/LastTest.log
Use \"--rerun-failed --output-on-failure\" to re-run the failed cases verbosely.
";

fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("make test"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn failed_tests_keep_what_they_printed_and_the_list() {
    assert_eq!(
        reduced(FAILING),
        "#2: cart_total ***Failed 0.01 sec\n/home/dev/shop/cart_test.cpp:14: Failure\n3\n4\n\
        Could not find executable rates_test\nUnable to find executable: rates_test\n\
        25% tests passed, 3 tests failed out of 4\nTotal Test time (real) = 0.12 sec\n\
        The following tests FAILED:\n2 - cart_total (Failed)\n3 - ship (SEGFAULT)\n\
        4 - rates (Not Run)\nErrors while running CTest\n[22 of 35 lines left out]"
    );
}

#[test]
fn without_the_list_each_failure_has_its_line() {
    let (text, _) = FAILING.split_once("\nThe following").unwrap();
    let text = reduced(text);
    assert!(
        text.contains("#3: ship ***Exception: SegFault 0.10 sec\n"),
        "{text}"
    );
    assert!(text.contains("#4: rates ***Not Run 0.00 sec\n"), "{text}");
}

#[test]
fn numbered_lines_stay_with_the_tests_that_failed() {
    let text = "Test project /b
test 1
    Start 1: empty

1: Test command: /b/cart empty
1: Working Directory: /b
1: nothing in it
1/2 Test #1: empty ...   Passed    0.00 sec
test 2
    Start 2: total
2: Test command: /b/cart total
2: cart.c:9: total is 3
2/2 Test #2: total ...Subprocess aborted***Exception:   0.01 sec

50% tests passed, 1 tests failed out of 2
The following tests FAILED:
\t  2 - total (Subprocess aborted)
";
    assert_eq!(
        reduced(text),
        "2: cart.c:9: total is 3\n50% tests passed, 1 tests failed out of 2\n\
        The following tests FAILED:\n2 - total (Subprocess aborted)\n[13 of 17 lines left out]"
    );
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        "Test project /b\n{}\n100% tests passed, 0 tests failed out of 90\nmake: *** [Makefile:71: test] Error 8\n",
        " 1/90 Test  #1: empty ...   Passed    0.00 sec\n".repeat(90),
    );
    let text = reduced(&text);
    assert!(
        text.contains("make: *** ") && text.contains("Test project"),
        "{text}"
    );
}

#[test]
fn the_build_before_the_tests_is_not_lost() {
    let text = format!(
        "[ 50%] Building C object cart.c.o\ncart.c:9:3: warning: unused variable\n{FAILING}"
    );
    let text = reduced(&text);
    assert!(
        text.starts_with("cart.c:9:3: warning: unused variable\n"),
        "{text}"
    );
}

#[test]
fn every_failed_assertion_keeps_the_lines_below_it() {
    let assertions: String = (10..20).fold(String::new(), |text, number| {
            text + &format!("/b/cart_test.cpp:{number}: Failure\nExpected equality of these values:\n  {number}\n  total\n    Which is: {number}5\n")
        });
    let text = reduced(&FAILING.replace("[ RUN      ] Cart.Total\n", &assertions));
    assert!(
        text.contains("Which is: 105") && text.contains("Which is: 195"),
        "{text}"
    );
}

#[test]
fn of_lines_that_differ_in_numbers_only_the_first_and_the_last_stay() {
    let step = |number| format!("step {number} of the long way to the top\n");
    let steps = [0, 1, 2, 10].map(step).concat();
    let text = FAILING.replace("[ RUN      ] Cart.Total\n", &steps);
    let reduced = reduced(&text);
    assert!(
        reduced.contains("sec\nstep 0 of the long way to the top\nstep 10 of the long way to the top\n/home/dev/shop/cart_test.cpp:14"),
        "{reduced}"
    );
}

#[test]
fn a_list_of_failed_parts_names_those_only_that_were_not_told() {
    let parts = "Running main() from gtest_main.cc\n[  FAILED  ] Cart.Total (0 ms)\n[  SKIPPED ] Cart.Old\n[  \
                 FAILED  ] 2 tests, listed below:\n[  FAILED  ] Cart.Total\n[  FAILED  ] Cart.Lost\n";
    let reduced = reduced(&FAILING.replace("[ RUN      ] Cart.Total\n", parts));
    assert!(
        reduced.contains("sec\n[  FAILED  ] Cart.Total\n[  FAILED  ] Cart.Lost\n/home/dev"),
        "{reduced}"
    );
}

#[test]
fn of_a_check_of_googletest_the_values_stay_and_its_words_go() {
    let text = "Test project /srv/b\n    Start 1: units\n1/1 Test #1: units ............***Failed    0.01 sec\n\
                Running main() from gtest_main.cc\n/srv/units.cpp:8: Failure\nExpected equality of these values:\n  4\n  Gauge().level\n    \
                Which is: 3\n/srv/units.cpp:9: Failure\nValue of: open\n  Actual: false\nExpected: true\n\
                [  FAILED  ] Tide.High (0 ms)\n\n 1 FAILED TEST\n\n0% tests passed, 1 tests failed out of 1\n\n\
                The following tests FAILED:\n\t  1 - units (Failed)\nErrors while running CTest\n";
    let reduced = terminal::reduce(text, Some("ctest"), Exit::Failure, usize::MAX);
    let reduced = reduced.unwrap().0;
    for gone in ["Expected equality", "1 FAILED TEST"] {
        assert!(!reduced.contains(gone), "{reduced}");
    }
    for kept in [
        "units.cpp:8: Failure",
        "Which is: 3",
        "Value of: open",
        "Actual: false",
        "Tide.High\n",
    ] {
        assert!(reduced.contains(kept), "{reduced}");
    }
}

#[test]
fn what_the_assertions_of_catch_saw_stays_below_each() {
    let failure = |number: usize| {
        format!(
            "-------------------------------------------------------------------------------\nbox {number}\n\
             -------------------------------------------------------------------------------\n/srv/shop/box.cpp:{number}\n\
             ...............................................................................\n\n\
             /srv/shop/box.cpp:{number}: FAILED:\n  CHECK( depth() == {number}0 )\nwith expansion:\n  {number}7 == {number}0\n\n"
        )
    };
    let text = format!(
        "Test project /srv/shop/b\n    Start 1: boxes\n1/1 Test #1: boxes ............................***Failed    0.01 sec\n{}\n\
         0% tests passed, 1 tests failed out of 1\n\nThe following tests FAILED:\n\t  1 - boxes (Failed)\n",
        (1..9).map(failure).collect::<Vec<_>>().concat()
    );
    let text = reduced(&text);
    for number in 1..9 {
        assert!(
            text.contains(&format!("/srv/shop/box.cpp:{number}: FAILED:")),
            "{text}"
        );
        assert!(text.contains(&format!("{number}7 == {number}0")), "{text}");
    }
    assert!(!text.contains("....."), "{text}");
}

#[test]
fn each_test_that_failed_within_one_is_named() {
    let failure = |number: usize| {
        format!(
            "[ RUN      ] Cart.Sum/{number}\n/home/dev/shop/cart_test.cpp:15: Failure\nExpected: ({number}) < (7), actual: {number} vs 7\nrow {number}\n[  FAILED  ] Cart.Sum/{number} (0 ms)\n"
        )
    };
    let failures: Vec<String> = (10..60).map(failure).collect();
    let text = FAILING.replace(
        "[ RUN      ] Cart.Total\n",
        &(failures.concat() + "[ RUN      ] Cart.Total\n"),
    );
    let text = reduced(&text);
    for number in 10..60 {
        let named = format!("[  FAILED  ] Cart.Sum/{number}\n");
        assert!(text.contains(&named), "{named}: {text}");
    }
}
