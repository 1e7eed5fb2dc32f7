//! The folders and files that one caller may read and write.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::deny::{Deny, components, identity};
use crate::error::{Access, Fault};

/// The longest path that Linux accepts.
const PATH_BYTES: usize = 4_096;

/// What one caller may read and write, and what remains closed to it.
#[derive(Debug)]
pub struct Reach {
    read: Vec<Root>,
    write: Vec<Root>,
    working_folder: PathBuf,
    pub(crate) deny: Deny,
}

/// One permitted folder or file.
#[derive(Debug)]
pub(crate) struct Root {
    /// As it was given.
    given: Vec<OsString>,
    /// Without symbolic links; the same as `given` if it does not exist yet.
    pub(crate) real: Vec<OsString>,
    /// Device and inode when the reach was judged; `None` if nothing was there.
    identity: Option<(u64, u64)>,
}

impl Root {
    fn new(path: &Path) -> Self {
        let real_path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        Self {
            given: components(path),
            real: components(&real_path),
            identity: rustix::fs::lstat(&real_path)
                .ok()
                .map(|stat| identity(&stat)),
        }
    }

    /// The folder that was judged; a link or another folder in its place is not opened.
    pub(crate) fn open(&self) -> Result<OwnedFd, Fault> {
        let folder = open_without_links(&self.real)?;
        self.check(&folder)?;
        Ok(folder)
    }

    /// [`Fault::LeavesReach`] if another folder than the one that was judged has this path now.
    pub(crate) fn check(&self, folder: &OwnedFd) -> Result<(), Fault> {
        let found = identity(&rustix::fs::fstat(folder)?);
        if self.identity.is_some_and(|then| then != found) {
            return Err(Fault::LeavesReach);
        }
        Ok(())
    }

    /// The folder of a root that is a single file.
    pub(crate) fn open_parent(&self) -> Result<OwnedFd, Fault> {
        let (_, parent) = self.real.split_last().ok_or(Fault::NotPermitted)?;
        open_without_links(parent)
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
    /// A reach of absolute folders or single files. What may be written may not be read for that.
    /// Relative paths are below `working_folder`, which is absolute.
    #[must_use]
    pub fn new(read: &[PathBuf], write: &[PathBuf], working_folder: PathBuf, deny: Deny) -> Self {
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
            working_folder,
            deny,
        }
    }

    /// The components of the absolute path that a caller requests.
    pub(crate) fn absolute(&self, path: &Path) -> Result<Vec<OsString>, Fault> {
        let bytes = path.as_os_str().as_bytes();
        if bytes.is_empty() || bytes.len() > PATH_BYTES || bytes.contains(&0) {
            return Err(Fault::InvalidPath);
        }
        Ok(components(&self.working_folder.join(path)))
    }

    /// The most specific root of an absolute path, and the part of the path below it.
    pub(crate) fn root_of<'path>(
        &self,
        path: &'path [OsString],
        access: Access,
    ) -> Result<(&Root, &'path [OsString]), Fault> {
        let roots = match access {
            Access::Read => &self.read,
            Access::Write => &self.write,
        };
        roots
            .iter()
            .filter_map(|root| Some((root, root.below(path)?)))
            .min_by_key(|(_, rest)| rest.len())
            .ok_or(Fault::NotPermitted)
    }

    /// Where the walk along a path starts: a root, and the rest of the path below it. Folders that
    /// contain a root may be passed by `..`, and a path to write may lead through what is read.
    pub(crate) fn start_of(
        &self,
        mut path: Vec<OsString>,
        access: Access,
    ) -> Result<(&Root, Vec<OsString>), Fault> {
        loop {
            let own = self.root_of(&path, access);
            if let Ok((root, rest)) = own.or_else(|_| self.root_of(&path, Access::Read)) {
                return Ok((root, rest.to_vec()));
            }
            let up = path.iter().position(|part| part == "..");
            let (up, passed) = up
                .and_then(|up| Some((up, path.get(..up)?)))
                .filter(|(_, passed)| self.contains_root(passed, access))
                .ok_or(Fault::NotPermitted)?;
            open_without_links(passed)?;
            path.drain(up.saturating_sub(1)..=up);
        }
    }

    /// Whether a folder is on the way to a root: no one learns what else exists.
    fn contains_root(&self, folder: &[OsString], access: Access) -> bool {
        let written = self.write.iter().filter(|_| access == Access::Write);
        let mut roots = self.read.iter().chain(written);
        roots.any(|root| root.real.starts_with(folder))
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) const TO_PASS: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) const TO_PASS: OFlags = OFlags::RDONLY;

/// A folder by its real path; [`Fault::LeavesReach`] if a component of it is a link by now.
fn open_without_links(real: &[OsString]) -> Result<OwnedFd, Fault> {
    let flags = TO_PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open("/", flags, Mode::empty())?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::ResolveFlags;

        let below: PathBuf = real.iter().collect();
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        if !real.is_empty() {
            match rustix::fs::openat2(&folder, &below, flags, Mode::empty(), resolve) {
                Ok(opened) => return Ok(opened),
                Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => {}
                Err(Errno::LOOP) => return Err(Fault::LeavesReach),
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    for name in real {
        folder = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Ok(next) => next,
            Err(Errno::LOOP) => return Err(Fault::LeavesReach),
            // `O_DIRECTORY` answers this for a link too.
            Err(Errno::NOTDIR) if rustix::fs::readlinkat(&folder, name, Vec::new()).is_ok() => {
                return Err(Fault::LeavesReach);
            }
            Err(errno) => return Err(errno.into()),
        };
    }
    Ok(folder)
}

/// A root must be absolute and have no `..`, so that it permits exactly what it names.
fn is_plain(path: &Path) -> bool {
    path.is_absolute() && !components(path).iter().any(|part| part == "..")
}
