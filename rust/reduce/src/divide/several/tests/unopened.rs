//! Outputs whose first line does not identify the program, below the output of other programs.

use super::{Exit, passed, reduced};

#[test]
fn what_only_tests_print_above_their_first_mark_makes_no_second_output() {
    let text = format!("leaf 7 fell\n{}40 passed in 0.12s\n", passed(40));
    assert_eq!(
        reduced(&text, "pytest -q -s", Exit::Success).1,
        Some("pytest")
    );
}

#[test]
fn findings_above_the_steps_of_a_build_are_told() {
    let checked = |line: usize| {
        format!("src/oak.py:{line}: error: Name \"leaf\" is not defined  [name-defined]\n")
    };
    let checked = (1..=30).map(checked).collect::<Vec<_>>().concat();
    let steps = "#1 [internal] load build definition from Dockerfile\n#1 transferring dockerfile: 32B done\n#1 DONE 0.0s\n\n\
                 #2 [1/2] RUN grow leaf\n#2 0.310 no leaf\n#2 ERROR: process \"/bin/sh -c grow leaf\" did not complete successfully: exit code: 1\n\
                 ------\n > [1/2] RUN grow leaf:\n0.310 no leaf\n------\nERROR: failed to solve: process \"/bin/sh -c grow leaf\" did not \
                 complete successfully: exit code: 1\n";
    let text = format!("{checked}Found 30 errors in 1 file (checked 2 source files)\n{steps}");
    let (told, family) = reduced(&text, "mypy .; docker build .", Exit::LastFailure);
    assert_eq!(family, Some("several"));
    for line in 1..=30 {
        assert!(told.contains(&format!("src/oak.py:{line}")), "{told}");
    }
    assert!(told.contains("no leaf"), "{told}");
    assert_eq!(
        reduced(steps, "docker build .", Exit::Failure).1,
        Some("buildkit")
    );
}
