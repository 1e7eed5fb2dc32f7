use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::pipeline::terminal;
use crate::tested;

fn reduced(text: &str) -> String {
    tested::reduced(&FAMILY, text, "", Exit::Failure)
}

#[test]
fn errors_stay_and_their_source_goes() {
    let text = "In file included from a.h:3,\n                 from a.c:1:\na.c: In function 'main':\na.c:3:5: error: 'x' undeclared\n    3 |     x = 1;\n      |     ^\n\
                a.c:3:5: note: each undeclared identifier is reported only once\n\
                make: *** [Makefile:2: a.o] Error 1\n";
    assert_eq!(
        reduced(text),
        "a.c:3:5: error: 'x' undeclared\nmake: *** [Makefile:2: a.o] Error 1\n[6 of 8 lines left out]"
    );
}

#[test]
fn the_last_step_of_all_stays_beside_warnings() {
    let text = "[1/2] Building C object a.o\na.c:3:5: warning: unused variable 'x' [-Wunused-variable]\n    3 |     int x;\n      |         ^\n[2/2] Linking C executable oak\n";
    let told = tested::reduced(&FAMILY, text, "ninja", Exit::Success);
    assert!(
        told.contains("\n[2/2] Linking C executable oak\n"),
        "{told}"
    );
}

#[test]
fn warnings_of_documents_stand_at_places_that_are_no_lines() {
    let text = "sphinx-build docs out\n/srv/oak.py:docstring of oak.leaf:1: WARNING: target not found: Elm [ref.class]\n\
                <unknown>:1: WARNING: target not found: Ash [ref.class]\n\
                checking... /srv/docs/yew.rst: WARNING: in no tree [toc]\nmake: *** [Makefile:2: html] Error 1\n";
    assert_eq!(
        reduced(text),
        "make: *** [Makefile:2: html] Error 1\n\
         /srv/oak.py:docstring of oak.leaf:1: WARNING: target not found: Elm [ref.class]\n\
         <unknown>:1: WARNING: target not found: Ash [ref.class]\n\
         /srv/docs/yew.rst: WARNING: in no tree [toc]\nsphinx-build docs out\n[0 of 5 lines left out]"
    );
}

#[test]
fn a_run_of_nothing_but_steps_is_told_by_the_last_of_them() {
    let text = "[1/3] Building C object a.o\n[2/3] Building C object b.o\n[3/3] Linking C executable app\n";
    assert_eq!(
        reduced(text),
        "[3/3] Linking C executable app\n[2 of 3 lines left out]"
    );
}

#[test]
fn warnings_are_told_once_with_their_places() {
    let text = "[ 10%] Building C object a.o\na.c:1:2: warning: unused 'n' [-Wunused]\n\
                b.c:1:2: warning: unused 'n' [-Wunused]\n[ 90%] Linking C executable app\n[100%] Built target app\n";
    assert_eq!(
        reduced(text),
        "a.c:1:2: warning: unused 'n' [-Wunused]; also b.c:1:2\n[100%] Built target app\n[2 of 5 lines left out]"
    );
}

#[test]
fn a_link_error_says_what_is_missing() {
    let text = "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `f'\n\
                collect2: error: ld returned 1 exit status\n";
    let reduced = reduced(text);
    assert!(
        reduced.contains("a.c:(.text+0x5): undefined reference to `f'\ncollect2: error:"),
        "{reduced}"
    );
}

#[test]
fn where_a_template_was_asked_for_stays_with_its_error() {
    let text = "/usr/include/v.h:9:1:   required from 'void g()'\nm.cpp:10:10:   required from here\n\
                /usr/include/v.h:4:2: error: no match for 'operator<'\n";
    assert_eq!(
        reduced(text),
        "m.cpp:10:10:   required from here\n/usr/include/v.h:4:2: error: no match for 'operator<'\n[1 of 3 lines left out]"
    );
}

