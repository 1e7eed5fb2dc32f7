//! Files below a list of permitted folders, opened so that no path, link or race leads out of them.
//!
//! Every open is relative to a directory descriptor of a permitted folder. On Linux one `openat2`
//! call with `RESOLVE_BENEATH` handles the common case. Paths with symbolic links, and kernels or
//! seccomp filters without `openat2`, use a walk that opens one component at a time and checks
//! each link. [`confine`] restricts a process before it executes another program.
#![cfg(unix)]

#[cfg(target_os = "linux")]
pub mod confine;
mod deny;
mod error;
mod locate;
mod operations;
mod reach;
mod replace;

pub use rustix::fs::{FileType, Stat};
pub use rustix::io::Errno;

pub use deny::{Deny, Protects, Rules};
pub use error::{Access, Fault};
pub use operations::Entry;
pub use reach::Reach;
pub use replace::{TEMPORARY_PREFIX, Target};
