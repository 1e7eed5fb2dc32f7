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

fn of_session(text: &str) -> String {
    let mut output = Output::default();
    assert!(Session::new(text, false, false).read(&mut output));
    output.finish(text.lines().count(), usize::MAX)
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
