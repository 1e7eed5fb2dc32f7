//! Hashes that are equal for log lines that differ only in times, durations, ids and addresses.

use crate::line::mask::Hasher;

const TIME: u64 = 0xF1;
const DURATION: u64 = 0xF2;
const ID: u64 = 0xF3;
const ADDRESS: u64 = 0xF4;
/// Shorter runs of hexadecimal digits may be values.
const ID_DIGITS: usize = 12;
const UUID_GROUPS: [usize; 5] = [8, 4, 4, 4, 12];
const UNITS: [&[u8]; 12] = [
    b"ns",
    b"us",
    b"\xc2\xb5s",
    b"\xce\xbcs",
    b"ms",
    b"s",
    b"sec",
    b"secs",
    b"seconds",
    b"second",
    b"min",
    b"minutes",
];
const MONTHS: [&[u8]; 12] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
];

/// A hash that is equal for lines with the same message. Timestamps, durations, ids (UUIDs and long hexadecimal
/// numbers) and addresses of hosts and of memory are masked, and nothing else.
pub(crate) fn template_key(line: &str) -> u64 {
    let bytes = line.as_bytes();
    let mut hasher = Hasher::new();
    let (mut at, mut from) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        let begins_word = at == 0 || !bytes.get(at - 1).is_some_and(|before| is_word(*before));
        if !begins_word || !byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase() {
            at += 1;
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        if let Some((mask, length)) = masked(rest, bytes.get(..at).unwrap_or_default()) {
            hasher.push_all(bytes.get(from..at).unwrap_or_default());
            hasher.push(mask, u8::BITS);
            at += length;
            from = at;
        } else {
            at += 1;
        }
    }
    hasher.push_all(bytes.get(from..).unwrap_or_default());
    hasher.finish()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The hash and length of the masked item that `rest` begins with. `rest` is the start of a word, and `before` precedes
/// it.
fn masked(rest: &[u8], before: &[u8]) -> Option<(u64, usize)> {
    let is_digit = rest.first().is_some_and(u8::is_ascii_digit);
    if !is_digit {
        return id(rest).map(|length| (ID, length)).or_else(|| {
            let day = month_and_day(rest)?;
            Some((TIME, day))
        });
    }
    date(rest)
        .or_else(|| time(rest))
        .or_else(|| uptime(rest, before))
        .map(|length| (TIME, length))
        .or_else(|| host(rest).map(|length| (ADDRESS, length)))
        .or_else(|| pointer(rest, before).map(|length| (ADDRESS, length)))
        .or_else(|| id(rest).map(|length| (ID, length)))
        .or_else(|| duration(rest).map(|length| (DURATION, length)))
}

fn digits(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

/// The length of the prefix of `bytes` that matches `form`, in which `0` matches any digit.
fn form(bytes: &[u8], form: &[u8]) -> Option<usize> {
    let fits = |(byte, sign): (&u8, &u8)| match sign {
        b'0' => byte.is_ascii_digit(),
        b'-' => matches!(byte, b'-' | b'/'),
        sign => byte == sign,
    };
    let begins = bytes.len() >= form.len() && bytes.iter().zip(form).all(fits);
    begins.then_some(form.len())
}

fn ends_word(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).is_some_and(|byte| is_word(*byte))
}

/// `2026-01-02`, `2026/01/02`, `02/Jan/2026`, with the time after it.
fn date(bytes: &[u8]) -> Option<usize> {
    let length = form(bytes, b"0000-00-00").or_else(|| {
        let month = bytes.get(3..6).is_some_and(|month| MONTHS.contains(&month));
        let rest = bytes.get(6..)?;
        form(bytes, b"00-").filter(|_| month)?;
        Some(6 + form(rest, b"-0000")?)
    })?;
    let rest = bytes.get(length..)?;
    let behind = match rest.first() {
        Some(b'T' | b' ' | b':' | b'_') => rest.get(1..).and_then(time).map(|time| time + 1),
        _ => None,
    };
    let end = length + behind.unwrap_or(0);
    ends_word(bytes, end).then_some(end)
}

/// `10:00:12`, `10:00:12,345`, `10:00:12.345678Z`, `10:00:12+01:00`.
fn time(bytes: &[u8]) -> Option<usize> {
    let mut end = form(bytes, b"00:00:00").or_else(|| form(bytes, b"0:00:00"))?;
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let fraction = digits(bytes.get(end + 1..)?);
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    let zone = bytes.get(end..)?;
    end += match zone.first() {
        Some(b'Z') => 1,
        Some(b'+' | b'-') => {
            let zone = zone.get(1..)?;
            form(zone, b"00:00")
                .or_else(|| form(zone, b"0000"))
                .map_or(0, |length| length + 1)
        }
        _ => 0,
    };
    ends_word(bytes, end).then_some(end)
}

/// Seconds since the start of a kernel, after the opening bracket: `[   12.345678]`.
fn uptime(bytes: &[u8], before: &[u8]) -> Option<usize> {
    let whole = digits(bytes);
    let fraction = bytes.get(whole + 1..).map(digits)?;
    let end = whole + 1 + fraction;
    let bracket = before.trim_ascii_end().ends_with(b"[");
    let is_one = bracket && bytes.get(whole) == Some(&b'.') && fraction == 6;
    (is_one && bytes.get(end) == Some(&b']')).then_some(end)
}

/// `Jan  2`, before a time.
fn month_and_day(bytes: &[u8]) -> Option<usize> {
    let month = bytes.get(..3).is_some_and(|month| MONTHS.contains(&month));
    let rest = bytes.get(3..).filter(|_| month)?;
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    let day = digits(rest.get(blanks..)?);
    let behind = 3 + blanks + day;
    let is_before_time = || time(bytes.get(behind + 1..)?);
    ((1..=2).contains(&blanks) && (1..=2).contains(&day) && is_before_time().is_some())
        .then_some(behind)
}

/// `10.0.0.7`, `10.0.0.7:8080`.
fn host(bytes: &[u8]) -> Option<usize> {
    let mut end = 0;
    for part in 0..4 {
        if part > 0 {
            if bytes.get(end) != Some(&b'.') {
                return None;
            }
            end += 1;
        }
        let length = digits(bytes.get(end..)?);
        if !(1..=3).contains(&length) {
            return None;
        }
        end += length;
    }
    if bytes.get(end) == Some(&b':') {
        let port = digits(bytes.get(end + 1..)?);
        end += if port > 0 { 1 + port } else { 0 };
    }
    (ends_word(bytes, end) && bytes.get(end) != Some(&b'.')).then_some(end)
}

/// The address of an object in memory: `at 0x7f3a`, `@0x7f3a`. Without such a word it may be a value.
fn pointer(bytes: &[u8], before: &[u8]) -> Option<usize> {
    let digits = bytes.strip_prefix(b"0x")?;
    let length = digits
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    let is_place = before.ends_with(b" at ") || before.ends_with(b"@") || before.ends_with(b"@ ");
    (is_place && length > 0 && ends_word(bytes, 2 + length)).then_some(2 + length)
}

/// A UUID, or a long hexadecimal number with letters and digits.
fn id(bytes: &[u8]) -> Option<usize> {
    let run = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter()
            .take_while(|byte| byte.is_ascii_hexdigit())
            .count()
    };
    let mut end = 0;
    let is_uuid = UUID_GROUPS.iter().enumerate().all(|(number, length)| {
        let begins = number == 0 || bytes.get(end) == Some(&b'-');
        end += usize::from(number > 0);
        let fits = begins && run(end) == *length;
        end += length;
        fits
    });
    if is_uuid && ends_word(bytes, end) {
        return Some(end);
    }
    let length = run(0);
    let word = bytes.get(..length)?;
    let mixed = word.iter().any(u8::is_ascii_digit) && word.iter().any(u8::is_ascii_alphabetic);
    (length >= ID_DIGITS && mixed && ends_word(bytes, length)).then_some(length)
}

