//! Replacing a file in one step.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::{Access as Rights, AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Access, Fault};
use crate::locate::{Located, check_file};
use crate::operations::{joined, read_all};
use crate::reach::Reach;

/// The start of the name of a file beside one that is being replaced.
pub const TEMPORARY_PREFIX: &str = ".ethos-registry-";

/// Where a file is or will be: an open folder, and a name in it that was not a link.
#[derive(Debug)]
pub struct Target {
    located: Located,
    lock: Option<OwnedFd>,
}

impl Target {
    pub(crate) fn new(located: Located) -> Self {
        Self {
            located,
            lock: None,
        }
    }

    /// The path without links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        joined(&self.located.real)
    }

    /// The status of what is there; `None` if nothing is.
    ///
    /// # Errors
    /// The error of the system.
    pub fn status(&self) -> Result<Option<Stat>, Fault> {
        self.located.status()
    }

    /// Whether this process may write to the file itself, not just replace it.
    #[must_use]
    pub fn may_write(&self) -> bool {
        let Located { parent, name, .. } = &self.located;
        rustix::fs::accessat(parent, name, Rights::WRITE_OK, AtFlags::empty()).is_ok()
    }

    /// The content of the regular file there.
    ///
    /// # Errors
    /// [`Fault::TooLarge`] beyond `limit`, or another [`Fault`].
    pub fn read(&self, reach: &Reach, limit: u64) -> Result<Vec<u8>, Fault> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Located { parent, name, real } = &self.located;
        reach.root_of(real, Access::Read)?;
        reach.deny.check_path(real, Access::Read)?;
        let file = rustix::fs::openat(parent, name, flags, Mode::empty())?;
        let stat = check_file(reach, &file, Access::Read)?;
        read_all(File::from(file), &stat, limit)
    }

    /// Try to take the advisory lock of the folder, which ends with this object.
    ///
    /// # Errors
    /// The file system has no such lock.
    pub fn lock(&mut self) -> Result<bool, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(&self.located.parent, ".", flags, Mode::empty())?;
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                self.lock = Some(folder);
                Ok(true)
            }
            Err(Errno::WOULDBLOCK) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Release the lock, also in a process that was forked meanwhile.
    pub fn unlock(&mut self) {
        if let Some(folder) = self.lock.take() {
            let _ = rustix::fs::flock(folder, FlockOperation::Unlock);
        }
    }

    /// Create the file or replace its whole content in one step; the status of the new one.
    ///
    /// # Errors
    /// A [`Fault`]; the file is unchanged.
    pub fn replace(&self, reach: &Reach, bytes: &[u8]) -> Result<Stat, Fault> {
        let Located { parent, name, .. } = &self.located;
        if name == "." {
            return Err(Errno::ISDIR.into());
        }
        let before = self.status()?;
        if let Some(stat) = &before {
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile if reach.deny.closes_file(stat, Access::Write) => {
                    return Err(Fault::Protected);
                }
                FileType::RegularFile => {}
                FileType::Symlink => return Err(Fault::KeptChanging),
                FileType::Directory => return Err(Errno::ISDIR.into()),
                _ => return Err(Fault::NotRegular),
            }
        }
        // Readers see the old content or the new one: a new file is renamed over the old one.
        let (temporary, file) = create_beside(parent, before.as_ref(), self.lock.is_some())?;
        let done = fill(&file, before.as_ref(), bytes, || acl_of(parent, name)).and_then(|()| {
            rustix::fs::renameat(parent, &temporary, parent, name)?;
            Ok(rustix::fs::fstat(&file)?)
        });
        if done.is_err() {
            // Nothing is left behind; the first failure is the one that is reported.
            let _ = rustix::fs::unlinkat(parent, &temporary, AtFlags::empty());
        }
        done
    }
}

/// A new file that no one else may read until it has the permissions of the one it replaces.
///
/// The holder of the folder's lock is the only writer there: a file of the fixed name was left by a
/// writer that was killed.
fn create_beside(
    parent: &OwnedFd,
    before: Option<&Stat>,
    is_alone: bool,
) -> Result<(OsString, File), Fault> {
    let mode = Mode::from_raw_mode(if before.is_some() { 0o600 } else { 0o666 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for attempt in 0..16 {
        let name = if is_alone && attempt == 0 {
            let name = format!("{TEMPORARY_PREFIX}write.tmp");
            let _ = rustix::fs::unlinkat(parent, &name, AtFlags::empty());
            name
        } else {
            let mut random = [0_u8; 8];
            getrandom(&mut random, GetRandomFlags::empty())?;
            format!("{TEMPORARY_PREFIX}{:016x}.tmp", u64::from_ne_bytes(random))
        };
        match rustix::fs::openat(parent, &name, flags, mode) {
            Ok(file) => return Ok((OsString::from(name), File::from(file))),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}

/// Write the content and copy owner, mode and access list; the new file is never open to more users.
fn fill(
    mut file: &File,
    before: Option<&Stat>,
    bytes: &[u8],
    acl: impl FnOnce() -> Result<Option<Vec<u8>>, Errno>,
) -> Result<(), Fault> {
    let written = file.write_all(bytes);
    written.map_err(|error| Fault::System(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    if let Some(stat) = before {
        let owner = rustix::fs::Uid::from_raw(stat.st_uid);
        let group = rustix::fs::Gid::from_raw(stat.st_gid);
        // Set-user-ID and set-group-ID would give the new content the rights of the old program.
        let mut mode = stat.st_mode & 0o777;
        // Only a privileged process can change the owner; the group can be one of its own.
        if rustix::fs::fchown(file, Some(owner), Some(group)).is_err()
            && rustix::fs::fchown(file, None, Some(group)).is_err()
            && rustix::fs::fstat(file)?.st_gid != stat.st_gid
        {
            // The group bits would be those of another group: it gets what everybody has.
            mode &= !0o070 | (mode & 0o007) << 3;
        }
        if !acl().is_ok_and(|list| copy_acl(file, list.as_deref())) {
            mode &= !0o070; // with an access list, these bits are the most that it grants
        }
        rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
const ACL: &str = "system.posix_acl_access";

/// The access list of a file beyond its mode; `None` if it has none.
#[cfg(target_os = "linux")]
fn acl_of(parent: &OwnedFd, name: &std::ffi::OsStr) -> Result<Option<Vec<u8>>, Errno> {
    // A path through the descriptor: extended attributes cannot be read relative to a folder, and a
    // file may be writable without being readable.
    use std::os::fd::AsRawFd;

    let mut path = PathBuf::from(format!("/proc/self/fd/{}", parent.as_raw_fd()));
    path.push(name);
    let mut list = vec![0_u8; 4096];
    match rustix::fs::lgetxattr(&path, ACL, &mut list[..]) {
        Ok(length) => {
            list.truncate(length);
            Ok(Some(list))
        }
        Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Give a new file this access list, or none: a folder may hand one down. Whether that worked.
#[cfg(target_os = "linux")]
fn copy_acl(file: &File, list: Option<&[u8]>) -> bool {
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr};

    let done = match list {
        Some(list) => fsetxattr(file, ACL, list, XattrFlags::empty()),
        None => fremovexattr(file, ACL),
    };
    matches!(done, Ok(()) | Err(Errno::NODATA | Errno::NOTSUP))
}

#[cfg(not(target_os = "linux"))]
fn acl_of(_parent: &OwnedFd, _name: &std::ffi::OsStr) -> Result<Option<Vec<u8>>, Errno> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
fn copy_acl(_file: &File, _list: Option<&[u8]>) -> bool {
    true
}
