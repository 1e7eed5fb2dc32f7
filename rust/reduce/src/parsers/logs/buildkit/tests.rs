#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;

use crate::tested::unmarked::reduce_kind as reduce;
use crate::{Kind, Request, family};

fn reduced(text: &str, exit_code: i64) -> String {
    let request = Request {
        command: Some("docker build -t nest ."),
        ranged: false,
        ok: exit_code == 0,
        exit_code: Some(exit_code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap()
}

fn head() -> String {
    String::from(
        "#0 building with \"default\" instance using docker driver\n\n\
         #1 [internal] load build definition from Dockerfile\n\
         #1 transferring dockerfile: 612B done\n#1 DONE 0.0s\n\n\
         #2 [1/3] FROM docker.io/library/twig:3@sha256:0011223344556677889900112233445566778899\n\
         #2 resolve docker.io/library/twig:3 done\n#2 sha256:00112233 3.1MB / 29.1MB 0.2s\n\
         #2 extracting sha256:00112233 0.9s done\n#2 DONE 1.2s\n\n\
         #3 [2/3] COPY requirements.txt .\n#3 CACHED\n\n",
    )
}

fn tests(failed: bool) -> String {
    let mut text = String::from(
        "#4 [3/3] RUN --mount=type=cache,target=/root pytest -v\n\
         #4 0.412 ============ test session starts ============\n#4 0.413 collected 41 items\n\
         #4 0.413\n",
    );
    for number in 0..40 {
        let _ = writeln!(
            text,
            "#4 1.{number:03} tests/test_egg.py::test_{number} PASSED"
        );
    }
    if failed {
        text += "#4 2.001 tests/test_egg.py::test_cracks FAILED\n\
                 #4 2.002 =================== FAILURES ===================\n\
                 #4 2.002 _________________ test_cracks __________________\n#4 2.002\n\
                 #4 2.003     def test_cracks():\n#4 2.003 >       assert 1 == 2\n\
                 #4 2.003 E       assert 1 == 2\n#4 2.003\n\
                 #4 2.004 tests/test_egg.py:7: AssertionError\n\
                 #4 2.004 =========== short test summary info ============\n\
                 #4 2.005 FAILED tests/test_egg.py::test_cracks - assert 1 == 2\n\
                 #4 2.005 ========= 1 failed, 40 passed in 1.20s =========\n\
                 #4 ERROR: process \"/bin/sh -c pytest -v\" did not complete successfully: exit code: 1\n\
                 ------\n > [3/3] RUN --mount=type=cache,target=/root pytest -v:\n\
                 2.005 FAILED tests/test_egg.py::test_cracks - assert 1 == 2\n------\n\
                 Dockerfile:9\n--------------------\n   7 |     COPY . .\n\
                 \u{20}  9 | >>> RUN --mount=type=cache,target=/root pytest -v\n--------------------\n\
                 ERROR: failed to solve: process \"/bin/sh -c pytest -v\" did not complete \
                 successfully: exit code: 1\n";
    } else {
        text += "#4 2.005 41 passed in 1.20s\n#4 DONE 2.3s\n\n#5 exporting to image\n\
                 #5 exporting layers 0.1s done\n#5 naming to docker.io/library/nest done\n\
                 #5 DONE 0.2s\n";
    }
    text
}

#[test]
fn a_step_that_failed_is_reduced_as_its_command() {
    let short = reduced(&(head() + &tests(true)), 1);
    for fact in [
        "[3/3] RUN --mount=type=cache,target=/root pytest -v",
        "tests/test_egg.py::test_cracks",
        "assert 1 == 2",
        "tests/test_egg.py:7",
        "1 failed, 40 passed in 1.20s",
        "Dockerfile:9",
        "exit code: 1",
    ] {
        assert!(short.contains(fact), "{fact} is not in {short}");
    }
    for noise in ["test_17 ", "transferring", "extracting", "COPY . ."] {
        assert!(!short.contains(noise), "{noise} is in {short}");
    }
}

#[test]
fn of_a_build_that_went_well_the_image_is_named() {
    let short = reduced(&(head() + &tests(false)), 0);
    assert!(
        short.contains("naming to docker.io/library/nest"),
        "{short}"
    );
    assert!(short.contains("41 passed in 1.20s"), "{short}");
    assert!(!short.contains("test_17"), "{short}");
}

#[test]
fn bad_lines_of_a_step_that_went_well_stay_under_its_title() {
    let text = head()
        + "#4 [3/3] RUN ./warm.sh\n#4 0.1 warming up all of the eggs\n#4 0.2 error: no cache at /srv/eggs, going on\n"
        + &"#4 0.3 warm\n".repeat(60)
        + "#4 DONE 0.4s\n";
    let short = reduced(&text, 0);
    assert!(
        short.contains("[3/3] RUN ./warm.sh\nerror: no cache at /srv/eggs"),
        "{short}"
    );
}

#[test]
fn a_build_is_known_under_any_command_and_other_numbered_lines_are_not() {
    assert_eq!(
        family(&(head() + &tests(true)), Some("./ci.sh")),
        "buildkit"
    );
    let issues = "#12 [bug] wing falls off\n#13 [feature] more eggs\n".repeat(40);
    assert_eq!(family(&issues, Some("./issues.sh")), "generic");
}