/// `12ms`, `0.53 s`, `1m20.5s`.
fn duration(bytes: &[u8]) -> Option<usize> {
    let mut end = digits(bytes);
    if matches!(bytes.get(end), Some(b'm' | b'h')) {
        let seconds = digits(bytes.get(end + 1..)?);
        end += if seconds > 0 { 1 + seconds } else { 0 };
    }
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(bytes.get(end + 1..)?);
        end += if fraction > 0 { 1 + fraction } else { 0 };
    }
    let unit = bytes.get(end..)?;
    let blank = usize::from(unit.first() == Some(&b' '));
    let unit = unit.get(blank..)?;
    let length = unit
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80)
        .count();
    UNITS
        .contains(&unit.get(..length)?)
        .then_some(end + blank + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_in_when_how_long_and_where_are_repeats() {
        for (one, other) in [
            ("2026-01-02 10:00:00 INFO up", "2026-01-03 11:22:33 INFO up"),
            ("2026-01-02T10:00:00.123Z up", "2026-01-02T10:00:01.7Z up"),
            (
                "[02/Jan/2026:10:00:00 +0000] up",
                "[03/Feb/2026:10:00:09 +0000] up",
            ),
            ("10:00:12,345 up", "10:00:12,999 up"),
            ("Nov 24 10:03:13 oak up", "Nov  3 10:03:14 oak up"),
            ("[   12.345678] up", "[   99.345679] up"),
            ("took 12ms", "took 7ms"),
            ("took 1m20.5s to", "took 2m3.25s to"),
            ("took 0.5 s", "took 12.25 s"),
            (
                "job 123e4567-e89b-12d3-a456-426614174000 ok",
                "job 00000000-e89b-12d3-a456-42661417400f ok",
            ),
            ("commit 4ce410c862e7e74f ok", "commit 1ce410c862e7e74f ok"),
            ("from 10.0.0.7:8080 ok", "from 10.0.12.9:91 ok"),
            ("<oak at 0x7f3a>", "<oak at 0x11>"),
        ] {
            assert_eq!(template_key(one), template_key(other), "{one}");
        }
    }

    #[test]
    fn lines_that_differ_in_a_value_are_none() {
        for (one, other) in [
            ("row 7", "row 8"),
            ("rax 0x7f3a", "rax 0x7f3b"),
            ("size = 10 -> 20", "size = 10 -> 30"),
            ("build-linux-11 ok", "build-linux-12 ok"),
            ("attempt 3 of 5", "attempt 4 of 5"),
            ("status 200", "status 503"),
            ("read 12 s", "read 12 m"),
            ("oak 1.2.3", "oak 1.2.4"),
            ("2026-01-02 leaf 7", "2026-01-03 leaf 8"),
            ("deadbeef", "deadbee0"),
            ("x5s", "x6s"),
            ("", "1"),
        ] {
            assert_ne!(template_key(one), template_key(other), "{one}");
        }
    }
}
