//! What `MSBuild` and the compilers below it say: `dotnet build`, `msbuild`, `cl`, `link`, `nmake`.
//!
//! ```text
//! src/Cart.cs(21,9): error CS0103: The name 'totl' does not exist [src/Shop.csproj]
//! 1>cart.obj : error LNK2019: unresolved external symbol price
//! CSC : error CS5001: Program does not contain a static 'Main' method [src/Shop.csproj]
//! ```
//!
//! The form is that of the manual of `MSBuild`: origin, category, code, text. At the end of a build all of them are
//! shown once more.

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::output::{Output, Weight};
use crate::parsers::findings::finding::ends::Ends;
use crate::parsers::findings::finding::is_code;
use crate::parsers::findings::finding::{Finding, Findings};
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "msbuild",
    runs,
    marks: Marks::OneOf(&[
        &[" error ", "00: "],
        &[" warning ", "00: "],
        &[" Warning(s)", " Error(s)"],
    ]),
    recognises,
    reduce,
};

const ERROR_CHARS: usize = 400;
/// Errors and verdicts that are kept, the first and the last.
const MAX_FACTS: usize = 4_096;
/// Messages that are remembered, for they are shown again.
const MAX_MESSAGES: usize = 65_536;
const MAX_OTHERS: usize = 30;
/// Notes that are kept below an error.
const MAX_NOTES: usize = 4;
/// An origin and a category take no more places for a colon than this.
const MAX_COLONS: usize = 4;

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "cl" | "cl.exe"
            | "csc"
            | "dotnet"
            | "link.exe"
            | "mcs"
            | "msbuild"
            | "MSBuild.exe"
            | "nmake"
            | "xbuild"
    )
}

fn recognises(input: &Input<'_>) -> Match {
    let (mut placed, mut others) = (0, 0);
    for line in input.beginning() {
        match Message::of(line) {
            Some(message) if message.is_placed() => placed += 1,
            Some(_) => others += 1,
            None => {}
        }
        if placed > 0 || others > 1 {
            return Match::Certain;
        }
    }
    let mut counted = input.ending().filter(|line| is_count(line));
    if counted.next().is_some() && counted.next().is_some() {
        Match::Certain
    } else if others > 0 {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut build = Build {
        facts: Ends::new(MAX_FACTS / 2, MAX_FACTS / 2),
        warnings: Findings::warnings(),
        verdicts: Ends::new(0, MAX_OTHERS),
        others: Ends::new(MAX_OTHERS / 2, MAX_OTHERS / 2),
        told: HashSet::new(),
        notes: 0,
        failed: false,
    };
    for line in input.lines() {
        build.line(line);
    }
    build.facts.write(Weight::Fact, ERROR_CHARS, output);
    if build.failed {
        output.failed();
    }
    build.warnings.write(input.target_chars(), output);
    build.others.write(Weight::Fact, ERROR_CHARS, output);
    build.verdicts.write(Weight::Fact, ERROR_CHARS, output);
}

struct Build<'a> {
    /// Errors in their order, with the notes that explain them.
    facts: Ends<'a>,
    warnings: Findings<'a>,
    verdicts: Ends<'a>,
    others: Ends<'a>,
    /// The messages so far, without the project in which they were met.
    told: HashSet<&'a str>,
    /// How many notes the last error may still have.
    notes: usize,
    failed: bool,
}

impl<'a> Build<'a> {
    fn line(&mut self, text: &'a str) {
        let text = without_node(text).trim();
        if text.is_empty() || is_form(text) {
            return;
        }
        if let Some(message) = Message::of(text) {
            let is_new =
                self.told.len() >= MAX_MESSAGES || self.told.insert(message.without_project);
            self.notes = 0;
            match message.category {
                _ if !is_new => {}
                Category::Error => {
                    self.failed = true;
                    self.facts.push(text);
                    self.notes = MAX_NOTES;
                }
                Category::Warning => self.warnings.push(message.finding()),
            }
        } else if is_note(text) {
            if self.notes > 0 {
                self.facts.push(text);
            }
            self.notes = self.notes.saturating_sub(1);
        } else if is_verdict(text) {
            self.failed |= text.starts_with("Build FAILED") || text.starts_with("Build failed");
            self.verdicts.push(text);
        } else if line::is_bad(text) {
            self.failed = true;
            self.facts.push(text);
        } else {
            self.others.push(text);
        }
    }
}

