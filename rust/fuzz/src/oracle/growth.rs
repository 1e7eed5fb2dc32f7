//! Whether the time of a reduction grows with its text, and not with the square of it.

use std::time::Duration;

use super::Reducer;
use crate::case::Case;
use crate::clock::time;

const TIMES: usize = 8;
/// The smaller of both inputs has at least this many bytes: shorter times are not known well enough.
const LEAST_BYTES: usize = 16_384;
/// Eight times the text may take eight times as long, and with the square of it takes 64 times.
const MOST_RATIO: u32 = 28;
/// Shorter times are never too long: a switch of the processor takes as much.
const LEAST_TIME: Duration = Duration::from_millis(40);
const TRIES: usize = 3;

/// Whether the text of `case`, repeated to eight times its size, takes about eight times as long.
pub(super) fn is_linear(case: &Case<'_>, reducer: &Reducer<'_>) -> bool {
    let times = LEAST_BYTES.div_ceil(case.text.len().max(1));
    let small = repeated(case, times);
    let large = repeated(case, times * TIMES);
    let time = |case: &Case<'_>| time(|| reducer(case)).0;
    let is_too_long = || {
        let large = time(&large);
        large > LEAST_TIME && large > time(&small) * MOST_RATIO
    };
    // The machine may be busy with something else once, and hardly three times.
    !(0..TRIES).all(|_| is_too_long())
}

fn repeated<'a>(case: &Case<'a>, times: usize) -> Case<'a> {
    Case {
        text: case.text.repeat(times),
        ..case.clone()
    }
}
