//! Which families may recognise an output.

use crate::family::{Family, Match};
use crate::formats::USERS;
use crate::input::Input;
use crate::pipeline::ablation;
use crate::pipeline::sketch::Sketch;

/// Every family. If several recognise an output, the first one gets it.
pub(crate) const FAMILIES: [&Family; 55] = [
    &crate::parsers::logs::stamped::FAMILY,
    &crate::parsers::logs::tasks::FAMILY,
    &crate::parsers::logs::sessions::FAMILY,
    &crate::parsers::logs::buildkit::FAMILY,
    &crate::formats::BAZEL,
    &crate::formats::MANUAL,
    &crate::parsers::logs::ansible::FAMILY,
    &crate::parsers::tests::pytest::FAMILY,
    &crate::parsers::tests::unittest::FAMILY,
    &crate::parsers::tests::cargo_test::FAMILY,
    &crate::parsers::tests::go_test::FAMILY,
    &crate::parsers::tests::vitest::FAMILY,
    &crate::parsers::tests::jest::FAMILY,
    &crate::formats::MOCHA,
    &crate::formats::PLAYWRIGHT,
    &crate::formats::CTEST,
    &crate::formats::NODE_TEST,
    &crate::parsers::tests::tap::FAMILY,
    &crate::formats::MAVEN,
    &crate::formats::GRADLE,
    &crate::parsers::tests::test_run::FAMILY,
    &crate::parsers::findings::rustc::FAMILY,
    &crate::parsers::findings::eslint::FAMILY,
    &crate::parsers::findings::tsc::FAMILY,
    &crate::formats::MSBUILD,
    &crate::formats::JAVAC,
    &crate::formats::LATEX,
    &crate::parsers::findings::compiler::FAMILY,
    &crate::parsers::findings::findings_json::FAMILY,
    &crate::parsers::findings::diagnostics::FAMILY,
    &crate::parsers::git::git_status::FAMILY,
    &crate::parsers::git::git_log::FAMILY,
    &crate::parsers::git::git_blame::FAMILY,
    &crate::formats::GIT_REFS,
    &crate::parsers::git::diff::FAMILY,
    &crate::parsers::git::git_action::FAMILY,
    &crate::parsers::lists::install::FAMILY,
    &crate::parsers::lists::listing::FAMILY,
    &crate::formats::RSYNC,
    &crate::parsers::lists::search::FAMILY,
    &crate::formats::TERRAFORM,
    &crate::formats::WEBPACK,
    &crate::formats::OBJDUMP,
    &crate::formats::DIS,
    &crate::formats::RADON,
    &crate::formats::STRACE,
    &crate::parsers::data::http::FAMILY,
    &crate::parsers::lists::grid::FAMILY,
    &crate::parsers::lists::process::FAMILY,
    &crate::formats::IMPORT_TIME,
    &crate::parsers::lists::tally::FAMILY,
    &crate::parsers::logs::traceback::FAMILY,
    &crate::parsers::data::json::FAMILY,
    &crate::parsers::logs::log::FAMILY,
    &crate::parsers::data::file::FAMILY,
];

/// Programs that only run others: their output is recognised by its content.
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

/// Programs that show parts of files, which may contain the output of other programs.
const SEARCHERS: [&str; 10] = [
    "ack", "ag", "awk", "egrep", "fgrep", "find", "git", "grep", "ls", "rg",
];

/// How many lines are enough to recognise the first of several outputs.
const FIRST_LINES: usize = 16;

/// The families that recognise `input`, the likeliest first.
///
/// If some families belong to the command, only these are considered, unless the command only runs other
/// programs: then families that are certain of the content come first. The output of all other commands
/// is recognised by content that is certain.
pub(crate) fn families<'a>(input: &'a Input<'_>) -> impl Iterator<Item = &'static Family> + 'a {
    known(input, false)
}

