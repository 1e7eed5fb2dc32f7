#![expect(clippy::unwrap_used, reason = "tests may panic")]

use crate::tested::unmarked::reduce_kind as reduce;
use crate::{Kind, Request};

fn reduced(command: &str, text: &str, code: i64) -> String {
    let request = Request {
        command: Some(command),
        ranged: false,
        ok: code == 0,
        exit_code: Some(code),
        budget_chars: usize::MAX,
        policy: None,
    };
    reduce(Kind::Terminal, &request, text).unwrap()
}

fn passing(number: usize) -> String {
    (0..number)
        .map(|number| format!("test_n{number} (pkg.test_a.CaseA.test_n{number}) ... ok\n"))
        .collect::<Vec<_>>()
        .concat()
}

#[test]
fn heads_of_failures_whose_rulers_were_filtered_away_all_stay() {
    let head = |n: usize| format!("FAIL: test_{n} (t.Oak.test_{n})\nAssertionError: {n} != 0\n");
    let heads = (1..60).map(head).collect::<Vec<_>>().concat();
    let text = format!(
        "{}{heads}Ran 99 tests in 0.001s\nFAILED (failures=59)\n",
        passing(40)
    );
    let reduced = reduced("python -m unittest -v 2>&1 | grep -v '^ '", &text, 0);
    for n in 1..60 {
        assert!(reduced.contains(&head(n)), "{reduced}");
    }
}
