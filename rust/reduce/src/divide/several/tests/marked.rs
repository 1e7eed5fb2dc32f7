use super::*;

/// An input that no family knows.
fn unknown(lines: usize) -> String {
    let line = |number: usize| format!("leaf {number} of the oak is green\n");
    (0..lines).map(line).collect()
}

fn listed(files: usize) -> String {
    let file =
        |number: usize| format!("-rw-r--r-- 1 me me {number}4 Jan  2 10:01 leaf_{number}.rs\n");
    "total 8\n".to_owned() + &(0..files).map(file).collect::<String>()
}

#[test]
fn what_programs_print_as_well_is_no_remark() {
    let text = format!("---\n{}---\n{}---\n", unknown(60), listed(20));
    let command = "cat oak.yaml; echo ---; ls -la";
    let told = terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
    assert_ne!(told.and_then(|(_, family)| family), Some("several"));
}

#[test]
fn remarks_that_are_all_of_a_text_divide_nothing() {
    let round = |number: usize| format!("== request {number}\n200\n");
    let text: String = (0..90).map(round).collect();
    let command = "for i in $(seq 90); do echo \"== request $i\"; curl -s oak; done";
    let (reduced, family) = reduced(&text, command, Exit::Success);
    assert_ne!(family, Some("several"), "{reduced}");
}
