#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

const FAILING: &str = "=== RUN   TestCart
=== RUN   TestCart/empty
    cart_test.go:9: nothing in it
=== RUN   TestCart/total
    cart_test.go:14: total = 3, want 4
--- FAIL: TestCart (0.00s)
    --- PASS: TestCart/empty (0.00s)
    --- FAIL: TestCart/total (0.00s)
=== RUN   TestShip
--- FAIL: TestShip (0.00s)
panic: assignment to entry in nil map [recovered]
\tpanic: assignment to entry in nil map

goroutine 7 [running]:
testing.tRunner.func1.2({0x1, 0x2})
\t/opt/go/src/testing/testing.go:1545 +0x238
panic({0x1, 0x2})
\t/opt/go/src/runtime/panic.go:914 +0x21f
example.org/shop.Ship(...)
\t/home/dev/shop/ship.go:21
created by testing.(*T).Run
\t/opt/go/src/testing/testing.go:1648 +0x3ad
exit status 2
FAIL\texample.org/shop\t0.012s
ok  \texample.org/shop/tax\t0.004s
FAIL
";

pub(super) fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("make check"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
}

#[test]
fn frames_of_assembly_are_no_end_of_a_goroutine() {
    let goroutine = "\ngoroutine 19 [runnable]:\nmain.oak()\n\t/home/dev/shop/main.go:25\nruntime.goexit()\n\t/usr/lib/go/src/runtime/asm_amd64.s:1594 +0x1\ncreated by main.main\n\t/home/dev/shop/main.go:25 +0x7e\n";
    let text = format!(
        "panic: oak fell\n\ngoroutine 1 [running]:\nmain.main()\n\t/home/dev/shop/main.go:20 +0xb9\n{}exit status 2\n",
        goroutine.repeat(12)
    );
    let text = terminal::reduce(&text, Some("go run ."), Exit::Failure, usize::MAX)
        .unwrap()
        .0;
    assert!(
        text.contains("panic: oak fell\n") && text.contains("main.go:20"),
        "{text}"
    );
    assert!(!text.contains("created by"), "{text}");
}

#[test]
fn what_a_failed_test_logged_stands_under_its_name() {
    assert_eq!(
        reduced(FAILING),
        "--- FAIL: TestCart/total\ncart_test.go:14: total = 3, want 4\n--- FAIL: TestShip\n\
        panic: assignment to entry in nil map [recovered]\n/home/dev/shop/ship.go:21\n\
        exit status 2\nFAIL example.org/shop\nok example.org/shop/tax 0.004s\nFAIL\n\
        [17 of 26 lines left out]"
    );
}

#[test]
fn events_are_read_as_the_text_they_carry() {
    let event = |test: &str, text: &str| {
        format!(
            "{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"output\",\"Package\":\"example.org/shop\",\"Test\":\"{test}\",\"Output\":\"{text}\\n\"}}\n"
        )
    };
    let text = event("TestTax", "    tax_test.go:5: fine")
        + &event("TestCart", "    cart_test.go:14: say \\\"no\\\"")
        + &event("TestTax", "--- PASS: TestTax (0.00s)")
        + &event("TestCart", "--- FAIL: TestCart (0.00s)");
    assert_eq!(
        reduced(&text),
        "--- FAIL: TestCart\ncart_test.go:14: say \"no\"\n[3 of 4 lines left out]"
    );
}

