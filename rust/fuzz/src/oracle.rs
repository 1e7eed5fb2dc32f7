//! What must hold of every reduced text, whatever the text was.

mod growth;
mod item;
mod lies;
mod listed;
mod pieces;
mod rows;
mod walk;

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ethos_registry_reduce::{Kind, Policy, Request, reduce_named};

use crate::case::Case;

/// What a reducer gives.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Reduced {
    pub(crate) bytes: Vec<u8>,
    /// The family that did more than to clean the text.
    pub(crate) family: Option<&'static str>,
}

/// The reducers, or what represents them in a test: nothing when an input stays.
pub(crate) type Reducer<'r> = dyn Fn(&Case<'_>) -> Option<Reduced> + 'r;

/// A guard that did not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Panicked,
    NotUtf8,
    Longer,
    Empty,
    Row,
    Place,
    Account,
    Listed,
    OverTarget,
    MoreShowsLess,
    NotDeterministic,
    ChangedTwice,
    NotLinear,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Panicked => "a panic",
            Self::NotUtf8 => "not UTF-8",
            Self::Longer => "longer than the text",
            Self::Empty => "nothing is left",
            Self::Row => "a row that is no line of the text",
            Self::Place => "a line in another place than in the text",
            Self::Account => "lines that are neither shown nor counted, or counted twice",
            Self::Listed => "names of lines that are not below their row",
            Self::OverTarget => "longer than its target",
            Self::MoreShowsLess => "a line that a longer target does not show",
            Self::NotDeterministic => "not the same the second time",
            Self::ChangedTwice => "reduced twice is not reduced once",
            Self::NotLinear => "eight times the text takes much more than eight times as long",
        })
    }
}

/// What was seen of a case.
pub(crate) struct Checked {
    /// Whether the text is so long that it may be reduced at all.
    pub(crate) behind_guard: bool,
    /// The family that reduced it.
    pub(crate) family: Option<&'static str>,
    pub(crate) broken: Option<Broken>,
}

/// The reducers of the core.
pub(crate) fn core(case: &Case<'_>) -> Option<Reduced> {
    let request = Request {
        budget_chars: case.budget_chars,
        policy: case.policy,
        ..Request::of_output(case.command.as_deref(), case.exit_code)
    };
    let (text, family) = reduce_named(case.kind, &request, &case.text)?;
    Some(Reduced {
        bytes: text.into_bytes(),
        family,
    })
}

/// Runs a case and holds the result to the guards.
pub(crate) fn check(case: &Case<'_>, reducer: &Reducer<'_>) -> Checked {
    let behind_guard = case.text.chars().count() > case.kind.whole_chars();
    let mut checked = Checked {
        behind_guard,
        family: None,
        broken: None,
    };
    if !behind_guard && !case.is_sampled {
        return checked;
    }
    match caught(case, reducer) {
        Ok(None) => {
            if is_over_target(case, &case.text) {
                checked.broken = Some(Broken::OverTarget);
            }
        }
        Ok(Some(once)) => {
            checked.family = once.family;
            checked.broken = broken(case, &once).or_else(|| {
                let costly = || costly(case, &once, reducer);
                // What was sound once may panic the second time.
                let seen = catch_unwind(AssertUnwindSafe(costly));
                seen.unwrap_or(Some(Broken::Panicked))
            });
        }
        Err(()) => checked.broken = Some(Broken::Panicked),
    }
    checked
}

/// The reduced text of a case; nothing when it stays.
///
/// # Errors
/// There was a panic.
pub(crate) fn caught(case: &Case<'_>, reducer: &Reducer<'_>) -> Result<Option<Reduced>, ()> {
    catch_unwind(AssertUnwindSafe(|| reducer(case))).map_err(|_| ())
}

/// What can be seen of the result alone.
fn broken(case: &Case<'_>, once: &Reduced) -> Option<Broken> {
    let Ok(reduced) = std::str::from_utf8(&once.bytes) else {
        return Some(Broken::NotUtf8);
    };
    if reduced.chars().count() > case.text.chars().count() {
        return Some(Broken::Longer);
    }
    if is_over_target(case, reduced) {
        return Some(Broken::OverTarget);
    }
    match case.kind {
        Kind::Terminal | Kind::Generic => lies::of(case, reduced),
        Kind::HeadTail | Kind::ReadFile | Kind::KanbanList => None,
    }
}

