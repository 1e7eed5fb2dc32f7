#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::input::Exit;
use crate::tested::unmarked as terminal;

pub(super) fn reduced(text: &str) -> String {
    terminal::reduce(text, Some("make check"), Exit::Failure, usize::MAX)
        .unwrap()
        .0
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