#[test]
fn heads_of_steps_that_an_analyzer_draws_go() {
    let text = "a.c:3:5: warning: leak of 'p' [CWE-401] [-Wanalyzer-malloc-leak]\n    3 |     return 1;\n      |            ^\n\
                \x20 'main': events 1-2\n    |\n    |    2 |   p = malloc(1);\n    |      |       ^\n\
                \x20 'main': event 3\n<built-in>: note: argument 1 must be non-null\nlow: events 3-4\n";
    let reduced = reduced(text);
    assert!(
        !reduced.contains("'main'") && !reduced.contains("argument 1"),
        "{reduced}"
    );
    assert!(reduced.contains("low: events 3-4"), "{reduced}");
}

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
fn source_without_a_rule_beside_it_goes_by_the_caret_below_it() {
    let text = "a.c:6:5: warning: no prototype for 'load' [-Wmissing-prototypes]\nint load(int n) { fail(n); error(n); }\n    ^\n\
                a.c:6:1: note: declare 'static'\nint load(int n) { fail(n); error(n); }\n^\nstatic \n\
                a.c:9:30: error: no member 'tons' in 'struct ship'\n  return ship->tons + error;\n         ~~~~  ^\n\
                loading the linker\n1 warning and 1 error generated.\n";
    assert_eq!(
        reduced(text),
        "a.c:9:30: error: no member 'tons' in 'struct ship'\n1 warning and 1 error generated.\n\
         a.c:6:5: warning: no prototype for 'load' [-Wmissing-prototypes]\nloading the linker\n[8 of 12 lines left out]"
    );
}

#[test]
fn a_line_below_a_message_that_nothing_points_into_stays() {
    let text = "a.c:9:30: error: no member 'tons'\nError: the disk is full\n";
    assert!(reduced(text).contains("Error: the disk is full"));
}

