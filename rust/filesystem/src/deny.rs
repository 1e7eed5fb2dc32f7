//! Files that remain closed even inside permitted folders.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::Stat;

use crate::error::Access;

/// What a rule protects a file from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protects {
    /// Writes only: hooks, configuration that programs execute.
    FromWriting,
    /// Reads and writes: keys, credentials.
    FromAll,
}

/// Rules that apply inside permitted folders too.
#[derive(Debug, Default)]
pub struct Deny {
    names: Vec<(Vec<OsString>, Protects)>,
    paths: Vec<(Vec<OsString>, Protects)>,
    identities: HashSet<(u64, u64)>,
    identities_written: HashSet<(u64, u64)>,
}

impl Deny {
    /// Protect every path that has these components in sequence, anywhere.
    pub fn add_names(&mut self, names: &Path, protects: Protects) {
        let names = components(names);
        if !names.is_empty() {
            self.names.push((names, protects));
        }
    }

    /// Protect one absolute path, everything below it, and every hard link to it.
    pub fn add_path(&mut self, path: &Path, protects: Protects) {
        self.paths.push((components(path), protects));
        // Most of these paths do not exist; one question finds that out.
        if let Ok(stat) = rustix::fs::stat(path) {
            if let Ok(real) = std::fs::canonicalize(path) {
                self.paths.push((components(&real), protects));
            }
            match protects {
                Protects::FromAll => self.identities.insert(identity(&stat)),
                Protects::FromWriting => self.identities_written.insert(identity(&stat)),
            };
        }
    }

    /// Whether a rule closes the file with these real components.
    pub(crate) fn closes_path(&self, real: &[OsString], access: Access) -> bool {
        let has_row = |row: &[OsString]| {
            real.windows(row.len()).any(|window| {
                window
                    .iter()
                    .zip(row)
                    .all(|(have, name)| have.as_bytes().eq_ignore_ascii_case(name.as_bytes()))
            })
        };
        self.names
            .iter()
            .any(|(row, protects)| binds(*protects, access) && has_row(row))
            || self
                .paths
                .iter()
                .any(|(path, protects)| binds(*protects, access) && real.starts_with(path))
    }

    /// Whether a rule closes the file with this device and inode.
    pub(crate) fn closes_file(&self, stat: &Stat, access: Access) -> bool {
        let identity = identity(stat);
        self.identities.contains(&identity)
            || access == Access::Write && self.identities_written.contains(&identity)
    }
}

fn binds(protects: Protects, access: Access) -> bool {
    protects == Protects::FromAll || access == Access::Write
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_sign_loss,
    reason = "the types differ between systems"
)]
pub(crate) fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino as u64)
}

/// The components of a path without empty ones and `.`; `..` is kept.
pub(crate) fn components(path: &Path) -> Vec<OsString> {
    path.as_os_str()
        .as_bytes()
        .split(|byte| *byte == b'/')
        .filter(|part| !part.is_empty() && *part != b".")
        .map(|part| std::ffi::OsStr::from_bytes(part).to_owned())
        .collect()
}
