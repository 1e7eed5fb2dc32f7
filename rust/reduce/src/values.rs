//! Values unlike the others of their column: rare among few, of a rare form, or numbers far outside.

use hashbrown::{HashMap, HashSet};

use crate::template::mixed;

/// A value is rare up to one in this many.
const RARE_SHARE: usize = 40;
/// Values are few up to one in this many.
const FEW_SHARE: usize = 6;
/// How many times the width of the middle a number is outside.
const FAR: f64 = 5.0;

/// The values that are unlike the others.
pub(crate) fn outliers<'t>(values: &[&'t str]) -> HashSet<&'t str> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let rare = (values.len() / RARE_SHARE).max(1);
    if counts.len() * FEW_SHARE <= values.len() {
        let found = counts.into_iter().filter(|(_, count)| *count <= rare);
        return found.map(|(value, _)| value).collect();
    }
    let mut numbers: Vec<f64> = counts.keys().filter_map(|value| number(value)).collect();
    if numbers.len() * 10 >= counts.len() * 9 {
        numbers.sort_unstable_by(f64::total_cmp);
        let tenth = numbers.len() / 10;
        let at = |place: usize| numbers.get(place).copied().unwrap_or_default();
        let (low, high) = (at(tenth), at(numbers.len().saturating_sub(1 + tenth)));
        let edge = FAR * (high - low);
        let is_outside = |value: &&str| match number(value) {
            Some(number) => {
                number < low - edge || number > high + edge || low >= 0.0 && number < 0.0
            }
            None => true,
        };
        return counts.into_keys().filter(is_outside).collect();
    }
    let mut forms: HashMap<u64, Vec<&str>> = HashMap::new();
    for value in counts.keys() {
        forms.entry(form(value)).or_default().push(value);
    }
    if forms.len() * FEW_SHARE <= counts.len() {
        let found = forms.into_values().filter(|group| group.len() <= rare);
        return found.flatten().collect();
    }
    HashSet::new()
}

/// A plain decimal number.
fn number(value: &str) -> Option<f64> {
    let is_plain = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-'));
    is_plain.then(|| value.parse().ok()).flatten()
}

/// A value with its runs of letters and of digits masked.
fn form(value: &str) -> u64 {
    let mut hash = 0;
    let mut before = 0;
    for byte in value.bytes() {
        let sign = match byte {
            b'0'..=b'9' => b'0',
            b'a'..=b'z' | b'A'..=b'Z' => b'a',
            other => other,
        };
        if sign != before || !matches!(sign, b'0' | b'a') {
            hash = mixed(hash, u64::from(sign));
        }
        before = sign;
    }
    hash
}
