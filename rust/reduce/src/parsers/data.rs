//! Files, JSON and HTTP.

pub(crate) mod file;
pub(crate) mod http;
pub(crate) mod json;
