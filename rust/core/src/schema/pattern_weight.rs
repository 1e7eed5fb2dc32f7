//! How much a regular expression can cost for each byte of text.
//!
//! An automaton that may be at many positions at the same time has exponentially many sets of them,
//! and each set that is new is walked position by position.

use regex_syntax::hir::{Hir, HirKind, Look};
use serde_json::Value;

/// The most that a pattern in a schema can cost for each byte: the positions that its automaton may be
/// at, at the same time.
#[must_use]
pub fn heaviest(schema: &Value) -> usize {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, inner)| match (name.as_str(), inner) {
                ("pattern", Value::String(pattern)) => weight(pattern),
                ("patternProperties", Value::Object(patterns)) => {
                    let names = patterns.keys().map(|pattern| weight(pattern));
                    names.max().unwrap_or(1).max(heaviest(inner))
                }
                _ => heaviest(inner),
            })
            .max()
            .unwrap_or(1),
        Value::Array(items) => items.iter().map(heaviest).max().unwrap_or(1),
        _ => 1,
    }
}

fn weight(pattern: &str) -> usize {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return pattern.len().max(1); // what only ECMA-262 knows
    };
    let is_anchored = hir.properties().look_set_prefix().contains(Look::Start);
    let starts = if is_anchored { 1 } else { usize::MAX };
    passed(&hir, starts).positions.max(1)
}

/// What a part of a pattern does that is entered at some places of the text at the same time.
struct Passed {
    /// Its positions that are reached at the same time.
    positions: usize,
    /// The places that it is left at.
    ends: usize,
    /// The characters of each of its matches, if that is one number.
    length: Option<usize>,
}

fn passed(part: &Hir, starts: usize) -> Passed {
    let fixed = |length: usize| Passed {
        positions: length.min(starts),
        ends: starts,
        length: Some(length),
    };
    match part.kind() {
        HirKind::Empty | HirKind::Look(_) => fixed(0),
        HirKind::Class(_) => fixed(1),
        HirKind::Literal(literal) => fixed(String::from_utf8_lossy(&literal.0).chars().count()),
        HirKind::Capture(capture) => passed(&capture.sub, starts),
        HirKind::Concat(parts) => row(parts, starts),
        HirKind::Alternation(branches) => {
            let branches: Vec<_> = branches.iter().map(|one| passed(one, starts)).collect();
            let length = branches.first().and_then(|first| first.length);
            let length = length.filter(|_| branches.iter().all(|one| one.length == length));
            let ends = branches
                .iter()
                .fold(0_usize, |sum, one| sum.saturating_add(one.ends));
            Passed {
                positions: branches
                    .iter()
                    .fold(0, |sum, one| sum.saturating_add(one.positions)),
                ends: if length.is_some() { starts } else { ends },
                length,
            }
        }
        HirKind::Repetition(repetition) => {
            let least = repetition.min as usize;
            let most = repetition.max.map(|most| most as usize);
            let inside = passed(&repetition.sub, starts);
            let times = most.unwrap_or(least).max(1);
            let Some(length) = inside.length else {
                let inside = passed(&repetition.sub, usize::MAX);
                return Passed {
                    positions: inside.positions.saturating_mul(times),
                    ends: usize::MAX,
                    length: None,
                };
            };
            let ends = most.map_or(usize::MAX, |most| most.saturating_sub(least) + 1);
            let together = starts.max(inside.positions);
            Passed {
                positions: inside.positions.saturating_mul(times).min(together),
                ends: starts.saturating_mul(ends),
                length: (ends == 1).then_some(length.saturating_mul(times)),
            }
        }
    }
}

/// Parts behind each other. Those that are entered at the same number of places share them.
fn row(parts: &[Hir], starts: usize) -> Passed {
    let (mut sum, mut shared) = (0_usize, 0_usize);
    let (mut starts, mut length) = (starts, Some(0_usize));
    for part in parts {
        let inside = passed(part, starts);
        if inside.ends == starts {
            shared = shared.saturating_add(inside.positions);
        } else {
            sum = sum.saturating_add(shared.min(starts));
            sum = sum.saturating_add(inside.positions);
            (shared, starts) = (0, inside.ends);
        }
        let both = length.zip(inside.length);
        length = both.map(|(before, own)| before.saturating_add(own));
    }
    Passed {
        positions: sum.saturating_add(shared.min(starts)),
        ends: starts,
        length,
    }
}

#[cfg(test)]
mod tests {
    use super::weight;

    #[test]
    fn patterns_at_one_position_are_light() {
        for pattern in [
            "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            "^.{1,5000}$",
            "^[a-z]*$",
            r"\S",
        ] {
            assert_eq!(weight(pattern), 1, "{pattern}");
        }
    }

    #[test]
    fn patterns_of_every_day_have_few_positions() {
        for pattern in [
            "^data:image/(png|jpeg|webp);base64,[A-Za-z0-9+/=]+$",
            r"^https?://[^\s/$.?#].[^\s]*$",
            "^[A-Za-z0-9+/]*={0,2}$",
            "^[a-z0-9-]+(/[a-z0-9-]+)*$",
            r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$",
        ] {
            assert!(weight(pattern) <= 12, "{pattern}: {}", weight(pattern));
        }
    }

    #[test]
    fn counted_repetitions_behind_what_varies_are_heavy() {
        for pattern in [
            "a.{0,3000}b.{0,3000}c$",
            r"(a|b|\w).{0,250}(x|y.).{0,250}z[0-9]",
            "^(a|b)*a(a|b){250}$",
            "^(a{1,99}b?){1,99}$",
            "^a?.{0,250}b.{250}$",
            "[ab]*a[ab]{500}",
        ] {
            assert!(weight(pattern) >= 250, "{pattern}: {}", weight(pattern));
        }
    }
}
