use super::*;
use crate::input::Exit;
use crate::tested::reduced;

fn matches(text: &str, command: &str) -> Match {
    let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    recognises(&Input {
        text,
        words: &words,
        exit: Exit::Success,
    })
}

fn page(head: &str, entry: fn(usize) -> String) -> String {
    let entries: String = (0..300).map(entry).collect();
    format!("{head}{entries}")
}

#[test]
fn a_short_page_stays() {
    let text = "usage: oak [-h] leaf\n\n".to_owned() + &"  -h, --help  show this\n".repeat(20);
    let words = ["oak".to_owned(), "--help".to_owned()];
    let input = Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let mut output = Output::default();
    reduce(&input, &mut output);
    assert!(output.is_to_stay());
}

#[test]
fn each_option_of_a_long_page_keeps_the_first_line_of_what_is_said() {
    let text = page(
        "Usage: oak [OPTIONS]\n           [LEAF]\n\nOptions:\n",
        |number| {
            format!(
                "  --leaf-{number} <N>\n          How many of kind {number}.\n          More of that.\n\n          And a note.\n\n"
            )
        },
    );
    let told = reduced(&FAMILY, &text, "oak --help", Exit::Success);
    assert!(
        told.starts_with("Usage: oak [OPTIONS]\n   [LEAF]\nOptions:\n --leaf-0 <N>\n   How many of kind 0. ...\n --leaf-1 <N>\n"),
        "{told}"
    );
    assert!(
        told.contains("--leaf-299 <N>\n   How many of kind 299. ..."),
        "{told}"
    );
    assert!(
        !told.contains("More of that") && !told.contains("a note"),
        "{told}"
    );
}

#[test]
fn commands_and_options_in_columns_stay_without_further_lines() {
    let text = page(
        "Usage: oak\n\nOptions:\n  -a  b\n  -c  d\n  -e  f\n  -g  h\n  -i  j\n  -k  l\n\nCommands:\n",
        |number| {
            format!(
                "  grow-{number}      Lets it grow\n              for a while, and then\n              for a longer one\n"
            )
        },
    );
    let told = reduced(&FAMILY, &text, "oak --help", Exit::Success);
    assert!(
        told.contains(" grow-7 Lets it grow ...\n grow-8 Lets it grow ...\n"),
        "{told}"
    );
}

#[test]
fn a_page_of_a_manual_keeps_headings_and_where_paragraphs_begin() {
    let text = page(
        "OAK(1)          Trees          OAK(1)\n\nNAME\n       oak - grows\n\nDESCRIPTION\n",
        |number| {
            format!("       Paragraph {number} begins here and\n       goes on for a line.\n\n")
        },
    ) + "OPTIONS\n       --leaf\n           Grows a leaf.\n\n           Not in winter.\n\nSEE ALSO\n       elm(1)\n";
    assert_eq!(matches(&text, "sh page.sh"), Match::Certain);
    let told = reduced(&FAMILY, &text, "man oak", Exit::Success);
    assert!(
        told.contains(
            "NAME\n  oak - grows\nDESCRIPTION\n  Paragraph 0 begins here and ...\n  Paragraph 1 "
        ),
        "{told}"
    );
    assert!(
        told.contains("OPTIONS\n  --leaf\n   Grows a leaf.\nSEE ALSO\n  elm(1)\n"),
        "{told}"
    );
    assert!(!told.contains("winter"), "{told}");
}

#[test]
fn options_that_stand_at_the_margin_are_told_from_what_is_said_of_them() {
    let text = page("oak: grows\n\n", |number| {
        format!("--leaf{number}\nGrows leaf {number}.\ntype: boolean\ndefault: false\n\n")
    });
    let told = reduced(&FAMILY, &text, "oak --help --all", Exit::Success);
    assert!(
        told.contains("--leaf7\nGrows leaf 7. ...\n--leaf8\n"),
        "{told}"
    );
}

#[test]
fn an_option_that_is_named_in_a_text_begins_none() {
    let text = page("Usage: oak\n\nOptions:\n", |number| {
        format!(
            "    --leaf-{number}\n        Grows like the\n        --elm option does.\n\n        Or not.\n\n"
        )
    });
    let told = reduced(&FAMILY, &text, "oak --help", Exit::Success);
    assert!(!told.contains("does") && !told.contains("Or not"), "{told}");
}

#[test]
fn options_without_a_short_name_stand_deeper() {
    let text = page("Usage: oak\n\nOptions:\n", |number| {
        format!(
            "  -{}, --leaf-{number} <N>     How many\n                       of them\n      --elm-{number} <N>      More of\n                       that\n      --ash-{number} sets it\n",
            char::from(b'a' + u8::try_from(number % 26).unwrap_or_default())
        )
    });
    let told = reduced(&FAMILY, &text, "oak --help", Exit::Success);
    for number in 0..300 {
        for name in ["leaf", "elm", "ash"] {
            assert!(
                told.contains(&format!("--{name}-{number} ")),
                "{name}-{number}: {told}"
            );
        }
    }
    assert!(!told.contains("of them"), "{told}");
}

#[test]
fn tabs_are_as_wide_as_a_terminal_shows_them() {
    let text = page(
        "OAK(1)\tTrees\tOAK(1)\n\nSYNOPSIS\n       oak\n\t    [--leaf]\n\nOPTIONS\n",
        |number| {
            format!("       --leaf{number}\n\t   Grows leaf {number}.\n\n\t   Not in winter.\n\n")
        },
    );
    let told = reduced(&FAMILY, &text, "man oak", Exit::Success);
    assert!(
        told.contains(
            "SYNOPSIS\n  oak\n   [--leaf]\nOPTIONS\n  --leaf0\n   Grows leaf 0.\n  --leaf1\n"
        ),
        "{told}"
    );
}

#[test]
fn other_texts_are_no_pages() {
    assert_eq!(matches("usage: oak\nleaf fell\n", "oak --help"), Match::No);
    assert_eq!(matches(&"  -x leaf\n".repeat(20), "oak run"), Match::No);
    assert_eq!(matches("leaf(1) fell from oak(2)\n", "cat a"), Match::No);
}
