//! Lines of cargo and the Rust compiler.

use crate::line::beginnings::Beginnings;
use crate::line::place;
use ethos_registry_core::find_text::FindText as _;

/// The header of a diagnostic: `error[E0308]: mismatched types`, `warning: unused variable`.
pub(super) fn head(line: &str) -> Option<&str> {
    let rest = line
        .strip_prefix("error")
        .or_else(|| line.strip_prefix("warning"))?;
    let message = match rest.strip_prefix('[') {
        Some(code) => code.split_once(']').map_or("", |(_, message)| message),
        None => rest,
    };
    message.starts_with(": ").then(|| line.trim_end())
}

/// A diagnostic in one line: `src/a.rs:3:5: error[E0308]: mismatched types`.
pub(super) fn short(line: &str) -> Option<(&str, &str)> {
    let found = place(line)?;
    let head = head(found.rest)?;
    found.path.strip_suffix(".rs").map(|_| (found.text, head))
}

/// The lint that a note names: `` `#[warn(unused)]` on by default ``, `` add `#[allow(unused)]` ``,
/// `` requested on the command line with `-D unused` ``.
pub(super) fn lint(note: &str) -> Option<&str> {
    if let Some(option) = note.strip_prefix("= note: requested on the command line with `-") {
        let (_, name) = option.split_once(' ')?;
        return name.strip_suffix('`');
    }
    let by_default = note.strip_prefix("= note: `#[");
    let inner = by_default.or_else(|| {
        let (_, inner) = note
            .strip_prefix("= help: to override ")?
            .split_text("add `#[")?;
        Some(inner)
    })?;
    let (_, name) = inner.split_once('(')?;
    Some(name.split_text(")]`")?.0)
}

/// Heads that count or close, and have no place.
pub(super) fn is_summary(head: &str) -> bool {
    const PARTS: [&str; 7] = [
        "could not compile ",
        "could not document ",
        "aborting due to ",
        " generated ",
        " emitted",
        "build failed, waiting for other jobs",
        "test failed, to rerun pass ",
    ];
    PARTS.iter().any(|part| head.contains(part))
}

/// Whether a line under a diagnostic shows source: `41 | let x`, `...`, `LL | x`.
pub(super) fn is_source(line: &str) -> bool {
    line.starts_with("...")
        || line.starts_with("LL ")
        || line.split_once('|').is_some_and(|(number, _)| {
            let number = number.trim_end();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
        || line.split_once(' ').is_some_and(|(number, rest)| {
            rest.starts_with(['+', '-', '~']) && number.bytes().all(|byte| byte.is_ascii_digit())
        })
}

/// Whether a line outside of a diagnostic is left of one whose header was cut off.
pub(super) fn is_drawn(line: &str, body: &str) -> bool {
    body == "|"
        || body.starts_with("| ")
        || body.starts_with("= note: ")
        || body.starts_with("= help: ")
        || body.starts_with("::: ")
        || is_source(line)
}

/// Whether a line only helps to read a diagnostic: source, help, advice.
pub(crate) fn is_beside(line: &str, body: &str) -> bool {
    is_drawn(line, body) || is_advice(line) || line.starts_with("help: ")
}

/// Closing advice that names no place.
pub(super) fn is_advice(line: &str) -> bool {
    static HEADS: Beginnings<7> = Beginnings::new([
        "For more information about ",
        "Some errors have detailed explanations",
        "note: to see what the problems were",
        "note: run with `RUST_BACKTRACE",
        "To learn more, run the command again with --verbose",
        "note: the following warnings were ",
        " Nextest run ID ",
    ]);
    HEADS.begin(line)
}

/// Whether `line` is a step of cargo: `   Compiling shop v0.1.0`.
pub(crate) fn is_step(line: &str) -> bool {
    let body = line.trim_start();
    body.len() < line.len() && step(body)
}

/// Whether `body`, indented by cargo, shows which step is done.
pub(super) fn step(body: &str) -> bool {
    if edits_manifest(body) {
        return false;
    }
    let end = memchr::memchr(b' ', body.as_bytes()).unwrap_or(body.len());
    matches!(
        body.get(..end),
        Some(
            "Adding"
                | "Archiving"
                | "Blocking"
                | "Building"
                | "Checking"
                | "Compiling"
                | "Copying"
                | "Creating"
                | "Dirty"
                | "Doc-tests"
                | "Documenting"
                | "Downgrading"
                | "Downloaded"
                | "Downloading"
                | "Executable"
                | "Fetch"
                | "Finished"
                | "Fixed"
                | "Fixing"
                | "Fresh"
                | "Generated"
                | "Ignored"
                | "Installed"
                | "Installing"
                | "Locking"
                | "Migrating"
                | "Packaged"
                | "Packaging"
                | "Removed"
                | "Removing"
                | "Running"
                | "Scraping"
                | "Unchanged"
                | "Unpacking"
                | "Updating"
                | "Verifying"
        )
    )
}

/// Whether a step ends the work, or shows the location of its product.
pub(super) fn is_result(body: &str) -> bool {
    static RESULTS: Beginnings<5> = Beginnings::new([
        "Finished ",
        "Generated ",
        "Installed ",
        "Fixed ",
        "Packaged ",
    ]);
    RESULTS.begin(body)
}

/// Whether `body` shows which dependency was written into a manifest, or out of it, as was asked for.
pub(super) fn edits_manifest(body: &str) -> bool {
    matches!(body.as_bytes().first(), Some(b'A' | b'R'))
        && (body.starts_with("Adding ") || body.starts_with("Removing "))
        && body.ends_with("dependencies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lint_is_named_by_its_level_or_by_who_asked_for_it() {
        for note in [
            "= note: `#[warn(clippy::oak)]` on by default",
            "= help: to override `-W clippy::all` add `#[allow(clippy::oak)]`",
            "= note: requested on the command line with `-D clippy::oak`",
        ] {
            assert_eq!(lint(note), Some("clippy::oak"), "{note}");
        }
        assert_eq!(lint("= note: expected `oak`"), None);
    }
}
