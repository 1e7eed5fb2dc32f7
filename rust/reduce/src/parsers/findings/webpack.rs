//! What webpack built: its files and chunks, its errors and warnings, and its verdict.

use crate::family::{Family, Marks, Match};
use crate::generic::kind::place_length;
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::fingerprint::without_numbers;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "webpack",
    runs: |input| input.program() == "webpack",
    marks: Marks::OneOf(&[&["webpack ", " compiled "]]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// Files and chunks that are shown.
const ROWS: usize = 40;
/// Modules that are shown, those only that differ from the one before by more than numbers.
const MODULES: usize = 24;
/// Lines of one message that are shown, and messages that are identified by all of them.
const MESSAGE_LINES: usize = 4;
const MESSAGES: usize = 100;
/// What linters say with a place, within messages.
const FINDINGS: usize = 600;
/// How lines of a message begin that help with any such message.
const ADVICE: [&str; 3] = [
    "You may need an appropriate loader",
    "You may need an additional loader",
    "File was p",
];
/// How lines begin that say how a module is used, or name a part of webpack's own that is built in.
static USES: Beginnings<13> = Beginnings::new([
    "[exports: ",
    "[no exports",
    "[used exports ",
    "[all exports used",
    "[only some exports",
    "[module unused",
    "[optimization bailout",
    "harmony ",
    "cjs ",
    "import() ",
    "entry ",
    "> ",
    "webpack/runtime/",
]);
/// How lines begin that tell of a file that was written, or of a chunk or an entry of files.
static ROW_BEGINNINGS: Beginnings<4> =
    Beginnings::new(["asset ", "assets by ", "Entrypoint ", "chunk "]);

/// Certain when the verdict is near the end; how it was built precedes it.
fn recognises(input: &Input<'_>) -> Match {
    if input.ending().any(is_verdict) {
        Match::Certain
    } else {
        Match::No
    }
}

/// `webpack 5.1.2 compiled with 5 errors in 1100 ms`, after a time in verbose reports.
fn is_verdict(line: &str) -> bool {
    if !line.starts_with(|sign: char| sign == 'w' || sign.is_ascii_digit()) {
        return false;
    }
    let is_time = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b' ');
    let time = line.bytes().take_while(is_time).count();
    let Some(after) = line
        .get(time..)
        .and_then(|text| text.strip_prefix("webpack "))
    else {
        return false;
    };
    let version = after.split_text("compiled ");
    let is_version = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b' ');
    version.is_some_and(|(version, verdict)| {
        version.bytes().all(is_version)
            && (verdict.starts_with("successfully") || verdict.starts_with("with "))
    })
}

/// Where in the report a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Modules,
    /// In a message with this many lines shown.
    Message(usize),
    /// Below `LOG from webpack.Compiler`: how long its own steps took.
    Log,
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    // What was built does not matter where something else was not.
    let is_broken = memchr::memmem::find(input.text.as_bytes(), b"\nERROR in ").is_some();
    let mut asked_by = "";
    let mut unknown = Unknown::default();
    let mut part = Part::Modules;
    let (mut rows, mut left_out) = (0, 0);
    let (mut messages, mut findings) = (0, 0);
    let (mut modules, mut last_kind) = (0, 0);
    for line in input.lines() {
        let text = line.trim_ascii_start();
        if text.is_empty() {
            // What linters and compilers say within a message has blank lines.
            if part == Part::Log {
                part = Part::Modules;
            }
            continue;
        }
        if line.starts_with("ERROR in ") || line.starts_with("WARNING in ") {
            unknown.write(output);
            if line.starts_with("ERROR") {
                output.failed();
            }
            messages += 1;
            part = Part::Message(0);
            output.fact(&shorten(line, LINE_CHARS));
            continue;
        }
        if line.starts_with("LOG from ") {
            part = Part::Log;
        } else if is_verdict(line) {
            unknown.write(output);
            output.gap(std::mem::take(&mut left_out));
            output.fact(line);
            part = Part::Modules;
        } else if ROW_BEGINNINGS.begin(line) {
            part = Part::Modules;
            rows += 1;
            if rows > ROWS {
                left_out += 1;
            } else {
                unknown.write(output);
                output.fact(&shorten(line.trim_end(), LINE_CHARS));
            }
        } else if let Part::Message(told) = part {
            let is_asked = text.starts_with("@ ");
            let is_told = is_asked && std::mem::replace(&mut asked_by, text) == text;
            let is_finding = findings < FINDINGS && place_length(text).is_some();
            let has_room = told < MESSAGE_LINES && messages <= MESSAGES;
            if (has_room || is_finding) && !(is_told || is_advice(text) || is_around(text)) {
                output.fact(&shorten(text, LINE_CHARS));
                findings += usize::from(is_finding);
                part = Part::Message(told + usize::from(!is_finding));
            }
        } else if part == Part::Log || USES.begin(text) || is_advice(text) {
            // How long it took, how a module is used, or how to be shown more.
        } else if is_module(text) {
            let kind = without_numbers(text);
            if !is_broken && std::mem::replace(&mut last_kind, kind) != kind {
                modules += 1;
                if modules <= MODULES {
                    output.context(&shorten(line.trim_end(), LINE_CHARS));
                }
            }
        } else {
            unknown.push(line);
        }
    }
    unknown.write(output);
    output.gap(left_out);
}

/// Whether a line names a module or describes several.
fn is_module(text: &str) -> bool {
    text.starts_with("./")
        || text.ends_with(" modules")
        || text.ends_with(']')
        || text.ends_with("iB")
        || text.ends_with(" bytes")
}

