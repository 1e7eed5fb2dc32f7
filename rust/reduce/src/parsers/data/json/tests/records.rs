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
fn long_texts_are_no_states() {
    let items = list(40, |number| {
        let name = if number % 2 == 0 { "oak" } else { "elm" };
        format!("{{\"said\": \"{} {name}\"}}", "leaf ".repeat(20))
    });
    assert!(!reduced(&items).contains("elm"));
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
