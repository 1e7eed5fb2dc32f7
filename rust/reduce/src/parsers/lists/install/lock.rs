//! What cargo changes in a manifest and in its lock file.

use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// How cargo shows what becomes of a package of the lock file.
const VERBS: [&str; 5] = [
    "Adding ",
    "Updating ",
    "Downgrading ",
    "Removing ",
    "Unchanged ",
];

/// What a line of cargo shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// What was asked for, or how much of the lock file changed.
    Asked,
    /// What becomes of a package of the lock file: the verb, and the package with its version.
    Locked(&'static str, &'a str),
}

/// The action that `line` reports; verbs are right-aligned before the object.
pub(super) fn told(line: &str) -> Option<Told<'_>> {
    if !line.starts_with(' ') {
        return None;
    }
    let text = line.trim_start();
    if text.starts_with("Locking ") && text.has_text(" package") {
        return Some(Told::Asked);
    }
    if text.starts_with("Removing ") && text.ends_with("dependencies") && text.has_text(" from ") {
        return Some(Told::Asked);
    }
    let verb = VERBS.iter().find(|verb| text.starts_with(**verb))?;
    let rest = text.get(verb.len()..)?;
    let (name, version) = rest.split_once(" v")?;
    if name.contains(' ') || !version.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    if *verb == "Adding " && rest.ends_with("dependencies") && rest.has_text(" to ") {
        return Some(Told::Asked);
    }
    // That there is a newer one is so of most.
    let package = rest.split_text(" (").map_or(rest, |(package, _)| package);
    Some(Told::Locked(verb, package))
}

/// What becomes of the packages of the lock file, a row a verb.
#[derive(Debug, Default)]
pub(super) struct Lock {
    rows: [(String, usize); VERBS.len()],
}

impl Lock {
    pub(super) fn add(&mut self, verb: &str, package: &str) {
        let rows = VERBS.iter().zip(&mut self.rows);
        if let Some((_, (row, packages))) = rows.into_iter().find(|(other, _)| **other == verb) {
            row.push_str(if row.is_empty() { verb } else { ", " });
            row.push_str(package);
            *packages += 1;
        }
    }

    pub(super) fn write(&self, output: &mut Output) {
        for (row, packages) in self.rows.iter().filter(|(_, packages)| *packages > 0) {
            output.summary(row, *packages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_is_no_step_of_the_lock_file() {
        let asked = [
            "      Adding oak v1.2.3 to dependencies",
            "      Adding elm v2 to optional dev-dependencies",
            "    Removing oak from dependencies",
            "     Locking 7 packages to latest Rust 1.95.0 compatible versions",
        ];
        for line in asked {
            assert_eq!(told(line), Some(Told::Asked), "{line}");
        }
        assert_eq!(
            told("      Adding ash v0.4.1 (available: v1.0.0)"),
            Some(Told::Locked("Adding ", "ash v0.4.1"))
        );
        assert_eq!(
            told("    Updating ash v0.4.1 -> v0.4.2"),
            Some(Told::Locked("Updating ", "ash v0.4.1 -> v0.4.2"))
        );
        assert_eq!(
            told("    Removing ash v0.4.1"),
            Some(Told::Locked("Removing ", "ash v0.4.1"))
        );
        for line in [
            "    Updating crates.io index",
            "Adding oak v1 to dependencies",
            "      Adding leaves",
        ] {
            assert_eq!(told(line), None, "{line}");
        }
    }
}
