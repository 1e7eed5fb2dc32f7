//! Which families may know an output.

use super::family::{Family, Match};
use super::input::Input;
use super::sketch::Sketch;

/// Every family; where several know an output, the first one has it.
pub(super) const FAMILIES: [&Family; 54] = [
    &super::stamped::FAMILY,
    &super::tasks::FAMILY,
    &super::sessions::FAMILY,
    &super::buildkit::FAMILY,
    &super::bazel::FAMILY,
    &super::manual::FAMILY,
    &super::ansible::FAMILY,
    &super::pytest::FAMILY,
    &super::unittest::FAMILY,
    &super::cargo_test::FAMILY,
    &super::go_test::FAMILY,
    &super::vitest::FAMILY,
    &super::jest::FAMILY,
    &super::mocha::FAMILY,
    &super::playwright::FAMILY,
    &super::ctest::FAMILY,
    &super::node_test::FAMILY,
    &super::tap::FAMILY,
    &super::maven::FAMILY,
    &super::gradle::FAMILY,
    &super::test_run::FAMILY,
    &super::rustc::FAMILY,
    &super::eslint::FAMILY,
    &super::tsc::FAMILY,
    &super::msbuild::FAMILY,
    &super::javac::FAMILY,
    &super::latex::FAMILY,
    &super::compiler::FAMILY,
    &super::findings_json::FAMILY,
    &super::diagnostics::FAMILY,
    &super::git_status::FAMILY,
    &super::git_log::FAMILY,
    &super::git_blame::FAMILY,
    &super::git_refs::FAMILY,
    &super::diff::FAMILY,
    &super::git_action::FAMILY,
    &super::install::FAMILY,
    &super::listing::FAMILY,
    &super::rsync::FAMILY,
    &super::search::FAMILY,
    &super::terraform::FAMILY,
    &super::webpack::FAMILY,
    &super::disassembly::FAMILY,
    &super::radon::FAMILY,
    &super::strace::FAMILY,
    &super::http::FAMILY,
    &super::grid::FAMILY,
    &super::process::FAMILY,
    &super::import_time::FAMILY,
    &super::tally::FAMILY,
    &super::traceback::FAMILY,
    &super::json::FAMILY,
    &super::log::FAMILY,
    &super::file::FAMILY,
];

/// Programs that only run others: what comes out is identified by its content.
const RUNNERS: [&str; 60] = [
    "act",
    "ant",
    "bash",
    "bazel",
    "buck2",
    "bun",
    "bundle",
    "cabal",
    "composer",
    "dart",
    "deno",
    "docker",
    "doit",
    "dotnet",
    "earthly",
    "fastlane",
    "flutter",
    "gradle",
    "gradlew",
    "grunt",
    "gulp",
    "hatch",
    "invoke",
    "just",
    "lefthook",
    "lein",
    "lerna",
    "make",
    "melos",
    "meson",
    "mill",
    "mix",
    "msbuild",
    "mvn",
    "mvnw",
    "ninja",
    "nmake",
    "node",
    "nox",
    "npm",
    "nx",
    "pants",
    "php",
    "pnpm",
    "pre-commit",
    "prek",
    "rake",
    "rush",
    "sbt",
    "scons",
    "sh",
    "stack",
    "swift",
    "task",
    "tox",
    "turbo",
    "waf",
    "xbuild",
    "xcodebuild",
    "yarn",
];

/// Programs that show parts of inputs, which may hold what others printed.
const SEARCHERS: [&str; 10] = [
    "ack", "ag", "awk", "egrep", "fgrep", "find", "git", "grep", "ls", "rg",
];

/// This many lines tell what the first of several commands printed.
const FIRST_LINES: usize = 16;

/// The families that know `input`, the likeliest first.
///
/// A command that a family is made for goes to no other family than those made for it, unless it
/// only runs other programs: what content leaves no doubt of comes first then. All other commands
/// are identified by such content alone.
pub(super) fn families<'a>(input: &'a Input<'_>) -> impl Iterator<Item = &'static Family> + 'a {
    known(input, false)
}

