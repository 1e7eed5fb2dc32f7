//! Formats of outputs that are data: a file states which lines go and which stay, and one engine reads it.

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
