use super::*;
use ethos_registry_core::lines::lines;

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
    assert!(
        cut.contains(&format!("\n[{hidden} lines left out]\n")),
        "{cut}"
    );
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
        text.contains("fact 39") && text.contains(" lines left out]\n"),
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
    let rows = text.lines().filter_map(gap_lines);
    assert_eq!(rows.sum::<usize>(), 20 * (7 + 10) - shown, "{text}");
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
    assert!(
        text.contains(&format!("\n[{hidden} rows left out]\n")),
        "{text}"
    );
}

/// Output with failures: the name, message and location of each.
fn failures(of: &[(&str, &str, &str)]) -> String {
    let mut output = Output::default();
    output.fact("the run");
    for (name, said, places) in of {
        output.open_failure(name, 1);
        output.fact(said);
        output.context("because");
        output.place(places, 1, places.split(' ').map(|place| (place, place)));
        output.close_failure();
    }
    output.fact("the end");
    output.finish(20, usize::MAX)
}

#[test]
fn failures_that_say_the_same_stand_below_the_first_by_names_and_other_places() {
    assert_eq!(
        failures(&[
            ("oak falls", "no root", "lib:1 oak:2"),
            ("elm falls", "no leaf", "elm:3"),
            ("ash falls", "no root", "lib:1 ash:4"),
            ("fir falls", "no root", "lib:1 oak:2"),
            ("yew falls", "no leaf", "a:1 b:2 c:3"),
        ]),
        "the run\noak falls\nno root\nbecause\nlib:1 oak:2\nalso ash falls ash:4\nalso fir falls\n\
         elm falls\nno leaf\nbecause\nelm:3\nalso yew falls a:1 … c:3\nthe end\n[0 of 20 lines left out]"
    );
}

#[test]
fn of_failures_with_one_message_all_names_go_below_another_that_says_the_same() {
    let mut output = Output::default();
    for names in [["oak falls", "elm falls"], ["ash falls", "fir falls"]] {
        for name in names {
            output.open_failure(name, 1);
        }
        output.fact("no root");
        output.close_failure();
    }
    assert_eq!(
        output.finish(6, usize::MAX),
        "oak falls\nelm falls\nno root\nalso ash falls\nalso fir falls\n[0 of 6 lines left out]"
    );
}

#[test]
fn a_failure_that_says_nothing_is_like_no_other() {
    let mut output = Output::default();
    for name in ["oak falls", "elm falls"] {
        output.open_failure(name, 1);
        output.close_failure();
        output.fact("meanwhile");
    }
    assert_eq!(
        output.finish(4, usize::MAX),
        "oak falls\nmeanwhile\nelm falls\nmeanwhile\n[0 of 4 lines left out]"
    );
}

#[test]
fn failures_of_another_run_stand_by_themselves() {
    let mut output = Output::default();
    for run in ["first", "second"] {
        for name in ["oak falls", "elm falls"] {
            output.open_failure(name, 1);
            output.fact("no root");
        }
        output.end_failures();
        output.fact(run);
    }
    let one = "oak falls\nno root\nalso elm falls\n";
    assert_eq!(
        output.finish(10, usize::MAX),
        format!("{one}first\n{one}second\n[0 of 10 lines left out]")
    );
}

#[test]
fn a_place_that_has_the_short_name_of_another_is_told_as_a_whole() {
    let mut output = Output::default();
    for (name, place) in [("oak falls", "a/tree.py:3"), ("elm falls", "b/tree.py:3")] {
        output.open_failure(name, 1);
        output.fact("no root");
        output.place(place, 1, [(place, "tree.py:3")]);
    }
    assert_eq!(
        output.finish(6, usize::MAX),
        "oak falls\nno root\na/tree.py:3\nalso elm falls b/tree.py:3\n[0 of 6 lines left out]"
    );
}
