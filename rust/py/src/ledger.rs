//! What one reader was shown.

use std::hash::{BuildHasher as _, RandomState};

use ethos_registry_reduce::ledger::{Ledger, Shown};
use pyo3::prelude::*;

/// The number of an earlier text, its first line, how many lines, and the line that refers to them.
type Fold = (usize, usize, usize, usize);

/// What one reader was shown, as hashes of their lines.
#[pyclass(module = "ethos_registry._core")]
pub(crate) struct ShownTexts(Ledger);

#[pymethods]
impl ShownTexts {
    #[new]
    fn new() -> Self {
        Self(Ledger::new(u128::from(RandomState::new().hash_one(0))))
    }

    /// Record an output as it reached the reader.
    fn record(&mut self, label: &str, text: &str) {
        let shown = Shown::of(label, text, self.0.key());
        self.0.record(shown);
    }

    /// Forget everything: the reader may have lost its context.
    fn forget(&mut self) {
        self.0.forget();
    }

    /// `text` with a reference in place of each run of lines that the reader has seen, and for each the
    /// number of the earlier text, its first line, how many lines and the line with the reference;
    /// `None` if it stays as it is. `way` states how to read all of the text.
    fn fold(&self, text: &str, way: &str) -> Option<(String, Vec<Fold>)> {
        let (folded, folds) = self.0.fold(text, way)?;
        let folds = folds
            .iter()
            .map(|fold| (fold.shown, fold.first_line, fold.lines, fold.at));
        Some((folded, folds.collect()))
    }
}
