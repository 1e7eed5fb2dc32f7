//! What `tsc` states, plain and pretty: every error with its place and code.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::indent;
use crate::output::{Output, Weight};
use crate::parsers::findings::diagnostics::{bare_place, finding, is_excerpt};
use crate::parsers::findings::finding::ends::Ends;
use crate::parsers::findings::finding::{Finding, Findings};
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "tsc",
    runs,
    marks: Marks::OneOf(&[&[" TS0"]]),
    recognises,
    reduce,
};

const MAX_OTHERS: usize = 30;

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "tsc" | "vue-tsc" | "tsgo")
}

fn recognises(input: &Input<'_>) -> Match {
    let coded = |text: &str| finding(text).is_some_and(|found| error_code(found.message));
    match input.beginning().filter(|text| coded(text)).take(2).count() {
        0 if input.beginning().any(error_code) => Match::Likely,
        0 => Match::No,
        _ => Match::Certain,
    }
}

/// Whether a message begins with `error TS1234:` or another category of the compiler.
fn error_code(message: &str) -> bool {
    ["error TS", "warning TS", "message TS", "suggestion TS"]
        .iter()
        .any(|beginning| {
            message
                .strip_prefix(beginning)
                .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
        })
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut findings = Findings::exact();
    let mut others = Ends::new(0, MAX_OTHERS);
    let mut explained = true;
    // The error that an overload reports follows its announcement.
    let mut gave = false;
    // The last line of an explanation, the deepest cause.
    let mut cause = None;
    let mut in_table = false;
    // What is indented belongs to the error above, if there is one.
    let mut of_error = false;
    for text in input.lines() {
        let depth = indent(text);
        let spelled = text.as_bytes().first();
        let spelled = spelled.is_some_and(|first| first.is_ascii_alphabetic() || *first == b'.');
        if !spelled
            && (text.trimmed().is_empty()
                || is_excerpt(text)
                || (of_error || in_table) && is_source(text))
        {
            continue;
        }
        if let Some(found) = finding(text) {
            // Indented locations show declarations that belong to the error above.
            if depth == 0 {
                tell(&mut cause, &mut findings);
                findings.push(found);
                explained = false;
                of_error = true;
            }
        } else if let Some((announced, found)) = announced(text) {
            tell(&mut cause, &mut findings);
            others.push(announced);
            findings.push(found);
            explained = false;
            of_error = true;
        } else if depth > 0 && of_error {
            // The first line of an explanation shows what the message means, the last one why. One that follows a place
            // shows what is declared there.
            let declared = bare_place(text.trim_start()).is_some();
            let gives = text
                .trim_ascii_end()
                .ends_with(" gave the following error.");
            if in_table {
                continue;
            }
            if !explained || declared || gives || gave {
                tell(&mut cause, &mut findings);
                findings.continue_last(text);
                explained = !declared;
            } else {
                cause = Some(text);
            }
            gave = gives;
        } else if text.starts_with("Errors") && text.split_whitespace().eq(["Errors", "Files"]) {
            in_table = true;
        } else {
            if error_code(text) {
                output.failed();
            }
            of_error = false;
            others.push(text);
        }
    }
    tell(&mut cause, &mut findings);
    findings.write(input.target_chars(), output);
    others.write(Weight::Fact, 240, output);
}

/// Shows the deepest cause of the last error, if there is one.
fn tell<'a>(cause: &mut Option<&'a str>, findings: &mut Findings<'a>) {
    if let Some(cause) = cause.take() {
        findings.continue_last(cause);
    }
}

/// What precedes the first error in its line, and that error: `Exception during run: a.ts(1,2): error
/// TS1005: ...`.
fn announced(text: &str) -> Option<(&str, Finding<'_>)> {
    let code = text.find_text(": error TS")?;
    let (before, _) = text.split_at_checked(code)?;
    let place = before.rfind(": ")? + 2;
    let found = finding(text.get(place..)?)?;
    error_code(found.message).then_some((text.get(..place - 1)?.trim_start(), found))
}

