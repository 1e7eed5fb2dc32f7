//! Files that remain closed even inside permitted folders.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{FileType, Stat};
use rustix::io::Errno;

use crate::error::{Access, Fault};

/// What a rule protects a file from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protects {
    /// Writes only: hooks, configuration that programs execute.
    FromWriting,
    /// Reads and writes: keys, credentials.
    FromAll,
}

/// What is protected inside permitted folders too.
#[derive(Debug, Default)]
pub struct Rules {
    names: Vec<(Vec<OsString>, Protects)>,
    paths: Vec<ProtectedPath>,
    known: Mutex<Arc<Known>>,
}

#[derive(Debug)]
struct ProtectedPath {
    path: PathBuf,
    components: Vec<OsString>,
    protects: Protects,
}

impl Rules {
    /// Protect absolute paths, everything below them, and every hard link to them; and every path
    /// that has the components of one of `names` in sequence, anywhere.
    pub fn add(&mut self, paths: &[PathBuf], names: &[PathBuf], protects: Protects) {
        self.paths.extend(paths.iter().map(|path| ProtectedPath {
            path: path.clone(),
            components: components(path),
            protects,
        }));
        let rows = names.iter().map(|names| components(names));
        self.names.extend(
            rows.filter(|row| !row.is_empty())
                .map(|row| (row, protects)),
        );
    }

    /// The rules with what the protected paths are now: their real paths, devices and inodes.
    #[must_use]
    pub fn resolve(self: &Arc<Self>) -> Deny {
        let mut deny = Deny {
            rules: Arc::clone(self),
            real: Vec::new(),
            identities: HashSet::new(),
        };
        let known = self
            .known
            .lock()
            .map_or_else(|_| Arc::default(), |known| Arc::clone(&known));
        let mut states: HashMap<&Path, Option<FolderState>> = HashMap::new();
        let mut folders = Folders::new();
        let mut is_complete = true;
        for (index, protected) in self.paths.iter().enumerate() {
            if let Some(Some((folder, then))) = known.lacking.get(index)
                && *states.entry(folder).or_insert_with(|| folder_state(folder)) == Some(*then)
            {
                continue; // no name was added to the folder since
            }
            let is_absent = deny.add(protected, &mut folders).is_none();
            is_complete = is_complete && !is_absent;
        }
        let is_recent = known
            .made
            .and_then(|made| now().duration_since(made).ok())
            .is_some_and(|age| age < SETTLED_AFTER);
        if !is_complete && !is_recent {
            let found = Known::of(&self.paths);
            if let Ok(mut known) = self.known.lock() {
                *known = Arc::new(found);
            }
        }
        deny
    }
}

/// Which protected paths do not exist, by the folders in which their names are missing.
///
/// Most of a hundred paths do not exist. A name that is added to a folder changes the folder's
/// times, so one question for each folder finds out that all of them are still missing.
#[derive(Debug, Default)]
struct Known {
    made: Option<SystemTime>,
    /// For each path the folder that lacks it.
    lacking: Vec<Option<(PathBuf, FolderState)>>,
}

impl Known {
    fn of(paths: &[ProtectedPath]) -> Self {
        let mut states = HashMap::new();
        let lacking = paths.iter().map(|path| lacking(&path.path, &mut states));
        Self {
            lacking: lacking.collect(),
            made: Some(now()),
        }
    }
}

/// The lowest settled folder that lacks a name of the path; `None` if nothing is missing.
fn lacking<'paths>(
    mut missing: &'paths Path,
    states: &mut HashMap<&'paths Path, Option<FolderState>>,
) -> Option<(PathBuf, FolderState)> {
    loop {
        let folder = missing.parent()?;
        let state = *states
            .entry(folder)
            .or_insert_with(|| folder_state(folder).filter(FolderState::is_settled));
        // Asked after the state: a name that is added in between is seen here.
        match (state, rustix::fs::lstat(missing)) {
            (Some(state), Err(Errno::NOENT)) => return Some((folder.to_owned(), state)),
            (None, Err(Errno::NOENT)) => missing = folder,
            _ => return None,
        }
    }
}

