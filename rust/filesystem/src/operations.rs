//! Operations on paths.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Access, Fault};
use crate::locate::{Missing, asked, check_file};
use crate::reach::Reach;
use crate::replace::replace;

/// How often a walk is tried while the directory changes.
const ATTEMPTS: usize = 8;

/// What an entry of a folder is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Other,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is; a link is not followed.
    pub kind: EntryKind,
    /// Bytes of a file.
    pub size: u64,
    /// Seconds since the epoch.
    pub modified: f64,
}

impl Reach {
    /// A regular file of at most `limit` bytes, and its current size.
    ///
    /// # Errors
    /// A [`Fault`]; nothing outside the reach was opened.
    pub fn open(
        &self,
        path: &Path,
        working_folder: &Path,
        limit: u64,
    ) -> Result<(File, usize), Fault> {
        let file = File::from(self.open_to_read(path, working_folder)?);
        let stat = check_file(self, &file, Access::Read)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR.into()),
            _ => return Err(Fault::NotRegular),
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        match usize::try_from(size) {
            Ok(bytes) if size <= limit => Ok((file, bytes)),
            _ => Err(Fault::TooLarge),
        }
    }

    /// Create a file or replace its whole content, in one step; its permissions are preserved.
    ///
    /// # Errors
    /// A [`Fault`]; the file is unchanged.
    pub fn write(&self, path: &Path, working_folder: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let path = asked(path, working_folder)?;
        again(|| {
            let located = self.locate(&path, Access::Write, Missing::Fails)?;
            replace(self, &located, bytes)
        })
    }

    /// Create a folder and its parents; one that exists is not changed.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn make_folder(&self, path: &Path, working_folder: &Path) -> Result<(), Fault> {
        let path = asked(path, working_folder)?;
        again(|| {
            let located = self.locate(&path, Access::Write, Missing::IsMade)?;
            if located.name == "." {
                return Ok(());
            }
            let mode = Mode::from_raw_mode(0o777);
            match rustix::fs::mkdirat(&located.parent, &located.name, mode) {
                Ok(()) => Ok(()),
                Err(Errno::EXIST) => {
                    let flags =
                        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    rustix::fs::openat(&located.parent, &located.name, flags, Mode::empty())
                        .map(drop)
                        .map_err(|_| Fault::System(Errno::EXIST))
                }
                Err(errno) => Err(errno.into()),
            }
        })
    }

    /// Kind, size and time of a path; links are followed. `None` if it does not exist.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn look(&self, path: &Path, working_folder: &Path) -> Result<Option<Entry>, Fault> {
        let path = asked(path, working_folder)?;
        let found = again(|| {
            let located = self.locate(&path, Access::Read, Missing::Fails)?;
            let stat =
                rustix::fs::statat(&located.parent, &located.name, AtFlags::SYMLINK_NOFOLLOW)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                return Err(Fault::KeptChanging);
            }
            if self.deny.closes_file(&stat, Access::Read) {
                return Err(Fault::Protected);
            }
            Ok(entry(
                located.real.last().cloned().unwrap_or_default(),
                &stat,
            ))
        });
        match found {
            Ok(entry) => Ok(Some(entry)),
            Err(Fault::System(Errno::NOENT | Errno::NOTDIR)) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The entries of a folder by name; none if it does not exist.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn list(&self, path: &Path, working_folder: &Path) -> Result<Vec<Entry>, Fault> {
        let path = asked(path, working_folder)?;
        let opened = again(|| {
            let located = self.locate(&path, Access::Read, Missing::Fails)?;
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let folder = rustix::fs::openat(&located.parent, &located.name, flags, Mode::empty())?;
            check_file(self, &folder, Access::Read)?;
            Ok((folder, located.real))
        });
        let (folder, mut real) = match opened {
            Ok(opened) => opened,
            Err(Fault::System(Errno::NOENT)) => return Ok(Vec::new()),
            Err(fault) => return Err(fault),
        };
        let mut entries = Vec::new();
        for item in rustix::fs::Dir::read_from(&folder)? {
            let item = item?;
            let name = item.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = std::ffi::OsStr::from_bytes(name).to_owned();
            real.push(name.clone());
            let is_closed = self.deny.closes_path(&real, Access::Read);
            real.pop();
            if is_closed {
                continue;
            }
            match rustix::fs::statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => entries.push(entry(name, &stat)),
                Err(Errno::NOENT) => {} // deleted while the folder was read
                Err(errno) => return Err(errno.into()),
            }
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn open_to_read(&self, path: &Path, working_folder: &Path) -> Result<OwnedFd, Fault> {
        let path = asked(path, working_folder)?;
        // NONBLOCK: opening a FIFO must not wait for a writer.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if let Some(file) = self.open_at_once(&path, Access::Read, flags)? {
            return Ok(file);
        }
        again(|| {
            let located = self.locate(&path, Access::Read, Missing::Fails)?;
            match rustix::fs::openat(&located.parent, &located.name, flags, Mode::empty()) {
                Ok(file) => Ok(file),
                Err(Errno::LOOP) => Err(Fault::KeptChanging),
                Err(Errno::NXIO) => Err(Fault::NotRegular), // a socket
                Err(errno) => Err(errno.into()),
            }
        })
    }
}

/// Try again while the directories change during the walk.
fn again<T>(mut attempt: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
    let mut last = Fault::KeptChanging;
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(Fault::KeptChanging) => last = Fault::KeptChanging,
            done => return done,
        }
    }
    Err(last)
}

/// Fill `buffer` from a file; returns the number of bytes read.
///
/// # Errors
/// The error of the system.
pub fn fill_from(file: &mut File, buffer: &mut [u8]) -> Result<usize, Fault> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                return Err(Fault::System(
                    Errno::from_io_error(&error).unwrap_or(Errno::IO),
                ));
            }
        }
    }
    Ok(filled)
}

/// The whole content of a file of at most `limit` bytes, from its start.
///
/// # Errors
/// [`Fault::TooLarge`], or the error of the system.
pub fn read_all(mut file: File, limit: u64) -> Result<Vec<u8>, Fault> {
    let system =
        |error: std::io::Error| Fault::System(Errno::from_io_error(&error).unwrap_or(Errno::IO));
    file.rewind().map_err(system)?;
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(system)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(Fault::TooLarge);
    }
    Ok(bytes)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a time in seconds is a float in Python"
)]
fn entry(name: OsString, stat: &Stat) -> Entry {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Entry {
        name,
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9,
    }
}