/// Whether a line states how to be shown more.
fn is_advice(text: &str) -> bool {
    text.starts_with("Use 'stats.") || text.ends_with(" detailed information that is not shown.")
}

/// Whether a line of a message shows the source, gives advice, or states who asked for the module.
fn is_around(text: &str) -> bool {
    let digits = text.trim_start_matches(['>', ' ']);
    let rest = digits.trim_start_matches(|sign: char| sign.is_ascii_digit());
    text.starts_with("| ")
        || rest.trim_ascii_start().starts_with('|')
        || ADVICE.iter().any(|advice| text.starts_with(advice))
        || text.find_text("See https://").is_some()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::fmt::Write as _;

    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn reduced(text: &str, exit: Exit) -> (String, &'static str) {
        let command = Some("npm run build");
        let (reduced, family) = terminal::reduce(text, command, exit, usize::MAX).unwrap();
        (reduced, family.unwrap_or_default())
    }

    #[test]
    fn files_and_the_verdict_stay_and_how_modules_are_used_goes() {
        let mut text = String::from(
            "PublicPath: auto\nasset oak.js 33.8 KiB {main} [emitted] (name: main)\nEntrypoint main 33.8 KiB = oak.js\n",
        );
        for leaf in 0..40 {
            let _ = write!(
                text,
                "    ./src/leaf{leaf}.js 106 bytes {{main}} [built] [code generated]\n      [exports: leaf]\n      \
                 [used exports unknown]\n      harmony import specifier ./leaf{leaf}.js [./src/oak.js] 3:1-9\n"
            );
        }
        text.push_str(
            "  ./src/root.js 1.36 KiB {main} [built]\n\nLOG from webpack.Compiler\n<t> make hook: 1.5 ms\n    32 \
             modules hashed\n\n2026-01-01 10:00:00: webpack 5.1.2 compiled successfully in 270 ms\n",
        );
        let (short, family) = reduced(&text, Exit::Success);
        assert_eq!(family, "webpack");
        for fact in [
            "asset oak.js 33.8 KiB {main} [emitted] (name: main)\n",
            "    ./src/leaf0.js 106 bytes",
            "  ./src/root.js 1.36 KiB",
            "webpack 5.1.2 compiled successfully in 270 ms\n",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
        assert!(
            !short.contains("harmony") && !short.contains("make hook"),
            "{short}"
        );
    }

    #[test]
    fn errors_keep_their_place_and_what_they_say() {
        let mut text = String::from("asset oak.js 1 KiB [emitted]\n\n");
        for leaf in 0..9 {
            let _ = write!(
                text,
                "ERROR in ./src/leaf{leaf}.js 2:0-31\nModule not found: Error: Can't resolve './bark{leaf}.js' in \
                 '/srv/oak/src'\n @ ./src/oak.js 31:0-35\n\nERROR in ./src/bad{leaf}.js 1:2\nModule parse failed: \
                 Unexpected token (1:2)\nYou may need an appropriate loader to handle this file type.\n> 1 | x (\n    \
                 |   ^\n\n"
            );
        }
        text.push_str("webpack 5.1.2 compiled with 18 errors in 10 ms\n");
        let (short, family) = reduced(&text, Exit::Failure);
        assert_eq!(family, "webpack");
        for fact in [
            "ERROR in ./src/leaf8.js 2:0-31\nModule not found: Error: Can't resolve './bark8.js' in '/srv/oak/src'\n",
            "@ ./src/oak.js 31:0-35\n",
            "ERROR in ./src/bad8.js 1:2\nModule parse failed: Unexpected token (1:2)\n",
            "webpack 5.1.2 compiled with 18 errors in 10 ms\n",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
        assert!(
            !short.contains("loader") && !short.contains("> 1 |"),
            "{short}"
        );
    }

    #[test]
    fn what_a_linter_says_within_a_message_stays() {
        let mut text = String::from("asset oak.js 1 KiB [emitted]\n");
        for row in 0..40 {
            let _ = writeln!(text, "./src/root{row}.js 1.2 KiB [built] [code generated]");
        }
        text.push_str(
            "\nWARNING in ./src/oak.js\nModule Warning (from \
            ./node_modules/eslint-loader/index.js):\n\n/srv/oak/src/oak.js\n",
        );
        for row in 10..60 {
            let _ = writeln!(
                text,
                "  {row}:5  warning  'leaf{row}' is defined but never used  no-unused-vars"
            );
        }
        text.push_str("\n@ ./src/root.js 1:2\n\nERROR in ./src/elm.ts:3:5\nTS2322: no.\n");
        text.push_str("webpack 5.1.2 compiled with 1 error and 1 warning in 10 ms\n");
        let command = Some("webpack");
        let (short, _) = terminal::reduce(&text, command, Exit::Failure, usize::MAX).unwrap();
        for fact in [
            "/srv/oak/src/oak.js\n10:5  warning  'leaf10' is defined but never used  no-unused-vars\n",
            "59:5  warning  'leaf59'",
            "ERROR in ./src/elm.ts:3:5\nTS2322: no.\nwebpack 5.1.2 compiled",
        ] {
            assert!(short.contains(fact), "{fact}: {short}");
        }
    }

    #[test]
    fn a_sentence_about_webpack_is_no_verdict() {
        assert!(is_verdict("webpack 5.1.2 compiled with 1 warning in 3 ms"));
        assert!(is_verdict("webpack compiled successfully"));
        for line in [
            "the webpack is compiled with care",
            "webpack 5 compiled",
            "webpack serves",
        ] {
            assert!(!is_verdict(line), "{line}");
        }
    }
}
