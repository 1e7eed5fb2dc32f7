//! What `javac` and compilers with the same form say: errors, warnings, totals.

use super::diagnostics::finding;
use super::findings::Findings;
use super::input::Input;
use super::line::{indent, shorten};
use super::output::Output;
use super::route::{Family, Marks, Match};

pub(super) const FAMILY: Family = Family {
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

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "javac" | "kotlinc" | "scalac" | "groovyc")
}

fn recognises(input: &Input<'_>) -> Match {
    let found = input.beginning().filter(|text| java_finding(text)).count();
    let total = input
        .text
        .trim_end()
        .rsplit('\n')
        .next()
        .is_some_and(is_total);
    match (found, total) {
        (1.., true) => Match::Certain,
        (1.., false) => Match::Likely,
        (0, _) => Match::No,
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut errors: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut warnings = Findings::exact();
    let mut others = Vec::new();
    // The line below a finding is its source; one with a caret ends it.
    let mut source_follows = false;
    for text in input.lines() {
        let detail = text.trim_start();
        if java_finding(text) {
            if let Some(found) = finding(text) {
                if found.message.starts_with("error:") {
                    errors.push((text, Vec::new()));
                } else {
                    warnings.push(found);
                }
                source_follows = true;
            }
        } else if detail.starts_with("symbol:")
            || detail.starts_with("location:")
            || detail.starts_with("required:")
            || detail.starts_with("found:")
            || detail.starts_with("reason:")
        {
            if let Some((_, details)) = errors.last_mut() {
                details.push(detail);
            }
        } else if source_follows {
            source_follows = detail != "^";
        } else if detail != "^" && !detail.is_empty() && indent(text) == 0 {
            others.push(text);
        }
        if is_total(text) {
            source_follows = false;
            if others.last() != Some(&text) {
                others.push(text);
            }
        }
    }
    if errors.is_empty() && warnings.is_empty() {
        return;
    }
    for (error, details) in &errors {
        output.failed();
        output.fact(&shorten(error, 300));
        for detail in details {
            output.fact(&shorten(detail, 240));
        }
    }
    warnings.write(input.target_chars(), output);
    let skipped = others.len().saturating_sub(MAX_OTHERS);
    output.gap(skipped);
    for other in others.iter().skip(skipped) {
        output.fact(&shorten(other, 240));
    }
}

/// `Path.java:7: error: message`.
fn java_finding(text: &str) -> bool {
    indent(text) == 0
        && finding(text).is_some_and(|found| {
            let compiled = [".java", ".kt", ".kts", ".scala", ".groovy"];
            compiled.iter().any(|ending| found.path.ends_with(ending))
                && (found.message.starts_with("error:") || found.message.starts_with("warning:"))
        })
}

/// `3 errors`, `1 warning`.
fn is_total(text: &str) -> bool {
    text.split_once(' ').is_some_and(|(count, word)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(word.trim_end(), "error" | "errors" | "warning" | "warnings")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reduce::input::Exit;

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
