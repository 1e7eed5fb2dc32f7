//! What the Rust compiler states through `cargo build`, `check`, `clippy`: errors and warnings with places.

mod diagnostic;
mod json;
mod line;
mod many;
mod pointer;
mod reader;

use std::borrow::Cow;

pub(crate) use self::line::{is_beside, is_step};
pub(crate) use self::reader::Reader;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "rustc",
    runs,
    marks: Marks::OneOf(&[
        &["\nerror[E"],
        &["\nerror: "],
        &["\nwarning: "],
        &["\n{\"reason\":\""],
        &["\n{\"$message_type\":\""],
    ]),
    recognises,
    reduce,
};

/// Steps of cargo that are as good as a diagnostic to know its output by.
const ENOUGH_STEPS: usize = 2;

fn runs(input: &Input<'_>) -> bool {
    const SUBCOMMANDS: [&str; 14] = [
        "b", "bench", "build", "c", "check", "clippy", "d", "doc", "fix", "r", "run", "rustc",
        "rustdoc", "test",
    ];
    match input.program() {
        "cargo" => SUBCOMMANDS.contains(&input.subcommand()),
        "rustc" | "rustdoc" | "clippy-driver" | "cargo-clippy" => true,
        _ => false,
    }
}

/// Certain when a diagnostic with a code or a Rust place is there, or steps of cargo and its verdict.
fn recognises(input: &Input<'_>) -> Match {
    let mut steps = 0;
    let mut heads = 0;
    let mut edits = false;
    for line in input.beginning() {
        if line.starts_with("thread '") && line.contains(" panicked at ") {
            steps += 1;
        }
        if line.starts_with("error[E") || json::is_message(line) {
            return Match::Certain;
        }
        let body = line.trim_start();
        if body.starts_with("--> ") && body.contains(".rs:") && heads > 0 {
            return Match::Certain;
        }
        heads += usize::from(line.starts_with("error: ") || line.starts_with("warning: "));
        edits |= line::edits_manifest(body);
        steps += usize::from(body.len() < line.len() && line::step(body));
    }
    if steps >= ENOUGH_STEPS && heads > 0 && !edits {
        Match::Certain
    } else if steps + heads > 0 {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let text = if input.beginning().any(json::is_message) {
        Cow::Owned(json::rendered(input.text))
    } else {
        Cow::Borrowed(input.text)
    };
    let mut reader = Reader::default();
    if matches!(text, Cow::Owned(_)) {
        reader.keep_notes();
    }
    for line in lines(&text) {
        reader.line(line, output);
    }
    reader.write(output);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use crate::input::Exit;
    use crate::tested::unmarked as terminal;

    fn reduced(command: &str, text: &str, code: i64) -> String {
        let exit = if code == 0 {
            Exit::Success
        } else {
            Exit::Failure
        };
        terminal::reduce(text, Some(command), exit, usize::MAX)
            .unwrap()
            .0
    }

    const ERROR: &str = "error[E0308]: mismatched types\n --> src/a.rs:4:9\n  |\n4 |     add(a, b)\n  |         ^ expected `i64`, found `i32`\n  |\nnote: function defined here\n --> src/b.rs:1:4\n  |\n1 | fn add(a: i64) {}\n  |    ^^^\nhelp: you can convert it\n  |\n4 |     add(a.into(), b)\n  |          +++++++\n\n";
    const WARNING: &str = "warning: unused import: `x`\n --> src/a.rs:1:5\n  |\n1 | use x;\n  |     ^\n  |\n  = note: `#[warn(unused_imports)]` on by default\n\n";

    #[test]
    fn an_error_keeps_code_message_first_place_and_label() {
        let text = "   Compiling app v0.1.0 (/p)\n".to_owned()
            + ERROR
            + "For more information about this error, try `rustc --explain E0308`.\nerror: could not compile `app` (lib) due to 1 previous error\n";
        assert_eq!(
            reduced("cargo build", &text, 101),
            "error[E0308]: mismatched types src/a.rs:4:9 (expected `i64`, found `i32`)\n\
            note: function defined here src/b.rs:1:4 fn add(a: i64) {}\n\
            error: could not compile `app` (lib) due to 1 previous error\n[15 of 19 lines left out]"
        );
    }

    #[test]
    fn why_a_macro_panicked_is_told_for_each_place() {
        let one = |name: &str| {
            format!(
                "error: proc-macro derive panicked\n --> src/{name}.rs:1:10\n  |\n1 | #[derive(Oak)]\n  |          ^^^\n  |\n  \
                 = help: message: no {name} grows\n\n"
            )
        };
        let text = one("oak") + &one("elm") + &WARNING.repeat(8);
        let reduced = reduced("cargo build", &text, 101);
        let told = "error: proc-macro derive panicked src/oak.rs:1:10\nmessage: no oak grows\n\
                    error: proc-macro derive panicked src/elm.rs:1:10\nmessage: no elm grows\n";
        assert!(reduced.starts_with(told), "{reduced}");
    }

    #[test]
    fn a_label_and_a_note_that_errors_share_are_said_once() {
        let text = ERROR.to_owned()
            + &ERROR.replace("a.rs:4:9", "c.rs:7:5")
            + "error: could not compile `app` (lib) due to 2 previous errors\n";
        let text = text.replace("^ expected", "^----- expected");
        assert!(reduced("cargo build", &text, 101).starts_with(
            "error[E0308]: mismatched types src/a.rs:4:9 src/c.rs:7:5 (expected `i64`, found `i32`)\nnote: function defined here src/b.rs:1:4 fn add(a: i64) {}\nerror: could"
        ));
    }

    #[test]
    fn where_help_points_and_what_libraries_define_is_not_told() {
        let text = ERROR.replace("src/b.rs", "/rustc/1a2b/library/core/src/num.rs")
            + &ERROR.replace("note: function defined here", "help: change this");
        assert!(!reduced("cargo build", &text.repeat(3), 101).contains(".rs:1:4"));
    }

    #[test]
    fn the_same_warning_is_said_once_with_all_places_and_its_lint() {
        let text = WARNING.to_owned()
            + &WARNING.replace("a.rs:1:5", "b.rs:7:5")
            + "warning: `app` (lib) generated 2 warnings (run `cargo fix --lib -p app` to apply 2 suggestions)\n    Finished `dev` profile target(s) in 0.10s\n";
        let reduced = reduced("cargo check", &text, 0);
        assert!(
            reduced.starts_with("warning: unused import: `x` src/a.rs:1:5 src/b.rs:7:5 [unused_imports]\nwarning: `app` (lib) generated 2 warnings (run"),
            "{reduced}"
        );
    }

    #[test]
    fn of_very_many_places_the_first_are_told_and_all_counted() {
        let places = |count: usize, diagnostic: &str| -> String {
            (0..count)
                .map(|line| diagnostic.replace("a.rs:1:5", &format!("a.rs:{line}:5")))
                .collect()
        };
        let all = reduced("cargo check", &places(300, WARNING), 0);
        assert!(all.contains(" src/a.rs:299:5 [unused_imports]\n"), "{all}");
        let errors = places(1_100, &WARNING.replace("warning:", "error:"));
        let errors = reduced("cargo check", &errors, 101);
        assert!(
            errors.contains(" src/a.rs:1023:5 +76 [unused_imports]\n"),
            "{errors}"
        );
        let mut text = places(600, WARNING);
        text += &WARNING.replace("a.rs:1:5", "b.rs:7:5");
        let warnings = reduced("cargo check", &text, 0);
        assert!(
            warnings.contains(" src/a.rs:5:5 src/b.rs:7:5 +594 [unused_imports]\n"),
            "{warnings}"
        );
    }

    #[test]
    fn of_very_many_warnings_that_differ_in_names_a_few_are_told_and_all_counted() {
        let one = |number: usize| {
            let named = WARNING.replace("`x`", &format!("`oak_{number}`"));
            named.replace("a.rs:1:5", &format!("part_{}.rs:{number}:5", number / 400))
        };
        let text: String = (0..500).map(one).collect();
        let reduced = reduced("cargo check", &text, 0);
        assert!(
            reduced
                .contains("import: `oak_7` src/part_0.rs:7:5 [unused_imports]\n... 492 like it src/part_0.rs:8:5 "),
            "{reduced}"
        );
        assert!(reduced.contains(" src/part_1.rs:400:5 +485\n"), "{reduced}");
        assert!(!reduced.contains("oak_8"), "{reduced}");
    }

    #[test]
    fn what_is_left_of_a_diagnostic_stands_above_all_others() {
        let errors = (0..9).map(|line| ERROR.replace("`i64`", &format!("`oak{line}`")));
        let errors: String = errors.collect();
        let closing = "error: could not compile `app` (lib) due to 10 previous errors\n";
        let headless = " --> src/z.rs:9:9\n  |\n9 |     fog()\n  |     ^^^ not found in this scope\n  |\nhelp: consider this\n --> /rustc/1a2b/library/core/src/num.rs:1:4\n\n";
        let text = reduced(
            "cargo build 2>&1 | tail -190",
            &format!("{headless}{errors}{closing}"),
            0,
        );
        assert!(
            text.starts_with(
                "--> src/z.rs:9:9 (not found in this scope)\nerror[E0308]: mismatched types "
            ),
            "{text}"
        );
        let label = "  |     ^^^ not found in this scope\n  |\nhelp: consider this\n\n";
        let text = reduced(
            "cargo build 2>&1 | tail -186",
            &format!("{label}{errors}{closing}"),
            0,
        );
        assert!(
            text.starts_with("^^^ not found in this scope\n") && text.contains("\nerror[E0308]: "),
            "{text}"
        );
    }

    #[test]
    fn who_calls_a_macro_of_a_library_is_told_with_its_place() {
        let text = "error: macro expansion ignores `{`\n --> /rustc/1a2b/library/std/src/macros.rs:142:22\n  |\n ::: src/z.rs:6:45\n  |\n\
                    6 | oak!(A); println!(\"top\");\n  |          --------------- caused by the macro expansion here\n\n"
            .to_owned()
            + &WARNING.repeat(9);
        assert!(
            reduced("cargo build", &text, 101).starts_with(
                "error: macro expansion ignores `{` /rustc/1a2b/library/std/src/macros.rs:142:22 src/z.rs:6:45\n"
            )
        );
    }

    #[test]
    fn steps_without_a_verdict_get_none() {
        let text = "   Compiling a v0.1.0\n".repeat(60)
            + "error: linker `cc` not found\n  |\n  = note: No such file\n\n";
        let reduced = reduced("cargo build", &text, 101);
        assert!(
            reduced.contains("error: linker `cc` not found\n"),
            "{reduced}"
        );
        assert!(!reduced.contains("Finished"), "{reduced}");
    }

    #[test]
    fn messages_in_json_are_read_as_their_text() {
        let rendered = serde_json::to_string(ERROR).unwrap();
        let message = format!(
            "{{\"reason\":\"compiler-message\",\"message\":{{\"children\":[{{\"rendered\":null}}],\"rendered\":{rendered}}}}}"
        );
        let artifact = "{\"reason\":\"compiler-artifact\",\"filenames\":[]}\n".repeat(20);
        let text =
            format!("{artifact}{message}\n{{\"reason\":\"build-finished\",\"success\":false}}\n");
        let reduced = reduced("cargo check --message-format=json", &text, 101);
        assert!(
            reduced.contains("error[E0308]: mismatched types src/a.rs:4:9"),
            "{reduced}"
        );
        assert!(reduced.contains("\"success\":false"), "{reduced}");
    }

    #[test]
    fn other_programs_in_a_build_stay_readable() {
        let text = "> app build\n> cargo build\n".to_owned()
            + &"   Compiling a v0.1.0\n".repeat(60)
            + ERROR
            + "make: *** [build] Error 101\n";
        let reduced = reduced("make build", &text, 2);
        for kept in [
            "> app build\n",
            "src/a.rs:4:9",
            "make: *** [build] Error 101\n",
        ] {
            assert!(reduced.contains(kept), "{reduced}");
        }
    }

    #[test]
    fn a_lint_of_the_command_line_and_the_places_of_missing_symbols_are_told() {
        let lint = "error: unneeded `return` statement\n --> src/a.rs:1:67\n  |\n1 | fn a() { return; }\n  |          ^^^^^^\n  |\n  \
                    = note: requested on the command line with `-D clippy::needless-return`\n\n";
        let linked = "error: linking with `cc` failed: exit status: 1\n  |\n  = note:  \"cc\" \"-m64\" \"a.o\"\n  = note: rust-lld: error: \
                    undefined symbol: grow_leaf\n          >>> referenced by main.rs:2 (src/main.rs:2)\n          \
                    >>>               a.o:(main)\n          collect2: error: ld returned 1 exit status\n\n\
                    error: could not compile `oak` (bin \"oak\") due to 1 previous error\n";
        let text = "   Compiling a v0.1.0\n".repeat(60) + lint + linked;
        let reduced = reduced("cargo clippy", &text, 101);
        assert!(
            reduced.contains("src/a.rs:1:67 [clippy::needless-return]\n"),
            "{reduced}"
        );
        assert!(
            reduced.contains(
                "undefined symbol: grow_leaf\n>>> referenced by main.rs:2 (src/main.rs:2)\n"
            ),
            "{reduced}"
        );
    }
}
