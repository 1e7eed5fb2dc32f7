//! The names of lines that are listed below another.

use std::collections::HashSet;

/// The least number of lines below `owner` whose names are `names`, in this order.
pub(super) fn listed_below(
    lines: &[&str],
    owner: usize,
    is_same: bool,
    names: &[&str],
    shown: &HashSet<usize>,
) -> Option<usize> {
    let line = |number: usize| lines.get(number).copied().unwrap_or_default();
    let mut least: Vec<Option<usize>> = vec![None; names.len() + 1];
    if let Some(first) = least.first_mut() {
        *first = Some(0);
    }
    for number in (owner + 1..lines.len()).filter(|number| !shown.contains(number)) {
        let text = line(number);
        // The place may be below the message.
        let around = [line(number + 1), text].join("\n");
        for at in (0..names.len()).rev() {
            let Some(Some(count)) = least.get(at).copied() else {
                continue;
            };
            let rest = names.get(at..).unwrap_or_default();
            for most in 1..=named(text, rest).max(named(&around, rest)) {
                let name = rest.get(..most).unwrap_or_default().join(" ");
                if is_same && !has_message(line(owner), text, &name) {
                    continue;
                }
                if let Some(end) = least.get_mut(at + most) {
                    *end = Some(end.map_or(count + 1, |end| end.min(count + 1)));
                }
            }
        }
    }
    least.last().copied().flatten()
}

/// How many of `names`, from the first, a line has in this order.
fn named(line: &str, names: &[&str]) -> usize {
    let mut rest = line;
    for (count, name) in names.iter().enumerate() {
        match rest.find(name) {
            Some(at) => rest = rest.get(at + name.len()..).unwrap_or_default(),
            None => return count,
        }
    }
    names.len()
}

/// Whether `line` without `name` has the message of `owner`.
fn has_message(owner: &str, line: &str, name: &str) -> bool {
    let is_sign = |sign: char| matches!(sign, ' ' | ':' | '-' | '\t');
    let Some((_, message)) = line.split_once(name) else {
        return line.trim_matches(is_sign) == owner.trim_matches(is_sign);
    };
    owner
        .trim_matches(is_sign)
        .ends_with(message.trim_matches(is_sign))
}