#[derive(Clone, Copy)]
enum Category {
    Error,
    Warning,
}

/// `origin: category code: text`, of one line.
#[derive(Clone, Copy)]
struct Message<'a> {
    /// A file with a place in it, a project or a tool.
    origin: &'a str,
    category: Category,
    /// Category, code and text, without the project.
    said: &'a str,
    without_project: &'a str,
    whole: &'a str,
}

impl<'a> Message<'a> {
    fn of(line: &'a str) -> Option<Self> {
        let whole = without_node(line).trim();
        let colons = memchr::memchr_iter(b':', whole.as_bytes());
        colons.take(MAX_COLONS).find_map(|at| {
            let rest = whole.get(at + 1..)?.strip_prefix(' ')?;
            let category = rest.strip_prefix("fatal ").unwrap_or(rest);
            let (category, coded) = match category.strip_prefix("error ") {
                Some(coded) => (Category::Error, coded),
                None => (Category::Warning, category.strip_prefix("warning ")?),
            };
            let (code, _) = coded.split_text(":")?;
            let origin = whole.get(..at)?.trim_ascii_end();
            // The compiler of TypeScript writes the same, and has a family of its own.
            let is_message = is_code(code)
                && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && !code.starts_with("TS")
                && !origin.is_empty();
            let without_project = without_project(whole);
            is_message.then_some(Self {
                origin,
                category,
                said: without_project.get(at + 2..)?,
                without_project,
                whole,
            })
        })
    }

    /// Whether the origin is a place in a file: `a.cs(21,9)`.
    fn is_placed(&self) -> bool {
        self.path().is_some()
    }

    fn path(&self) -> Option<&'a str> {
        let (path, place) = self.origin.strip_suffix(')')?.rsplit_once('(')?;
        let is_place = place
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b',' | b'-'));
        (is_place && place.starts_with(|sign: char| sign.is_ascii_digit())).then_some(path)
    }

    fn finding(self) -> Finding<'a> {
        Finding {
            place: self.origin,
            path: self.path().unwrap_or(self.origin),
            message: self.said,
            whole: self.whole,
        }
    }
}

/// `line` without the number of the node that builds: `1>`, `  2:7>`.
fn without_node(line: &str) -> &str {
    let text = line.trim_ascii_start();
    if !text.starts_with(|sign: char| sign.is_ascii_digit()) {
        return text;
    }
    text.trim_start_matches(|sign: char| sign.is_ascii_digit() || sign == ':')
        .strip_prefix('>')
        .unwrap_or(text)
}

/// `text` without the project in brackets at its end, which may name a framework.
fn without_project(text: &str) -> &str {
    let project = text.strip_suffix(']').and_then(|text| text.rfind(" ["));
    match project.and_then(|at| text.split_at_checked(at)) {
        Some((before, project)) if project.has_text("proj") || project.has_text(".sln") => before,
        _ => text,
    }
}

/// `2 Error(s)`, `60 Warning(s)`.
fn is_count(line: &str) -> bool {
    let text = line.trim();
    let counted = text
        .strip_suffix(" Warning(s)")
        .or_else(|| text.strip_suffix(" Error(s)"));
    counted.is_some_and(line::is_number)
}

fn is_verdict(text: &str) -> bool {
    is_count(text)
        || text.starts_with("Build ")
        || text.starts_with("Time Elapsed ")
        || text.starts_with("========== ")
}

/// Whether `text` explains the message above it: `cart.h(12): note: see declaration of 'add'`.
fn is_note(text: &str) -> bool {
    text.has_text("): note: ")
}

