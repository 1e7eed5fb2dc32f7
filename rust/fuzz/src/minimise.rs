//! A smaller case that breaks the same guard.

use crate::case::Case;
use crate::oracle::{Broken, Reducer, check};

/// The one that looks at a finding waits for this many executions at most.
const MOST_TRIES: usize = 3_000;

/// Takes lines out, many at first, then fewer, as long as the guard stays broken.
pub(crate) fn minimised<'a>(case: &Case<'a>, broken: Broken, reducer: &Reducer<'_>) -> Case<'a> {
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
            let rest = lines.iter().take(at).chain(lines.iter().skip(at + taken));
            let smaller = Case {
                text: rest.copied().collect(),
                ..smallest.clone()
            };
            if check(&smaller, reducer).broken == Some(broken) {
                smallest = smaller;
            } else {
                at += taken;
            }
        }
        taken /= 2;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Reduced;

    #[test]
    fn only_the_lines_that_break_the_guard_are_left() {
        let mut case = Case::empty();
        let lines: Vec<String> = (0..300).map(|number| format!("line {number}")).collect();
        case.text = lines.join("\n") + "\n";
        let doubled = |case: &Case<'_>| {
            case.text.contains("line 77\n").then(|| Reduced {
                bytes: case.text.repeat(2).into_bytes(),
                family: None,
            })
        };
        let smaller = minimised(&case, Broken::Longer, &doubled);
        assert!(smaller.text.contains("line 77\n"));
        // What is shorter than the size guard is not checked.
        assert!(smaller.text.len() < 1_040, "{}", smaller.text.len());
    }
}