#[test]
fn what_meson_found_out_about_the_machine_goes() {
    let text = "The Meson build system\nVersion: 1.2.1\nSource dir: /srv/oak\nBuild dir: /srv/oak/b\n\
                C compiler for the host machine: cc (gcc 12.2.0)\nHost machine cpu: x86_64\n\
                Run-time dependency elm found: NO (tried pkg-config and cmake)\n\
                meson.build:4:6: ERROR: Dependency \"elm\" not found\n";
    assert_eq!(
        reduced(text),
        "meson.build:4:6: ERROR: Dependency \"elm\" not found\nVersion: 1.2.1\n\
         Run-time dependency elm found: NO (tried pkg-config and cmake)\n[5 of 8 lines left out]"
    );
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
fn words_of_a_compiler_about_scopes_tell_its_errors_from_findings_of_linters() {
    let mut text = String::from("cc -c -o a.o a.c\n");
    for line in 10..60 {
        let _ = writeln!(
            text,
            "a.c:{line}:7: error: redefinition of 'x'\n   {line} | int x;\n      |     ^"
        );
    }
    text.push_str("a.c: In function 'oak':\na.c:71:3: error: 'y' undeclared\na.c: In function 'elm':\na.c:79:3: error: 'z' undeclared\nmake: *** [Makefile:3: a.o] Error 1\n");
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let text = reduced(&text);
    assert!(
        text.contains("\na.c:71:3: error: 'y' undeclared\n"),
        "{text}"
    );
    assert!(!text.contains("In function"), "{text}");
}

#[test]
fn warnings_of_generators_of_documents_are_told_with_all_their_places() {
    let mut text = String::from("reading sources... [100%] api\n");
    for line in 26..60 {
        let _ = writeln!(
            text,
            "/srv/docs/api.rst:{line}: WARNING: target not found: oak.Elm [ref]"
        );
    }
    text.push_str("/srv/docs/index.rst:7: ERROR: Unknown directive type \"oak\".\nmake: *** [Makefile:20: html] Error 1\n");
    let text = reduced(&text);
    assert!(
        text.contains("/srv/docs/api.rst:26: WARNING: target not found: oak.Elm [ref]"),
        "{text}"
    );
    assert!(text.contains(" /srv/docs/api.rst:59"), "{text}");
    assert!(
        text.contains("/srv/docs/index.rst:7: ERROR: Unknown directive"),
        "{text}"
    );
    assert_eq!(text.matches("target not found").count(), 1, "{text}");
}

#[test]
fn a_failed_setup_is_known_by_its_content() {
    let text = "The Meson build system\nVersion: 1.0.1\nSource dir: /srv/oak\nBuild dir: /srv/oak/b\nHost machine cpu: x86_64\nFound CMake: /usr/bin/cmake (3.25.1)\n\nmeson.build:6:0: ERROR: File leaf.c does not exist.\n";
    assert_eq!(terminal::family_name(text, Some("./setup")), "compiler");
}

#[test]
fn who_asked_for_a_template_of_another_file_is_told_below_its_error() {
    let text = "/usr/include/v.h:4:2: error: no member 'oak'\n    x.oak();\n      ^\n\
                /usr/include/v.h:9:1: note: in instantiation of function template specialization 'f<int>' requested here\n    f(x);\n    ^\n\
                m.cpp:10:10: note: in instantiation of function template specialization 'g<int>' requested here\n  g(1);\n  ^\n\
                /usr/include/v.h:7:3: note: candidate template ignored\n\
                m.cpp:12:1: error: unknown type name 'elm'\n1 error generated.\n";
    assert_eq!(
        reduced(text),
        "/usr/include/v.h:4:2: error: no member 'oak'\nm.cpp:10:10: note: in instantiation of function template specialization 'g<int>' requested here\n\
         m.cpp:12:1: error: unknown type name 'elm'\n1 error generated.\n[8 of 12 lines left out]"
    );
}

#[test]
fn who_asked_for_a_template_of_the_own_file_is_told_below_its_error() {
    let text = "m.cpp:4:2: error: static assertion failed: a rack has slots\n    static_assert(N > 0);\n    ^\n\
                m.cpp:10:10: note: in instantiation of template class 'Rack<int, 0>' requested here\n  Rack<int, 0> none;\n               ^\n\
                1 error generated.\n";
    assert_eq!(
        reduced(text),
        "m.cpp:4:2: error: static assertion failed: a rack has slots\nm.cpp:10:10: note: in instantiation of template class 'Rack<int, 0>' requested here\n\
         1 error generated.\n[4 of 7 lines left out]"
    );
}

#[test]
fn what_a_compiler_would_insert_is_no_line_of_a_program() {
    let text = "a.c:9:3: warning: implicit declaration of function 'upper'\n    9 |   upper(a);\n      |   ^~~~~\n\
                a.c:1:1: note: include '<ctype.h>' or provide a declaration of 'upper'\n  +++ |+#include <ctype.h>\n    1 | int a;\n";
    assert!(!reduced(text).contains("+++"));
}

#[test]
fn the_files_that_a_setup_wrote_say_that_it_came_to_its_end() {
    let text = "checking for gcc... gcc\n".repeat(30)
        + "configure: creating ./config.status\nconfig.status: creating Makefile\nconfig.status: creating oak.pc\nconfig.status: executing depfiles commands\n";
    assert!(
        reduced(&text).contains("config.status: creating Makefile oak.pc\n"),
        "{}",
        reduced(&text)
    );
}

#[test]
fn exceptions_that_a_script_raised_together_are_told() {
    let text = "gcc -c -o oak.o oak.c\n".repeat(50)
        + "  + Exception Group Traceback (most recent call last):\n  |   File \"/p/gen.py\", line 3, in <module>\n  |     grow()\n  | ExceptionGroup: no leaf (1 sub-exception)\n\
           \x20 +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/p/gen.py\", line 7, in grow\n    |     leaf()\n    | ValueError: no fog\n    +------------------------------------\n\
           make: *** [Makefile:4: gen] Error 1\n";
    let told = reduced(&text);
    for fact in [
        "| ExceptionGroup: no leaf (1 sub-exception)",
        "| ValueError: no fog",
        "/p/gen.py\", line 7",
        "make: *** [Makefile:4: gen] Error 1",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}
