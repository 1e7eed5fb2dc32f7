use super::*;
use crate::input::Exit;
use crate::pipeline::terminal;

#[test]
fn comments_of_a_dump_of_a_database_are_no_configuration() {
    let dump = "--\n-- Name: oaks; Type: TABLE\n--\n\nCREATE TABLE oaks (\n    id integer\n);\n\n"
        .repeat(5);
    let input = Input {
        text: &dump,
        words: &[],
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::No);
}

#[test]

fn numbers_in_brackets_are_no_steps_of_a_build() {
    let text = " [1] 0.25 0.5\n[1] \"oak\"\n[11] 0.75 1.0\n[21] 1.25\n";
    let input = Input {
        text,
        words: &[],
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::No);
    assert_eq!(
        after_count("[ 12%] Built target oak"),
        Some(" Built target oak")
    );
    assert_eq!(after_count("[3/10] oak"), Some(" oak"));
}

#[test]
fn a_failed_setup_is_known_by_its_content() {
    let text = "The Meson build system\nVersion: 1.0.1\nSource dir: /srv/oak\nBuild dir: /srv/oak/b\nHost machine cpu: x86_64\nFound CMake: /usr/bin/cmake (3.25.1)\n\nmeson.build:6:0: ERROR: File leaf.c does not exist.\n";
    assert_eq!(terminal::family_name(text, Some("./setup")), "compiler");
}