#[test]
fn errors_of_the_compiler_all_stay() {
    let text = "# example.org/shop\n./cart.go:3:8: \"os\" imported and not used\n./cart.go:9:2: not enough arguments in call to add\n\thave (number)\n\twant (int, int)\n"
            .to_owned()
            + &"go: downloading example.org/dep v1.0.0\n".repeat(9)
            + "FAIL\texample.org/shop [build failed]\n";
    let text = reduced(&text);
    for kept in [
        "./cart.go:3:8: ",
        "./cart.go:9:2: ",
        "want (int, int)",
        "[build failed]",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    assert!(!text.contains("downloading"), "{text}");
}

#[test]
fn a_failed_run_without_a_failure_in_sight_is_not_called_passed() {
    let text = format!(
        "{}PASS\nok  \texample.org/shop\t0.012s\nmake: *** [Makefile:3: check] Error 1\n",
        "=== RUN   TestCart\n--- PASS: TestCart (0.00s)\n".repeat(60),
    );
    let text = reduced(&text);
    assert!(text.contains("make: *** "), "{text}");
    assert!(
        text.contains("=== RUN   TestCart\n"),
        "the generic family has it: {text}"
    );
}

#[test]
fn other_programs_in_the_same_output_are_not_lost() {
    let text = format!("gofmt: cart.go needs formatting\n{FAILING}make: *** [check] Error 1\n");
    let text = reduced(&text);
    assert!(
        text.starts_with("gofmt: cart.go needs formatting\n"),
        "{text}"
    );
    assert!(text.contains("make: *** [check] Error 1\n"), "{text}");
}

#[test]
fn lines_of_one_place_that_differ_in_numbers_are_told_three_times() {
    let logged = |line: usize, count: usize| -> String {
        let lines = (0..count).map(|n| format!("    ring_test.go:{line}: Move({n}) != Move(0)\n"));
        lines.collect()
    };
    let passed = "ok  \texample.org/quay/pier\t0.004s\n".repeat(300);
    let text = format!(
        "--- FAIL: TestRing (0.00s)\n{}{}    ring_test.go:40: \"a\" is lost\n{passed}FAIL\n",
        logged(80, 20),
        logged(89, 20)
    );
    let reduced = reduced(&text);
    for (line, told) in [(80, 3), (89, 3), (40, 1)] {
        let place = format!("ring_test.go:{line}: ");
        assert_eq!(reduced.matches(&place).count(), told, "{reduced}");
    }
}

#[test]
fn lines_that_name_other_things_are_told_each() {
    let names = ["oak", "elm", "ash", "fir", "yew"];
    let lines = names.map(|name| format!("    tree_test.go:7: {name} is missing\n"));
    let passed = "ok  \texample.org/quay/pier\t0.004s\n".repeat(300);
    let text = format!(
        "--- FAIL: TestTree (0.00s)\n{}{passed}FAIL\n",
        lines.concat()
    );
    let reduced = reduced(&text);
    for name in names {
        assert!(
            reduced.contains(&format!("tree_test.go:7: {name} is missing\n")),
            "{reduced}"
        );
    }
}

#[test]
fn blanks_in_what_a_test_says_stay_as_they_are() {
    let text = FAILING.replace("total = 3, want 4", "total should be 4, is  3");
    assert!(
        reduced(&text).contains("\ncart_test.go:14: total should be 4, is  3\n"),
        "{text}"
    );
}

#[test]
fn each_place_of_a_long_failed_test_has_lines_of_its_own() {
    let frame = |number: usize| {
        let row = |row| format!("        \t            \t+ row {number}{row}\n");
        let rows = (0..10).map(row).collect::<Vec<_>>().concat();
        format!(
            "    cart_test.go:{number}: \n        \tError:      \tbox {number} is open\n{rows}        \tTest:       \tTestCart\n"
        )
    };
    let text = format!(
        "--- FAIL: TestCart (0.00s)\n{}FAIL\nFAIL\texample.org/shop\t0.012s\n",
        (11..60).map(frame).collect::<Vec<_>>().concat()
    );
    let text = reduced(&text);
    assert!(
        text.contains("box 11 is open") && text.contains("box 22 is open"),
        "{text}"
    );
    assert!(
        text.contains("row 118") && !text.contains("box 40 is open"),
        "{text}"
    );
}

#[test]
fn the_words_of_a_panic_stay_where_it_draws_lines_between_them() {
    let panic = "panic: \n\nmock: Unexpected Call\n-----------------------------\n\nMoor(int)\n\t\t0: 4\n\nThe closest call I have is: \n\nMoor(int)\n\t\t0: 3\n\n\nDiff: 0: FAIL:  (int=4) != (int=3)\n";
    let text = FAILING.replace(
        "panic: assignment to entry in nil map [recovered]\n\tpanic: assignment to entry in nil map\n",
        panic,
    );
    let text = reduced(&text);
    for kept in [
        "mock: Unexpected Call",
        "0: 4",
        "0: 3",
        "Diff: 0: FAIL:  (int=4) != (int=3)",
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn the_way_to_a_package_that_is_not_there_stays() {
    let text = "go: downloading example.org/tide v1.7.0\n".repeat(40)
        + "shop imports\n\texample.org/tide: module lookup disabled\nshop imports\n\tshop/tax: no such module\n";
    let text = terminal::reduce(
        &text,
        Some("go mod tidy; go test ./..."),
        Exit::Failure,
        usize::MAX,
    )
    .unwrap()
    .0;
    for kept in [
        "shop imports",
        "example.org/tide: module lookup disabled",
        "shop/tax: no such module",
    ] {
        assert!(text.contains(kept), "{text}");
    }
}

#[test]
fn tests_of_one_name_in_several_packages_are_told_apart() {
    let text = "=== RUN   TestNew\n    a_test.go:3: a is bad\n--- FAIL: TestNew (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s\n\
                === RUN   TestNew\n    b_test.go:5: b is good\n--- PASS: TestNew (0.00s)\nPASS\nok  \texample.org/b\t0.01s\n\
                === RUN   TestNew\n    c_test.go:9: c is bad\n--- FAIL: TestNew (0.00s)\nFAIL\nFAIL\texample.org/c\t0.01s\nFAIL\n";
    let text = [
        text,
        &"=== RUN   TestLeaf\n--- PASS: TestLeaf (0.00s)\n".repeat(30),
    ]
    .concat();
    let text = reduced(&text);
    assert!(
        text.starts_with(
            "--- FAIL: TestNew\n=== RUN   TestNew\na_test.go:3: a is bad\nFAIL example.org/a\nok example.org/b 0.01s\n\
             --- FAIL: TestNew\n=== RUN   TestNew\nc_test.go:9: c is bad\nFAIL example.org/c\n"
        ),
        "{text}"
    );
}

#[test]
fn events_of_tests_of_one_name_in_several_packages_are_told_apart() {
    let event = |package: &str, action: &str, output: &str| {
        format!(
            "{{\"Time\":\"t\",\"Action\":\"{action}\",\"Package\":\"example.org/{package}\",\"Test\":\"TestNew\"{output}}}\n"
        )
    };
    let said = |package, output| event(package, "output", &format!(",\"Output\":\"{output}\\n\""));
    let text = [
        said("a", "    a_test.go:3: a is bad"),
        said("a", "--- FAIL: TestNew (0.00s)"),
        event("a", "fail", ""),
        said("b", "    b_test.go:5: b is good"),
        said("b", "--- PASS: TestNew (0.00s)"),
        said("c", "    c_test.go:9: c is bad"),
        said("c", "--- FAIL: TestNew (0.00s)"),
        event("b", "run", "").repeat(9),
    ];
    let text = reduced(&text.concat());
    assert!(
        text.starts_with(
            "--- FAIL: TestNew\na_test.go:3: a is bad\n--- FAIL: TestNew\nc_test.go:9: c is bad\n"
        ),
        "{text}"
    );
}

#[test]
fn a_missing_package_is_told_under_the_packages_that_need_it() {
    let one = |name: &str| {
        format!(
            "example.org/oak tested by\n\texample.org/oak.test imports\n\texample.org/{name}: module example.org/{name}: no such host\n"
        )
    };
    let text =
        "go: finding module for package example.org/elm\n".repeat(40) + &one("elm") + &one("ash");
    let reduced = terminal::reduce(
        &text,
        Some("go mod tidy; go build"),
        Exit::Failure,
        usize::MAX,
    )
    .unwrap()
    .0;
    for name in ["elm", "ash"] {
        let told = format!("example.org/{name}: module example.org/{name}: no such host");
        assert!(reduced.contains(&told), "{reduced}");
    }
}

#[test]
fn failures_that_are_listed_again_at_the_end_of_a_run_are_told_once() {
    let listed = "\n=== Failed\n=== FAIL: shop TestCart/total (0.00s)\n    cart_test.go:14: total = 3, want 4\n\n\
                  === FAIL: tax TestRate (0.00s)\n    tax_test.go:7: rate is 2\n\nDONE 4 tests, 2 failures in 0.4s\n";
    let text = FAILING.to_owned() + listed;
    let reduced = reduced(&text);
    assert_eq!(reduced.matches("total = 3, want 4").count(), 1, "{reduced}");
    assert!(
        reduced.contains("tax TestRate (0.00s)\ntax_test.go:7: rate is 2\nDONE 4 tests"),
        "{reduced}"
    );
    let alone = terminal::reduce(
        &(listed.to_owned() + &"ok  \texample.org/elm\t0.004s\n".repeat(40)),
        Some("gotestsum -f dots"),
        Exit::Failure,
        usize::MAX,
    );
    assert!(alone.unwrap().0.contains("total = 3, want 4"));
}

#[test]
fn what_stands_below_a_line_that_is_not_told_goes_with_it() {
    let lines = (0..9).map(|n| {
        format!("    ring_test.go:80: wrong at {n}:\n        got {n}{n}\n        want 7{n}\n")
    });
    let passed = "ok  \texample.org/quay/pier\t0.004s\n".repeat(300);
    let text = format!(
        "--- FAIL: TestRing (0.00s)\n{}    ring_test.go:90: lost\n        for good\n{passed}FAIL\n",
        lines.collect::<String>()
    );
    let reduced = reduced(&text);
    assert!(
        reduced.contains("wrong at 2:\ngot 22\nwant 72\nring_test.go:90: lost\nfor good\n"),
        "{reduced}"
    );
}

#[test]
fn what_a_program_logs_that_go_runs_is_a_log() {
    let mut text: String = (0..90).fold(String::new(), |text, number| {
        text + &format!("wood: 2026/11/21 20:00:00 oak.go:7: level=info msg=\"leaf\" n={number}\n")
    });
    text += "wood: 2026/11/21 20:00:01 oak.go:9: level=error msg=\"no water\"\nexit status 1\n";
    let (reduced, family) =
        terminal::reduce(&text, Some("go run ./oak"), Exit::Failure, usize::MAX).unwrap();
    assert_eq!(family, Some("log"));
    assert!(
        reduced.contains("msg=\"no water\"\nexit status 1"),
        "{reduced}"
    );
    assert!(reduced.len() * 4 < text.len(), "{reduced}");
}

#[test]
fn parts_of_a_long_line_are_one_line() {
    let event = |rest: &str| format!("{{\"Time\":\"2026\",\"Action\":{rest}}}\n");
    let output = |test: &str, text: &str| {
        event(&format!(
            "\"output\",\"Package\":\"oak\",\"Test\":\"{test}\",\"Output\":\"{text}\""
        ))
    };
    let mut text = output("TestLeaf", "=== RUN   TestLeaf\\n");
    text += &output("TestLeaf", "    oak_test.go:7: leaves: ");
    text += &output("TestLeaf", "green, ");
    text += &output("TestLeaf", "not brown\\n");
    text += &output("TestLeaf", "--- FAIL: TestLeaf (0.00s)\\n");
    text += &event("\"fail\",\"Package\":\"oak\",\"Test\":\"TestLeaf\",\"Elapsed\":0");
    text += &output("TestBark", "=== RUN   TestBark\\n").repeat(9);
    let text = reduced(&text);
    assert!(
        text.contains("oak_test.go:7: leaves: green, not brown\n"),
        "{text}"
    );
}