/// The same. If `joined`, other commands also printed, or only they did: families that are certain of the content come
/// before those that only the last command suggests.
fn known<'a>(input: &'a Input<'_>, joined: bool) -> impl Iterator<Item = &'static Family> + 'a {
    // Any command can print JSON on request, so JSON is always considered.
    let all = ablation::families();
    let made_for_it = all.clone().find(|family| {
        family.name != crate::parsers::data::json::FAMILY.name && (family.runs)(input)
    });
    made_for_it.into_iter().for_each(ablation::consulted);
    let made_for_it = made_for_it.is_some();
    let runs_others = RUNNERS.contains(&input.program());
    let by_content = joined || !made_for_it || runs_others;
    let is_last_only = joined && made_for_it && !runs_others;
    let sketch = by_content.then(|| Sketch::new(input));
    let certain = all.clone().filter(move |family| {
        let is_certain = || (family.recognises)(input) == Match::Certain;
        sketch.as_ref().is_some_and(|sketch| {
            let may_be = sketch.may_be(family.marks);
            debug_assert!(may_be || !is_certain(), "{} without its marks", family.name);
            may_be && is_certain()
        })
    });
    let by_command = all.clone().filter(move |family| {
        (family.runs)(input)
            && match (family.recognises)(input) {
                Match::No => false,
                Match::Likely => true,
                Match::Certain => !by_content,
            }
    });
    // A program that shows files may show the output of others.
    let shows = shows_texts(input);
    let is_own = move |family: &&Family| {
        (family.runs)(input)
            && match (family.recognises)(input) {
                Match::No => false,
                Match::Likely => shows && begins_as(family, input),
                Match::Certain => true,
            }
    };
    let own = is_last_only.then(|| all.filter(is_own));
    let registered = (USERS.recognises)(input);
    let first = (USERS.runs)(input) && registered != Match::No;
    let last = (!first && registered != Match::No).then_some(&USERS);
    first
        .then_some(&USERS)
        .into_iter()
        .chain(own.into_iter().flatten())
        .chain(certain)
        .chain(by_command)
        .chain(last)
        .inspect(|family| ablation::consulted(family))
}

/// Whether the first lines already belong to `family`: later lines may be all that the last of several commands
/// printed.
fn begins_as(family: &Family, input: &Input<'_>) -> bool {
    let ends = memchr::memchr_iter(b'\n', input.text.as_bytes());
    let text = match ends.take(FIRST_LINES).last() {
        Some(end) => input.text.get(..end).unwrap_or_default(),
        None => input.text,
    };
    (family.recognises)(&Input { text, ..*input }) != Match::No
}

/// The same for output that may be from several programs. If `several` recognises it, it is divided first, except for
/// runners that report where each output begins.
pub(crate) fn families_of_several<'a>(
    input: &'a Input<'_>,
    several: &'static Family,
    is_several: impl FnOnce() -> bool,
) -> impl Iterator<Item = &'static Family> + 'a {
    const NAMED_BY_RUNNERS: [&str; 6] = [
        crate::parsers::logs::ansible::FAMILY.name,
        crate::parsers::logs::stamped::FAMILY.name,
        crate::parsers::logs::tasks::FAMILY.name,
        crate::parsers::logs::sessions::FAMILY.name,
        crate::parsers::logs::buildkit::FAMILY.name,
        crate::formats::BAZEL.name,
    ];
    let mut known = known(input, true).peekable();
    // Steps of a build are numbered, so what is above the first one is from another program.
    let steps = || input.text.trim_ascii_start().starts_with('#');
    let named = known.next_if(|family| {
        NAMED_BY_RUNNERS.contains(&family.name)
            && (family.name != crate::parsers::logs::buildkit::FAMILY.name || steps())
    });
    let several = (named.is_none() && is_several()).then_some(several);
    named.into_iter().chain(several).chain(known)
}

/// Whether the command of `input` shows files of any kind.
pub(crate) fn shows_texts(input: &Input<'_>) -> bool {
    input.shows_files() || SEARCHERS.contains(&input.program())
}

/// Whether the command of `input` only runs others, or is unknown.
pub(crate) fn runs_others(input: &Input<'_>) -> bool {
    input.words.is_empty() || RUNNERS.contains(&input.program())
}