/// Whether a line of the pretty form shows source: its number is in front of it.
fn is_source(text: &str) -> bool {
    let line = text.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && line.get(digits..).is_some_and(|rest| rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    fn reduced(text: &str) -> String {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::Certain);
        let mut output = Output::default();
        reduce(&input, &mut output);
        output.finish(text.lines().count(), usize::MAX)
    }

    #[test]
    fn the_pretty_form_loses_its_source() {
        let text = "src/a.ts:6:29 - error TS2322: Type 'A' is not assignable.\n  Type 'B' is not.\n\n\
                    6   return a;\n             ~~~~\n\nsrc/b.ts:1:2 - error TS1005: ';' expected.\n\n\
                    1 x y\n    ~\n\n\nFound 2 errors in 2 files.\n\nErrors  Files\n     1  src/a.ts:6\n     1  src/b.ts:1\n";
        assert_eq!(
            reduced(text),
            "src/a.ts:6:29 - error TS2322: Type 'A' is not assignable. Type 'B' is not.\n\
             src/b.ts:1:2 - error TS1005: ';' expected.\nFound 2 errors in 2 files.\n[14 of 17 lines left out]"
        );
    }

    #[test]
    fn where_something_is_declared_stands_with_what_is_said_of_it() {
        let text = "src/a.ts:6:29 - error TS2322: Type 'A' is not assignable.\n  Type 'B' is not.\n\n\
                    6   f({ a });\n      ~\n\n  src/types.ts:2:20\n    2 let a: A;\n        ~\n    \
                    The type comes from 'a'.\n  src/types.ts:9:3\n    9 b: B\n      ~\n    It is declared here.\n\n\
                    src/b.ts:1:2 - error TS1005: ';' expected.\n\n1 x y\n    ~\n";
        assert!(reduced(text).starts_with(
            "src/a.ts:6:29 - error TS2322: Type 'A' is not assignable. Type 'B' is not. src/types.ts:2:20 \
             The type comes from 'a'. src/types.ts:9:3 It is declared here.\nsrc/b.ts:1:2"
        ));
    }

    #[test]
    fn the_deepest_cause_and_what_each_overload_gave_are_told() {
        let text = "a.ts(1,2): error TS2322: Type 'A[]' is not assignable to type 'B[]'.\n  Type 'A' is not assignable to type 'B'.\n    \
                    Types of property 'leaf' are incompatible.\n      Type 'string' is not assignable to type 'number'.\n\
                    a.ts(3,4): error TS2769: No overload matches this call.\n  Overload 1 of 2, '(a: oak): elm', gave the following error.\n    \
                    Argument 'x' is no oak.\n  Overload 2 of 2, '(a: ash): elm', gave the following error.\n    Argument 'x' is no ash.\n";
        let told = reduced(text);
        let ends = |line: usize, end: &str| {
            told.lines()
                .nth(line)
                .is_some_and(|line| line.ends_with(end))
        };
        assert!(
            ends(
                0,
                "Type 'A' is not assignable to type 'B'. Type 'string' is not assignable to type 'number'."
            ),
            "{told}"
        );
        assert!(
            ends(
                1,
                "Overload 1 of 2, '(a: oak): elm', gave the following error. Argument 'x' is no oak. Overload 2 of 2, \
                 '(a: ash): elm', gave the following error. Argument 'x' is no ash."
            ),
            "{told}"
        );
    }

    #[test]
    fn an_error_behind_other_words_is_one_of_the_errors() {
        let text = " Exception during run: oak.ts(1,2): error TS7006: Parameter 'x' has no type.\n\
                    elm.ts(3,4): error TS7006: Parameter 'x' has no type.\n\
                    ash.ts(5,6): error TS2304: Cannot find name 'leaf'.\n";
        assert_eq!(
            reduced(text),
            "oak.ts(1,2): error TS7006: Parameter 'x' has no type.; also elm.ts(3,4)\n\
             ash.ts(5,6): error TS2304: Cannot find name 'leaf'.\nException during run:\n\
             [0 of 3 lines left out]"
        );
    }

    #[test]
    fn what_others_print_indented_is_shown() {
        let text = "oak.ts(1,2): error TS7006: Parameter 'x' has no type.\n  It has none.\n\
                    elm.ts(3,4): error TS2304: Cannot find name 'leaf'.\nleaves fell\n\n  17 passing (63ms)\n";
        assert!(
            reduced(text).contains("leaves fell\n  17 passing (63ms)"),
            "{}",
            reduced(text)
        );
    }

    #[test]
    fn the_plain_form_is_grouped_by_message() {
        let text = "a.ts(1,2): error TS7006: Parameter 'x' implicitly has an 'any' type.\n\
                    b.ts(3,4): error TS7006: Parameter 'x' implicitly has an 'any' type.\n";
        assert!(reduced(text).starts_with(
            "a.ts(1,2): error TS7006: Parameter 'x' implicitly has an 'any' type.; also b.ts(3,4)\n"
        ));
    }
}
