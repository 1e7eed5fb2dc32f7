use super::*;
use crate::input::Exit;

fn reduced(text: &str) -> String {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let mut output = Output::default().with_nested(crate::divide::part::NESTED);
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

#[test]
fn findings_in_another_form_before_the_list_all_stay() {
    let unix = |line: usize| format!("/srv/a.js:{line}:7: Missing semicolon. [Error/semi]\n");
    let compact =
        |line: usize| format!("/srv/b.js: line {line}, col 7, Error - Missing semicolon. (semi)\n");
    let text = (1..60).map(unix).collect::<Vec<_>>().concat()
        + "59 problems\n\n"
        + &(1..90).map(compact).collect::<Vec<_>>().concat()
        + "\n89 problems\n";
    let told = reduced(&text);
    for line in 1..60 {
        assert!(told.contains(&unix(line)), "{told}");
    }
    assert!(told.contains("\n89 problems\n"), "{told}");
}
