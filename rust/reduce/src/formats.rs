//! Formats described by data: a file lists which lines are removed or kept, and one engine applies it.

mod built_in;
mod format;
mod lines;
mod marks;
mod reduce;
mod rules;
mod table;
mod users;

pub use built_in::built_in_formats;
pub(crate) use built_in::*;
pub use format::{Format, FormatError};
pub use users::{REGISTERED, register, registered, unregister};
pub(crate) use users::{USERS, registered_name};
