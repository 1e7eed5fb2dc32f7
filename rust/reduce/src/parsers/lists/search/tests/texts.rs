//! What is shown of the lines that were found.

use std::fmt::Write as _;

use super::reduced;

#[test]
fn long_lines_are_shown_around_what_was_searched_for() {
    let line = format!("{}leaf(7){}", "a".repeat(900), "b".repeat(400));
    let text = format!("oak.min.js:1:{line}\n");
    let around = format!(
        "...{}leaf(7){}...[1147 chars more]",
        "a".repeat(40),
        "b".repeat(113)
    );
    let expected = format!("oak.min.js:1:{around}\n[0 of 1 lines left out]");
    assert_eq!(
        reduced(&text, &["grep", "-rn", "-C", "2", "leaf(", "."]),
        expected
    );
    // Of one file neither its name nor numbers are there.
    let expected = format!("{around}\n[0 of 1 lines left out]");
    assert_eq!(reduced(&line, &["grep", "leaf", "oak.min.js"]), expected);
}

#[test]
fn no_file_takes_the_room_for_the_texts_of_all() {
    let mut text = String::new();
    for file in ["oak.c", "elm.c"] {
        for line in 100..160 {
            writeln!(
                text,
                "{file}:{line}:call of leaf_{} in {file} with {}",
                "x".repeat(line % 7),
                "y".repeat(line % 50)
            )
            .unwrap_or(());
        }
    }
    let told = reduced(&text, &["rg", "-n", "leaf_"]);
    assert!(told.contains("\nelm.c:100:call of leaf_"), "{told}");
    assert!(told.matches(" in elm.c with").count() >= 3, "{told}");
}

#[test]
fn a_record_of_a_log_that_says_something_else_has_its_text() {
    let mut text = String::new();
    for number in 1..=110 {
        let said = match number {
            90 => "lease of oak.test ends in 2 days".to_owned(),
            _ => format!("slow query ({number}.1s) of tenant {number}"),
        };
        let _ = writeln!(
            text,
            "{number}:2026-01-02 10:01:{:02},390 WARNING  [MainThread] grove.db:24 - {said}",
            number % 60
        );
    }
    let told = reduced(&text, &["grep", "-n", "WARN", "oak.log"]);
    assert!(told.contains("lease of oak.test ends in 2 days"), "{told}");
    assert!(told.matches("slow query").count() == 1, "{told}");
}
