//! How long something takes.

use std::fs;
use std::time::{Duration, Instant};

/// What `action` gives, and the time that this thread had a processor for it, where the system shows it;
/// else the time that went by.
pub(crate) fn time<T>(action: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let before = processor_time();
    let result = std::hint::black_box(action());
    let taken = match (before, processor_time()) {
        (Some(before), Some(after)) => after.saturating_sub(before),
        _ => started.elapsed(),
    };
    (taken, result)
}

fn processor_time() -> Option<Duration> {
    let numbers = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = numbers.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}
