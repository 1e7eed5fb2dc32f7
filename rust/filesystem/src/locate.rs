//! From a path to a directory descriptor and a last name, without leaving the reach.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::deny::components;
use crate::error::{Access, Fault};
use crate::reach::{Reach, Root, TO_PASS};

/// The number that the kernel follows in one path.
const LINKS_AT_MOST: usize = 40;

/// A last name in an open folder; the name was not a link when it was read.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) parent: OwnedFd,
    /// `.` for a permitted folder itself.
    pub(crate) name: OsString,
    /// The whole path without links, for the rules that protect files.
    pub(crate) real: Vec<OsString>,
}

impl Located {
    /// The status of what has this name now; a link is not followed.
    pub(crate) fn status(&self) -> Result<Option<Stat>, Fault> {
        match rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }
}

/// What happens to missing folders along the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    Fails,
    IsMade,
}

impl Reach {
    /// Open the file at once, if no component of its path is a link. `None`: take the walk.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn open_at_once(
        &self,
        path: &[OsString],
        access: Access,
        flags: OFlags,
    ) -> Result<Option<(OwnedFd, Vec<OsString>)>, Fault> {
        use rustix::fs::{ResolveFlags, openat2};

        let Ok((root, rest)) = self.root_of(path, access) else {
            return Ok(None);
        };
        if rest.iter().any(|part| part == "..") || rest.is_empty() {
            return Ok(None);
        }
        let real: Vec<OsString> = root.real.iter().chain(rest).cloned().collect();
        let folder = root.open()?;
        let below: PathBuf = rest.iter().collect();
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
        match openat2(&folder, below.as_path(), flags, Mode::empty(), resolve) {
            Ok(file) => {
                self.deny.check_path(&real, access)?;
                self.deny.check_path(path, access)?;
                Ok(Some((file, real)))
            }
            Err(Errno::NOENT) => Err(Fault::System(Errno::NOENT)),
            // A link, a kernel without the call, a filter that refuses it, or a rename in the meantime.
            Err(_) => Ok(None),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn open_at_once(
        &self,
        _path: &[OsString],
        _access: Access,
        _flags: OFlags,
    ) -> Result<Option<(OwnedFd, Vec<OsString>)>, Fault> {
        Ok(None)
    }

    /// Resolve a path one component at a time; each link is checked as a new path.
    pub(crate) fn locate(
        &self,
        path: &[OsString],
        access: Access,
        missing: Missing,
    ) -> Result<Located, Fault> {
        let (root, rest) = self.start_of(path.to_vec(), access)?;
        let named = without_dots(path);
        if missing == Missing::IsMade || self.root_of(path, access).is_err() {
            self.root_of(&named, access)?; // no folder is left behind by a path that leads out
        }
        self.deny.check_path(&named, access)?;
        let mut walk = Walk::new(root, &rest)?;
        let mut turns = 0;
        while let Some(part) = walk.ahead.pop() {
            let is_up = part == "..";
            if is_up && walk.climb() {
                continue;
            }
            let target = if is_up { None } else { walk.link(&part)? };
            if is_up || target.is_some() {
                turns += 1;
                if turns > LINKS_AT_MOST {
                    return Err(Fault::TooManyLinks);
                }
                match target {
                    Some(target) => self.follow(&mut walk, &target, access)?,
                    None => self.leave_root(&mut walk, access)?,
                }
                continue;
            }
            walk.real.push(part.clone());
            self.deny.check_path(&walk.real, access)?;
            let is_inside = self.check_root(&walk, access);
            if walk.ahead.is_empty() {
                return is_inside.and_then(|()| walk.located(part));
            }
            let missing = is_inside.map_or(Missing::Fails, |()| missing);
            walk.descend(&part, missing)?;
        }
        // A folder that is already open: a root, or the result of `..`.
        self.deny.check_path(&walk.real, access)?;
        self.check_root(&walk, access)?;
        walk.located(OsString::from("."))
    }

    /// Whether the walk is below a root, and passed the folder that this root was judged as.
    fn check_root(&self, walk: &Walk, access: Access) -> Result<(), Fault> {
        let (root, _) = self
            .root_of(&walk.real, access)
            .map_err(|_| Fault::LeavesReach)?;
        match walk.folder_at(root.real.len()) {
            Some(folder) => root.check(folder),
            None => Ok(()), // opened as its root, or a single file
        }
    }

    /// `..` above a root goes on below another one that contains the folder, or is refused.
    fn leave_root(&self, walk: &mut Walk, access: Access) -> Result<(), Fault> {
        let mut path = walk.real.clone();
        path.pop();
        while walk.ahead.last().is_some_and(|part| part == "..") {
            walk.ahead.pop();
            path.pop();
        }
        path.extend(walk.ahead.drain(..).rev());
        self.restart(walk, path, access)
    }

    fn restart(&self, walk: &mut Walk, path: Vec<OsString>, access: Access) -> Result<(), Fault> {
        let (root, rest) = self.start_of(path, access).map_err(|fault| match fault {
            Fault::NotPermitted => Fault::LeavesReach,
            other => other,
        })?;
        *walk = Walk::new(root, &rest)?;
        Ok(())
    }

    /// Go on where a link leads: below its own folder, or below a permitted one.
    fn follow(&self, walk: &mut Walk, target: &OsStr, access: Access) -> Result<(), Fault> {
        let target = Path::new(target);
        let parts = components(target);
        let mut named = if target.is_absolute() {
            Vec::new()
        } else {
            walk.real.clone()
        };
        named.extend(parts.iter().chain(walk.ahead.iter().rev()).cloned());
        self.deny.check_path(&without_dots(&named), access)?;
        if target.is_absolute() {
            return self.restart(walk, named, access);
        }
        walk.ahead.extend(parts.into_iter().rev());
        Ok(())
    }
}

/// A path as it is spelled, for the rules that protect names: `.git` may be a link to another one.
fn without_dots(path: &[OsString]) -> Vec<OsString> {
    let mut named: Vec<OsString> = Vec::with_capacity(path.len());
    for part in path {
        if part == ".." {
            named.pop();
        } else {
            named.push(part.clone());
        }
    }
    named
}

/// The state of a walk: the open folders from the root down, and the names still to resolve.
struct Walk {
    /// The components of the path of the first open folder.
    start: usize,
    folders: Vec<OwnedFd>,
    real: Vec<OsString>,
    /// The next name is the last one.
    ahead: Vec<OsString>,
}

impl Walk {
    fn new(root: &Root, rest: &[OsString]) -> Result<Self, Fault> {
        let mut real = root.real.clone();
        let mut ahead: Vec<OsString> = rest.iter().rev().cloned().collect();
        let folder = match root.open() {
            // A reach entry may be a single file: its folder is opened, and only its name is used.
            Err(Fault::System(Errno::NOTDIR | Errno::NOENT)) if rest.is_empty() => {
                ahead.extend(real.pop());
                root.open_parent()?
            }
            opened => opened?,
        };
        Ok(Self {
            start: real.len(),
            folders: vec![folder],
            real,
            ahead,
        })
    }

    /// The open folder whose path has that many components; not the first one.
    fn folder_at(&self, components: usize) -> Option<&OwnedFd> {
        let below = components.checked_sub(self.start)?;
        self.folders.get(below).filter(|_| below > 0)
    }

    fn folder(&self) -> Result<&OwnedFd, Fault> {
        self.folders.last().ok_or(Fault::LeavesReach)
    }

    /// Go up one folder by the descriptors already open: the kernel never resolves `..`.
    fn climb(&mut self) -> bool {
        if self.folders.len() < 2 {
            return false;
        }
        self.folders.pop();
        self.real.pop();
        true
    }

    /// Where the link of this name points; `None` if it is not a link, or does not exist.
    fn link(&self, name: &OsStr) -> Result<Option<OsString>, Fault> {
        match rustix::fs::readlinkat(self.folder()?, name, Vec::new()) {
            Ok(target) => Ok(Some(OsString::from_vec(target.into_bytes()))),
            Err(Errno::INVAL | Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    fn descend(&mut self, name: &OsStr, missing: Missing) -> Result<(), Fault> {
        let flags = TO_PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = self.folder()?;
        let opened = match rustix::fs::openat(folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if missing == Missing::IsMade => {
                match rustix::fs::mkdirat(folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno.into()),
                }
                rustix::fs::openat(folder, name, flags, Mode::empty())
            }
            opened => opened,
        };
        match opened {
            Ok(next) => {
                self.folders.push(next);
                Ok(())
            }
            // It was replaced by a link in the meantime.
            Err(Errno::LOOP) => Err(Fault::KeptChanging),
            Err(Errno::NOTDIR) if self.link(name)?.is_some() => Err(Fault::KeptChanging),
            Err(errno) => Err(errno.into()),
        }
    }

    fn located(mut self, name: OsString) -> Result<Located, Fault> {
        let parent = self.folders.pop().ok_or(Fault::LeavesReach)?;
        Ok(Located {
            parent,
            name,
            real: self.real,
        })
    }
}

/// The metadata of an open file; [`Fault::Protected`] if its device and inode are protected.
pub(crate) fn check_file(reach: &Reach, file: impl AsFd, access: Access) -> Result<Stat, Fault> {
    let stat = rustix::fs::fstat(file)?;
    if reach.deny.closes_file(&stat, access) {
        return Err(Fault::Protected);
    }
    Ok(stat)
}
