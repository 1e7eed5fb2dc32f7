use super::*;
use crate::input::Exit;
use crate::tested;

fn reduced(text: &str) -> String {
    tested::reduced(&FAMILY, text, "", Exit::Failure)
}

#[test]
fn messages_are_told_once_and_verdicts_stay() {
    let text = "a/b.py:1: error: No type  [no-untyped-def]\na/b.py:9:4: error: No type  [no-untyped-def]\n\
                a/b.py:9: note: Use None\nFound 2 errors in 1 file (checked 1 source file)\n";
    assert_eq!(
        reduced(text),
        "a/b.py:1: error: No type  [no-untyped-def]; also a/b.py:9:4\nnote: Use None\n\
         Found 2 errors in 1 file (checked 1 source file)\n[0 of 4 lines left out]"
    );
}

#[test]
fn of_a_file_to_be_formatted_the_place_is_told_and_not_the_change() {
    let text = "unformatted: File would be reformatted\n --> src/a.py:2:1\n  |\n1 | import os\n2 +\n  - x=1\n3 + x = 1\n  |\n\n1 file would be reformatted\n";
    assert_eq!(
        reduced(text),
        "src/a.py:2:1: unformatted: File would be reformatted\n1 file would be reformatted\n[8 of 10 lines left out]"
    );
}

#[test]
fn what_would_mend_a_finding_is_not_told_below_others() {
    let text = "OAK300 [*] Yoda condition\n --> src/a.py:2:8\n  |\n1 | x = 1\n2 | assert {1: 2} == x\n  |        ^^^^^^\n  |\n\
                1 | x = 1\n  - assert {1: 2, \"a\": 3} == x\n2 + assert x == {1: 2, \"a\": 3}\n  |\n\nFound 1 error.\n";
    assert_eq!(
        reduced(text),
        "src/a.py:2:8: OAK300 [*] Yoda condition\nFound 1 error.\n[11 of 13 lines left out]"
    );
}

#[test]
fn a_place_may_say_where_it_ends() {
    let text = "a.py:4:9:4:12: error: No type  [misc]\na.py:7:9:7:30: error: No type  [misc]\nFound 2 errors in 1 file\n";
    assert_eq!(
        reduced(text),
        "a.py:4:9:4:12: error: No type  [misc]; also a.py:7:9:7:30\nFound 2 errors in 1 file\n[0 of 3 lines left out]"
    );
}

#[test]
fn steps_that_an_analyser_followed_are_not_told() {
    let text = "a.c:6:9: warning: Attempt to release released memory [unix.Malloc]\na.c:4:1: note: Assuming 'n' is 0\n\
                a.c:5:1: note: Taking false branch\na.c:5:3: note: Memory is released\n";
    assert_eq!(
        reduced(text),
        "a.c:6:9: warning: Attempt to release released memory [unix.Malloc]\nnote: Memory is released\n[2 of 4 lines left out]"
    );
}

#[test]
fn a_wrapped_message_is_joined_and_its_source_is_not_part_of_it() {
    let text = "a.py:3: error: Call to untyped function\n    \"x\" in typed context  [no-untyped-call]\n        x = y(1)\n            ^~~~\n";
    assert_eq!(
        reduced(text),
        "a.py:3: error: Call to untyped function \"x\" in typed context  [no-untyped-call]\n[3 of 4 lines left out]"
    );
}

#[test]
fn a_message_that_was_broken_at_the_width_is_joined() {
    let text = "a.py:3: error: Cannot find library stub for\nmodule named \"x\"  [import]\n    import x\n    ^\nFound 1 error in 1 file\n";
    assert!(reduced(text).starts_with(
        "a.py:3: error: Cannot find library stub for module named \"x\"  [import]\nFound 1 error"
    ));
}

#[test]
fn messages_that_point_into_a_script_get_its_line() {
    let text = "In run.sh line 4:\ncat $f\n    ^-- SC2086 (info): Double quote.\n\nDid you mean:\ncat \"$f\"\n\n";
    assert_eq!(
        reduced(text),
        "run.sh line 4: SC2086 (info): Double quote.\n[6 of 7 lines left out]"
    );
}

