//! The formats of the package, each loaded when it is first used.

use std::sync::OnceLock;

use super::format::Format;
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;

/// Declares a family for each file, in the order of `SOURCES`.
macro_rules! formats {
    ($($number:literal $family:ident $name:literal $folder:literal,)*) => {
        const SOURCES: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../../formats/", $folder, "/format.toml"))),)*
        ];
        $(pub(crate) const $family: Family = family::<$number>($name);)*
    };
}

formats! {
    0 BAZEL "bazel" "bazel",
    1 CTEST "ctest" "ctest",
    2 DIS "dis" "dis",
    3 GIT_REFS "git refs" "git-refs",
    4 GRADLE "gradle" "gradle",
    5 IMPORT_TIME "import time" "import-time",
    6 JAVAC "javac" "javac",
    7 LATEX "latex" "latex",
    8 MANUAL "manual" "man",
    9 MAVEN "maven" "maven",
    10 MOCHA "mocha" "mocha",
    11 MSBUILD "msbuild" "msbuild",
    12 NODE_TEST "node test" "node-test",
    13 OBJDUMP "objdump" "objdump",
    14 PLAYWRIGHT "playwright" "playwright",
    15 RADON "radon" "radon",
    16 RSYNC "rsync" "rsync",
    17 STRACE "strace" "strace",
    18 TERRAFORM "terraform" "terraform",
    19 WEBPACK "webpack" "webpack",
}

static FORMATS: [OnceLock<Option<Format>>; SOURCES.len()] =
    [const { OnceLock::new() }; SOURCES.len()];

const fn family<const N: usize>(name: &'static str) -> Family {
    Family {
        name,
        runs: |input| get(N).is_some_and(|format| format.runs(input)),
        marks: Marks::Loaded(|| get(N).map(Format::marks).unwrap_or_default()),
        recognises: |input: &Input<'_>| get(N).map_or(Match::No, |format| format.recognises(input)),
        reduce: |input: &Input<'_>, output: &mut Output| {
            if let Some(format) = get(N) {
                format.reduce(input, output);
            }
        },
    }
}

fn get(number: usize) -> Option<&'static Format> {
    let read = || {
        SOURCES
            .get(number)
            .and_then(|(_, text)| Format::read(text).ok())
    };
    FORMATS.get(number)?.get_or_init(read).as_ref()
}

/// The format files of the package, by name.
pub fn built_in_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_format_of_its_name_with_patterns() {
        for (name, text) in built_in_formats() {
            let format = Format::read(text).map_err(|error| error.to_string());
            let checked = format.and_then(|format| {
                let name = format.name().to_owned();
                format
                    .check()
                    .map(|()| name)
                    .map_err(|error| error.to_string())
            });
            assert_eq!(checked.as_deref(), Ok(name), "{name}");
        }
    }
}
