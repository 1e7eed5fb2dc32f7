use super::*;

#[test]
fn words_with_numbers_behind_a_colon_are_found() {
    let words: Vec<&str> = numbered_words("a:1 b: 2 (c:3:4) d[<e.f:5>] g:h:6").collect();
    assert_eq!(words, ["a:1", "c:3:4)", "e.f:5>]", "g:h:6"]);
}

#[test]
fn lines_are_told_apart() {
    for (line, expected) in [
        ("", Kind::Noise),
        ("-----", Kind::Noise),
        ("    6c:96:1c:7b:ea:94:ca:", Kind::Noise),
        ("    55:43:37:61:47", Kind::Plain),
        ("    |   ^^^~~", Kind::Noise),
        (
            "  at buildErrors (/opt/node_modules/oak/x.js:1:2)",
            Kind::Noise,
        ),
        ("  12 | let oak = 1;", Kind::Noise),
        ("  12 | ERROR | ELM;", Kind::Bad),
        ("  1 | ERROR   | [x] Line indented incorrectly", Kind::Bad),
        ("FILE: /srv/shop/Oak.php", Kind::Header),
        ("src/oak.js -> src/elm.js -> src/oak.js", Kind::Finding),
        ("bin/oak.js -> all the elms", Kind::Plain),
        ("elm (imported by \"src/oak.js\")", Kind::Finding),
        ("ok 1 - adds", Kind::Passed),
        ("test a::b ... ok", Kind::Passed),
        ("ok 2 - later # TODO", Kind::Plain),
        ("not ok 2 - adds", Kind::Bad),
        ("  ✓ says an error", Kind::Passed),
        ("  │  ╰─── declared here", Kind::Finding),
        ("  ╰────┴───╯", Kind::Noise),
        ("  │   ─┬", Kind::Noise),
        ("KeyError: 'a'", Kind::Bad),
        ("terrors of the sea", Kind::Plain),
        ("src/a.py:10: unused import", Kind::Place),
        ("12:30:15 started", Kind::Plain),
        ("2026-11-21T20:11:41 started", Kind::Plain),
        ("127.0.0.1:8080 connected", Kind::Plain),
        ("link/ether ba:81:97:f2:3d:53 brd ff:ff", Kind::Plain),
        ("3 passed, 1 skipped", Kind::Verdict),
        ("302 calls (296 first) in 0.942 seconds", Kind::Verdict),
        ("3 packets transmitted, 3 received", Kind::Verdict),
        ("warning: old", Kind::Warning),
        ("[####    ] 45%", Kind::Progress),
        ("a.py    10    2    80%", Kind::Plain),
        (
            "::error file=a.js::Error: no fog%0A \u{276f} a.js:1:2%0A%0A",
            Kind::Bad,
        ),
        ("a.js:5:9 lint/oak ━━━━━━━━━", Kind::Place),
        ("  3) oak grows", Kind::Bad),
        ("-oak", Kind::Change),
        ("  expected: 1", Kind::Change),
        ("src/a.py", Kind::Header),
        ("  ^-- must be lowercase (tag-case)", Kind::Finding),
        ("wood[oak]: too old", Kind::Finding),
        ("W2001 oak is not used", Kind::Finding),
        ("  at grow (file:///app/oak.js:3:4)", Kind::Finding),
        ("  12 | let a = 1", Kind::Noise),
        ("12|oak|3", Kind::Plain),
        ("## How oaks grow", Kind::Header),
        ("# oak = 3", Kind::Plain),
        ("  timeout: 30m", Kind::Plain),
        ("timeout: no answer", Kind::Bad),
        ("TASK [oak : open the failed gate] *****", Kind::Header),
        ("bash: foo: command not found", Kind::Bad),
    ] {
        assert_eq!(kind(line), expected, "{line}");
    }
}

#[test]
fn a_row_about_a_file_is_no_state_of_a_bar() {
    for row in [
        "/srv/oak/leaves/src/leaves/bark.py       28     13    54%   14-17, 24-25",
        "./leaves/bark.py       28     13    54%   14-17",
        "__init__.py       28     13    54%",
    ] {
        assert!(!is_progress(row), "{row}");
    }
    assert!(is_progress("[##########          ] 54%"));
}