#[test]
fn what_ran_a_linter_has_its_say_below_addresses() {
    let text = "In run.sh line 4:\ncat $f\n    ^-- SC2086 (info): Double quote.\n\nFor more information:\n  https://oak.test/SC2086 -- Double quote...\nmake: *** [Makefile:3: lint] Error 1\n";
    assert_eq!(
        reduced(text),
        "run.sh line 4: SC2086 (info): Double quote.\nmake: *** [Makefile:3: lint] Error 1\n[5 of 7 lines left out]"
    );
}

#[test]
fn a_place_below_its_message_is_found() {
    let text = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove it\n\nFound 1 error.\n";
    let reduced = reduced(text);
    assert!(
        reduced.starts_with("a.py:1:8: F401 [*] `os` imported but unused\n"),
        "{reduced}"
    );
    assert!(reduced.contains("Found 1 error."), "{reduced}");
}

#[test]
fn a_rule_above_its_place_is_the_message() {
    let text = "name[missing]: All steps should be named.\na.yml:7 Task/Handler: oak\n\nname[missing]: All steps should be named.\nb.yml:2:3 Task/Handler: elm\n\nload-failure[yaml]: Failed to load\nc.yml:3:1 found a tab\n";
    assert_eq!(
        reduced(text),
        "a.yml:7: name[missing]: All steps should be named.; also b.yml:2:3\n\
         c.yml:3:1: load-failure[yaml]: Failed to load found a tab\n[5 of 8 lines left out]"
    );
}

#[test]
fn the_name_of_the_next_file_is_no_part_of_a_message() {
    let text = "/srv/a.py\n  /srv/a.py:1:2 - error: \"x\" is not defined (reportUndefined)\n/srv/b.py\n  /srv/b.py:3:4 - error: \"y\" is not defined (reportUndefined)\n2 errors, 0 warnings\n";
    assert_eq!(
        reduced(text),
        "/srv/a.py:1:2 - error: \"x\" is not defined (reportUndefined)\n\
         /srv/b.py:3:4 - error: \"y\" is not defined (reportUndefined)\n2 errors, 0 warnings\n\
         [2 of 5 lines left out]"
    );
}

#[test]
fn where_a_finding_is_nested_is_no_news() {
    let text = "a.py: note: In member \"x\" of class \"Y\":\na.py:3: error: No type  [no-untyped-def]\na.py: note: At top level:\na.py:9: error: No name  [name-defined]\n";
    assert_eq!(
        reduced(text),
        "a.py:3: error: No type  [no-untyped-def]\na.py:9: error: No name  [name-defined]\n[2 of 4 lines left out]"
    );
}

#[test]
fn a_message_below_its_place_is_found() {
    let text = "/srv/a.oak:3:23\nWarn: Bark is thin\nhttps://oak.example/e/bark (oak)\n  let bark = 1;\n</script>\n\n/srv/a.oak:6:1\nError: Bark is gone (ts)\n<div>\n\n/srv/b.oak:1:1\nWarn: Bark is thin\n<div>\n\n====\nfound 1 error and 2 warnings\n";
    assert_eq!(
        reduced(text),
        "/srv/a.oak:3:23: Warn: Bark is thin; also /srv/b.oak:1:1\n/srv/a.oak:6:1: Error: Bark is gone (ts)\n\
         found 1 error and 2 warnings\n[12 of 16 lines left out]"
    );
}

#[test]
fn what_is_drawn_below_the_source_goes() {
    let text = "  ! oak(no-var): Unexpected var\n   ,-[lib/a.js:1:1]\n 1 | var count = 0;\n   : ^^^|^^^\n   :    `-- 'count' is declared here\n 2 | let limit = 3;\n   `----\n   ,-[lib/a.js:7:2]\n 7 | count = 1;\n   :  ^|^\n   :   `-- it was assigned here\n   `----\n  help: Replace it\n\nFound 1 warning.\n";
    assert_eq!(
        reduced(text),
        "lib/a.js:1:1: oak(no-var): Unexpected var; also lib/a.js:7:2\nFound 1 warning.\n\
         [12 of 15 lines left out]"
    );
}

