//! How a test of `ctest` ended.

use ethos_registry_core::find_text::FindText as _;

/// A line that states how a test ended: `21/29 Test #21: name ......***Failed    0.00 sec`.
pub(super) struct Verdict<'a> {
    pub(super) number: &'a str,
    pub(super) name: &'a str,
    /// What follows the name and the dots.
    pub(super) state: &'a str,
}

impl<'a> Verdict<'a> {
    pub(super) fn read(trimmed: &'a str) -> Option<Self> {
        if !trimmed.starts_with(|sign: char| sign.is_ascii_digit()) {
            return None;
        }
        let (count, test) = trimmed.split_text(" Test ")?;
        let (number, rest) = test.trim_start().strip_prefix('#')?.split_text(": ")?;
        let numeric = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'/')
        };
        let (name, state) = rest.split_text(" .")?;
        let dots = state.bytes().take_while(|byte| matches!(byte, b'.' | b' '));
        let dots = dots.count();
        (numeric(count) && numeric(number)).then(|| Self {
            number,
            name: name.trim(),
            state: state.get(dots..).unwrap_or_default(),
        })
    }

    pub(super) fn passed(&self) -> bool {
        self.state.starts_with("Passed")
    }

    pub(super) fn is_failure(&self) -> bool {
        !self.passed()
            && !self.state.starts_with("***Skipped")
            && !self.state.starts_with("***Not Run (Disabled)")
    }
}
