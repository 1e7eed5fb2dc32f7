//! Leaves families out to measure what each one contributes.

use std::cell::RefCell;

use crate::family::Family;
use crate::pipeline::route::FAMILIES;

#[derive(Default)]
struct Trial {
    left_out: Vec<String>,
    consulted: Vec<&'static str>,
}

thread_local! {
    static TRIAL: RefCell<Option<Trial>> = const { RefCell::new(None) };
}

/// Ends the trial of this thread, also after a panic.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        TRIAL.take();
    }
}

/// Runs `work` without the families named in `left_out`. Also returns the names of the families that were consulted.
///
/// Leaving out a family that was not consulted does not change the result.
pub(crate) fn without<T>(left_out: &[String], work: impl FnOnce() -> T) -> (T, Vec<&'static str>) {
    TRIAL.set(Some(Trial {
        left_out: left_out.to_vec(),
        ..Trial::default()
    }));
    let end = End;
    let made = work();
    let trial = TRIAL.take().unwrap_or_default();
    drop(end);
    (made, trial.consulted)
}

/// Every family that is not left out.
pub(crate) fn families() -> impl Iterator<Item = &'static Family> + Clone {
    // Outside a trial this is an empty vector, which does not allocate.
    let left_out = TRIAL.with_borrow(|trial| {
        let trial = trial.as_ref();
        trial
            .map(|trial| trial.left_out.clone())
            .unwrap_or_default()
    });
    let is_in = move |family: &&Family| !left_out.iter().any(|name| name == family.name);
    FAMILIES.into_iter().filter(is_in)
}

/// Records that the result depends on `family`.
pub(crate) fn consulted(family: &Family) {
    TRIAL.with_borrow_mut(|trial| {
        if let Some(trial) = trial
            && !trial.consulted.contains(&family.name)
        {
            trial.consulted.push(family.name);
        }
    });
}

#[cfg(test)]
mod tests {
    #![expect(clippy::panic, reason = "tests may panic")]

    use super::*;
    use crate::pipeline::terminal;

    #[test]
    fn a_family_that_is_left_out_is_not_asked() {
        let text = "src/a.py:1:1: E501 Line too long (120 > 100)\n".repeat(60);
        let named = || terminal::family_name(&text, Some("flake8"));
        assert_eq!(named(), "diagnostics");
        let (name, consulted) = without(&["diagnostics".to_owned()], named);
        assert_ne!(name, "diagnostics");
        assert!(!consulted.contains(&"diagnostics"));
        let (name, consulted) = without(&[], named);
        assert_eq!(name, "diagnostics");
        assert!(consulted.contains(&"diagnostics"));
        assert_eq!(named(), "diagnostics");
    }

    #[test]
    fn a_trial_ends_with_a_panic() {
        let panics = || without(&["log".to_owned()], || panic!("of a test"));
        assert!(std::panic::catch_unwind(panics).is_err());
        assert_eq!(families().count(), FAMILIES.len());
    }
}
