//! What `javac` and compilers with the same form say: errors, warnings, totals.

mod below;

pub(crate) use self::below::{Below, Part, is_count};
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::{indent, shorten};
use crate::output::{Output, Weight};
use crate::parsers::findings::diagnostics::finding;
use crate::parsers::findings::finding::ends::Ends;
use crate::parsers::findings::finding::{Finding, Findings};

pub(crate) const FAMILY: Family = Family {
    name: "javac",
    runs,
    marks: Marks::OneOf(&[
        &[".java:0"],
        &[".java(0"],
        &[".kt:0"],
        &[".kt(0"],
        &[".kts:0"],
        &[".kts(0"],
        &[".scala:0"],
        &[".scala(0"],
        &[".groovy:0"],
        &[".groovy(0"],
    ]),
    recognises,
    reduce,
};

const MAX_OTHERS: usize = 30;
/// Lines of the end among which the counts are looked for.
const END_LINES: usize = 6;
/// This many errors are shown one by one; of more those that say the same are shown once, with all places.
const FEW_ERRORS: usize = 40;

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "javac" | "kotlinc" | "scalac" | "groovyc")
}

fn recognises(input: &Input<'_>) -> Match {
    let found = input.beginning().filter_map(java_finding).count();
    // What ran the compiler may say behind its counts that it failed.
    let mut ending = input.ending().take(END_LINES);
    let total = ending.any(is_count);
    match (found, total) {
        (1.., true) => Match::Certain,
        (1.., false) => Match::Likely,
        (0, _) => Match::No,
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut errors: Vec<&str> = Vec::new();
    let mut grouped = Findings::exact();
    let mut heads = 0;
    let mut warnings = Findings::warnings();
    let mut others = Ends::new(0, MAX_OTHERS);
    let mut below = Below::Nothing;
    let mut is_error = false;
    for text in input.lines() {
        if let Some(found) = java_finding(text) {
            is_error = found.message.starts_with("error:");
            if is_error {
                errors.push(text);
                grouped.push(found);
                heads += 1;
            } else {
                warnings.push(found);
            }
            below = Below::Source;
            continue;
        }
        match below.part(text) {
            Some(Part::Detail) if is_error => {
                errors.push(text.trim_start());
                grouped.continue_last(text);
            }
            Some(Part::Detail) => warnings.continue_last(text),
            None if indent(text) == 0 && !text.is_empty() => others.push(text),
            Some(Part::Source) | None => {}
        }
    }
    if errors.is_empty() && warnings.is_empty() {
        return;
    }
    if !errors.is_empty() {
        output.failed();
    }
    if heads > FEW_ERRORS {
        // Each of them stops the build: all places are shown.
        grouped.write(usize::MAX, output);
    } else {
        for line in &errors {
            output.fact(&shorten(line, 300));
        }
    }
    warnings.write(input.target_chars(), output);
    others.write(Weight::Fact, 240, output);
}

/// `Path.java:7: error: message`.
fn java_finding(text: &str) -> Option<Finding<'_>> {
    if indent(text) > 0 {
        return None;
    }
    finding(text).filter(|found| {
        let compiled = [".java", ".kt", ".kts", ".scala", ".groovy"];
        compiled.iter().any(|ending| found.path.ends_with(ending))
            && (found.message.starts_with("error:") || found.message.starts_with("warning:"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::tested::reduced;

    #[test]
    fn many_errors_that_say_the_same_are_told_once_with_all_places() {
        let one = |line| {
            format!(
                "Oak.java:{line}: error: cannot find symbol\n  Leef a;\n  ^\n  symbol:   class Leef\n"
            )
        };
        let text: String = (1..=50).map(one).collect();
        let text = text + "50 errors\n";
        let told = reduced(&FAMILY, &text, "javac Oak.java", Exit::Failure);
        assert!(
            told.starts_with(
                "Oak.java:1: error: cannot find symbol symbol:   class Leef; also Oak.java:2 "
            ),
            "{told}"
        );
        assert!(told.contains(" Oak.java:50\n50 errors\n"), "{told}");
    }

    #[test]
    fn errors_below_a_runner_are_told_without_their_source() {
        let text = "src/A.java:7: error: cannot find symbol\n  Strin t = null;\n  ^\n  symbol:   class Strin\n".repeat(9)
            + "9 errors\nmake: *** [Makefile:7: classes] Error 1\n";
        assert_eq!(crate::family(&text, Some("make")), "javac");
        let told = reduced(&FAMILY, &text, "make", Exit::Failure);
        assert!(!told.contains("= null"), "{told}");
        assert!(
            told.contains("9 errors\nmake: *** [Makefile:7: classes] Error 1\n"),
            "{told}"
        );
    }

    #[test]
    fn errors_keep_what_they_say_of_the_symbol() {
        let text = "src/A.java:7: error: cannot find symbol\n  Strin t = null;\n  ^\n  symbol:   class Strin\n\
                    src/A.java:9: warning: [rawtypes] found raw type: List\n  List l;\n  ^\n1 error\n1 warning\n";
        let input = Input {
            text,
            words: &[],
            exit: Exit::Failure,
        };
        assert_eq!(recognises(&input), Match::Certain);
        let mut output = Output::default();
        reduce(&input, &mut output);
        assert_eq!(
            output.finish(9, usize::MAX),
            "src/A.java:7: error: cannot find symbol\nsymbol:   class Strin\n\
             src/A.java:9: warning: [rawtypes] found raw type: List\n1 error\n1 warning\n[4 of 9 lines left out]"
        );
    }
}