#[test]
fn source_above_a_caret_and_steps_of_the_run_go() {
    let text = "Checking a.c ...\na.c:8:11: error: Out of bounds: name [bounds]\nsprintf(name, \"oak\");\n        ^\na.c:9:1: note: Assign it\nint name;\n^\n1/2 files checked 13% done\n";
    assert_eq!(
        reduced(text),
        "a.c:8:11: error: Out of bounds: name [bounds]\nnote: Assign it\n[6 of 8 lines left out]"
    );
}

#[test]
fn a_proposed_change_goes() {
    let text = "F401 [*] `os` imported but unused\n --> a.py:1:8\n  |\n1 | import os\n  |        ^^\n  |\nhelp: Remove it\n  |\n  - import os\n1 + import sys\n2 |\n  |\n\nFound 1 error.\n";
    assert_eq!(
        reduced(text),
        "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[12 of 14 lines left out]"
    );
}

#[test]
fn source_that_was_asked_for_below_each_finding_goes() {
    let docstring =
        "    \"\"\"Break into leaves:\n\n        >>> fall(3)\n        [1, 2]\n    \"\"\"\n";
    let text = format!(
        "a.py:1:73: E501 line too long (75 > 72 characters)\n{docstring}                      ^\n\
         a.py:9:73: E501 line too long (74 > 72 characters)\n    leaf = 'long'\n                ^\n\
         b.py:2:1: F401 'os' imported but unused\nimport os\n^\n3\n"
    );
    assert_eq!(
        reduced(&text),
        "a.py:1:73: E501 line too long (75 > 72 characters)\na.py:9:73: E501 line too long (74 > 72 characters)\n\
         b.py:2:1: F401 'os' imported but unused\n3\n[10 of 14 lines left out]"
    );
}

#[test]
fn times_and_addresses_are_no_places() {
    for text in ["12:30:15 error: x", "http://a.b:80: error", "[10:00] x:1 y"] {
        assert!(finding(text).is_none(), "{text}");
    }
}

#[test]
fn what_a_rule_is_for_goes() {
    let text = "a.py:1 at module level:\n        D100: Missing docstring\n\n        All modules should.\n        Note: x.\n\n\na.py:8 in public class `A`:\n        D101: Missing docstring in class\n\n        Why.\n\n2\n";
    assert_eq!(
        reduced(text),
        "a.py:1: D100: Missing docstring\na.py:8: D101: Missing docstring in class\n2\n\
         [10 of 13 lines left out]"
    );
}

#[test]
fn notes_with_the_code_of_a_rule_are_findings() {
    let text = "a.sh:3:5: note: Double quote this. [SC2086]\na.sh:9:1: note: Double quote this. [SC2086]\n";
    assert_eq!(
        reduced(text),
        "a.sh:3:5: note: Double quote this. [SC2086]; also a.sh:9:1\n[0 of 2 lines left out]"
    );
}

#[test]
fn a_value_that_is_written_field_by_field_is_told_by_its_first_line() {
    let text = " WARN step Location {\n    key: Local(\n        x,\n    ),\n}\na.yml:1:2: warning: odd\nfound 1\n";
    assert_eq!(
        reduced(text),
        "a.yml:1:2: warning: odd\n WARN step Location {\nfound 1\n[4 of 7 lines left out]"
    );
}

#[test]
fn a_message_is_the_same_wherever_it_was_broken() {
    let text = "a.py:3: error: Cannot find stub for\nmodule named \"x\"  [import]\na.py:9: error: Cannot find\nstub for module named \"x\" [import]\n";
    assert_eq!(
        reduced(text),
        "a.py:3: error: Cannot find stub for module named \"x\"  [import]; also a.py:9\n\
         [2 of 4 lines left out]"
    );
}

