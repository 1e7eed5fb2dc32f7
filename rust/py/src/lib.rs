//! The extension module `ethos_registry._core`: the export list, nothing else.

mod call;
mod finish;
mod reducer;
mod text;

use pyo3::prelude::*;

/// The native core of `ethos_registry`; import the public names from `ethos_registry` instead.
#[pymodule]
mod _core {
    /// The version of the package, from `Cargo.toml`.
    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::finish::{finish, replace_surrogates, trim_text};
    #[pymodule_export]
    use crate::reducer::NativeReducer;
}
