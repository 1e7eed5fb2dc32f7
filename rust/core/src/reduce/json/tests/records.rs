//! What is told of few records and of states.

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
