//! Python warnings between test marks: `..oak.py:3: ResourceWarning: unclosed file`.

use ethos_registry_core::find_text::FindText as _;

/// How many warnings of one category are shown; they are usually similar.
const SHOWN: usize = 3;
/// How many categories are distinguished.
const CATEGORIES: usize = 16;
const ADVICE: &str = "ResourceWarning: Enable tracemalloc to get the object allocation traceback";

/// The warnings read so far.
#[derive(Debug, Default)]
pub(super) struct Warned<'a> {
    /// How many of each category were shown.
    shown: Vec<(&'a str, usize)>,
    /// Whether the previous line was a warning, so that its source follows.
    in_warning: bool,
}

impl<'a> Warned<'a> {
    /// Whether `line` belongs to a warning and adds nothing: its source, advice, or one of many.
    pub(super) fn is_told(&mut self, line: &'a str) -> bool {
        let is_source = self.in_warning && line.starts_with("  ");
        self.in_warning = false;
        if is_source || line == ADVICE {
            return true;
        }
        let Some(category) = category(line) else {
            return false;
        };
        self.in_warning = true;
        let mut known = self.shown.iter_mut();
        if let Some((_, count)) = known.find(|(known, _)| *known == category) {
            *count += 1;
            return *count > SHOWN;
        }
        if self.shown.len() < CATEGORIES {
            self.shown.push((category, 1));
        }
        false
    }
}

/// The category of a warning with a location: `oak.py:3: DeprecationWarning: elm is old`.
fn category(line: &str) -> Option<&str> {
    let (place, rest) = line.split_text(": ")?;
    let (category, _) = rest.split_text(": ")?;
    let (_, number) = place.rsplit_once(".py:")?;
    let is_place = number.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = category.bytes().all(|byte| byte.is_ascii_alphanumeric());
    (is_place && is_name && category.ends_with("Warning")).then_some(category)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_warnings_the_first_of_each_category_are_shown_without_their_source() {
        let mut warned = Warned::default();
        for number in 1..=3 {
            assert!(
                !warned.is_told("..E./src/oak.py:3: ResourceWarning: unclosed file"),
                "{number}"
            );
            assert!(warned.is_told("  open(leaf)"));
            assert!(warned.is_told(ADVICE));
        }
        assert!(warned.is_told("/src/elm.py:9: ResourceWarning: unclosed file"));
        assert!(!warned.is_told("/src/elm.py:9: DeprecationWarning: leaf is old"));
        assert!(warned.is_told("  leaf()") && !warned.is_told("  leaf()"));
        assert!(!warned.is_told("src/oak.py:3: error: no such leaf"));
    }
}
