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
