//! Recognises single lines of a build.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::line::beginnings::Beginnings;
use crate::line::{self, indent};
use crate::parsers::findings::finding::Finding;
use ethos_registry_core::find_text::{FindText as _, any_of};

/// A warning of a documentation tool at a location that is not a line of a file: `/srv/oak.py:docstring of oak.leaf:1:
/// WARNING: unknown target`.
pub(super) fn documented(text: &str) -> Option<Finding<'_>> {
    let (place, _) = text.split_text(": WARNING: ")?;
    // A step can precede it on the same line.
    let start = place.rfind("... ").map_or(0, |at| at + "... ".len());
    let whole = text.get(start..)?;
    let place = place.get(start..)?;
    let (path, _) = place.split_once(':').unwrap_or((place, ""));
    let is_path = !path.is_empty() && !path.contains(' ');
    is_path.then_some(Finding {
        path,
        place,
        message: whole.get(place.len() + 2..)?,
        whole,
    })
}

/// Whether `step` is the last one of all: `[7/7] Linking C executable oak`.
pub(super) fn is_last_step(step: &str) -> bool {
    let count = step.strip_prefix('[').and_then(|step| step.split_once(']'));
    count
        .and_then(|(count, _)| count.split_once('/'))
        .is_some_and(|(done, all)| done == all)
}

/// Commands that a build shows before it runs them.
const COMMANDS: [&str; 29] = [
    "ar", "awk", "c++", "cc", "ccache", "cd", "clang", "clang++", "cmake", "cp", "g++", "gawk",
    "gcc", "gfortran", "install", "ld", "libtool", "ln", "make", "mkdir", "mv", "nm", "nvcc",
    "objcopy", "ranlib", "rm", "sh", "strip", "touch",
];
/// Prefixes of steps of `make`.
const STEPS: [&str; 3] = [
    ": Entering directory ",
    ": Leaving directory ",
    ": Nothing to be done for ",
];

/// `In file included from`, `In function`, `In instantiation of`: the location of a message.
pub(super) fn is_context(text: &str) -> bool {
    text.starts_with("In file included from ")
        || is_included(text)
        || says_after_colon(text, &[": In ", ": At "])
        || text == "compilation terminated."
        || text.trim_end().ends_with(" generated.") && !line::is_bad(text)
        || is_path_head(text)
        || text.starts_with("<built-in>: note: ")
}

/// The location of the next messages, in words that linters do not use: `a.c: In function 'add':`.
pub(super) fn is_scope(text: &str) -> bool {
    says_after_colon(text, &[": In function ", ": In member function "])
        || text.starts_with("In file included from ")
}

/// `  'add': events 1-4`: the header of steps that the analyzer draws beside the source.
fn is_path_head(text: &str) -> bool {
    if indent(text) == 0 {
        return false;
    }
    let (head, steps) = text.rsplit_once(": event").unwrap_or_default();
    let steps = steps.trim_start_matches(['s', ' ']);
    head.ends_with(['\u{2019}', '\''])
        && !steps.is_empty()
        && steps
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// `    from src/a.h:3,` below `In file included from`.
pub(super) fn is_included(text: &str) -> bool {
    text.trim_start().starts_with("from ")
}

/// A step of the build that succeeded: `[ 12%] Building`, `[3/10] Compiling`, `Entering directory`.
pub(super) fn is_step(text: &str) -> bool {
    if text.starts_with('[') {
        return after_count(text).is_some();
    }
    says_after_colon(text, &STEPS)
        || text.starts_with("Consolidate compiler generated dependencies")
        || text.starts_with("Dependencies file ")
        || text.starts_with("Scanning dependencies of ")
        || text.ends_with(" is up to date.")
}

/// Whether `text` contains one of `words`, which begin with a colon.
pub(super) fn says_after_colon(text: &str, words: &[&str]) -> bool {
    memchr::memchr_iter(b':', text.as_bytes()).any(|at| {
        let rest = text.get(at..).unwrap_or_default();
        words.iter().any(|words| rest.starts_with(words))
    })
}

/// The text after the `[ 12%]` or `[3/10]` that a line begins with.
pub(super) fn after_count(text: &str) -> Option<&str> {
    let rest = text.strip_prefix('[')?;
    // A single number can mean anything: `[1] 0.25 0.5`.
    let mut of_all = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'0'..=b'9' | b' ' => {}
            b'%' | b'/' => of_all = true,
            b']' if of_all => return rest.get(at + 1..),
            _ => return None,
        }
    }
    None
}

/// Lines that report how a build ended.
pub(super) fn is_verdict(text: &str) -> bool {
    is_ended(text) || is_linked(text)
}

/// The same except for those of a linker.
pub(super) fn is_ended(text: &str) -> bool {
    let made = text
        .strip_prefix("make")
        .or_else(|| text.strip_prefix("gmake"));
    made.is_some_and(|rest| rest.find_text(": *** ").is_some())
        || text.starts_with("ninja: ")
        || text.starts_with("FAILED: ")
        || text.starts_with("collect2: ")
        || text.starts_with("-- Configuring ")
        || text.starts_with("-- Generating ")
        || text.starts_with("-- Build files have been written")
}

/// Whether `text` is the message of a linker about symbols or libraries.
pub(super) fn is_linked(text: &str) -> bool {
    LINKED.as_ref().is_some_and(|words| words.is_match(text))
}

static LINKED: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    any_of([
        "undefined reference to",
        "multiple definition of",
        "cannot find -l",
        "undefined symbol",
        "Undefined symbols for",
        "symbol(s) not found",
        "unresolved external symbol",
        "duplicate symbol",
        "ld returned",
        "file not recognized",
        "first defined here",
    ])
});

/// Whether `text` is a result of `cmake`, `configure` or `meson` about the machine.
pub(super) fn is_configuration(text: &str) -> bool {
    static HEADS: Beginnings<12> = Beginnings::new([
        "-- ",
        "checking ",
        "config.status: ",
        "The Meson build system",
        "Source dir: ",
        "Build dir: ",
        "Host machine cpu",
        "Found pkg-config: ",
        "Found CMake: ",
        "Generating targets: ",
        "Writing build.ninja: ",
        "INFO: calculating backend command",
    ]);
    let of_machine = text.starts_with(|first: char| first.is_ascii_uppercase())
        && (text.find_text(" for the host machine: ").is_some()
            || text.find_text(" for the build machine: ").is_some());
    HEADS.begin(text) || of_machine
}

/// Whether `text` is a command that a build shows before running it.
pub(super) fn is_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let program = first.rsplit('/').next().unwrap_or_default();
    COMMANDS.contains(&program)
        || COMMANDS.iter().any(|command| {
            // Cross compilers have a target: `arm-none-eabi-gcc`, or a version: `gcc-12`.
            program
                .strip_suffix(command)
                .is_some_and(|rest| rest.ends_with('-'))
                || program.strip_prefix(command).is_some_and(|rest| {
                    rest.strip_prefix('-')
                        .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()))
                })
        })
        || matches!(
            program,
            "CC" | "CXX" | "LD" | "AR" | "LINK" | "GEN" | "CCLD" | "CXXLD"
        )
}
