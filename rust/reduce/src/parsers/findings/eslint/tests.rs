use std::fmt::Write as _;

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
fn findings_stand_below_their_file() {
    let text = "\n/app/a.js\n  1:27  error    Unexpected var        no-var\n  4:3   warning  Expected { after 'if'  curly\n\n\
                /app/b.js\n  2:1  error  Parsing error: x\n\n✖ 3 problems (2 errors, 1 warning)\n  1 error potentially fixable with the `--fix` option.\n";
    assert_eq!(
        reduced(text),
        "/app/a.js\n1:27 error Unexpected var no-var\n4:3 warning Expected { after 'if' curly\n\
         /app/b.js\n2:1 error Parsing error: x\n✖ 3 problems (2 errors, 1 warning)\n[4 of 10 lines left out]"
    );
}

#[test]
fn lines_of_a_message_are_told_once_and_the_totals_stay() {
    let message =
        "  3:1  error  Do not use the type.\n- Use `object` instead.\n- Or `unknown`  ban-types\n";
    let odd = (0..60)
        .map(|at| format!("note {at}x\n"))
        .collect::<Vec<_>>()
        .concat();
    let text = format!(
        "src/a.ts\n{}{odd}\n✖ 20 problems (20 errors, 0 warnings)\n",
        message.repeat(20)
    );
    let reduced = reduced(&text);
    assert_eq!(
        reduced.matches("Use `object` instead.").count(),
        1,
        "{reduced}"
    );
    assert_eq!(
        reduced
            .matches("✖ 20 problems (20 errors, 0 warnings)")
            .count(),
        1,
        "{reduced}"
    );
}

#[test]
fn what_goes_on_with_a_message_is_no_file() {
    let text = "/app/my files/a.js\n  1:27  error  Do not use `{}`.\n- If you want any/all, use `unknown`  @types/ban\n  4:3  error  Unexpected var  no-var\n";
    assert_eq!(
        reduced(text),
        "/app/my files/a.js\n1:27 error Do not use `{}`.\n- If you want any/all, use `unknown`  @types/ban\n\
         4:3 error Unexpected var no-var\n[0 of 4 lines left out]"
    );
}

#[test]
fn findings_whose_place_is_in_words_stand_below_their_file() {
    let text = "/app/a.js: line 1, col 27, Error - Unexpected var. (no-var)\n/app/a.js: line 4, col 3, Warning - Expected { (curly)\n\n2 problems\n";
    assert_eq!(
        reduced(text),
        "/app/a.js\nline 1, col 27 Error - Unexpected var. (no-var)\nline 4, col 3 Warning - Expected { (curly)\n2 problems\n\
         [0 of 4 lines left out]"
    );
}

#[test]
fn a_few_findings_that_say_the_same_of_many_files_are_told_by_message() {
    let mut text = String::new();
    for number in 1..8 {
        let _ = writeln!(
            text,
            "./ci{number}.yaml\n  1:1       warning  missing document start  (document-start)\n  {number}:3      error  too many blank lines  (empty-lines)\n"
        );
    }
    let reduced = reduced(&text);
    assert_eq!(
        reduced.matches("missing document start").count(),
        1,
        "{reduced}"
    );
    for number in 1..8 {
        assert!(
            reduced.contains(&format!("./ci{number}.yaml 1:1")),
            "{reduced}"
        );
        assert!(
            reduced.contains(&format!("ci{number}.yaml {number}:3")),
            "{reduced}"
        );
    }
}

#[test]
fn many_findings_are_told_by_message() {
    let row = "  7:1  error  Missing semicolon  semi\n";
    let rows = row.repeat(58) + "  9:1  error  Missing semicolon  semi\n";
    let text = format!("src/a.js\n{rows}\n✖ 59 problems (59 errors, 0 warnings)\n");
    let reduced = reduced(&text);
    assert!(
        reduced.contains("error Missing semicolon semi: src/a.js 7:1 7:1"),
        "{reduced}"
    );
}

#[test]
fn of_very_many_findings_without_a_severity_each_rule_is_told() {
    let row = |line: usize| format!("  {line}:1 F401 [*] `os` imported but unused\n");
    let rows = (1..=160).map(row).collect::<Vec<_>>().concat();
    let text = format!("src/a.py:\n{rows}  9:1 UP006 Use `list`\n\nFound 161 errors.\n");
    let told = reduced(&text);
    assert!(
        told.contains("F401 [*] `os` imported but unused; also 2:1 "),
        "{told}"
    );
    assert!(
        told.contains("UP006 Use `list`") && !told.contains(" 160:1"),
        "{told}"
    );
    let graded = reduced(&text.replace("F401 [*]", "error [*]"));
    assert!(graded.contains(" 160:1"), "{graded}");
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

#[test]
fn much_behind_the_last_finding_is_an_output_of_its_own() {
    let rows = "leaf 7 is green\n".repeat(30);
    let text = format!(
        "oak.yml\n  1:1       warning  no start  (start)\n  6:5       error    wrong indent  (indent)\n\n\
         {rows}the wind turned\n{rows}leaf 9: checksum mismatch\n{rows}"
    );
    let reduced = reduced(&text);
    assert_eq!(
        reduced,
        "oak.yml\n1:1 warning no start (start)\n6:5 error wrong indent (indent)\n\
        leaf 7 is green ×90\nthe wind turned\nleaf 9: checksum mismatch\n[1 of 96 lines left out]"
    );
}

#[test]
fn what_many_files_have_once_is_told_once() {
    let files: String = (0..12).fold(String::new(), |files, number| {
        files + &format!("/srv/oak/src/leaf{number}.ts\n  2:{number}  error  'bark' is never used  no-unused-vars\n\n")
    });
    let text = format!(
        "{files}/srv/oak/src/root.ts\n  1:1  error  Missing root     root\n  2:7  error  Missing leaf     leaf\n\
         \x20 3:9  error  Too many twigs   twigs\n\n✖ 15 problems (15 errors, 0 warnings)\n"
    );
    let told = reduced(&text);
    assert_eq!(told.matches("'bark' is never used").count(), 1, "{told}");
    assert!(told.contains("leaf11.ts 2:11"), "{told}");
}
