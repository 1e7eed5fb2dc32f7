//! Why a path was not opened.

use std::fmt;

use rustix::io::Errno;

/// What a caller wants to do with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read a file, list a folder, look at metadata.
    Read,
    /// Create or replace a file, create a folder.
    Write,
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

/// Why a path was not opened. All but `System` are refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No permitted folder contains the path.
    NotPermitted,
    /// The path names a protected file or folder.
    Protected,
    /// A symbolic link, or `..`, leads out of the permitted folders.
    LeavesReach,
    /// More symbolic links than one path may have.
    TooManyLinks,
    /// The path has a NUL byte, or is empty.
    InvalidPath,
    /// A FIFO, socket or device; only regular files are opened.
    NotRegular,
    /// The file has more bytes than the caller accepts.
    TooLarge,
    /// The directory changed at every attempt to resolve the path.
    KeptChanging,
    /// An error of the system.
    System(Errno),
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::System(errno)
    }
}
