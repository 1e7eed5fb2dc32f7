use super::*;
use crate::lines::lines;

#[test]
fn the_account_counts_what_is_left_out() {
    let mut output = Output::default();
    output.fact("one");
    output.summary("two to four", 3);
    assert_eq!(
        output.finish(10, 1_000),
        "one\ntwo to four\n[6 of 10 lines left out]"
    );
}

#[test]
fn a_text_with_an_account_was_reduced() {
    assert!(is_reduced("a\n[6 of 10 lines left out]\n"));
    assert!(!is_reduced("a\n[6 of ten lines left out]"));
    assert!(!is_reduced("[6 of 10 lines left out]\na"));
    let long = "a leaf\n".repeat(2_000);
    assert!(is_reduced(&format!("{long}[6 of 2006 lines left out]")));
    assert!(!is_reduced(&format!("{long}[6 of 10 lines left out]")));
}

#[test]
fn a_complete_text_that_is_cut_has_an_account() {
    let text = "On branch main\n".repeat(40);
    let complete = |budget_chars| {
        let mut output = Output::default();
        lines(&text).for_each(|line| output.line_of_all(line));
        output.is_all(true);
        output.finish(40, budget_chars)
    };
    assert_eq!(complete(600), text);
    let cut = complete(300);
    assert!(is_reduced(&cut), "{cut}");
    let hidden = 40 - cut.matches("On branch").count();
    assert!(cut.contains(&format!("\n... {hidden} lines\n")), "{cut}");
    let account = format!("\n[{hidden} of 40 lines left out]");
    assert!(cut.ends_with(&account), "{cut}");
    assert!(cut.chars().count() <= 300, "{cut}");
}

#[test]
fn context_goes_before_facts_and_the_middle_before_the_ends() {
    let mut output = Output::default();
    for number in 0..40 {
        output.context(&format!("context {number}"));
        output.fact(&format!("fact {number}"));
    }
    let text = output.finish(80, 480);
    assert!(text.chars().count() <= 480, "{text}");
    assert!(
        text.starts_with("fact 0\n") || text.starts_with("context 0\n"),
        "{text}"
    );
    assert!(
        text.contains("fact 39") && text.contains(" lines\n"),
        "{text}"
    );
}

#[test]
fn the_account_counts_the_lines_of_rows_that_did_not_fit() {
    let mut output = Output::default();
    for number in 0..20 {
        output.summary(&format!("{number} names of seven files each"), 7);
        output.gap(10);
    }
    let text = output.finish(400, 300);
    let shown = text.matches("names").count() * 7;
    let hidden = 20 * 7 - shown;
    assert!(text.contains(&format!("\n... {hidden} lines\n")), "{text}");
    assert!(
        text.ends_with(&format!("\n[{} of 400 lines left out]", 400 - shown)),
        "{text}"
    );
    assert!(text.chars().count() <= 300, "{text}");
}

#[test]
fn rows_of_one_line_that_did_not_fit_are_told_as_rows() {
    let mut output = Output::default();
    for number in 0..20 {
        output.fact(&format!("{number} leaves of one oak"));
    }
    let text = output.finish(1, 200);
    let hidden = 20 - text.matches("leaves").count();
    assert!(text.contains(&format!("\n... {hidden} rows\n")), "{text}");
}
