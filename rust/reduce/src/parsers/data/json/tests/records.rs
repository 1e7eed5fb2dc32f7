//! What is shown of few records and of states.

use super::super::reader;
use super::{list, reduced};

#[test]
fn states_are_told_with_their_counts() {
    let states = ["grows", "fell", "grows", "grows"];
    let items = list(400, |number| {
        let state = states.get(number % 4).unwrap_or(&"");
        format!(
            "{{\"cm\": {number}, \"state\": \"{state}\", \"kind\": {}}}",
            number % 40
        )
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains("\"state\": \"grows\" ×300|\"fell\" ×100, \"kind\": 0}"),
        "{reduced}"
    );
}

#[test]
fn of_more_states_those_are_told_that_come_most_often() {
    let items = list(200, |number| {
        let code = if number < 150 { 200 } else { 400 + number % 10 };
        format!("{{\"at\": {number}, \"status\": {code}}}")
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains(
            "\"status\": 200 ×150|400 ×5|401 ×5|402 ×5|403 ×5|404 ×5|405 ×5|406 ×5|… 3 more"
        ),
        "{reduced}"
    );
}

#[test]
fn records_that_have_names_are_told_with_what_most_of_them_are_not() {
    let items = list(6, |number| {
        let phase = if number == 3 { "fell" } else { "grows" };
        format!(
            "{{\"name\": \"oak-{number}\", \"status\": {{\"phase\": \"{phase}\", \"leaves\": [{{\"green\": {}}}, {{\"green\": true}}]}}}}",
            number != 4
        )
    });
    let reduced = reduced(&format!(
        "{{\"trees\": {items}, \"of\": \"{}\"}}",
        "park".repeat(300)
    ));
    assert!(
        reduced.contains(
            "trees[], status.phase \"grows\", status.leaves[0].green true unless told: \"oak-0\", \"oak-1\", \
             \"oak-2\", \"oak-3\" status.phase \"fell\", \"oak-4\" status.leaves[0].green false, \"oak-5\"\n"
        ),
        "{reduced}"
    );
}

#[test]
fn a_state_that_not_every_record_has_is_no_state_of_the_others() {
    let items = list(6, |number| {
        let phase = match number {
            2 => String::new(),
            3 => ", \"phase\": \"fell\"".to_owned(),
            _ => ", \"phase\": \"grows\"".to_owned(),
        };
        format!("{{\"name\": \"oak-{number}\"{phase}}}")
    });
    let reduced = reduced(&items);
    assert!(!reduced.contains("unless told"), "{reduced}");
    assert!(
        reduced.contains("[3].phase \"fell\" (1 of 5, name \"oak-3\")"),
        "{reduced}"
    );
}

#[test]
fn the_few_that_differ_from_most_of_some_records_are_told_with_their_places() {
    let items = list(9, |number| {
        let state = if [2, 5].contains(&number) {
            "fell"
        } else {
            "grows"
        };
        format!("{{\"leaves\": [{{\"cm\": {number}, \"state\": \"{state}\"}}]}}")
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains("[2].leaves[0].state \"fell\" (2 of 9, [5].leaves[0])"),
        "{reduced}"
    );
}

#[test]
fn a_member_that_one_of_some_records_has_is_told_with_its_record() {
    let items = list(5, |number| {
        let hold = if number == 3 {
            ", \"hold\": \"frost\""
        } else {
            ""
        };
        format!("{{\"id\": {number}{hold}}}")
    });
    let reduced = reduced(&items);
    assert!(
        reduced.contains("\"hold\": \"frost\" (1 of 5, [3], id 3)"),
        "{reduced}"
    );
}

#[test]
fn a_map_with_many_plain_values_is_told_whole() {
    let members: Vec<String> = (0..60)
        .map(|at| format!("\"leaf-{at}\": \"^{at}.1\""))
        .collect();
    let reduced = reduced(&format!("{{\"trees\": {{{}}}}}", members.join(",")));
    assert!(
        members.iter().all(|member| reduced.contains(member)) && !reduced.contains("more"),
        "{reduced}"
    );
}

#[test]
fn keys_that_are_not_listed_are_counted() {
    let members: Vec<String> = (0..1_000)
        .map(|at| format!("\"leaf-{at}\": [{at}]"))
        .collect();
    let reduced = reduced(&format!("{{{}}}", members.join(",")));
    assert!(
        reduced.contains(",\n\"leaf-439\",\n... 560 more}"),
        "{reduced}"
    );
}

#[test]
fn rows_are_told_by_their_columns() {
    let rows = list(80, |number| {
        let state = if number == 33 { "fell" } else { "grows" };
        format!("[{number}, \"oak-{number}\", \"{state}\", null]")
    });
    let reduced = reduced(&format!("{{\"rows\": {rows}}}"));
    assert!(
        reduced.contains("\"rows\": [80 × [0, \"oak-0\", \"grows\" ×79|\"fell\", null]]}\nrows[33][2] \"fell\" (1 of 80)\n"),
        "{reduced}"
    );
}

#[test]
fn few_rows_are_told_by_their_number_and_first_text() {
    let rows = list(30, |number| {
        let state = if number == 3 { "fell" } else { "grows" };
        format!("[{}, \"oak-{number}\", \"{state}\"]", number + 100)
    });
    let reduced = reduced(&rows);
    assert!(
        reduced.contains("[], [2] \"grows\" unless told: 100 \"oak-0\", 101 \"oak-1\", 102 \"oak-2\", 103 \"oak-3\" [2] \"fell\", 104"),
        "{reduced}"
    );
}

#[test]
fn rows_of_many_columns_are_told_in_part() {
    let row: Vec<String> = (0..40).map(|number| number.to_string()).collect();
    let reduced = reduced(&list(50, |_| format!("[{}]", row.join(", "))));
    assert!(
        reduced.contains("[50 × [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... 28 more]]"),
        "{reduced}"
    );
}

#[test]
fn what_python_prints_is_told_like_json() {
    let items = list(70, |number| {
        let state = if number == 7 { "None" } else { "True" };
        format!(
            "{{'id': {number}, 'name': \"it's oak {number}\", 'grows': {state}, 'at': datetime.date(2026, 11, {number}), 'cm': Decimal('1.{number}')}}"
        )
    });
    let reduced = reduced(&format!(
        "{{'trees': {items}, 'of': ('park', 2), 'next': <Page 2>}}\n"
    ));
    assert!(
        reduced.starts_with(
            "{'trees': [70 × {'id': 0, 'name': \"it's oak 0\", 'grows': True, 'at': datetime.date(2026, 11, 0), 'cm': Decimal('1.0')}],\n\
             'of': ['park', 2],\n'next': <Page 2>}\ntrees[7].grows None (1 of 70, id 7)\n"
        ),
        "{reduced}"
    );
}

#[test]
fn what_only_begins_like_a_value_of_python_is_no_shape() {
    for text in [
        "{'oak': 1",
        "[('oak', 1)",
        "{'oak' 1}",
        "['oak' 'elm' {]",
        "{'oak': leaf(1, 'a}",
    ] {
        assert!(reader::read(text).is_none(), "{text}");
    }
    assert!(reader::read("[('oak', 1,), ('elm', 2)]").is_some());
    assert!(reader::read("{\"oak\": 'elm'}").is_none());
}

#[test]
fn the_one_long_text_among_short_ones_is_told_with_its_record() {
    let long = "fatal: no way to the place where the seeds are kept: could not find its name";
    let named = |count: usize, name: &str| {
        reduced(&list(count, |number| {
            let said = if number == 7 { long } else { "" };
            format!("{{\"{name}\": \"oak-{number}\", \"said\": \"{said}\"}}")
        }))
    };
    let of_some = named(12, "name");
    assert!(
        of_some.contains(&format!("\"oak-7\" said \"{long}\"")),
        "{of_some}"
    );
    let of_many = named(80, "host");
    assert!(
        of_many.contains(&format!("[7].said \"{long}\" (1 of 80)")),
        "{of_many}"
    );
}

#[test]
fn long_texts_are_no_states() {
    let items = list(40, |number| {
        let name = if number % 2 == 0 { "oak" } else { "elm" };
        format!("{{\"said\": \"{} {name}\"}}", "leaf ".repeat(20))
    });
    assert!(!reduced(&items).contains("elm"));
}

#[test]
fn a_value_of_a_type_hides_no_value_of_another() {
    for (value, other) in [
        ("np.float64({}.5)", "None"),
        ("Timestamp('2026-11-{}')", "True"),
        ("Node({})", "None"),
    ] {
        let items = list(70, |number| {
            let told = value.replace("{}", &number.to_string());
            let value = if number % 2 == 0 { other } else { &told };
            format!("{{'oak': {number}, 'at': {value}}}")
        });
        let reduced = reduced(&items);
        for said in [other, &value.replace("{}", "1")] {
            assert!(reduced.contains(said), "{said}: {reduced}");
        }
    }
}

#[test]
fn strings_that_python_breaks_over_lines_are_one() {
    let items = list(30, |number| {
        format!("{{'of': 'leaf and '\n   \"it's root\",\n 'name': 'oak-{number}'}}")
    });
    let reduced = reduced(&items);
    assert!(reduced.starts_with("[30 × {'of': 'leaf and '"), "{reduced}");
    assert!(reader::read("['oak''elm']").is_none());
}

#[test]
fn what_stands_in_angles_may_hold_others() {
    for value in [
        "<Tree of=<Leaf 1>>",
        "<function main.<locals>.<lambda> at 0x7f>",
        "<Map oak->elm>",
    ] {
        assert!(
            reader::read(&format!("[{{'oak': {value}}}]")).is_some(),
            "{value}"
        );
    }
    assert!(reader::read("['oak', <Tree <Leaf>]").is_none());
}

#[test]
fn a_value_that_differs_goes_by_the_record_that_it_is_of() {
    let jobs = list(80, |number| {
        let state = if number == 13 { "fell" } else { "grows" };
        format!("{{\"state\": \"{state}\", \"id\": \"job-{number}\"}}")
    });
    let reduced = reduced(&format!("{{\"id\": \"run-1\", \"jobs\": {jobs}}}"));
    assert!(
        reduced.contains("jobs[13].state \"fell\" (1 of 80, in id \"run-1\")"),
        "{reduced}"
    );
}

#[test]
fn a_value_that_differs_among_the_last_members_of_a_map_is_told_with_its_key() {
    let member = |number: usize| {
        let state = if number == 70 { "fell" } else { "grows" };
        format!("\"oak-{number}\": {{\"state\": \"{state}\", \"cm\": {number}}}")
    };
    let members: Vec<String> = (0..90).map(member).collect();
    let reduced = reduced(&format!("{{{}}}", members.join(", ")));
    assert!(
        reduced.contains("*.state \"fell\" (1 of 50, \"oak-70\")"),
        "{reduced}"
    );
}

#[test]
fn the_only_longer_row_is_told_with_its_place() {
    let rows = list(90, |number| {
        let more = if number == 33 { ", \"fell\"" } else { "" };
        format!("[{number}, \"oak\"{more}]")
    });
    let reduced = reduced(&rows);
    assert!(reduced.contains("\"fell\" (1 of 90, [33])"), "{reduced}");
}

#[test]
fn what_the_only_object_among_nulls_holds_is_told() {
    let items = list(120, |number| {
        let split = if number == 87 {
            "{\"cause\": \"frost\", \"rings\": 12}"
        } else {
            "null"
        };
        format!("{{\"id\": {number}, \"split\": {split}}}")
    });
    let told = "split {\"cause\": \"frost\", \"rings\": 12} (1 of 120, id 87)";
    assert!(reduced(&items).contains(told));
}
