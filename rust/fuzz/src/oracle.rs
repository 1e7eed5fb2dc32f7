//! What must hold of every reduced text, whatever the text was.

mod growth;
mod lies;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ethos_registry_reduce::{Kind, Request, reduce_named};

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
    Account,
    Coordinate,
    GreenLine,
    Count,
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
            Self::Account => "more lines left out than there are",
            Self::Coordinate => "a place that the text does not name",
            Self::GreenLine => "a line of success that the failed command did not print",
            Self::Count => "a verdict's count that the text does not have",
            Self::NotDeterministic => "not the same the second time",
            Self::ChangedTwice => "reduced twice is not reduced once",
            Self::NotLinear => "eight times the text takes much more than eight times as long",
        })
    }
}

/// What was seen of a case.
pub(crate) struct Judged {
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
        ..Request::of_output(case.command.as_deref(), case.exit_code)
    };
    let (text, family) = reduce_named(case.kind, &request, &case.text)?;
    Some(Reduced {
        bytes: text.into_bytes(),
        family,
    })
}

/// Runs a case and holds the result to the guards.
pub(crate) fn judge(case: &Case<'_>, reducer: &Reducer<'_>) -> Judged {
    let behind_guard = case.text.chars().count() > case.kind.whole_chars();
    let mut judged = Judged {
        behind_guard,
        family: None,
        broken: None,
    };
    if !behind_guard && !case.is_sampled {
        return judged;
    }
    match caught(case, reducer) {
        Ok(None) => {}
        Ok(Some(once)) => {
            judged.family = once.family;
            judged.broken = broken(case, &once).or_else(|| {
                let costly = || costly(case, &once, reducer);
                // What was sound once may panic the second time.
                let seen = catch_unwind(AssertUnwindSafe(costly));
                seen.unwrap_or(Some(Broken::Panicked))
            });
        }
        Err(()) => judged.broken = Some(Broken::Panicked),
    }
    judged
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
    let mut again = case.clone();
    again.text = String::from_utf8(once.bytes.clone()).ok()?;
    let twice = reducer(&again);
    let changed = twice.is_some_and(|twice| twice.bytes != once.bytes);
    changed.then_some(Broken::ChangedTwice)
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
        judge(&failed_run(), &answer).broken
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
        assert_eq!(seen(TEXT.as_bytes()), None);
        for honest in [
            "1 failed, 19 passed in 1.2s\n[201 of 202 lines left out]",
            "tests/test_b.py . ok \u{d7}200",
            "tests/test_b.py ...[1 chars]... ok",
            "...b.py . ok\n...a.py:7: AssertionError",
        ] {
            assert_eq!(seen(honest.as_bytes()), None, "{honest}");
        }
    }

    #[test]
    fn a_lie_is_seen() {
        for (lie, broken) in [
            ("all ok", Broken::GreenLine),
            ("20 passed in 1.2s", Broken::Count),
            ("2 failed, 19 passed in 1.2s", Broken::Count),
            ("tests/test_c.py:7: AssertionError", Broken::Coordinate),
            ("tests/test_a.py:8: AssertionError", Broken::Coordinate),
            ("x\n[203 of 202 lines left out]", Broken::Account),
            ("x\n[1 of 2000 lines left out]", Broken::Account),
            ("x\n[9000 lines left out]\ny", Broken::Account),
            ("x \u{d7}9000", Broken::Account),
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
        let judged = judge(&failed_run(), &|_| panic!("a reducer that panics"));
        assert_eq!(judged.broken, Some(Broken::Panicked));
        assert_eq!(judged.family, None);
    }

    #[test]
    fn chance_is_seen() {
        let calls = std::cell::Cell::new(0);
        let judged = judge(&failed_run(), &|_| {
            calls.set(calls.get() + 1);
            Some(Reduced {
                bytes: if calls.get() == 1 { "ok" } else { "1 failed" }.into(),
                family: None,
            })
        });
        assert_eq!(judged.broken, Some(Broken::NotDeterministic));
    }

    #[test]
    fn a_text_that_changes_again_is_seen() {
        let judged = judge(&failed_run(), &|case| {
            let half = case.text.get(..case.text.len() / 2).unwrap_or_default();
            Some(Reduced {
                bytes: half.into(),
                family: None,
            })
        });
        assert_eq!(judged.broken, Some(Broken::ChangedTwice));
    }

    #[test]
    fn time_that_grows_with_the_square_is_seen() {
        let mut case = failed_run();
        case.is_timed = true;
        let judged = judge(&case, &|case| {
            let lines: Vec<&str> = case.text.lines().collect();
            let equal = |line: &&str| lines.iter().filter(|other| *other == line).count();
            let equal: usize = lines.iter().map(equal).sum();
            Some(Reduced {
                bytes: if equal > 0 {
                    "tests/test_b.py . ok"
                } else {
                    "."
                }
                .into(),
                family: None,
            })
        });
        assert_eq!(judged.broken, Some(Broken::NotLinear));
    }

    #[test]
    fn short_texts_are_not_counted() {
        let mut case = failed_run();
        case.text = TEXT.to_owned();
        assert!(!judge(&case, &core).behind_guard);
        assert!(judge(&failed_run(), &core).behind_guard);
    }
}
