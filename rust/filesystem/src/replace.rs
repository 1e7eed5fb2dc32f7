//! Replacing a file in one step.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::{Access, Fault};
use crate::locate::Located;
use crate::reach::Reach;

/// Write the bytes to a new file, then rename it over the old one: readers see the old or the new content.
pub(crate) fn replace(reach: &Reach, located: &Located, bytes: &[u8]) -> Result<(), Fault> {
    if located.name == "." {
        return Err(Errno::ISDIR.into());
    }
    let before = match rustix::fs::statat(&located.parent, &located.name, AtFlags::SYMLINK_NOFOLLOW)
    {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT) => None,
        Err(errno) => return Err(errno.into()),
    };
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
    let (temporary, file) = create_beside(&located.parent, before.as_ref())?;
    let done = fill(file, before.as_ref(), bytes).and_then(|()| {
        rustix::fs::renameat(&located.parent, &temporary, &located.parent, &located.name)
            .map_err(Fault::from)
    });
    if done.is_err() {
        // Nothing is left behind; the first failure is the one that is reported.
        let _ = rustix::fs::unlinkat(&located.parent, &temporary, AtFlags::empty());
    }
    done
}

/// A new file that no one else may read until it has the permissions of the one it replaces.
fn create_beside(parent: &OwnedFd, before: Option<&Stat>) -> Result<(OsString, File), Fault> {
    let mode = Mode::from_raw_mode(if before.is_some() { 0o600 } else { 0o666 });
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..16 {
        let mut random = [0_u8; 8];
        getrandom(&mut random, GetRandomFlags::empty())?;
        let name = OsString::from(format!(".ethos-{:016x}.tmp", u64::from_ne_bytes(random)));
        match rustix::fs::openat(parent, &name, flags, mode) {
            Ok(file) => return Ok((name, File::from(file))),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(Errno::EXIST.into())
}

fn fill(mut file: File, before: Option<&Stat>, bytes: &[u8]) -> Result<(), Fault> {
    let written = file.write_all(bytes);
    written.map_err(|error| Fault::System(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    if let Some(stat) = before {
        // Only a privileged process can change the owner; otherwise this process owns the file.
        let owner = rustix::fs::Uid::from_raw(stat.st_uid);
        let group = rustix::fs::Gid::from_raw(stat.st_gid);
        let _ = rustix::fs::fchown(&file, Some(owner), Some(group));
        rustix::fs::fchmod(&file, Mode::from_raw_mode(stat.st_mode & 0o7777))?;
    }
    Ok(())
}