/// What needs more reductions.
fn costly(case: &Case<'_>, once: &Reduced, reducer: &Reducer<'_>) -> Option<Broken> {
    if case.is_timed && !growth::is_linear(case, reducer) {
        return Some(Broken::NotLinear);
    }
    if !case.is_sampled {
        return None;
    }
    if reducer(case).as_ref() != Some(once) {
        return Some(Broken::NotDeterministic);
    }
    if shows_less_with_more(case, once, reducer) {
        return Some(Broken::MoreShowsLess);
    }
    let mut again = case.clone();
    again.text = String::from_utf8(once.bytes.clone()).ok()?;
    let twice = reducer(&again);
    let changed = twice.is_some_and(|twice| twice.bytes != once.bytes);
    changed.then_some(Broken::ChangedTwice)
}

/// Whether `text`, the output of a tool whose outputs are reduced to a target, is longer than that.
fn is_over_target(case: &Case<'_>, text: &str) -> bool {
    let is_reduced = matches!(case.kind, Kind::Terminal | Kind::Generic);
    let target = case.target_chars().filter(|_| is_reduced);
    target.is_some_and(|target| text.chars().count() > target.max(case.kind.whole_chars()))
}

/// Whether a row is not shown when the target is twice as long.
fn shows_less_with_more(case: &Case<'_>, once: &Reduced, reducer: &Reducer<'_>) -> bool {
    let Some(policy) = case.policy else {
        return false;
    };
    let mut wider = case.clone();
    wider.policy = Some(Policy {
        target_chars: policy.target_chars.saturating_mul(2),
        ..policy
    });
    let Some(more) = reducer(&wider) else {
        return false;
    };
    let (less, more) = (
        String::from_utf8_lossy(&once.bytes),
        String::from_utf8_lossy(&more.bytes),
    );
    // A row that is cut may be whole where there is more room, and one that was shown instead of a mark may be listed.
    let is_mark = |row: &str| {
        row.ends_with(" left out]") || row.starts_with("  [s") || row.contains(" chars]...")
    };
    let is_listed = |row: &str| {
        let name = row.rsplit([' ', '/']).next().unwrap_or_default();
        let mut lists = more.lines().filter(|other| other.starts_with("  [s"));
        lists.any(|list| list.contains(name))
    };
    if !more.ends_with(" lines left out]") {
        return false;
    }
    let mut rows: HashMap<&str, usize> = HashMap::new();
    for row in more.split('\n') {
        *rows.entry(row).or_default() += 1;
    }
    less.split('\n').filter(|row| !is_mark(row)).any(|row| {
        let left = rows.entry(row).or_default();
        let is_lost = *left == 0 && !is_listed(row);
        *left = left.saturating_sub(1);
        is_lost
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "tests/test_a.py:7: AssertionError\n1 failed, 19 passed in 1.2s\n";

    /// What the guards say of a reducer that answers `reduced` to a failed run.
    fn seen(reduced: &[u8]) -> Option<Broken> {
        let answer = |_: &Case<'_>| {
            Some(Reduced {
                bytes: reduced.to_vec(),
                family: Some("pytest"),
            })
        };
        check(&failed_run(), &answer).broken
    }

    fn failed_run() -> Case<'static> {
        let mut case = Case::empty();
        case.text = "tests/test_b.py . ok\n".repeat(200) + TEXT;
        case.exit_code = Some(1);
        case.is_sampled = true;
        case
    }

    #[test]
    fn an_honest_text_breaks_nothing() {
        for honest in [
            "tests/test_b.py . ok\n[199 lines left out]\ntests/test_a.py:7: AssertionError\n1 failed, 19 passed in 1.2s\n[199 of 202 lines left out]",
            "[201 lines left out]\n1 failed, 19 passed in 1.2s\n[201 of 202 lines left out]",
            "tests/test_b.py . ok \u{d7}200\ntests/test_a.py:7: AssertionError\n1 failed, 19 passed in 1.2s\n",
        ] {
            assert_eq!(seen(honest.as_bytes()), None, "{honest}");
        }
    }

    #[test]
    fn a_lie_is_seen() {
        for (lie, broken) in [
            ("all ok\n[201 of 202 lines left out]", Broken::Row),
            (
                "[201 lines left out]\n20 passed in 1.2s\n[201 of 202 lines left out]",
                Broken::Row,
            ),
            ("1 failed, 19 passed in 1.2s", Broken::Place),
            (
                "1 failed, 19 passed in 1.2s\n[201 lines left out]\n[201 of 202 lines left out]",
                Broken::Place,
            ),
            (
                "[201 lines left out]\n1 failed, 19 passed in 1.2s\n[203 of 202 lines left out]",
                Broken::Account,
            ),
            (
                "[201 lines left out]\n1 failed, 19 passed in 1.2s\n[201 of 2000 lines left out]",
                Broken::Account,
            ),
            (
                "tests/test_b.py . ok\n[201 of 202 lines left out]",
                Broken::Account,
            ),
            (
                "tests/test_b.py . ok \u{d7}201\ntests/test_a.py:7: AssertionError\n1 failed, 19 passed in 1.2s\n",
                Broken::Row,
            ),
            ("", Broken::Empty),
        ] {
            assert_eq!(seen(lie.as_bytes()), Some(broken), "{lie:?}");
        }
        assert_eq!(seen(b"\xff"), Some(Broken::NotUtf8));
        assert_eq!(seen("long ".repeat(9_000).as_bytes()), Some(Broken::Longer));
    }

    #[test]
    fn a_panic_is_caught() {
        #[expect(clippy::panic, reason = "what is tested is that it is caught")]
        let checked = check(&failed_run(), &|_| panic!("a reducer that panics"));
        assert_eq!(checked.broken, Some(Broken::Panicked));
        assert_eq!(checked.family, None);
    }

    const HONEST: &str =
        "[201 lines left out]\n1 failed, 19 passed in 1.2s\n[201 of 202 lines left out]";
    const LONGER: &str = "tests/test_b.py . ok\n[200 lines left out]\n1 failed, 19 passed in 1.2s\n[200 of 202 lines left out]";

    fn reduced(text: &str) -> Reduced {
        Reduced {
            bytes: text.into(),
            family: None,
        }
    }

    #[test]
    fn chance_is_seen() {
        let calls = std::cell::Cell::new(0);
        let checked = check(&failed_run(), &|_| {
            calls.set(calls.get() + 1);
            Some(reduced(if calls.get() == 1 { HONEST } else { LONGER }))
        });
        assert_eq!(checked.broken, Some(Broken::NotDeterministic));
    }

    #[test]
    fn a_text_that_changes_again_is_seen() {
        let checked = check(&failed_run(), &|case| {
            Some(reduced(if case.text.len() > 200 {
                LONGER
            } else {
                HONEST
            }))
        });
        assert_eq!(checked.broken, Some(Broken::ChangedTwice));
    }

    #[test]
    fn more_that_shows_less_is_seen() {
        let checked = check(&failed_run(), &|case| {
            Some(reduced(if case.target_chars() < Some(20_000) {
                LONGER
            } else {
                HONEST
            }))
        });
        assert_eq!(checked.broken, Some(Broken::MoreShowsLess));
    }

    #[test]
    fn what_is_longer_than_its_target_is_seen() {
        let mut case = failed_run();
        case.policy = case.policy.map(|policy| Policy {
            target_chars: 2_000,
            ..policy
        });
        let checked = check(&case, &|case| {
            Some(reduced(case.text.get(1..).unwrap_or_default()))
        });
        assert_eq!(checked.broken, Some(Broken::OverTarget));
        assert_eq!(check(&case, &|_| None).broken, Some(Broken::OverTarget));
    }

    #[test]
    fn time_that_grows_with_the_square_is_seen() {
        let mut case = failed_run();
        case.is_timed = true;
        let checked = check(&case, &|case| {
            let lines: Vec<&str> = case.text.lines().collect();
            let equal = |line: &&str| lines.iter().filter(|other| *other == line).count();
            let equal: usize = lines.iter().map(equal).sum();
            Some(reduced(if equal > 0 { HONEST } else { "." }))
        });
        assert_eq!(checked.broken, Some(Broken::NotLinear));
    }

    #[test]
    fn short_texts_are_not_counted() {
        let mut case = failed_run();
        case.text = TEXT.to_owned();
        assert!(!check(&case, &core).behind_guard);
        assert!(check(&failed_run(), &core).behind_guard);
    }
}
