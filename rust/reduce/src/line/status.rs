//! HTTP statuses in logs and similar lines.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use memchr::{memchr, memchr3};

use ethos_registry_core::find_text::any_of;

/// A status from the first number on is an error; from the second number on it is not a status.
const REFUSED: u16 = 400;
const UNKNOWN: u16 = 600;
const DIGITS: usize = 3;
/// The most bytes between a marker and the digits of the status.
const MOST_BETWEEN: usize = 16;

/// The prefix of log records of the gin web framework.
const GIN: &str = "[GIN] ";
const ARROW: &str = "-> ";
const DRAWN_ARROW: &str = "\u{2192} ";
/// What is before a status: a protocol, a field or an arrow, or a method and a path.
const MARKS: [&str; 20] = [
    "HTTP/",
    "\"status\":",
    "\"statusCode\":",
    "\"status_code\":",
    "status=",
    ARROW,
    DRAWN_ARROW,
    "code=",
    "statusCode=",
    "Completed ",
    GIN,
    "GET /",
    "POST /",
    "PUT /",
    "HEAD /",
    "PATCH /",
    "DELETE /",
    "GET http",
    "POST http",
    "PUT http",
];
static MARK: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(MARKS));

/// The offset of the digits of the first status in `line`: the same in all lines that differ only in digits.
pub(crate) fn place(line: &str) -> Option<usize> {
    // Each marker, or the address after it, contains one of these.
    let bytes = line.as_bytes();
    memchr3(b'/', b'=', b'"', bytes).or_else(|| memchr(b'C', bytes))?;
    let marks = MARK.as_ref()?;
    marks.find_iter(line).find_map(|found| {
        let mark = line.get(found.range())?;
        if matches!(mark, ARROW | DRAWN_ARROW)
            && memchr(b'/', bytes.get(..found.start())?).is_none()
        {
            // An arrow without an address before it can be before any number.
            return None;
        }
        let rest = bytes.get(found.end()..)?;
        let mut before = 0;
        if mark.ends_with(['/', 'p']) {
            // Skips the version of the protocol, or the path.
            before = memchr(b' ', rest)?;
        } else if mark == GIN {
            // Skips the time.
            before = memchr(b'|', rest)? + 1;
        }
        let is_far = mark.starts_with("HTTP") && before > MOST_BETWEEN;
        let at = before + digits(rest.get(before..).filter(|_| !is_far)?)?;
        Some(found.end() + at)
    })
}

/// The offset of a number of three digits after blanks and quotes.
fn digits(bytes: &[u8]) -> Option<usize> {
    let before = |byte: &&u8| matches!(byte, b' ' | b'"');
    let start = bytes.iter().take(MOST_BETWEEN).take_while(before).count();
    let digits = bytes.get(start..start + DIGITS)?;
    let behind = bytes.get(start + DIGITS);
    let ends = behind.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
    (ends && digits.iter().all(u8::is_ascii_digit)).then_some(start)
}

/// The status whose digits are at `place` in `line`, if it is an error.
pub(crate) fn refused(line: &str, place: usize) -> Option<u16> {
    let digits = line.as_bytes().get(place..place + DIGITS)?;
    let number = digits
        .iter()
        .fold(0, |number, digit| number * 10 + u16::from(digit & 0x0F));
    (REFUSED..UNKNOWN).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    #[test]
    fn statuses_follow_a_protocol_a_field_an_arrow_or_a_path() {
        let status = |line: &str| place(line).and_then(|at| refused(line, at));
        for (line, told) in [
            ("\"GET /a HTTP/1.1\" 404 -", 404),
            ("\\\"GET /a HTTP/1.1\\\" 503 801B", 503),
            ("< HTTP/2 404", 404),
            ("{\"res\":{\"statusCode\":500}}", 500),
            ("{\"status\": \"404\"}", 404),
            ("level=info path=/a status=503 ms=4", 503),
            ("GET /a -> 404 in 3 ms", 404),
            ("GET /a 504 3.2 ms - 12", 504),
            (" POST /a/b?c=200 500 in 12ms", 500),
            ("GET http://oak/7 404", 404),
            ("GET /a \u{2192} 502", 502),
            ("Completed 503 Service Unavailable in 3ms", 503),
            ("url=/a code=500 took=3", 500),
            (
                "[GIN] 2026/01/02 - 10:00:00 | 503 |  1.2ms | ::1 | GET \"/a\"",
                503,
            ),
        ] {
            assert_eq!(status(line), Some(told), "{line}");
        }
        for line in [
            "GET /a 304 3.2 ms - 12",
            "{\"status\":\"done\"}",
            "GET /a took 404 ms",
            "GET /a 404ms",
            "GET /a 404.5 ms",
            "oak -> elm",
            "leaves 300 -> 450",
            "oak -> 700",
            "read 404 leaves",
        ] {
            assert_eq!(status(line), None, "{line}");
        }
    }

    #[test]
    fn a_request_that_was_refused_is_counted_apart_from_others() {
        let forms: [fn(usize, u16) -> String; 3] = [
            |leaf, status| format!("GET /leaf/{leaf} -> {status}\n"),
            |leaf, status| format!("GET /leaf/{leaf} {status} in {}ms\n", leaf % 7),
            |leaf, status| {
                let time = format!("2026-01-02 10:{:02}:{:02}", leaf / 60, leaf % 60);
                format!("{time} INFO path=/leaf/{leaf} status={status}\n")
            },
        ];
        for form in forms {
            let status = |leaf| if leaf % 4 == 3 { 503 } else { 200 };
            let text: String = (0..400).map(|leaf| form(leaf, status(leaf))).collect();
            let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
            for (leaf, times) in [(0, 300), (3, 100)] {
                let row = form(leaf, status(leaf)).trim_end().to_owned();
                let rest = told.split_once(&row).unwrap().1;
                let similar = format!(" (+{} similar)\n", times - 1);
                let equal = format!(" ×{times}\n");
                assert!(
                    rest.starts_with(&similar) || rest.starts_with(&equal),
                    "{told}"
                );
            }
        }
    }
}