#[test]
fn shared_lines_of_source_are_left_out() {
    let text = "************* Module a\na.py:1:0: R0801: Similar lines in 2 files\n==a:[1:3]\n==b:[7:9]\n\
                x = 1\n\nfail = 2 (duplicate-code)\na.py:2:0: C0116: Missing docstring (x)\nYour code has been rated at 7.00/10\n";
    assert_eq!(
        reduced(text),
        "a.py:1:0: R0801: Similar lines in 2 files ==a:[1:3] ==b:[7:9]\n\
         a.py:2:0: C0116: Missing docstring (x)\nYour code has been rated at 7.00/10\n\
         [6 of 9 lines left out]"
    );
}

#[test]
fn what_a_formatter_would_change_is_told_by_place() {
    let text = "Diff in /a/b.rs:12:\n fn a() {\n-    x\n+    y\nDiff in /a/c.rs:3:\n-a\n+b\n";
    assert_eq!(
        reduced(text),
        "Diff in /a/b.rs:12; also /a/c.rs:3\n[5 of 7 lines left out]"
    );
    let text = "would reformat a/b.py\nwould reformat a/c.py\n2 files would be reformatted.\n";
    assert_eq!(
        reduced(text),
        "would reformat a/b.py; also a/c.py\n2 files would be reformatted.\n[0 of 3 lines left out]"
    );
}

#[test]
fn a_rule_of_the_width_behind_a_head_is_no_part_of_it() {
    let text = "lib/a.js:1:5 lint/style/useConst  FIXABLE  ━━━━━━━━\n\n  ! This is assigned once.\n\nFound 1 error.\n";
    assert!(
        reduced(text)
            .starts_with("lib/a.js:1:5 lint/style/useConst  FIXABLE ! This is assigned once.\n")
    );
}

#[test]
fn notes_beside_a_sample_go_but_for_what_was_asked() {
    let findings = |count: usize| -> String {
        let rows = (1..=count).map(|line| {
            format!("a.py:{line}: error: Bad call  [call-arg]\na.py:{line}: note: Use this\n")
        });
        rows.collect()
    };
    let asked = "a.py:9: note: Revealed type is \"builtins.int\"\n";
    let few = reduced(&(findings(20) + asked));
    assert!(
        few.contains("note: Use this") && few.contains("Revealed type"),
        "{few}"
    );
    let many = reduced(&(findings(700) + asked));
    assert!(
        !many.contains("note: Use this") && many.contains("Revealed type"),
        "{many}"
    );
}

#[test]
fn notes_below_a_finding_stay_without_the_lists_that_they_begin() {
    let text = "error[not-callable]: Object of type `Oak` is not callable\n --> a.py:3:5\n  |\n3 |     oak()\n  |     ^^^^^\n\
                info: element `Elm` of union `Oak | Elm` cannot be called\ninfo: First overload defined here\n \
                --> lib/re.pyi:372:5\n    |\n372 |     def sub(): ...\n    |\ninfo: Possible overloads for `sub`:\n\
                info:   (self: Oak) -> str\ninfo: rule `not-callable` is enabled by default\n\nFound 1 diagnostic\n";
    assert_eq!(
        reduced(text),
        "a.py:3:5: error[not-callable]: Object of type `Oak` is not callable \
         element `Elm` of union `Oak | Elm` cannot be called\n\
         Found 1 diagnostic\n[14 of 16 lines left out]"
    );
}

#[test]
fn what_was_expected_below_source_belongs_to_the_message() {
    let one = |line: usize, label: &str| {
        format!(
            "error[return]: It does not match\n --> a.py:{line}:5\n  |\n1 | def oak() -> str:\n  |              --- because of this\n3 |     x\n  |     ^^^^^{label}\n  |\n\n"
        )
    };
    let text = one(3, " expected `str`, found `None`")
        + &one(7, " expected `str`, found `int`")
        + &one(9, "");
    assert_eq!(
        reduced(&text),
        "a.py:3:5: error[return]: It does not match expected `str`, found `None`\n\
         a.py:7:5: error[return]: It does not match expected `str`, found `int`\n\
         a.py:9:5: error[return]: It does not match\n[24 of 27 lines left out]"
    );
}

