//! Compilers, linters and builds: findings with their places.

pub(crate) mod build_log;
pub(crate) mod compiler;
pub(crate) mod diagnostics;
pub(crate) mod eslint;
pub(crate) mod finding;
pub(crate) mod findings_json;
pub(crate) mod gradle;
pub(crate) mod javac;
pub(crate) mod latex;
pub(crate) mod maven;
pub(crate) mod radon;
pub(crate) mod rustc;
pub(crate) mod tsc;
pub(crate) mod webpack;
