mod records;

use super::*;
use crate::input::Exit;

fn reduced(text: &str) -> String {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Success,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    format!("[{}]", (0..count).map(item).collect::<Vec<_>>().join(", "))
}

#[test]
fn a_key_that_one_record_has_is_quoted_with_its_index() {
    let items = list(200, |number| {
        let odd = if number == 73 {
            ", \"error\": \"E_OAK: leaf 73\""
        } else {
            ""
        };
        format!("{{\"id\": {number}, \"tags\": [\"a\", \"b\"]{odd}}}")
    });
    let text = format!("{{\"count\": 200, \"next\": null, \"results\": {items}}}");
    assert_eq!(
        reduced(&text),
        "{\"count\": 200,\n\"next\": null,\n\
        \"results\": [200 × {\"id\": 0, \"tags\": [2 × \"a\" ×200|\"b\" ×200]}]}\n\
        results[73].error \"error\": \"E_OAK: leaf 73\" (1 of 200, id 73)\n[0 of 1 lines left out]"
    );
}

#[test]
fn records_without_an_id_go_by_their_name() {
    let items = list(70, |number| {
        let phase = if number == 9 { "fell" } else { "grows" };
        format!(
            "{{\"metadata\": {{\"name\": \"oak-{number}\"}}, \"status\": {{\"phase\": \"{phase}\", \"of\": {{\"name\": \"elm\"}}}}}}"
        )
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains("[9].status.phase \"fell\" (1 of 70, name \"oak-9\")"),
        "{reduced}"
    );
}

#[test]
fn an_object_a_line_is_read_as_a_list_when_there_are_many() {
    let row = |number: usize| {
        let state = if number == 70 { "fell" } else { "grows" };
        format!(
            "{{\"leaf\": {number}, \"state\": \"{state}\", \"tree\": \"an oak beside the road to the north\", \"cm\": {}}}\n",
            number * 7 % 31
        )
    };
    let rows = |count: usize| (0..count).map(row).collect::<String>();
    assert_eq!(crate::family(&rows(19), None), "generic");
    assert_eq!(crate::family(&rows(120), None), "json");
    let reduced = reduced(&rows(120));
    assert!(
        reduced.contains("[70].state \"fell\" (1 of 120)"),
        "{reduced}"
    );
}

#[test]
fn many_texts_are_counted() {
    let text: String = (1..8)
        .map(|number| format!("{{\"a\": {number}}}\n"))
        .collect::<Vec<_>>()
        .concat();
    assert!(reduced(&text).starts_with("7 × {\"a\": 1|2|3|4|5|6|7}"));
}

#[test]
fn what_is_no_json_is_left_to_others() {
    for text in [
        "{\"a\": 1",
        "[1 2]",
        "[1,]",
        "{\"a\" 1}",
        "{\"a\":}",
        "{,}",
        "[\"a\": 1]",
        "[1}",
        "{\"a\": 1}}",
        "x",
        "{1: 2}",
        "",
    ] {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Success,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert!(output.is_empty(), "{text}");
    }
    let deep = "[".repeat(1_000_000);
    assert!(reader::read(&deep).is_none());
}

#[test]
fn records_of_one_line_each_are_left_to_others() {
    let text = "{\"ts\": 1, \"level\": \"info\", \"msg\": \"up\"}\n".repeat(9);
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::No);
}

#[test]
fn each_of_a_few_values_has_its_own_shape() {
    let map = |name: &str| -> String {
        let members = (0..50).map(|number| format!("\"{name}_{number}\": {number}"));
        format!("{{{}}}\n", members.collect::<Vec<_>>().join(", "))
    };
    let reduced = reduced(&format!("{}{}[1, 2]\n", map("oak"), map("elm")));
    for kept in [
        "\"oak_0\": 0",
        "\"oak_49\"",
        "\"elm_0\": 0",
        "\"elm_49\"",
        "[1, 2]",
    ] {
        assert!(reduced.contains(kept), "{kept}: {reduced}");
    }
    assert!(
        !reduced.contains("×") && !reduced.contains("(1 of"),
        "{reduced}"
    );
}

#[test]
fn brackets_around_another_report_do_not_hide_it() {
    let lines = "tests/test_oak.py::test_leaf PASSED\n".repeat(20);
    let text = format!(
        "{{\"run\": 7\n===== test session starts =====\n{lines}===== 20 passed in 0.20s =====\n}}\n"
    );
    let family = crate::pipeline::terminal::family_name(&text, Some("./check"));
    assert_eq!(family, "pytest");
}

#[test]
fn records_that_are_many_or_not_told_apart_are_not_named() {
    let record = |at: usize| format!("{{\"id\": {at}, \"leaf\": \"green and long enough\"}}");
    let numbered: Vec<String> = (0..30).map(record).collect();
    let same = ["{\"name\": \"oak\", \"leaf\": \"green and long enough\"}"; 30];
    let many: Vec<String> = (0..90)
        .map(|at| format!("{{\"title\": \"oak {at}\", \"leaf\": \"green\"}}"))
        .collect();
    for list in [numbered.join(","), same.join(","), many.join(",")] {
        let short = reduced(&format!("[{list}]"));
        assert!(!short.contains("[]: "), "{short}");
    }
}