/// Whether `text` states which file is compiled, what was restored, which target is built, or who made the tool.
fn is_form(text: &str) -> bool {
    const BEGINNINGS: [&str; 19] = [
        "MSBuild version ",
        "XBuild Engine ",
        "Mono, Version ",
        "Microsoft (R) ",
        "Copyright (C) ",
        "Build started ",
        "Determining projects to restore",
        "All projects are up-to-date for restore",
        "Restored ",
        "Restore complete",
        "Generating Code...",
        "------ ",
        "______",
        "Project \"",
        "Target ",
        "Task \"",
        "Done building target ",
        "Configuration: ",
        "Created directory ",
    ];
    const HEADS: [&str; 2] = ["Errors:", "Warnings:"];
    const SOURCES: [&str; 4] = [".c", ".cc", ".cpp", ".cxx"];
    BEGINNINGS
        .iter()
        .any(|beginning| text.starts_with(beginning))
        || HEADS.contains(&text)
        || text.ends_with(") ->")
        || text.starts_with("Tool ") && text.has_text(" execution started with arguments: ")
        || !text.contains(' ') && SOURCES.iter().any(|ending| text.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::tested;

    fn reduced(text: &str) -> String {
        tested::reduced(&FAMILY, text, "dotnet build", Exit::Failure)
    }

    /// A build of forty files without a comment and two errors, with all shown again at its end.
    fn build() -> String {
        let told: String = (1..=40)
            .map(|number| {
                format!("/w/Leaf{number}.cs(7,{number}): warning CS1591: Missing XML comment for publicly visible type or member [/w/Oak.csproj]\n")
            })
            .chain([
                "/w/Elm.cs(21,9): error CS0103: The name 'totl' does not exist [/w/Oak.csproj]\n".to_owned(),
                "CSC : error CS5001: Program does not contain a static 'Main' method [/w/Oak.csproj]\n".to_owned(),
            ])
            .collect();
        format!(
            "MSBuild version 17.8.3 for .NET\n  Determining projects to restore...\n  Restored /w/Oak.csproj (in 3 ms).\n\
             {told}\nBuild FAILED.\n\n{told}    40 Warning(s)\n    2 Error(s)\n\nTime Elapsed 00:00:04.41\n"
        )
    }

    #[test]
    fn each_message_is_told_once_the_errors_first() {
        let reduced = reduced(&build());
        assert!(
            reduced.starts_with(
                "/w/Elm.cs(21,9): error CS0103: The name 'totl' does not exist [/w/Oak.csproj]\n\
                 CSC : error CS5001: Program does not contain a static 'Main' method [/w/Oak.csproj]\n\
                 /w/Leaf1.cs(7,1): warning CS1591: Missing XML comment for publicly visible type or member"
            ),
            "{reduced}"
        );
        assert!(reduced.contains("/w/Leaf40.cs(7,40)"), "{reduced}");
        assert_eq!(reduced.matches("CS0103").count(), 1, "{reduced}");
        assert!(
            reduced
                .contains("Build FAILED.\n40 Warning(s)\n2 Error(s)\nTime Elapsed 00:00:04.41\n"),
            "{reduced}"
        );
    }

    #[test]
    fn a_file_that_is_built_for_several_frameworks_has_each_error_once() {
        let error = |framework: &str| {
            format!(
                "/w/Elm.cs(21,9): error CS0103: The name 'totl' does not exist [/w/Oak.csproj::TargetFramework={framework}]\n"
            )
        };
        let text = format!("{}{}", error("net8.0"), error("net9.0"));
        assert_eq!(reduced(&text).matches("CS0103").count(), 1);
    }

    #[test]
    fn errors_of_compiler_and_linker_keep_their_notes_and_warnings_have_none() {
        let text = "1>leaf.cpp\n1>C:\\w\\leaf.cpp(3): warning C4244: 'initializing': possible loss of data\n\
                    1>C:\\w\\leaf.h(1): note: see declaration of 'leaf'\n\
                    1>C:\\w\\leaf.cpp(44,7): error C2664: 'int Oak::add(const Item &)': cannot convert argument 1\n\
                    1>C:\\w\\oak.h(12): note: see declaration of 'Oak::add'\n\
                    1>cart.obj : error LNK2019: unresolved external symbol price\n\
                    NMAKE : fatal error U1077: 'cl' : return code '0x2'\n";
        assert_eq!(
            reduced(text),
            "C:\\w\\leaf.cpp(44,7): error C2664: 'int Oak::add(const Item &)': cannot convert argument 1\n\
             C:\\w\\oak.h(12): note: see declaration of 'Oak::add'\n\
             cart.obj : error LNK2019: unresolved external symbol price\n\
             NMAKE : fatal error U1077: 'cl' : return code '0x2'\n\
             C:\\w\\leaf.cpp(3): warning C4244: 'initializing': possible loss of data\n[2 of 7 lines left out]"
        );
    }

    #[test]
    fn what_other_tools_write_is_no_message() {
        for line in [
            "src/a.ts(1,2): error TS2322: Type 'A' is not assignable.",
            "src/a.c:3:5: error: expected ';'",
            "oak: error: no such leaf",
            "12:00: warning 17: late",
        ] {
            assert!(Message::of(line).is_none(), "{line}");
        }
    }
}
