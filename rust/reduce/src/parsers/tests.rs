//! Runs of tests.

pub(crate) mod cargo_test;
pub(crate) mod go_test;
pub(crate) mod jest;
pub(crate) mod node_error;
pub(crate) mod pytest;
pub(crate) mod tap;
pub(crate) mod test_run;
pub(crate) mod unittest;
pub(crate) mod vitest;
