//! A line in the log of a runner.

/// `2026-01-02T10:00:00.1234567Z`: each zero matches any digit.
const TIME: &[u8] = b"0000-00-00T00:00:00.0000000Z";

/// A line without its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamped<'a> {
    /// The job and the step before the time; empty if the line has none.
    pub(super) place: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Stamped<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        if let Some(text) = after_time(line) {
            return Some(Self { place: "", text });
        }
        let mut tabs = memchr::memchr_iter(b'\t', line.as_bytes());
        let step = tabs.nth(1)?;
        let text = after_time(line.get(step + 1..)?)?;
        Some(Self {
            place: line.get(..step)?,
            text,
        })
    }
}

/// The text after the time that `line` begins with.
fn after_time(line: &str) -> Option<&str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    let time = line.as_bytes().get(..TIME.len())?;
    let fits = |(byte, form): (&u8, &u8)| {
        if *form == b'0' {
            byte.is_ascii_digit()
        } else {
            byte == form
        }
    };
    if !time.iter().zip(TIME).all(fits) {
        return None;
    }
    let rest = line.get(TIME.len()..)?;
    if rest.is_empty() {
        Some(rest)
    } else {
        rest.strip_prefix(' ')
    }
}

/// A line that is addressed to the runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command<'a> {
    Group(&'a str),
    EndGroup,
    Error(&'a str),
    Warning,
    Noise,
}

impl<'a> Command<'a> {
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let named = text
            .strip_prefix("##[")
            .or_else(|| text.strip_prefix('['))?;
        let (name, rest) = named.split_once(']')?;
        let is_marked = text.starts_with("##");
        match name {
            "group" if is_marked => Some(Self::Group(rest)),
            "endgroup" if is_marked => Some(Self::EndGroup),
            "error" if is_marked => Some(Self::Error(rest)),
            "warning" if is_marked => Some(Self::Warning),
            "command" => Some(Self::Noise),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_runner_has_seven_digits_of_a_second() {
        let text = |line| Stamped::of(line).map(|stamped| (stamped.place, stamped.text));
        assert_eq!(text("2026-01-02T10:00:00.1234567Z a b"), Some(("", "a b")));
        assert_eq!(text("2026-01-02T10:00:00.1234567Z"), Some(("", "")));
        assert_eq!(
            text("build\tunit tests\t2026-01-02T10:00:00.1234567Z a"),
            Some(("build\tunit tests", "a"))
        );
        assert_eq!(text("2026-01-02T10:00:00.123456Z INFO a"), None);
        assert_eq!(text("2026-01-02T10:00:00.1234567Zulu"), None);
    }
}