/// Which folder this is, and when a name was last added to it or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FolderState {
    identity: (u64, u64),
    changed: (i64, i64),
}

/// Some file systems store times in steps of two seconds: a later change could have the same time.
const SETTLED_AFTER: Duration = Duration::from_secs(3);

impl FolderState {
    fn is_settled(&self) -> bool {
        now()
            .checked_sub(SETTLED_AFTER)
            .and_then(|then| then.duration_since(UNIX_EPOCH).ok())
            .and_then(|then| i64::try_from(then.as_secs()).ok())
            .is_some_and(|then| self.changed.0 < then)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "compared with times of the file system"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[allow(
    clippy::unnecessary_cast,
    clippy::cast_possible_wrap,
    reason = "the types differ between systems"
)]
fn folder_state(path: &Path) -> Option<FolderState> {
    let stat = rustix::fs::stat(path).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return None;
    }
    Some(FolderState {
        identity: identity(&stat),
        changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    })
}

/// Real paths of folders, each resolved once while the rules are judged.
type Folders<'rules> = HashMap<&'rules Path, Option<PathBuf>>;

/// Rules that apply inside permitted folders too, as they were judged at one moment.
#[derive(Debug)]
pub struct Deny {
    rules: Arc<Rules>,
    /// Where protected paths lead through links.
    real: Vec<(Vec<OsString>, Protects)>,
    identities: HashSet<((u64, u64), Protects)>,
}

impl Deny {
    /// Add what is at a path; `None` if nothing is there.
    fn add<'rules>(
        &mut self,
        protected: &'rules ProtectedPath,
        folders: &mut Folders<'rules>,
    ) -> Option<()> {
        let path = &protected.path;
        let found = rustix::fs::lstat(path).ok()?;
        let is_link = FileType::from_raw_mode(found.st_mode) == FileType::Symlink;
        let (stat, real) = match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) if !is_link => {
                let folder = folders
                    .entry(folder)
                    .or_insert_with(|| std::fs::canonicalize(folder).ok());
                (Ok(found), folder.as_ref().map(|folder| folder.join(name)))
            }
            _ => (rustix::fs::stat(path), std::fs::canonicalize(path).ok()),
        };
        if let Ok(stat) = stat {
            if let Some(real) = real.filter(|real| real != path) {
                self.real.push((components(&real), protected.protects));
            }
            self.identities
                .insert((identity(&stat), protected.protects));
        }
        Some(())
    }

    /// [`Fault::Protected`] if a rule closes the file with these real components.
    pub(crate) fn check_path(&self, real: &[OsString], access: Access) -> Result<(), Fault> {
        if self.closes_path(real, access) {
            return Err(Fault::Protected);
        }
        Ok(())
    }

    /// Whether a rule closes the file with these real components.
    pub(crate) fn closes_path(&self, real: &[OsString], access: Access) -> bool {
        let is_same = |(have, name): (&OsString, &OsString)| have.eq_ignore_ascii_case(name);
        let has_row = |row: &[OsString]| {
            real.windows(row.len())
                .any(|window| window.iter().zip(row).all(is_same))
        };
        let Rules { names, paths, .. } = &*self.rules;
        let given = paths
            .iter()
            .map(|given| (&given.components, given.protects));
        let leads_to = self.real.iter().map(|(path, protects)| (path, *protects));
        names
            .iter()
            .any(|(row, protects)| binds(*protects, access) && has_row(row))
            || given
                .chain(leads_to)
                .any(|(path, protects)| binds(protects, access) && real.starts_with(path))
    }

    /// Whether a rule closes the file with this device and inode.
    pub(crate) fn closes_file(&self, stat: &Stat, access: Access) -> bool {
        [Protects::FromAll, Protects::FromWriting]
            .into_iter()
            .any(|one| binds(one, access) && self.identities.contains(&(identity(stat), one)))
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
