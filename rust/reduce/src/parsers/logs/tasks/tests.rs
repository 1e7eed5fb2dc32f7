use super::*;
use crate::tested;

/// A run of tests by node in which `failed` fails, each line behind `title`.
fn lines(title: &str, failed: Option<usize>) -> String {
    let mut text = format!("{title}TAP version 13\n");
    for number in 1..=40 {
        let point = if failed == Some(number) {
            format!(
                "{title}not ok {number} - adds {number}\n{title}  ---\n{title}  error: '3 !== 4'\n{title}  ...\n"
            )
        } else {
            format!("{title}ok {number} - adds {number}\n")
        };
        text.push_str(&point);
    }
    text + title + "1..40\n"
}

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Failure)
}

#[test]
fn each_task_of_turbo_is_told_by_itself_and_the_verdict_follows() {
    let text = format!(
        "   • Packages in scope: a, b\na:test: cache miss, executing 89d06ba09f7bf80c\n\
         b:test: cache miss, executing 26bdea684c2fa6ca\n{}{}b#test:  ERROR  command (/w/b) npm run test exited (1)\n\n\
         Tasks:    1 successful, 2 total\nFailed:    b#test\n",
        lines("a:test: ", None),
        lines("b:test: ", Some(7)),
    );
    assert_eq!(
        reduced(&text, "npx turbo run test"),
        "a:test:\nok 40 - adds 40\nb:test:\nnot ok 7 - adds 7\nerror: '3 !== 4'\n\
         b#test:  ERROR  command (/w/b) npm run test exited (1)\n   • Packages in scope: a, b\n\
         Tasks:    1 successful, 2 total\nFailed:    b#test\n[85 of 94 lines left out]"
    );
}

#[test]
fn lines_of_tasks_that_run_at_once_are_put_together() {
    let (one, other) = (
        lines("packages/a test: ", None),
        lines("packages/b test: ", Some(7)),
    );
    let mut text = String::from(
        "Scope: 2 of 3 workspace projects\npackages/a test$ node --test\npackages/b test$ node --test\n",
    );
    let mut other = other.lines();
    for line in one.lines() {
        text = text + line + "\n" + other.next().unwrap_or_default() + "\n";
    }
    other.for_each(|line| text = text.clone() + line + "\n");
    text.push_str("packages/a test: Done\npackages/b test: Failed\nExit status 1\n");
    let reduced = reduced(&text, "pnpm -r test");
    for part in [
        "packages/b test\nnot ok 7 - adds 7\nerror: '3 !== 4'\n",
        "packages/b test: Failed\n",
        "Exit status 1\n",
    ] {
        assert!(reduced.contains(part), "{reduced}");
    }
    assert!(!reduced.contains("ok 3"), "{reduced}");
}

#[test]
fn commands_side_by_side_are_told_by_how_they_ended() {
    let text = lines("[api] ", Some(3))
        + &lines("[web] ", None)
        + "[api] node --test exited with code 1\n[web] node --test exited with code 0\n";
    let reduced = reduced(&text, "npx concurrently -n api,web a b");
    assert!(
        reduced.starts_with("[api]\nnot ok 3 - adds 3\nerror: '3 !== 4'\n"),
        "{reduced}"
    );
    assert!(
        reduced.contains("[api] node --test exited with code 1\n[web]\n"),
        "{reduced}"
    );
}

#[test]
fn what_ant_runs_stands_in_brackets() {
    let text = "Buildfile: /w/build.xml\n\ncompile:\n    [javac] Compiling 2 source files to /w/build\n    \
                [javac] /w/src/Cart.java:1: error: incompatible types: String\n    [javac]   total += name;\n    \
                [javac]            ^\n    [javac] 1 error\n\nBUILD FAILED\n/w/build.xml:2: Compile failed\n";
    let reduced = reduced(text, "ant");
    for part in [
        "/w/src/Cart.java:1: error: incompatible types: String\n",
        "BUILD FAILED\n",
        "/w/build.xml:2: Compile failed\n",
    ] {
        assert!(reduced.contains(part), "{reduced}");
    }
}

#[test]
fn other_lines_with_colons_and_brackets_are_of_no_task() {
    for text in [
        "src/a.c:12: error\nsrc/a.c:main: cache\n[1] 3 4\n[2] 5\n[3] 5\n",
        "[a] x\n[b] y\n[c] z\n",
        "web:build: done\n",
    ] {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No, "{text}");
    }
}

#[test]
fn what_containers_print_is_told_apart() {
    let passed: String = "api-1  | tests/test_oak.py::test_leaf PASSED\n".repeat(40);
    let text = format!(
        "Attaching to api-1, web-1\napi-1  | ===== test session starts =====\n{passed}web-1  | listening on 8080\napi-1  | tests/test_oak.py::test_twig FAILED\napi-1  | ===== FAILURES =====\napi-1  | _____ test_twig _____\napi-1  | >       assert 6 == 7\napi-1  | E       assert 6 == 7\napi-1  | tests/test_oak.py:8: AssertionError\napi-1  | ===== 1 failed, 40 passed in 0.12s =====\napi-1 exited with code 1\n"
    );
    let reduced = reduced(&text, "docker compose up");
    assert_eq!(
        reduced,
        "api-1\nE assert 6 == 7\ntests/test_oak.py::test_twig FAILED tests/test_oak.py:8\n1 failed, 40 passed in 0.12s\n\
         api-1 exited with code 1\nweb-1\nlistening on 8080\nAttaching to api-1, web-1\n[42 of 51 lines left out]"
    );
}

#[test]
fn lines_behind_two_names_of_containers_are_not_asked_what_printed_them() {
    let text = lines("oak-1 | elm-1 | ", Some(7));
    let words = ["docker", "compose", "up"].map(str::to_owned);
    let known = recognises(&Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    });
    assert_eq!(known, Match::No);
}

#[test]
fn the_time_of_a_log_record_is_no_name_of_a_task() {
    let record =
        |level: &str, told: &str| format!("[2026-11-21 20:00:01 +0000] [47] [{level}] {told}\n");
    let text = record("INFO", "Starting oak 2.0")
        + &record("INFO", "Using leaf: sync")
        + &record("INFO", "Growing leaf with pid: 48")
        + &record("ERROR", "Exception in leaf")
        + &record("ERROR", "Leaf (pid:48) exited with code 3.")
        + &record("INFO", "Falling");
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_eq!(recognises(&input), Match::No);
}
