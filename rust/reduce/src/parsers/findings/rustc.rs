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
}
