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
fn of_a_few_values_all_are_told() {
    let text = "{\"detail\": [{\"loc\": [\"body\", \"oak\"], \"msg\": \"must be there\"}, \
                {\"loc\": [\"body\", \"elm\"], \"msg\": \"must be there\"}]}";
    assert_eq!(
        reduced(text),
        "{\"detail\": [2 × {\"loc\": [2 × \"body\" ×2|\"oak\"|\"elm\"], \"msg\": \"must be there\"}]}\n\
        [0 of 1 lines left out]"
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
fn every_message_of_a_list_of_failures_is_told() {
    let items = list(20, |number| {
        format!("{{\"status\": 422, \"detail\": \"leaf_{number} is no leaf\"}}")
    });
    let reduced = reduced(&format!("{{\"errors\": {items}, \"request\": 7}}"));
    for number in 0..20 {
        let message = format!("\"leaf_{number} is no leaf\"");
        assert!(reduced.contains(&message), "{message}: {reduced}");
    }
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
fn what_is_in_an_object_that_one_record_has_is_told() {
    let items = list(200, |number| {
        let odd = if number == 73 {
            ", \"hold\": {\"reason\": \"leaf fell\", \"days\": 3}"
        } else {
            ""
        };
        format!("{{\"id\": {number}{odd}}}")
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains(
            "[73].hold \"hold\": {\"reason\": \"leaf fell\", \"days\": 3} (1 of 200, id 73)"
        ),
        "{reduced}"
    );
}

#[test]
fn all_of_a_few_messages_are_told() {
    let items = list(4, |number| {
        format!(
            "{{\"test\": {number}, \"err\": {{\"message\": \"leaf {number} fell off the tree before the frost came, says the gardener\"}}}}"
        )
    });
    let reduced = reduced(&format!("{{\"failures\": {items}, \"n\": 4}}"));
    assert!(
        (0..4).all(|number| reduced.contains(&format!("leaf {number} fell off"))),
        "{reduced}"
    );
}

#[test]
fn a_record_that_lacks_a_member_is_told_with_its_index() {
    let record = |number: usize| {
        let price = if number == 73 { "" } else { ", \"price\": 3" };
        format!("{{\"id\": {number}{price}, \"tags\": [\"a\"]}}")
    };
    let records: Vec<String> = (0..200).map(record).collect();
    let text = format!("{{\"rows\": [{}]}}", records.join(",\n"));
    let short = reduced(&text);
    assert!(
        short.contains("rows[73] without \"price\" (1 of 200, id 73)"),
        "{short}"
    );
}

#[test]
fn a_record_is_not_told_to_lack_what_another_with_members_of_its_own_lacks() {
    let text = list(100, |number| match number {
        3 => "{\"id\": 3, \"b\": 1}".to_owned(),
        7 => "{\"id\": 7, \"a\": 1, \"z\": 1}".to_owned(),
        _ => format!("{{\"id\": {number}, \"a\": 1, \"b\": 1}}"),
    });
    let reduced = reduced(&text);
    assert!(!reduced.contains("[3] without \"a\", \"b\""), "{reduced}");
}

#[test]
fn a_rare_value_and_a_rare_kind_are_quoted_with_their_index() {
    let text = list(100, |number| {
        let state = if number == 41 { "failed" } else { "ok" };
        let cost = if number == 7 {
            "null".to_owned()
        } else {
            number.to_string()
        };
        format!("{{\"state\": \"{state}\", \"cost\": {cost}}}")
    });
    let reduced = reduced(&text);
    assert!(
        reduced.contains("[41].state \"failed\" (1 of 100)"),
        "{reduced}"
    );
    assert!(reduced.contains("[7].cost null (1 of 100)"), "{reduced}");
}

#[test]
fn packages_are_named_with_their_versions() {
    let text = list(9, |number| {
        format!("{{\"name\": \"oak{number}\", \"version\": \"1.{number}\"}}")
    });
    let reduced = reduced(&text);
    assert!(reduced.contains("oak0==1.0 oak1==1.1"), "{reduced}");
    let tree = "{\"dependencies\": {\"elm\": {\"version\": \"1.0\"}, \"ash\": {\"version\": \"2.0\", \
        \"dependencies\": {\"fir\": {\"version\": \"3.0\"}}}, \"yew\": {\"version\": \"4.0\"}}}";
    let reduced = self::reduced(tree);
    assert!(
        reduced.contains("elm==1.0 fir==3.0 ash==2.0 yew==4.0"),
        "{reduced}"
    );
    let alias = "{\"packages\": {\"node_modules/elm\": {\"version\": \"1.0\"}, \"node_modules/yew\": \
        {\"version\": \"1.0\"}, \"node_modules/old-elm\": {\"name\": \"elm\", \"version\": \"0.9\"}, \
        \"node_modules/elm/node_modules/fir\": {\"version\": \"3.0\"}}}";
    let reduced = self::reduced(alias);
    assert!(
        reduced.contains("elm==1.0 yew==1.0 old-elm==0.9 fir==3.0"),
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
fn warnings_around_a_text_stay_where_they_are() {
    let items = list(40, |number| format!("{{\"id\": {number}, \"tags\": []}}"));
    assert_eq!(
        reduced(&format!(
            "tool warn old setting\n{{\"oaks\": {items}}}\n1 warning\n"
        )),
        "tool warn old setting\n{\"oaks\": [40 × {\"id\": 0, \"tags\": []}]}\n1 warning\n\
         [1 of 3 lines left out]"
    );
}

#[test]
fn an_odd_value_in_a_list_of_lists_has_the_index_of_both() {
    let pods = list(30, |number| {
        let restarts = if number == 9 { 41 } else { 0 };
        format!("{{\"id\": {number}, \"parts\": [{{\"restarts\": {restarts}}}]}}")
    });
    let reduced = reduced(&format!("{{\"pods\": {pods}}}"));
    assert!(
        reduced.contains("pods[9].parts[0].restarts 41 (1 of 30, in id 9)"),
        "{reduced}"
    );
}

#[test]
fn of_some_values_the_one_that_differs_has_its_index() {
    let lines = list(12, |number| {
        let issue = if number == 7 {
            "no such town"
        } else {
            "too few"
        };
        format!("{{\"field\": \"line {number}\", \"issue\": \"{issue}\"}}")
    });
    let reduced = reduced(&format!("{{\"lines\": {lines}}}"));
    assert!(
        reduced.contains("lines[7].issue \"no such town\" (1 of 12)"),
        "{reduced}"
    );
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
fn keys_of_the_whole_text_stay_where_its_values_are_packages() {
    let members = [
        "node_modules/oak",
        "node_modules/oak/node_modules/elm",
        "node_modules/fir",
    ]
    .map(|key| format!("\"{key}\": {{\"version\": \"1.2.3\", \"license\": \"MIT\"}}"));
    let lock = members.join(", ");
    let top = reduced(&format!(
        "{{{lock}, \"node_modules/ash\": {{\"version\": \"2.0.0\"}}}}"
    ));
    for kept in [
        "\"node_modules/oak/node_modules/elm\"",
        "\"node_modules/ash\"",
        "ash==2.0.0",
    ] {
        assert!(top.contains(kept), "{kept}: {top}");
    }
    assert!(!top.contains("more"), "{top}");
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
fn a_value_that_is_broken_over_lines_is_not_quoted_as_odd() {
    let items = list(16, |number| {
        let end = if number == 9 { "\n" } else { "" };
        format!("{{\"leaf\": \"grows{end}\", \"tree\": \"an oak beside the road to the north\"}}")
    });
    let reduced = reduced(&items);
    assert!(!reduced.contains("[9].leaf"), "{reduced}");
}

#[test]
fn records_of_a_short_list_are_named() {
    let issues: Vec<String> = (0..20)
        .map(|at| {
            format!(
                "{{\"number\": {}, \"title\": \"oak {at}\", \"state\": \"OPEN\"}}",
                90 - at
            )
        })
        .collect();
    let short = reduced(&format!("[{}]", issues.join(", ")));
    assert!(
        short.contains("\n[]: 90 \"oak 0\", 89 \"oak 1\", "),
        "{short}"
    );
    assert!(short.contains(", 71 \"oak 19\"\n"), "{short}");
    let pods: Vec<String> = (0..20)
        .map(|at| format!("{{\"kind\": \"Pod\", \"metadata\": {{\"name\": \"oak-{at}\"}}, \"leaf\": [{{\"name\": \"x\"}}]}}"))
        .collect();
    let short = reduced(&format!("{{\"items\": [{}]}}", pods.join(", ")));
    assert!(
        short.contains("\nitems[]: \"oak-0\", \"oak-1\", "),
        "{short}"
    );
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
