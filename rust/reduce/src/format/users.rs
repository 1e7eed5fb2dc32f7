//! Formats registered at run time, for the whole process.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use super::{Format, FormatError};

/// The most formats that can be registered at once.
const MOST_FORMATS: usize = 1_000;

static FORMATS: RwLock<Vec<Arc<Format>>> = RwLock::new(Vec::new());
/// Whether there are any: a cheap check, so that an unused feature costs nothing.
static ANY: AtomicBool = AtomicBool::new(false);

/// The name of all registered formats in measurements.
pub const REGISTERED: &str = "registered format";

/// Checks the patterns of a format and registers it for the whole process. The newest format has priority.
///
/// # Errors
/// Invalid patterns, a name that is taken while `replace` is false, or too many formats.
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

/// Removes the format with that name; returns whether there was one.
pub fn unregister(name: &str) -> bool {
    let mut formats = FORMATS.write().unwrap_or_else(PoisonError::into_inner);
    let before = formats.len();
    formats.retain(|format| format.name() != name);
    ANY.store(!formats.is_empty(), Ordering::Release);
    formats.len() < before
}

/// The registered formats, the newest first.
#[must_use]
pub fn registered() -> Vec<Arc<Format>> {
    if !ANY.load(Ordering::Acquire) {
        return Vec::new();
    }
    FORMATS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}
