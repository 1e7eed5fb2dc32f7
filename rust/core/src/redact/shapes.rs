//! Credentials with a vendor's prefix: the table `shapes.tsv`.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::Regex;

use super::Found;
use super::forms::run;

/// A prefix and what follows it.
pub(super) struct Shape {
    prefix: &'static str,
    name: &'static str,
    pattern: &'static str,
    /// Compiled when the prefix is first found: most programs meet few of them.
    rest: OnceLock<Option<Regex>>,
}

/// The rows of the table; a row without its three columns is left out.
fn shapes() -> impl Iterator<Item = Shape> {
    include_str!("shapes.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let mut columns = line.split('\t');
            Some(Shape {
                prefix: columns.next()?,
                name: columns.next()?,
                pattern: columns.next()?,
                rest: OnceLock::new(),
            })
        })
}

/// Shapes whose prefixes start alike.
pub(super) struct Group {
    /// What all their prefixes start with.
    pub(super) literal: &'static str,
    shapes: Vec<Shape>,
}

/// No token is longer.
const TOKEN_BYTES: usize = 4096;
/// How many bytes at the start two prefixes share that are searched for as one.
const SHARED_BYTES: usize = 2;

/// The shapes in groups, so that of several prefixes at one place each is tried.
pub(super) fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for shape in shapes() {
        let start = shape.prefix.get(..SHARED_BYTES).unwrap_or(shape.prefix);
        match groups
            .iter_mut()
            .find(|group| group.literal.starts_with(start))
        {
            Some(group) => {
                let shared = shared_bytes(group.literal, shape.prefix);
                group.literal = group.literal.get(..shared).unwrap_or(start);
                group.shapes.push(shape);
            }
            None => groups.push(Group {
                literal: shape.prefix,
                shapes: vec![shape],
            }),
        }
    }
    for group in &mut groups {
        group
            .shapes
            .sort_by_key(|shape| std::cmp::Reverse(shape.prefix.len()));
    }
    groups
}

fn shared_bytes(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count()
}

impl Group {
    /// The credential that begins at `at`, by the longest prefix that fits.
    pub(super) fn find(&self, text: &str, at: usize) -> Option<Found> {
        if in_word(text.as_bytes(), at) {
            return None;
        }
        let rest = text.get(at..)?;
        self.shapes
            .iter()
            .filter(|shape| rest.starts_with(shape.prefix))
            .find_map(|shape| shape.find(text, at..at + shape.prefix.len()))
    }
}

impl Shape {
    /// The credential that begins with this prefix, if its form is right.
    fn find(&self, text: &str, prefix: Range<usize>) -> Option<Found> {
        let rest = text.get(prefix.end..)?;
        // Patterns are ASCII: a character that the limit would split cannot belong to one.
        let near = rest.as_bytes();
        let near = near.get(..TOKEN_BYTES).unwrap_or(near);
        let pattern = self
            .rest
            .get_or_init(|| Regex::new(&format!(r"(?-u)\A(?:{})", self.pattern)).ok())
            .as_ref()?;
        let matched = pattern.find(near)?.as_bytes();
        // A full stop or an equals sign after a token belongs to the text around it.
        let around = matched.iter().rev();
        let around = around.take_while(|byte| matches!(byte, b'.' | b'='));
        let token = matched.get(..matched.len() - around.count())?;
        let mut length = token.len();
        if matched.len() == near.len() {
            // A token longer than any real one is replaced as a whole: a part of it could be valid.
            length += run(rest, length, |byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
            });
        }
        let after = rest.as_bytes().get(length);
        let goes_on = after.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
        // Random characters of this length have a digit, words do not.
        if goes_on || !token.iter().any(u8::is_ascii_digit) {
            return None;
        }
        Some(Found {
            at: prefix.start..prefix.end + length,
            name: self.name,
        })
    }
}

/// Whether the character before `at` is part of a word, so that it does not start a token.
pub(super) fn in_word(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use regex::bytes::Regex;

    use super::super::runs::TOKEN_MIN_BYTES;
    use super::shapes;

    #[test]
    fn every_row_has_a_pattern_that_compiles() {
        let rows = include_str!("shapes.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'));
        assert_eq!(shapes().count(), rows.count());
        for shape in shapes() {
            assert!(Regex::new(shape.pattern).is_ok(), "{}", shape.pattern);
            assert!(shape.prefix.len() >= 2, "{}", shape.prefix);
            let whole = format!(
                "(?-u){}{}",
                regex_syntax::escape(shape.prefix),
                shape.pattern
            );
            let parsed = regex_syntax::ParserBuilder::new()
                .utf8(false)
                .build()
                .parse(&whole)
                .unwrap();
            assert!(
                parsed.properties().minimum_len() >= Some(TOKEN_MIN_BYTES),
                "{whole}"
            );
        }
    }
}
