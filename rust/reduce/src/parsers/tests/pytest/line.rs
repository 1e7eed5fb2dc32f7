//! Lines of a pytest report outside of sections.

use super::ruler::is_marks;
use crate::line::beginnings::Beginnings;
use crate::line::place;
use ethos_registry_core::find_text::FindText as _;

/// Whether `line` is test marks with a percentage, which nothing else prints: `..F. [ 35%]`.
pub(super) fn is_share_of_marks(line: &str) -> bool {
    line.ends_with("%]") && is_marks(line)
}

/// A frame of an interpreter crash: `  File "a.py", line 7 in f`, without a comma before `in`.
pub(super) fn is_crash_frame(line: &str) -> bool {
    line.starts_with("  File \"")
        && line
            .split_once("\", line ")
            .is_some_and(|(_, rest)| rest.contains(" in ") && !rest.contains(", in "))
}

/// Whether `line` is a warning of the interpreter: `src/a.py:4: UserWarning: The bark is wet.`
pub(super) fn is_warning(line: &str) -> bool {
    place(line).is_some_and(|place| {
        let kind = place.rest.split(": ").next().unwrap_or_default();
        place.path.strip_suffix(".py").is_some() && kind.ends_with("Warning") && !kind.contains(' ')
    })
}

/// A node id alone: the output or log of the test follows.
pub(super) fn is_bare_node(line: &str) -> bool {
    line.split_text("::").is_some_and(|(path, _)| {
        path.rsplit_once('.')
            .is_some_and(|(_, suffix)| suffix.len() <= 4)
            && !path.contains(' ')
    })
}

/// Information about pytest itself before tests run.
pub(super) fn is_preamble(line: &str) -> bool {
    static HEADS: Beginnings<20> = Beginnings::new([
        "platform ",
        "cachedir: ",
        "rootdir: ",
        "configfile: ",
        "testpaths: ",
        "plugins: ",
        "collecting ",
        "collected ",
        "Using --randomly-seed=",
        "hypothesis profile ",
        "asyncio: ",
        "timeout: ",
        "timeout method: ",
        "timeout func_only: ",
        "django: ",
        "benchmark: ",
        "created: ",
        "scheduling tests via ",
        "bringing up nodes",
        "metadata: ",
    ]);
    let workers = line.starts_with("gw") || line.ends_with(" items]");
    let errors = line.starts_with("collected ") && line.contains(" error");
    !errors && (workers || HEADS.begin(line))
}

/// Whether `found` is the title of a benchmark table: `benchmark: 13 tests`.
pub(super) fn is_benchmark(found: &str) -> bool {
    found.starts_with("benchmark") && (found.ends_with(" tests") || found.ends_with(" test"))
}
