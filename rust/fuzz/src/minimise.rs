//! A smaller case that breaks the same guard.

use crate::mutation::Case;
use crate::oracle::{Broken, judge};

/// Whoever looks at a finding waits for this many executions at most.
const MOST_TRIES: usize = 3_000;

/// Takes lines out, many at first, then fewer, as long as the guard stays broken.
pub(crate) fn minimised(case: &Case, broken: Broken) -> Case {
    let mut smallest = case.clone();
    let mut tries = 0;
    let mut taken = smallest.text.split_inclusive('\n').count() / 2;
    while taken > 0 {
        let mut at = 0;
        loop {
            let lines: Vec<&str> = smallest.text.split_inclusive('\n').collect();
            if at >= lines.len() || tries >= MOST_TRIES {
                break;
            }
            tries += 1;
            let kept = lines.iter().take(at).chain(lines.iter().skip(at + taken));
            let smaller = Case {
                text: kept.copied().collect(),
                ..smallest.clone()
            };
            if judge(&smaller).broken == Some(broken) {
                smallest = smaller;
            } else {
                at += taken;
            }
        }
        taken /= 2;
    }
    smallest
}