/// The same, where `joined` states that other commands printed too, or were the only ones that did: content
/// that leaves no doubt comes before what the last command only may have written.
fn known<'a>(input: &'a Input<'_>, joined: bool) -> impl Iterator<Item = &'static Family> + 'a {
    // Any command may print JSON when it is asked to, and is not made for it.
    let made_for_it = FAMILIES
        .iter()
        .any(|family| family.name != super::json::FAMILY.name && (family.runs)(input));
    let runs_others = RUNNERS.contains(&input.program());
    let by_content = joined || !made_for_it || runs_others;
    let is_last_only = joined && made_for_it && !runs_others;
    let sketch = by_content.then(|| Sketch::new(input));
    let certain = FAMILIES.into_iter().filter(move |family| {
        let is_certain = || (family.recognises)(input) == Match::Certain;
        sketch.as_ref().is_some_and(|sketch| {
            let may_be = sketch.may_be(family.marks);
            debug_assert!(may_be || !is_certain(), "{} without its marks", family.name);
            may_be && is_certain()
        })
    });
    let by_command = FAMILIES.into_iter().filter(move |family| {
        (family.runs)(input)
            && match (family.recognises)(input) {
                Match::No => false,
                Match::Likely => true,
                Match::Certain => !by_content,
            }
    });
    // What shows inputs may show what others print.
    let shows = shows_texts(input);
    let is_own = move |family: &&Family| {
        (family.runs)(input)
            && match (family.recognises)(input) {
                Match::No => false,
                Match::Likely => shows && begins_as(family, input),
                Match::Certain => true,
            }
    };
    let own = is_last_only.then(|| FAMILIES.into_iter().filter(is_own));
    own.into_iter().flatten().chain(certain).chain(by_command)
}

/// Whether the first lines are of `family` already: what comes later may be all that the last of several
/// commands printed.
fn begins_as(family: &Family, input: &Input<'_>) -> bool {
    let ends = memchr::memchr_iter(b'\n', input.text.as_bytes());
    let text = match ends.take(FIRST_LINES).last() {
        Some(end) => input.text.get(..end).unwrap_or_default(),
        None => input.text,
    };
    (family.recognises)(&Input { text, ..*input }) != Match::No
}

/// The same for what may have come from several programs: the outputs of those that `several` knows are taken apart
/// first, but for those whose runner states where they begin.
pub(super) fn families_of_several<'a>(
    input: &'a Input<'_>,
    several: &'static Family,
    is_several: impl FnOnce() -> bool,
) -> impl Iterator<Item = &'static Family> + 'a {
    const NAMED_BY_RUNNERS: [&str; 6] = [
        super::ansible::FAMILY.name,
        super::stamped::FAMILY.name,
        super::tasks::FAMILY.name,
        super::sessions::FAMILY.name,
        super::buildkit::FAMILY.name,
        super::bazel::FAMILY.name,
    ];
    let mut known = known(input, true).peekable();
    // Steps of a build are numbered: what is above the first one is of another program.
    let steps = || input.text.trim_ascii_start().starts_with('#');
    let named = known.next_if(|family| {
        NAMED_BY_RUNNERS.contains(&family.name)
            && (family.name != super::buildkit::FAMILY.name || steps())
    });
    let several = (named.is_none() && is_several()).then_some(several);
    named.into_iter().chain(several).chain(known)
}

/// Whether the program of `input` shows inputs of any kind.
pub(super) fn shows_texts(input: &Input<'_>) -> bool {
    input.shows_files() || SEARCHERS.contains(&input.program())
}

/// Whether the program of `input` only runs others, or is not known.
pub(super) fn runs_others(input: &Input<'_>) -> bool {
    input.words.is_empty() || RUNNERS.contains(&input.program())
}
