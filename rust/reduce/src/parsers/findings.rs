//! Compilers, linters and builds: findings with their places.

pub(crate) mod compiler;
pub(crate) mod diagnostics;
pub(crate) mod eslint;
pub(crate) mod finding;
pub(crate) mod findings_json;
pub(crate) mod rustc;
pub(crate) mod tsc;
