//! A record of a log: time, level, message.

use crate::line;
use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::{FindText as _, any_of};
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// How many bytes are searched for a level.
const LEVEL_BYTES: usize = 200;
/// How many bytes are searched for a time.
const TIME_BYTES: usize = 90;

/// The severity of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// Errors and worse.
    Hot,
    /// Warnings.
    Warning,
    /// All others, and records without a level.
    Calm,
}

/// Level words as logs write them, each with its level.
const LEVELS: [(&str, Level); 44] = [
    ("ERROR", Level::Hot),
    ("CRITICAL", Level::Hot),
    ("FATAL", Level::Hot),
    ("SEVERE", Level::Hot),
    ("PANIC", Level::Hot),
    ("ALERT", Level::Hot),
    ("EMERG", Level::Hot),
    ("CRIT", Level::Hot),
    // Truncated to a fixed width: `ERRO[0012] no water`.
    ("ERRO[", Level::Hot),
    ("FATA[", Level::Hot),
    ("PANI[", Level::Hot),
    ("[error]", Level::Hot),
    ("[crit]", Level::Hot),
    ("[alert]", Level::Hot),
    ("[emerg]", Level::Hot),
    // Lower-case levels in brackets, padded to a fixed width.
    ("[error  ", Level::Hot),
    ("[critical ", Level::Hot),
    ("[critical]", Level::Hot),
    ("error:", Level::Hot),
    ("fatal:", Level::Hot),
    ("panic:", Level::Hot),
    ("panicked at", Level::Hot),
    ("level=error", Level::Hot),
    ("level=fatal", Level::Hot),
    ("level=panic", Level::Hot),
    ("\"error\"", Level::Hot),
    ("\"fatal\"", Level::Hot),
    ("\"critical\"", Level::Hot),
    // Loggers whose levels are multiples of ten.
    ("\"level\":50", Level::Hot),
    ("\"level\":60", Level::Hot),
    ("Traceback", Level::Hot),
    ("segfault", Level::Hot),
    ("Out of memory", Level::Hot),
    ("WARN", Level::Warning),
    // Part of an error message of a database.
    ("DETAIL:", Level::Warning),
    ("WARNING", Level::Warning),
    ("level=warning", Level::Warning),
    ("[warn]", Level::Warning),
    ("[warning  ", Level::Warning),
    ("warning:", Level::Warning),
    ("level=warn", Level::Warning),
    ("\"warning\"", Level::Warning),
    ("\"warn\"", Level::Warning),
    ("\"level\":40", Level::Warning),
];

static LEVEL: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(LEVELS.iter().map(|(word, _)| word))
        .ok()
});

/// Words of records that report that something began.
static STARTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    any_of([
        "Running on",
        "running on",
        "running at",
        "starting",
        "started",
        "startup",
        "Starting",
        "Started",
        "listening",
        "Listening",
    ])
});
/// Fields that occur together only in JSON log records.
const FIELDS: [&str; 18] = [
    "\"level\"",
    "\"severity\"",
    "\"msg\"",
    "\"message\"",
    "\"timestamp\"",
    "\"@timestamp\"",
    "\"ts\"",
    "\"time\"",
    "\"datetime\"",
    "\"Timestamp\"",
    "\"@t\"",
    "\"Level\"",
    // Loggers of HashiCorp's programs.
    "\"@level\"",
    "\"@message\"",
    // Container output.
    "\"log\"",
    "\"stream\"",
    // The systemd journal.
    "\"MESSAGE\"",
    "\"PRIORITY\"",
];
/// Fields of a JSON record that contain the message.
const MESSAGE_FIELDS: [&str; 7] = [
    "\"msg\":",
    "\"message\":",
    "\"@message\":",
    "\"event\":",
    "msg=",
    "\"MESSAGE\":",
    "\"log\":",
];
/// Prefixes of lines with a level and without a time.
static LEVEL_HEADS: Beginnings<21> = Beginnings::new([
    "[INFO]", "[DEBUG]", "[WARN", "[ERROR]", "INFO:", "DEBUG:", "WARNING:", "ERROR:", "INFO ",
    "DEBUG ", "WARN ", "ERROR ", "level=", "time=", "INFO[", "DEBU[", "WARN[", "ERRO[", "FATA[",
    "PANI[", "TRAC[",
]);

/// The level of `line`.
pub(super) fn level(line: &str) -> Level {
    if let Some(level) = letter_level(line.as_bytes()) {
        return level;
    }
    let Some(words) = LEVEL.as_ref() else {
        return Level::Calm;
    };
    let bytes = line.as_bytes();
    let bytes = bytes.get(..LEVEL_BYTES).unwrap_or(bytes);
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
    };
    words
        .find_iter(bytes)
        .filter(|found| {
            let (start, end) = (found.start(), found.end());
            let joins = |inside: Option<usize>, outside| is_letter(inside) && is_letter(outside);
            !joins(Some(start), start.checked_sub(1)) && !joins(end.checked_sub(1), Some(end))
        })
        .filter_map(|found| LEVELS.get(found.pattern().as_usize()))
        .map(|(_, level)| *level)
        .min()
        .unwrap_or(Level::Calm)
}

