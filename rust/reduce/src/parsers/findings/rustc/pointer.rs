//! The symbols below a line of source that point at what a diagnostic means.

/// Where they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pointer {
    /// The column of the first `^`, if its message is further below.
    column: Option<usize>,
}

impl Pointer {
    /// The message in `body`, a row below source: `| ^^^ not found in this scope`. If there are several markers, the
    /// message is in a row below, in the same column.
    pub(super) fn label<'a>(&mut self, body: &'a str) -> &'a str {
        let Some((before, rest)) = body.rsplit_once('^') else {
            let below = self.column.and_then(|column| below(body, column));
            return below.unwrap_or_default();
        };
        let pointing = before.trim_end_matches('^').len();
        let other = rest.trim_start_matches(' ');
        // Another place with a name of its own: `^^^   --- this is found to be of type `bool``.
        let is_of_other = other.len() < rest.len() && other.starts_with('-');
        let label = rest.trim_start_matches(['-', ' ']).trim_end();
        if is_of_other || label.is_empty() {
            self.column = Some(pointing);
            return "";
        }
        label
    }
}

/// What `body` states in `column`, when only bars to its left lead to other rows.
fn below(body: &str, column: usize) -> Option<&str> {
    let (before, label) = body.split_at_checked(column)?;
    let leads = before.bytes().all(|byte| matches!(byte, b' ' | b'|'));
    (leads && !label.starts_with([' ', '|'])).then(|| label.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_beside_the_signs_is_of_them() {
        assert_eq!(Pointer::default().label("|    ^^^ no leaf"), "no leaf");
        assert_eq!(Pointer::default().label("| -- ^^^ no leaf"), "no leaf");
        assert_eq!(Pointer::default().label("|    ^--- no leaf"), "no leaf");
        assert_eq!(Pointer::default().label("| |____^ no leaf"), "no leaf");
    }

    #[test]
    fn what_is_said_of_another_place_is_not() {
        let mut pointer = Pointer::default();
        assert_eq!(pointer.label("|   ^^^   --- this is an oak"), "");
        assert_eq!(pointer.label("|   |"), "");
        assert_eq!(pointer.label("|   expected an elm"), "expected an elm");
    }

    #[test]
    fn rows_in_other_columns_are_not_of_it() {
        let mut pointer = Pointer::default();
        assert_eq!(pointer.label("| --- ^^^"), "");
        assert_eq!(pointer.label("| |   |"), "");
        assert_eq!(pointer.label("| this is an oak"), "");
        assert_eq!(Pointer::default().label("|   an oak"), "");
    }
}
