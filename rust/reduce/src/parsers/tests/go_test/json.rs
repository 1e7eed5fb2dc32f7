//! The events of `go test -json`: one JSON object a line.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

static ACTION: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"Action\":\""));
static PACKAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"Package\":\""));
static TEST: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"Test\":\""));
static OUTPUT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"Output\":\""));

/// The relevant fields of an event.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// The package, still escaped.
    pub(super) package: Option<&'a str>,
    /// The test, still escaped.
    pub(super) test: Option<&'a str>,
    /// The output, still escaped.
    output: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// The event of `line`, if it is one.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        if !line.starts_with('{') {
            return None;
        }
        if !(line.starts_with("{\"Time\":\"")
            || line.starts_with("{\"Action\":\"")
            || line.starts_with("{\"ImportPath\":\""))
        {
            return None;
        }
        let bytes = line.as_bytes();
        let action = ACTION.find(bytes)?;
        let action = line.get(action + "\"Action\":\"".len()..)?;
        let rest = action.get(action.find('"')?..)?;
        if action.starts_with("build-output") {
            let output = value(line, &OUTPUT);
            return Some(Self {
                package: None,
                test: None,
                output,
            });
        }
        let package = value(line, &PACKAGE);
        if package.is_none() && !action.starts_with("build-") {
            return None;
        }
        Some(Self {
            package,
            test: value(rest, &TEST),
            output: action
                .starts_with("output\"")
                .then(|| value(rest, &OUTPUT))
                .flatten(),
        })
    }

    /// Appends the output to `line` without its line end, and returns whether it had one; `None` if there is no output.
    pub(super) fn add_to(&self, line: &mut String) -> Option<bool> {
        let output = self.output?;
        let ended = output.strip_suffix("\\n");
        unescape(ended.unwrap_or(output), line);
        Some(ended.is_some())
    }
}

/// The string after `key`, still escaped.
fn value<'a>(line: &'a str, key: &Finder<'_>) -> Option<&'a str> {
    let start = key.find(line.as_bytes())? + key.needle().len();
    let rest = line.get(start..)?;
    let mut from = 0;
    loop {
        let end = from + memchr::memchr(b'"', rest.as_bytes().get(from..)?)?;
        let before = rest.get(..end)?;
        let backslashes = before
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        if backslashes % 2 == 0 {
            return Some(before);
        }
        from = end + 1;
    }
}

/// The unescaped content of a JSON string.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = String::new();
    unescape(text, &mut plain);
    Cow::Owned(plain)
}

fn unescape(text: &str, plain: &mut String) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        plain.push_str(rest.get(..at).unwrap_or_default());
        let mut signs = rest.get(at + 1..).unwrap_or_default().chars();
        match signs.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('u') => {
                let code = signs.as_str().get(..4);
                let number = code.and_then(|code| u32::from_str_radix(code, 16).ok());
                plain.push(
                    number
                        .and_then(char::from_u32)
                        .unwrap_or(char::REPLACEMENT_CHARACTER),
                );
                if code.is_some() {
                    signs = signs.as_str().get(4..).unwrap_or_default().chars();
                }
            }
            Some('r') | None => {}
            Some(sign) => plain.push(sign),
        }
        rest = signs.as_str();
    }
    plain.push_str(rest);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn an_event_gives_the_test_and_the_text() {
        let line = r#"{"Time":"2026","Action":"output","Package":"a/b","Test":"TestX/y","Output":"    x_test.go:3: say \"no\"\u003c\n"}"#;
        let event = Event::read(line).unwrap();
        let mut buffer = String::new();
        assert_eq!(event.test, Some("TestX/y"));
        assert_eq!(event.add_to(&mut buffer), Some(true));
        assert_eq!(buffer, "    x_test.go:3: say \"no\"<");
    }

    #[test]
    fn other_json_is_no_event() {
        assert!(Event::read(r#"{"Time":"2026","level":"info"}"#).is_none());
        assert!(Event::read(r#"{"Action":"output","name":"x"}"#).is_none());
    }
}