/// The level of a line that begins with its letter, the month and the day: `E0304 05:00:16.058000  7 oak.go:9]`.
fn letter_level(line: &[u8]) -> Option<Level> {
    let level = match line.first()? {
        b'E' | b'F' => Level::Hot,
        b'W' => Level::Warning,
        _ => return None,
    };
    let mut form = line.get(1..9)?.iter().zip(b"0000 00:");
    let is_form = form.all(|(byte, form)| byte == form || *form == b'0' && byte.is_ascii_digit());
    is_form.then_some(level)
}

/// Whether `line` reports that something began.
pub(super) fn is_start(line: &str) -> bool {
    STARTS.as_ref().is_some_and(|starts| starts.is_match(line))
}

/// Whether `line` is a log record: it begins with a time or a level, or has both as JSON fields.
pub(crate) fn is_record(line: &str) -> bool {
    if line.starts_with('{') {
        return FIELDS.iter().filter(|field| line.has_text(field)).count() > 1;
    }
    time_end(line).is_some() || LEVEL_HEADS.begin(line)
}

/// The text of a record after its time.
pub(super) fn message(line: &str) -> &str {
    if line.starts_with('{') || has_message(line) {
        let found = MESSAGE_FIELDS
            .iter()
            .find_map(|field| line.find_text(field).map(|at| at + field.len()));
        return found.and_then(|at| line.get(at..)).unwrap_or(line);
    }
    time_end(line)
        .and_then(|end| line.get(end..))
        .unwrap_or(line)
}

/// Whether `line` contains `msg=`. The symbol is searched, as it is rarer than the letters.
fn has_message(line: &str) -> bool {
    let bytes = line.as_bytes();
    memchr::memchr_iter(b'=', bytes)
        .any(|at| bytes.get(..at).is_some_and(|name| name.ends_with(b"msg")))
}

/// The end of the time at the beginning of `line`: a clock time after a date, in brackets, after an address, or alone;
/// or seconds since the start in brackets.
fn time_end(line: &str) -> Option<usize> {
    let bytes = line.as_bytes();
    let window = bytes.get(..TIME_BYTES).unwrap_or(bytes);
    if let Some(end) = uptime_end(window) {
        return Some(end);
    }
    let starts = memchr::memchr_iter(b':', window).filter_map(|colon| colon.checked_sub(2));
    let mut clocks = starts.filter(|start| {
        let part = window.get(*start..start + 6).unwrap_or_default();
        let mut form = part.iter().zip(b"00:00:");
        !part.is_empty()
            && form.all(|(byte, form)| byte == form || *form == b'0' && byte.is_ascii_digit())
    });
    // A clock time without a date must begin the line and include seconds.
    let start = clocks.next()?;
    let seconds = window.get(start + 6..start + 8)?;
    if !seconds.iter().all(u8::is_ascii_digit) || start > 60 {
        return None;
    }
    let before = window.get(..start)?;
    if bytes.first() == Some(&b'(') && before.contains(&b'\'') {
        // A value in a row of data: `(1,'oak','2031-02-03 10:11:12'),`.
        return None;
    }
    let dated = before.iter().any(u8::is_ascii_digit);
    if !(dated || start <= 1) {
        return None;
    }
    let rest = window.get(start + 8..)?;
    let tail = rest.iter().take_while(|byte| {
        matches!(
            byte,
            b'0'..=b'9' | b'.' | b',' | b'Z' | b'+' | b':' | b']' | b'-'
        )
    });
    Some(start + 8 + tail.count())
}

/// The end of `[   12.345678]`.
fn uptime_end(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.strip_prefix(b"[")?;
    let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
    let number = rest.get(blanks..)?;
    let length = number
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b'.')
        .count();
    let closed = number.get(length) == Some(&b']');
    let point = number.get(..length)?.contains(&b'.');
    (closed && point).then_some(1 + blanks + length + 1)
}

/// Whether `told` shows where the record above it was written, `    at src/oak.rs:7`: another source line is another
/// location.
pub(super) fn is_place(told: &str) -> bool {
    told.starts_with(' ')
        && told
            .trim_start()
            .strip_prefix("at ")
            .is_some_and(|place| line::place(place).is_some())
}

