use std::fmt::Write as _;

use super::*;

#[test]
fn of_a_crash_the_message_and_the_frames_of_the_project_stay() {
    let text = "collecting ... collected 2 items\n\ntests/test_a.py::test_b Fatal Python error: Segmentation fault\n\n\
                    Current thread 0x00007f215 (most recent call first):\n  File \"/app/tests/test_a.py\", line 7 in test_b\n  \
                    File \"/opt/venv/lib/python3.12/site-packages/pluggy/_callers.py\", line 103 in _multicall\n  \
                    File \"<string>\", line 1 in <module>\n";
    let mut output = Output::default();
    assert!(Session::new(text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    assert!(
        reduced.contains("Fatal Python error: Segmentation fault"),
        "{reduced}"
    );
    assert!(
        reduced.contains("File \"/app/tests/test_a.py\", line 7 in test_b"),
        "{reduced}"
    );
    assert!(!reduced.contains("pluggy"), "{reduced}");
    assert!(!reduced.contains("<string>"), "{reduced}");
}

#[test]
fn frames_that_failures_of_one_message_end_with_are_told_once() {
    let mut text = String::from("==== ERRORS ====\n");
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let _ = write!(
            text,
            "____ ERROR collecting tests/test_{name}.py ____\nImportError while importing test module \
             '/app/tests/test_{name}.py'.\nHint: make sure your test modules/packages have valid Python \
             names.\nTraceback:\ntests/test_{name}.py:{number}: in <module>\n    import oak\nsrc/oak/__init__.py:2: in \
             <module>\n    from .bark import x\nsrc/oak/bark.py:7: in <module>\n    import moss\nE   \
             ModuleNotFoundError: No module named 'moss'\n"
        );
    }
    text.push_str("==== short test summary info ====\n");
    for name in ["a", "b", "c"] {
        let _ = writeln!(
            text,
            "ERROR tests/test_{name}.py - ImportError while importing test mod..."
        );
    }
    text.push_str("==== 3 errors in 0.10s ====\n");
    let mut output = Output::default();
    assert!(Session::new(&text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    assert!(
        reduced.starts_with(
            "E ModuleNotFoundError: No module named 'moss'\nERROR tests/test_a.py tests/test_a.py:0 \
             src/oak/__init__.py:2 src/oak/bark.py:7\nERROR tests/test_b.py tests/test_b.py:1 …\nERROR \
             tests/test_c.py tests/test_c.py:2 …\n"
        ),
        "{reduced}"
    );
}

#[test]
fn below_frames_of_python_a_message_is_as_long_as_elsewhere() {
    let message = format!(
        "AssertionError: assert 'oak {}' in 'elm'",
        "leaf ".repeat(32)
    );
    let text = format!(
        "==== FAILURES ====\n____ test_oak ____\nTraceback (most recent call last):\n  File \
         \"/app/tests/test_a.py\", line 7, in test_oak\n    assert oak in elm\n           \
         ^^^^^^^^^^\n{message}\n==== short test summary info ====\nFAILED tests/test_a.py::test_oak - \
         Asse...\n==== 1 failed in 0.1s ====\n"
    );
    let reduced = of_session(&text);
    assert!(reduced.contains(&message), "{reduced}");
}

#[test]
fn a_traceback_of_python_whose_head_was_cut_away_keeps_its_frames_and_what_was_raised() {
    let text = "    return leaves()\n  File \"/app/oak.py\", line 3, in leaves\n    raise LeafError\n\
                oak.LeafError: no leaf\n==== short test summary info ====\n\
                FAILED tests/test_a.py::test_oak - oak.Leaf...\n==== 1 failed in 0.1s ====\n";
    let reduced = of_session(text);
    assert!(
        reduced.contains("File \"/app/oak.py\", line 3, in leaves\noak.LeafError: no leaf\n"),
        "{reduced}"
    );
}

#[test]
fn a_row_of_coverage_lists_as_many_lines_as_fit() {
    let missing: Vec<String> = (1..120).map(|line| (line * 7).to_string()).collect();
    let row = "oak.py                     410     42    90%   ";
    let text = format!(
        "==== test session starts ====\ncollected 1 item\n\ntests/test_a.py .\n\n---------- coverage: platform linux, python 3.12 ----------\n\
         Name    Stmts   Miss  Cover   Missing\n-------------------------------------\n{row}{}\nash.py   4   1   75%   3\n\
         -------------------------------------\nTOTAL    9   1   75%\n\n==== 1 passed in 0.01s ====\n",
        missing.join(", ")
    );
    let mut output = Output::default();
    assert!(Session::new(&text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    assert!(reduced.contains(&format!("{row}7, 14, 21")), "{reduced}");
    assert!(reduced.contains(" chars]..."), "{reduced}");
    assert!(reduced.contains("ash.py   4   1   75%   3\n"), "{reduced}");
}

#[test]
fn rows_of_measured_tests_stay() {
    let text = "..F                                     [100%]\n\n------ benchmark: 2 tests ------\nName (time in ns)      Min          \
                Max\n----------------------------\ntest_oak[1]       554.0 (1.0)      1,030.2 (19.1)\ntest_elm         \
                959.0 (1.7)         77.5 (1.4)\n----------------------------\n\nLegend:\n  Outliers: 1 Standard \
                Deviation\n  OPS: Operations Per Second\n1 failed, 2 passed in 0.76s\n";
    let mut output = Output::default();
    assert!(Session::new(text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    for fact in [
        "test_oak[1] 554.0 (1.0) 1,030.2 (19.1)\n",
        "test_elm 959.0 (1.7) 77.5 (1.4)\n",
        "1 failed, 2 passed",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
    assert!(!reduced.contains("Outliers"), "{reduced}");
}

fn of_session(text: &str) -> String {
    let mut output = Output::default();
    assert!(Session::new(text, false, false).read(&mut output));
    output.finish(text.lines().count(), usize::MAX)
}

#[test]
fn what_is_only_collected_is_listed() {
    let text = "==== test session starts ====\ncollected 3 items\n\n<Dir app>\n  <Module test_a.py>\n    <Class TestOak>\n      \
                <Function test_bark>\n      <Function test_leaf[a b]>\n    <Function test_root>\n\n==== 3 tests collected in 0.02s ====\n";
    assert_eq!(
        of_session(text),
        "<Dir app>\n<Module test_a.py>\n<Class TestOak>\ntest_bark test_leaf[a b] test_root\n\
         3 tests collected in 0.02s\n[4 of 11 lines left out]"
    );
    let quiet = "tests/test_a.py::test_bark\ntests/test_a.py::test_leaf[a b]\n\n2/9 tests collected (7 deselected) in 0.02s\n";
    assert_eq!(
        of_session(quiet),
        "tests/test_a.py::test_bark\ntests/test_a.py::test_leaf[a b]\n2/9 tests collected (7 deselected) in 0.02s\n\
         [1 of 4 lines left out]"
    );
}

#[test]
fn names_of_tests_that_ran_are_no_list() {
    let text = "==== test session starts ====\ntests/test_a.py::test_bark \nthe bark is wet\nPASSED\n==== 1 passed in 0.02s ====\n";
    let reduced = of_session(text);
    assert!(!reduced.contains("test_bark"), "{reduced}");
    assert!(reduced.contains("1 passed in 0.02s"), "{reduced}");
}

#[test]
fn entries_of_a_summary_whose_beginning_was_cut_away_stay_each() {
    let mut text = String::new();
    for number in 0..30 {
        let _ = writeln!(text, "FAILED tests/test_a.py::test_b[{number}] - Asse...");
    }
    text.push_str("30 failed, 2 passed in 0.30s\n");
    let reduced = of_session(&text);
    for number in 0..30 {
        let node = format!("tests/test_a.py::test_b[{number}]");
        assert!(reduced.contains(&node), "{node}: {reduced}");
    }
}

#[test]
fn of_a_warning_of_the_interpreter_the_head_stays() {
    let text = "/opt/lib/site-packages/oak.py:3: OakDeprecationWarning: The option is unset.\nIt will be required.\n\n  warnings.warn(X)\n\n\
                src/elm.py:9: UserWarning: wet bark\nwhat the test prints\n\n==== test session starts ====\ntests/test_a.py .  [100%]\n==== 1 passed in 0.02s ====\n";
    let reduced = of_session(text);
    for kept in [
        "oak.py:3: OakDeprecationWarning: The option is unset.",
        "src/elm.py:9: UserWarning: wet bark",
        "what the test prints",
    ] {
        assert!(reduced.contains(kept), "{kept}: {reduced}");
    }
    for gone in ["It will be required", "warnings.warn"] {
        assert!(!reduced.contains(gone), "{gone}: {reduced}");
    }
}

#[test]
fn failures_of_several_processes_stay_when_the_summary_was_cut_away() {
    let text = "==== test session starts ====\n[gw0] [ 10%] PASSED tests/test_a.py::test_bark \n[gw1] [ 20%] FAILED tests/test_a.py::test_leaf[a b] \n[gw0] [ 30%] ERROR tests/test_a.py::test_root \n[gw1] [ 40%] PASSED tests/test_a.py::test_twig \n";
    assert_eq!(
        of_session(text),
        "FAILED tests/test_a.py::test_leaf[a b]\nERROR tests/test_a.py::test_root\n\
         [gw1] [ 40%] PASSED tests/test_a.py::test_twig \n[2 of 5 lines left out]"
    );
}

#[test]
fn an_error_that_a_worker_met_in_pytest_is_told() {
    let frame = "E               File \"/v/site-packages/pluggy/x.py\", line 3, in f\nINTERNALERROR> E                 return f()\nINTERNALERROR> ";
    let text = format!(
        "bringing up nodes...\nINTERNALERROR> def worker_internal_error(\nINTERNALERROR> >           assert False, formatted_error\n\
         INTERNALERROR> E           AssertionError: Traceback (most recent call last):\nINTERNALERROR> {}\
         E               File \"/w/conftest.py\", line 2, in hook\nINTERNALERROR> E                 1 / 0\n\
         INTERNALERROR> E           ZeroDivisionError: no fog\nINTERNALERROR> E           assert False\nINTERNALERROR> \n\
         INTERNALERROR> /v/site-packages/xdist/y.py:9: AssertionError\n",
        frame.repeat(30)
    );
    let mut output = Output::default();
    assert!(Session::new(&text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    assert!(reduced.contains("ZeroDivisionError: no fog"), "{reduced}");
    assert!(reduced.contains("/w/conftest.py\", line 2"), "{reduced}");
}

#[test]
fn rows_of_tests_whose_head_was_cut_away_are_progress() {
    let rows = |word: &str| -> String {
        let row = |n| format!("tests/test_a.py::test_{n} {word}   [ {n}%]\n");
        (10..60).map(row).collect()
    };
    let text = rows("PASSED")
        + "tests/test_a.py::test_fog FAILED   [ 61%]\n\n==== 1 failed, 50 passed in 0.12s ====\n";
    assert_eq!(
        of_session(&text),
        "tests/test_a.py::test_fog FAILED\n1 failed, 50 passed in 0.12s\n[51 of 53 lines left out]"
    );
}

#[test]
fn marks_without_a_file_go_where_each_failure_has_its_line() {
    let text = "..F. [ 50%]\n.... [100%]\n==== FAILURES ====\n/w/tests/test_a.py:3: AssertionError: assert oak\n\
                ==== 1 failed, 7 passed in 0.1s ====\n";
    assert_eq!(
        of_session(text),
        "/w/tests/test_a.py:3: AssertionError: assert oak\n1 failed, 7 passed in 0.1s\n[3 of 5 lines left out]"
    );
}

#[test]
fn errors_and_places_that_a_filter_left_of_failures_are_told() {
    let failure = |number: usize| {
        format!(
            ">       raise KeyError({number})\nE       KeyError: {number}\ntests/test_a.py:{number}: KeyError\n"
        )
    };
    let failures: String = (10..60).map(failure).collect();
    let text = format!(
        "{failures}FAILED tests/test_a.py::test_fog - KeyError: 10\n50 failed, 50 passed in 0.12s\n"
    );
    let reduced = of_session(&text);
    for number in 10..60 {
        let told = format!("E       KeyError: {number}\ntests/test_a.py:{number}: KeyError\n");
        assert!(reduced.contains(&told), "{reduced}");
    }
    assert!(
        reduced.contains("\n50 failed, 50 passed in 0.12s\n"),
        "{reduced}"
    );
}

#[test]
fn a_failure_whose_head_was_cut_away_keeps_its_error_and_places() {
    let source = "        leaf = grow()\n        if leaf:\n            return leaf\n".repeat(20);
    let text = format!(
        "{source}tests/test_a.py:7: \n_ _ _ _ _ _\n\n>       raise KeyError(9)\nE       KeyError: 9\n\nsrc/a.py:3: KeyError\n\
         ____ test_fog ____\n>       assert 0\nE       assert 0\n\ntests/test_a.py:9: AssertionError\n==== short test summary info ====\n\
         FAILED tests/test_a.py::test_leaf - KeyError: 9\nFAILED tests/test_a.py::test_fog - assert 0\n==== 2 failed in 0.1s ====\n"
    );
    assert_eq!(
        of_session(&text),
        "tests/test_a.py:7: \nKeyError: 9\nsrc/a.py:3: KeyError\nE assert 0\nFAILED tests/test_a.py::test_fog tests/test_a.py:9\n\
         FAILED tests/test_a.py::test_leaf - KeyError: 9\n2 failed in 0.1s\n[68 of 76 lines left out]"
    );
}

#[test]
fn an_error_of_pytest_itself_is_told_once() {
    let frames = "INTERNALERROR>   File \"/v/lib/python3/site-packages/pluggy/x.py\", line 3, in f\nINTERNALERROR>     return g()\n".repeat(9);
    let text = format!(
        "INTERNALERROR> Traceback (most recent call last):\n{frames}INTERNALERROR>   File \"/w/conftest.py\", line 2, in hook\n\
         INTERNALERROR>     1 / 0\nINTERNALERROR> ZeroDivisionError: no fog\n"
    );
    let told = of_session(&text);
    assert_eq!(told.matches("no fog").count(), 1, "{told}");
    assert!(told.contains("conftest.py\", line 2"), "{told}");
}

#[test]
fn what_a_test_printed_stands_between_the_places_of_line_mode() {
    let text = "==== FAILURES ====\nE   assert 1 == 2\n/app/test_oak.py:3: assert 1 == 2\nE   assert 9 == 0\n\
                ------ Captured stdout call ------\nsap runs low\n/app/test_oak.py:7: assert 9 == 0\n==== 2 failed in 0.1s ====\n";
    let mut output = Output::default();
    assert!(Session::new(text, false, false).read(&mut output));
    let reduced = output.finish(text.lines().count(), usize::MAX);
    let told =
        "/app/test_oak.py:3: assert 1 == 2\nsap runs low\n/app/test_oak.py:7: assert 9 == 0\n";
    assert!(reduced.starts_with(told), "{reduced}");
}
