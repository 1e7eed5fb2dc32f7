#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("make test"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn rspec_keeps_title_message_and_place() {
    let text = "Randomized with seed 1\n..F.\n\nFailures:\n\n  1) Cart sums\n     Failure/Error: expect(cart.total).to eq(4)\n\n       expected: 4\n            got: 3\n\n       (compared using ==)\n     # ./spec/cart_spec.rb:4:in `block (2 levels) in <top (required)>'\n     # /usr/lib/ruby/gems/3.1.0/gems/rspec-core/lib/rspec.rb:3:in `run'\n\nFinished in 0.02 seconds (files took 0.2 seconds to load)\n4 examples, 1 failure\n\nFailed examples:\n\nrspec ./spec/cart_spec.rb:4 # Cart sums\n";
    assert_eq!(
        reduced(text),
        "1) Cart sums\nexpected: 4\ngot: 3\n./spec/cart_spec.rb:4\n4 examples, 1 failure\n[16 of 21 lines left out]"
    );
}

#[test]
fn phpunit_keeps_title_message_and_place() {
    let text = "PHPUnit 9.6.7 by Sebastian Bergmann and contributors.\n\n..F.                     4 / 4 (100%)\n\nTime: 00:00.008, Memory: 4.00 MB\n\nThere was 1 failure:\n\n1) CartTest::testSums\nFailed asserting that 3 is identical to 4.\n\n/home/dev/shop/tests/CartTest.php:6\n/home/dev/shop/vendor/phpunit/phpunit/src/Framework/TestCase.php:9\n\nFAILURES!\nTests: 4, Assertions: 4, Failures: 1.\n";
    let text = reduced(text);
    for kept in [
        "1) CartTest::testSums\n",
        "3 is identical to 4.\n",
        "/home/dev/shop/tests/CartTest.php:6\n",
        "Failures: 1.\n",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("vendor"), "{text}");
}

#[test]
fn googletest_loses_what_passed() {
    let text = format!(
        "[==========] Running 41 tests from 1 test suite.\n{}[ RUN      ] Cart.Sums\ncart_test.cpp:14: Failure\nExpected equality of these values:\n  3\n  4\n[  FAILED  ] Cart.Sums (0 ms)\n[==========] 41 tests from 1 test suite ran. (3 ms total)\n[  PASSED  ] 40 tests.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Cart.Sums\n",
        "[ RUN      ] Cart.Adds\n[       OK ] Cart.Adds (0 ms)\n".repeat(40),
    );
    let text = reduced(&text);
    assert!(text.starts_with("cart_test.cpp:14: Failure\n"), "{text}");
    assert!(!text.contains("Cart.Adds"), "{text}");
    assert!(text.contains("\n3\n4\n[ FAILED ] Cart.Sums\n"), "{text}");
    assert_eq!(text.matches("Cart.Sums").count(), 1, "{text}");
}

#[test]
fn of_scenarios_those_that_failed_stay() {
    let passed = "  Scenario: grows  # oak.feature:2\n    Given an oak     # steps.py:1\n    Then it grows    # steps.py:3\n\n".repeat(20);
    let text = format!(
        "Feature: Oak # oak.feature:1\n\n{passed}  Scenario: falls  # oak.feature:7\n    Given an oak     # steps.py:1\n    When it falls    # steps.py:4\n      Traceback (most recent call last):\n        File \"/opt/lib/python3.12/site-packages/behave/model.py\", line 91, in run\n          match.run(runner)\n        File \"steps.py\", line 6, in b\n          raise OverflowError(\"x\")\n      OverflowError: too tall\n\n    Then it lies     # None\n\nYou can implement step definitions for undefined steps with these snippets:\n\n@when(u'it turns')\ndef step_impl(context):\n\nFailing scenarios:\n  oak.feature:7  falls\n\n0 features passed, 1 failed, 0 skipped\n20 scenarios passed, 1 failed, 0 skipped\n"
    );
    assert_eq!(
        reduced(&text),
        "Scenario: falls # oak.feature:7\nWhen it falls # steps.py:4\n\
        File \"steps.py\", line 6, in b\nraise OverflowError(\"x\")\nOverflowError: too tall\n\
        Failing scenarios:\noak.feature:7 falls\n0 features passed, 1 failed, 0 skipped\n\
        20 scenarios passed, 1 failed, 0 skipped\n[95 of 104 lines left out]"
    );
}

#[test]
fn of_the_source_around_a_failure_its_line_stays() {
    let text = format!(
        "\n  ✘ [fail]: oak\n{}  ─\n\n  oak\n\n  at/oak.js:2\n\n   1: import test from \"ava\";\n   2: test(\"oak\", t => t.is(3, 4));\n   3: // the oak is told to fall here\n\n  Difference (- actual, + expected):\n\n  - 3\n  + 4\n\n  › file://at/oak.js:2:23\n\n  1 test failed\n",
        "  ✔ elm stands\n".repeat(60)
    );
    let text = reduced(&text);
    assert!(
        text.contains("at/oak.js:2\n2: test(\"oak\", t => t.is(3, 4));\nDifference"),
        "{text}"
    );
    assert!(!text.contains("import test"), "{text}");
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        "bun test v1.2.0\n{}\n 90 pass\n 0 fail\nRan 90 tests across 1 file.\nkilled\n",
        "(pass) cart > sums\n".repeat(90)
    );
    let text = reduced(&text);
    assert!(
        text.contains("(pass) cart") && text.contains("killed"),
        "{text}"
    );
}

