use super::*;
use crate::input::Exit;
use crate::tested;

fn reduced(text: &str) -> String {
    tested::reduced(&FAMILY, text, "", Exit::Failure)
}

#[test]
fn times_and_addresses_are_no_places() {
    for text in ["12:30:15 error: x", "http://a.b:80: error", "[10:00] x:1 y"] {
        assert!(finding(text).is_none(), "{text}");
    }
}

#[test]
fn what_node_throws_is_no_list_of_findings() {
    let text = "/srv/oak.js:2\n  b: 1,,\n       ^\n\nSyntaxError: Unexpected token ','\n\nNode.js v20.1.0\n\
        node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module './elm'\n\n\
        Node.js v20.1.0\nnode:internal/process/promises:391\n    trigger(err);\n    ^\n\nError: no leaf\n\n\
        Node.js v20.1.0\n";
    let input = Input {
        text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_ne!(recognises(&input), Match::Certain);
}

#[test]
fn counts_of_rules_stay_beside_findings() {
    let row = |number: usize| format!("{number:3}\tE{:03}  \t[ ] leaf-falls\n", number + 100);
    let counts = (0..80).rev().map(row).collect::<String>() + "Found 8 errors.\n";
    let text = format!(
        "{counts}E401 Multiple imports\n --> src/a.py:1:1\n  |\n1 | import os, sys\n  | ^^^\n  |\n\nFound 1 error.\n"
    );
    let reduced = reduced(&text);
    assert!(
        (0..80).all(|number| reduced.contains(&row(number))),
        "{reduced}"
    );
    assert!(
        reduced.contains("src/a.py:1:1: E401 Multiple imports\n"),
        "{reduced}"
    );
}
