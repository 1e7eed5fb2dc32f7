//! How long something takes.

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

/// The kernel brings this clock up to date when it is read; the numbers in `/proc` change once a tick, which is
/// longer than many reductions take.
#[cfg(unix)]
fn processor_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).ok()
}

#[cfg(not(unix))]
const fn processor_time() -> Option<Duration> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_time_much_shorter_than_a_tick_is_measured() {
        let (taken, ()) = time(|| {
            let started = Instant::now();
            while started.elapsed() < Duration::from_micros(300) {}
        });
        assert!(
            taken > Duration::ZERO && taken < Duration::from_millis(300),
            "{taken:?}"
        );
    }
}