#[test]
fn of_meson_what_did_not_pass_and_the_totals_stay() {
    let text = "ninja: no work to do.\n 1/3 load - barge:one    OK              0.08s\n 2/3 load - barge:two    FAIL            0.04s   exit status 3\n\
                >>> MALLOC_PERTURB_=101 /srv/b/barge two\n\n 3/3 barge:slow          TIMEOUT         1.08s   killed by signal 15 SIGTERM\n\n\
                Ok:                1   \nFail:              1   \nTimeout:           1   \n\nFull log written to /srv/b/meson-logs/testlog.txt\n";
    let reduced = terminal::reduce(text, Some("meson test -C b"), Exit::Failure, usize::MAX);
    let (reduced, family) = reduced.unwrap();
    assert_eq!(family, Some("test run"));
    for kept in [
        "load - barge:two FAIL 0.04s exit status 3",
        "barge:slow TIMEOUT 1.08s killed by signal 15 SIGTERM",
        "Fail: 1\n",
        "meson-logs/testlog.txt",
    ] {
        assert!(reduced.contains(kept), "{kept}: {reduced}");
    }
    assert!(!reduced.contains("MALLOC_PERTURB_"), "{reduced}");
}

#[test]
fn examples_that_only_the_list_at_the_end_names_stay_with_it() {
    let text = "       oil is frozen\n     # ./spec/lamp_spec.rb:15:in `block'\n\n  9) Lamp burns\n     \
                Failure/Error: raise 'cold'\n\n     RuntimeError:\n       cold\n     # ./spec/lamp_spec.rb:17:in `block'\n\n\
                Finished in 0.1 seconds\n42 examples, 3 failures\n\nFailed examples:\n\n\
                rspec ./spec/lamp_spec.rb:15 # Lamp glows\nrspec ./spec/lamp_spec.rb:17 # Lamp burns\n\
                rspec './spec/lamp_spec.rb[1:37]' # Lamp shines\n";
    let text = reduced(text);
    for kept in [
        "./spec/lamp_spec.rb:15 # Lamp glows",
        "'./spec/lamp_spec.rb[1:37]' # Lamp shines",
        "9) Lamp burns",
    ] {
        assert!(text.contains(kept), "{text}");
    }
    assert!(!text.contains("# Lamp burns"), "{text}");
}

#[test]
fn what_stands_behind_a_heading_in_its_line_stays() {
    let text = "Run options: --seed 4\n\n# Running:\n\n..F\n\n  1) Failure:\nLampTest#test_oil [test/lamp_test.rb:7]:\n\
                [ArgumentError] exception expected, not\nClass: <IOError>\nMessage: <\"the oil is cold\">\n---Backtrace---\n\
                test/lamp_test.rb:7:in `block in test_oil'\n---------------\n\n3 runs, 3 assertions, 1 failures, 0 errors, 0 skips\n";
    let text = reduced(text);
    assert!(text.contains("Message: <\"the oil is cold\">"), "{text}");
}

#[test]
fn a_failed_test_of_each_program_has_its_name() {
    let program = |file: &str| {
        format!(
            "[==========] Running 9 tests from 1 test suite.\n{}[ RUN      ] Quay.Depth\n/srv/{file}.cpp:6: Failure\n\
             Expected equality of these values:\n  3\n  depth\n[  FAILED  ] Quay.Depth (0 ms)\n\n\
             [==========] 9 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 8 tests.\n\
             [  FAILED  ] 1 test, listed below:\n[  FAILED  ] Quay.Depth\n\n 1 FAILED TEST\n",
            "[ RUN      ] Quay.Width\n[       OK ] Quay.Width (0 ms)\n".repeat(8)
        )
    };
    let text = reduced(&[program("oak"), program("elm")].concat());
    assert_eq!(text.matches("FAILED ] Quay.Depth").count(), 2, "{text}");
    assert!(
        text.contains("/srv/oak.cpp:6") && text.contains("/srv/elm.cpp:6"),
        "{text}"
    );
}

#[test]
fn much_behind_a_report_in_xml_is_an_output_of_its_own() {
    let rows = "the oak lost a leaf\n".repeat(20);
    let text = format!(
        "<testsuites name=\"oak\" tests=\"2\" failures=\"1\">\n<testcase classname=\"oak\" name=\"leaf\" time=\"1\">\n\
         <failure message=\"no leaf\" type=\"AssertionError\">\nAssertionError: no leaf\n</failure>\n</testcase>\n\
         </testsuites>\n{rows}No test files were found\n{rows}"
    );
    let told = reduced(&text);
    assert!(told.contains("no leaf\n"), "{told}");
    assert!(told.contains("\nNo test files were found\n"), "{told}");
}

#[test]
fn commands_of_the_build_of_the_tests_go() {
    let text = "g++ -O2 -Wall -c -o leaf.o leaf.cpp\n[ 50%] Building CXX object leaf.cpp.o\n"
        .repeat(40)
        + "[==========] Running 2 tests from 1 test suite.\n[ RUN      ] Oak.Grows\n/p/oak_test.cpp:7: Failure\nExpected equality of these values:\n  3\n  4\n[  FAILED  ] Oak.Grows (0 ms)\n[ RUN      ] Oak.Falls\n[       OK ] Oak.Falls (0 ms)\n[==========] 2 tests from 1 test suite ran. (0 ms total)\n[  PASSED  ] 1 test.\n[  FAILED  ] 1 test, listed below:\n[  FAILED  ] Oak.Grows\n\n 1 FAILED TEST\n";
    let text = reduced(&text);
    assert!(
        text.contains("/p/oak_test.cpp:7: Failure") && text.contains("Oak.Grows"),
        "{text}"
    );
    assert!(!text.contains("leaf"), "{text}");
}
