//! Formats that programs registered, for the whole process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::format::{Format, FormatError};
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::output::Output;

/// Formats that may be registered at once.
const MOST_FORMATS: usize = 1_000;

static FORMATS: RwLock<Vec<Arc<Format>>> = RwLock::new(Vec::new());
/// Whether there are any: without them an output passes at the cost of this.
static ANY: AtomicBool = AtomicBool::new(false);

/// The name of the family of all formats that were registered.
pub const REGISTERED: &str = "registered format";

/// The formats that were registered. Those for the command of an output come before all families, those that know it by
/// its content after them.
pub(crate) const USERS: Family = Family {
    name: REGISTERED,
    runs: |input| find(|format| format.runs(input)).is_some(),
    marks: Marks::Never,
    recognises: |input| match known(input) {
        Some(format) => format.recognises(input),
        None => Match::No,
    },
    reduce: |input: &Input<'_>, output: &mut Output| {
        if let Some(format) = known(input) {
            format.reduce(input, output);
        }
    },
};

/// The format that knows `input`: by its command before all others.
fn known(input: &Input<'_>) -> Option<Arc<Format>> {
    find(|format| format.runs(input) && format.recognises(input) != Match::No)
        .or_else(|| find(|format| format.recognises(input) == Match::Certain))
}

fn find(is_it: impl Fn(&Format) -> bool) -> Option<Arc<Format>> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    // What matches runs outside of the lock.
    let formats = FORMATS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    formats.into_iter().find(|format| is_it(format))
}

/// The name of the registered format that knows `input`.
pub(crate) fn registered_name(input: &Input<'_>) -> Option<String> {
    known(input).map(|format| format.name().to_owned())
}

/// Registers a format for the whole process, whose patterns are checked. The newest comes first.
///
/// # Errors
/// What is wrong with its patterns; that the name is taken and `replace` is not set; that there are too many.
pub fn register(format: Format, replace: bool) -> Result<(), FormatError> {
    format.check()?;
    let mut formats = FORMATS.write().unwrap_or_else(PoisonError::into_inner);
    let taken = formats
        .iter()
        .position(|known| known.name() == format.name());
    match taken {
        Some(_) if !replace => {
            return Err(FormatError(format!(
                "name: {:?} is registered already; pass replace=True to replace it",
                format.name()
            )));
        }
        Some(index) => {
            formats.remove(index);
        }
        None if formats.len() >= MOST_FORMATS => {
            let reason = format!("at most {MOST_FORMATS} formats can be registered");
            return Err(FormatError(reason));
        }
        None => {}
    }
    formats.insert(0, Arc::new(format));
    ANY.store(true, Ordering::Release);
    Ok(())
}

/// Removes the format of that name; whether there was one.
pub fn unregister(name: &str) -> bool {
    let mut formats = FORMATS.write().unwrap_or_else(PoisonError::into_inner);
    let before = formats.len();
    formats.retain(|format| format.name() != name);
    ANY.store(!formats.is_empty(), Ordering::Release);
    formats.len() < before
}

/// The formats that are registered, the newest first.
#[must_use]
pub fn registered() -> Vec<Arc<Format>> {
    FORMATS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}
