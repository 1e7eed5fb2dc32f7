//! Operations on paths.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::error::{Access, Fault};
use crate::locate::{Located, Missing, check_file};
use crate::reach::Reach;
use crate::replace::Target;

/// How often a walk is tried while the directory changes.
const ATTEMPTS: usize = 8;

/// NONBLOCK: opening a FIFO must not wait for a writer.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
const FOLDER: OFlags = FILE.union(OFlags::DIRECTORY);

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is; a link is not followed.
    pub kind: FileType,
    /// Bytes of a file.
    pub size: u64,
    /// Seconds since the epoch.
    pub modified: f64,
}

impl Reach {
    /// The bytes of a regular file; [`Fault::TooLarge`] beyond `limit`.
    ///
    /// # Errors
    /// A [`Fault`]; nothing outside the reach was opened.
    pub fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
        let (file, stat, _) = self.opened(path)?;
        read_all(file, &stat, limit)
    }

    /// A regular file, and its path without links.
    ///
    /// # Errors
    /// A [`Fault`]; nothing outside the reach was opened.
    pub fn open(&self, path: &Path) -> Result<(File, PathBuf), Fault> {
        let (file, _, real) = self.opened(path)?;
        Ok((file, joined(&real)))
    }

    fn opened(&self, path: &Path) -> Result<(File, Stat, Vec<OsString>), Fault> {
        let (file, real) = self.open_to_read(path, FILE)?;
        let file = File::from(file);
        let stat = check_file(self, &file, Access::Read)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok((file, stat, real)),
            FileType::Directory => Err(Errno::ISDIR.into()),
            _ => Err(Fault::NotRegular),
        }
    }

    /// Create a file or replace its whole content, in one step; its permissions are preserved.
    ///
    /// # Errors
    /// A [`Fault`]; the file is unchanged.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let path = self.absolute(path)?;
        again(|| {
            let located = self.locate(&path, Access::Write, Missing::Fails)?;
            Target::new(located).replace(self, bytes).map(drop)
        })
    }

    /// Where a file is or will be written: its open folder and its name. With `make_folders`
    /// missing ones are created.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn target(&self, path: &Path, make_folders: bool) -> Result<Target, Fault> {
        let path = self.absolute(path)?;
        let missing = if make_folders {
            Missing::IsMade
        } else {
            Missing::Fails
        };
        again(|| self.locate(&path, Access::Write, missing)).map(Target::new)
    }

    /// Create a folder and its parents; one that exists is not changed.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn make_folder(&self, path: &Path) -> Result<(), Fault> {
        let path = self.absolute(path)?;
        again(|| {
            let located = self.locate(&path, Access::Write, Missing::IsMade)?;
            if located.name == "." {
                return Ok(());
            }
            let Located { parent, name, .. } = &located;
            match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
                // What is there may be a folder.
                Err(Errno::EXIST) => rustix::fs::openat(parent, name, FOLDER, Mode::empty())
                    .map(drop)
                    .map_err(|_| Errno::EXIST.into()),
                made => Ok(made?),
            }
        })
    }

    /// Kind, size and time of a path; links are followed. `None` if it does not exist.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn look(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        let path = self.absolute(path)?;
        let found = again(|| {
            let located = self.locate(&path, Access::Read, Missing::Fails)?;
            let Some(stat) = located.status()? else {
                return Ok(None);
            };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
                return Err(Fault::KeptChanging);
            }
            if self.deny.closes_file(&stat, Access::Read) {
                return Err(Fault::Protected);
            }
            let name = located.real.last().cloned().unwrap_or_default();
            Ok(Some(entry(name, &stat)))
        });
        match found {
            Err(Fault::System(Errno::NOENT | Errno::NOTDIR)) => Ok(None),
            found => found,
        }
    }

    /// The entries of a folder by name; none if it does not exist.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn list(&self, path: &Path) -> Result<Vec<Entry>, Fault> {
        let (folder, real) = match self.open_to_read(path, FOLDER) {
            Err(Fault::System(Errno::NOENT)) => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut entries = Vec::new();
        for (name, _) in self.entries(&folder, real)? {
            entries.extend(entry_of(&folder, &name)?);
        }
        Ok(entries)
    }

    /// The path of a folder without links, and the names and kinds of its entries, by name.
    ///
    /// # Errors
    /// A [`Fault`].
    pub fn names(&self, path: &Path) -> Result<(PathBuf, Vec<(OsString, FileType)>), Fault> {
        let (folder, real) = self.open_to_read(path, FOLDER)?;
        let place = joined(&real);
        let mut named = Vec::new();
        for (name, found) in self.entries(&folder, real)? {
            let kind = match found {
                FileType::Unknown => entry_of(&folder, &name)?.map(|entry| entry.kind),
                known => Some(known),
            };
            named.extend(kind.map(|kind| (name, kind)));
        }
        Ok((place, named))
    }

    /// The entries of an open folder that may be read, by name.
    fn entries(
        &self,
        folder: &OwnedFd,
        mut real: Vec<OsString>,
    ) -> Result<Vec<(OsString, FileType)>, Fault> {
        check_file(self, folder, Access::Read)?;
        let mut entries = Vec::new();
        for item in rustix::fs::Dir::read_from(folder)? {
            let item = item?;
            let name = item.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let name = std::ffi::OsStr::from_bytes(name).to_owned();
            real.push(name.clone());
            if !self.deny.closes_path(&real, Access::Read) {
                entries.push((name, item.file_type()));
            }
            real.pop();
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(entries)
    }

    fn open_to_read(&self, path: &Path, flags: OFlags) -> Result<(OwnedFd, Vec<OsString>), Fault> {
        let path = self.absolute(path)?;
        if let Some(opened) = self.open_at_once(&path, Access::Read, flags)? {
            return Ok(opened);
        }
        again(|| {
            let located = self.locate(&path, Access::Read, Missing::Fails)?;
            match rustix::fs::openat(&located.parent, &located.name, flags, Mode::empty()) {
                Ok(file) => Ok((file, located.real)),
                Err(Errno::LOOP) => Err(Fault::KeptChanging),
                Err(Errno::NXIO) => Err(Fault::NotRegular), // a socket
                Err(errno) => Err(errno.into()),
            }
        })
    }
}

/// Try again while the directories change during the walk.
fn again<T>(mut attempt: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
    for _ in 0..ATTEMPTS {
        match attempt() {
            Err(Fault::KeptChanging) => {}
            done => return done,
        }
    }
    Err(Fault::KeptChanging)
}

/// The whole content of a file of at most `limit` bytes, with room at once for the size that its status states:
/// below `/proc` that is nothing.
pub(crate) fn read_all(file: File, stat: &Stat, limit: u64) -> Result<Vec<u8>, Fault> {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    if size > limit {
        return Err(Fault::TooLarge);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| Fault::System(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
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
    Entry {
        name,
        kind: FileType::from_raw_mode(stat.st_mode),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: stat.st_mtime as f64 + stat.st_mtime_nsec as f64 / 1e9,
    }
}

/// The entry of an open folder; `None` if it was deleted while the folder was read.
fn entry_of(folder: &OwnedFd, name: &OsString) -> Result<Option<Entry>, Fault> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(entry(name.clone(), &stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// The absolute path of real components.
pub(crate) fn joined(real: &[OsString]) -> PathBuf {
    std::iter::once(std::ffi::OsStr::new("/"))
        .chain(real.iter().map(OsString::as_os_str))
        .collect()
}