#[test]
fn what_node_throws_is_no_list_of_findings() {
    let text = "/srv/oak.js:2\n  b: 1,,\n       ^\n\nSyntaxError: Unexpected token ','\n\nNode.js v20.1.0\n\
        node:internal/modules/cjs/loader:1210\n  throw err;\n  ^\n\nError: Cannot find module './elm'\n\n\
        Node.js v20.1.0\nnode:internal/process/promises:391\n    trigger(err);\n    ^\n\nError: no leaf\n\n\
        Node.js v20.1.0\n";
    let input = Input {
        text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_ne!(recognises(&input), Match::Certain);
}

#[test]
fn a_head_that_a_ruler_closes_has_its_message_below_it() {
    let one = |path: &str, message: &str| {
        format!(
            "{path}:3:7 lint/noFog  FIXABLE  ━━━━━━━━━━\n\n  ! {message}\n  \n    2 │ sea()\n  > 3 │ fog()\n      │ ^^^\n  \n  \
             i Fog hides rocks.\n  \n    3   │ - fog()\n\n"
        )
    };
    let text = one("a.js", "Fog is denied.")
        + &one("b.js", "Fog is denied.")
        + &one("c.js", "Mist is denied.")
        + "d.css format ━━━━━━━━━━\n\n  × It would be changed.\n  \n    1   │ - a·{}\n\nChecked 4 files in 2ms.\nFound 3 warnings.\n";
    assert_eq!(
        reduced(&text),
        "a.js:3:7 lint/noFog  FIXABLE ! Fog is denied.; also b.js:3:7\n\
         c.js:3:7 lint/noFog  FIXABLE ! Mist is denied.\n\
         d.css format\n  × It would be changed.\nChecked 4 files in 2ms.\nFound 3 warnings.\n\
         [37 of 44 lines left out]"
    );
}

#[test]
fn counts_of_rules_stay_beside_findings() {
    let row = |number: usize| format!("{number:3}\tE{:03}  \t[ ] leaf-falls\n", number + 100);
    let counts = (0..80).rev().map(row).collect::<String>() + "Found 8 errors.\n";
    let text = format!(
        "{counts}E401 Multiple imports\n --> src/a.py:1:1\n  |\n1 | import os, sys\n  | ^^^\n  |\n\nFound 1 error.\n"
    );
    let reduced = reduced(&text);
    assert!(
        (0..80).all(|number| reduced.contains(&row(number))),
        "{reduced}"
    );
    assert!(
        reduced.contains("src/a.py:1:1: E401 Multiple imports\n"),
        "{reduced}"
    );
}

#[test]
fn who_asked_for_a_template_of_another_file_is_told_with_its_error() {
    let text = "/usr/include/v.h:4:2: error: no member 'oak' [clang-diagnostic-error]\n    x.oak();\n      ^\n\
                /usr/include/v.h:9:1: note: in instantiation of function template specialization 'f<int>' requested here\n    f(x);\n    ^\n\
                m.cpp:10:10: note: in instantiation of function template specialization 'g<int>' requested here\n  g(1);\n  ^\n\
                m.cpp:12:1: warning: unused 'elm' [misc-unused]\n  int elm;\n      ^\n";
    assert_eq!(
        reduced(text),
        "/usr/include/v.h:4:2: error: no member 'oak' [clang-diagnostic-error] m.cpp:10:10: note: in instantiation of function template specialization\n\
         m.cpp:12:1: warning: unused 'elm' [misc-unused]\n[10 of 12 lines left out]"
    );
}

#[test]
fn a_place_whose_message_was_cut_away_stands_above_the_findings() {
    let text = " --> src/a.py:2:1\n  |\n2 | import os\n  | ^^^^^^^^^\n  |\n\nF401 `re` imported but unused\n --> src/b.py:3:8\n  |\n3 | import re\n  |        ^^\n  |\n\nFound 2 errors.\n";
    assert_eq!(
        reduced(text),
        "src/a.py:2:1: -->\nsrc/b.py:3:8: F401 `re` imported but unused\nFound 2 errors.\n[11 of 14 lines left out]"
    );
}
