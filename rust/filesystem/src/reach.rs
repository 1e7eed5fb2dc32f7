//! The folders and files that one caller may read and write.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::deny::{Deny, components};
use crate::error::{Access, Fault};

/// What one caller may read and write, and what remains closed to it.
#[derive(Debug)]
pub struct Reach {
    read: Vec<Root>,
    write: Vec<Root>,
    pub(crate) deny: Deny,
}

/// One permitted folder or file.
#[derive(Debug)]
pub(crate) struct Root {
    /// As it was given.
    given: Vec<OsString>,
    /// Without symbolic links; the same as `given` if it does not exist yet.
    pub(crate) real: Vec<OsString>,
    pub(crate) real_path: PathBuf,
}

impl Root {
    fn new(path: &Path) -> Self {
        let real_path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self {
            given: components(path),
            real: components(&real_path),
            real_path,
        }
    }

    /// The part of `path` below this root.
    fn below<'path>(&self, path: &'path [OsString]) -> Option<&'path [OsString]> {
        [&self.given, &self.real]
            .into_iter()
            .filter(|root| path.starts_with(root))
            .find_map(|root| path.get(root.len()..))
    }
}

impl Reach {
    /// A reach of absolute folders or single files. Writable ones are readable too.
    #[must_use]
    pub fn new(read: &[PathBuf], write: &[PathBuf], deny: Deny) -> Self {
        let roots = |paths: &[PathBuf]| {
            paths
                .iter()
                .filter(|path| is_plain(path))
                .map(|path| Root::new(path))
                .collect()
        };
        Self {
            read: roots(read),
            write: roots(write),
            deny,
        }
    }

    /// The most specific root of an absolute path, and the part of the path below it.
    pub(crate) fn root_of<'path>(
        &self,
        path: &'path [OsString],
        access: Access,
    ) -> Result<(&Root, &'path [OsString]), Fault> {
        let readable: &[Root] = if access == Access::Read {
            &self.read
        } else {
            &[]
        };
        self.write
            .iter()
            .chain(readable)
            .filter_map(|root| Some((root, root.below(path)?)))
            .min_by_key(|(_, rest)| rest.len())
            .ok_or(Fault::NotPermitted)
    }
}

/// A root must be absolute and have no `..`, so that it permits exactly what it names.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && !components(path).iter().any(|part| part == "..")
}
