//! Files below a list of permitted folders, opened so that no path, link or race leaves them.
//!
//! Every open is relative to a directory descriptor of a permitted folder. On Linux one `openat2`
//! call with `RESOLVE_BENEATH` answers the common case; paths with symbolic links, and kernels or
//! seccomp filters without `openat2`, take a walk that opens one component at a time and judges
//! each link again. [`confine`] restricts a process before it becomes another program.
#![cfg(unix)]

#[cfg(target_os = "linux")]
pub mod confine;
mod deny;
mod error;
mod locate;
mod operations;
mod reach;
mod replace;

pub use deny::{Deny, Protects};
pub use error::{Access, Fault};
pub use operations::{Entry, EntryKind, fill_from, read_all};
pub use reach::Reach;