/// Whether `told` is the header of a Rust backtrace: of a panic, or of an error that `main` returned.
pub(super) fn heads_backtrace(told: &str) -> bool {
    matches!(told, "Stack backtrace:" | "stack backtrace:")
}

/// Whether `line` is a Python warning, which bypasses the logger: `oak.py:14: DeprecationWarning: leaf() will go`.
pub(super) fn is_script_warning(line: &str) -> bool {
    line.split_text(".py:").is_some_and(|(_, rest)| {
        let rest = rest.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let kind = rest
            .strip_prefix(": ")
            .and_then(|rest| rest.split_once(": "));
        kind.is_some_and(|(kind, _)| kind.ends_with("Warning") && !kind.contains(' '))
    })
}

/// Words that begin an explanation of the bad record above, as databases print it.
const EXPLANATIONS: [&str; 5] = ["STATEMENT", "DETAIL", "HINT", "CONTEXT", "QUERY"];
/// How many explanations are shown.
const MOST_EXPLANATIONS: usize = 40;

/// What `told` reports about the bad record above it: `oak@leaf STATEMENT:  SELECT 1`.
pub(super) fn explanation(told: &str) -> Option<&str> {
    let (head, said) = told.split_text(":  ")?;
    let explains = EXPLANATIONS.iter().any(|word| head.ends_with(word));
    explains.then_some(said)
}

/// Whether `said` is not contained in the `lines` that were shown, and is not one of many.
pub(super) fn is_news<'a>(said: &str, lines: impl Iterator<Item = &'a str>) -> bool {
    let told = lines.filter_map(explanation);
    let mut others = 0;
    let is_new = told.inspect(|_| others += 1).all(|other| other != said);
    is_new && others < MOST_EXPLANATIONS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_told_by_their_time_or_level() {
        for line in [
            "2026-11-21 20:01:38 status installed",
            "2026-11-21T20:11:41.802Z INFO boot",
            "Nov 21 20:11:41 host app[12]: up",
            "10.0.0.1 - - [21/Nov/2026:20:10:40 +0000] \"GET / HTTP/1.1\" 200 5",
            "[   12.345678] usb 1-1: new device",
            "[2026-11-21 20:11:41,802] {x.py:3} INFO - up",
            "I1121 20:11:41.802 main.go:3] up",
            "20:11:41 up",
            "{\"ts\": 1, \"level\": \"info\"}",
            "level=info msg=up",
            "[INFO] up",
            "{\"__CURSOR\":\"s=1\",\"MESSAGE\":\"up\",\"PRIORITY\":\"6\"}",
            "{\"log\":\"up\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-21T20:11:41Z\"}",
        ] {
            assert!(is_record(line), "{line}");
        }
        for line in [
            "plain text",
            "KeyError: 'a'",
            "{\"id\": 1}",
            "took 00:12:13 in all",
            "[10/12] step",
        ] {
            assert!(!is_record(line), "{line}");
        }
    }

    #[test]
    fn levels_are_words() {
        assert_eq!(level("12:00:00 ERROR no"), Level::Hot);
        assert_eq!(level("{\"level\": \"error\"}"), Level::Hot);
        assert_eq!(level("{\"level\":50,\"time\":1}"), Level::Hot);
        assert_eq!(level("{\"level\":40,\"time\":1}"), Level::Warning);
        assert_eq!(level("{\"level\":30,\"took\":50}"), Level::Calm);
        assert_eq!(level("12:00:00 [WARN] no"), Level::Warning);
        assert_eq!(
            level("12:00:00 UTC [7] a@b DETAIL:  Key (id)=(3) exists."),
            Level::Warning
        );
        assert_eq!(level("12:00:00 [warning  ] oak_low left=3"), Level::Warning);
        assert_eq!(level("12:00:00 [error    ] oak_fell"), Level::Hot);
        assert_eq!(level("12:00:00 INFO ERRORS_TOTAL is 0"), Level::Calm);
    }

    #[test]
    fn a_time_among_the_values_of_a_row_is_none_of_a_record() {
        assert!(!is_record("(1,'oak',1.50,'2031-02-03 10:11:12'),"));
        assert!(is_record("(oak) 2031-02-03 10:11:12 leaf fell"));
    }

    #[test]
    fn a_level_and_a_message_behind_signs_make_a_record() {
        let line = "{\"@level\":\"warn\",\"@message\":\"oak is dry\",\"@module\":\"oak\"}";
        assert!(is_record(line));
        assert_eq!(level(line), Level::Warning);
        assert!(message(line).starts_with("\"oak is dry\""));
    }

    #[test]
    fn the_message_has_no_time() {
        assert_eq!(
            message("2026-11-21 20:01:38 status installed"),
            " status installed"
        );
        assert_eq!(message("{\"ts\":1,\"msg\":\"up\"}"), "\"up\"}");
    }
}
