//! Shared parts of reports of test runs: frames, coverage tables, script runners.

use std::borrow::Cow;

use hashbrown::HashSet;

use crate::line::beginnings::Beginnings;
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;

/// A set of names that is never iterated, so that its order is not visible.
pub(crate) type Names<'a> = HashSet<&'a str, hashbrown::DefaultHashBuilder>;

/// How many names are kept in memory.
pub(crate) const MAX_NAMES: usize = 4_096;
/// How many characters of a message are shown.
pub(crate) const MESSAGE_CHARS: usize = 240;
/// How many locations of a failure are shown.
const MAX_PLACES: usize = 5;

/// Prefixes of lines of programs that run scripts: the script, its command, its exit status.
static SCRIPT_LINES: Beginnings<15> = Beginnings::new([
    "npm ERR!",
    "npm error",
    "npm notice",
    "npm warn",
    "npm WARN",
    "yarn run v",
    "info Visit https://yarnpkg.com/",
    "error Command failed with exit code ",
    "Done in ",
    "\u{2009}ELIFECYCLE\u{2009}",
    " ELIFECYCLE ",
    "[ELIFECYCLE]",
    "ERR_PNPM_RECURSIVE_RUN_FIRST_FAIL",
    " ERR_PNPM_",
    "$ ",
]);

/// The locations of one failure: the first few, each once, in one row.
#[derive(Debug, Default)]
pub(crate) struct Places {
    row: String,
    /// The outermost location if there are more than are shown: the call in the test or program.
    last: String,
    /// The row of the previous failure without its outermost location.
    told: String,
    count: usize,
    lines: usize,
}

impl Places {
    /// Adds a location that a source line contains.
    pub(crate) fn add(&mut self, place: &str) {
        let known = self.row.split(' ').any(|seen| seen == place);
        self.lines += 1;
        if known {
            return;
        }
        if self.count < MAX_PLACES {
            self.count += 1;
            if !self.row.is_empty() {
                self.row.push(' ');
            }
            self.row.push_str(place);
        } else {
            self.last.clear();
            self.last.push_str(place);
        }
    }

    /// Writes the row and prepares for the next failure.
    pub(crate) fn flush(&mut self, output: &mut Output) {
        if !self.last.is_empty() {
            // Further failures in the same functions differ in their callers.
            let known = self.row == self.told;
            self.told.clone_from(&self.row);
            if known {
                self.row.clear();
            } else {
                self.row.push(' ');
            }
            self.row.push_str("… ");
            self.row.push_str(&self.last);
        }
        if self.count > 0 {
            let places = self.row.split(' ').map(|place| (place, place));
            output.place(&self.row, self.lines, places);
        }
        self.row.clear();
        self.last.clear();
        self.count = 0;
        self.lines = 0;
    }
}

/// The location in user code that a JavaScript stack frame contains: `at f (src/a.js:3:4)`, `at src/a.js:3:4`, `❯ f
/// src/a.js:3:4`. `None` for packages, the runtime, and frames without a location.
pub(crate) fn javascript_place(frame: &str) -> Option<&str> {
    let frame = frame.trim_end_matches([' ', '{', ',']);
    let path = if let Some(inside) = frame.strip_suffix(')') {
        inside.get(inside.rfind('(')? + 1..)?
    } else {
        frame.get(frame.rfind(' ').map_or(0, |blank| blank + 1)..)?
    };
    let path = path.strip_prefix("file://").unwrap_or(path);
    let mut parts = path.rsplit(':');
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let column = parts.next()?;
    let row = parts.next()?;
    let placed = digits(column) && (digits(row) || row.contains(['.', '/']));
    let foreign = path.starts_with("node:")
        || path.starts_with("internal/")
        || path.starts_with("<anonymous>")
        || path.starts_with("ext:")
        || path.has_text("node_modules/");
    (placed && !foreign).then_some(path)
}

/// Whether `line` reports the start or exit status of a script, or is a notice of the program that runs scripts.
pub(crate) fn is_script_line(line: &str) -> bool {
    match line.as_bytes().first() {
        Some(b'>') => line.starts_with("> "),
        Some(b'n' | b'y' | b'i' | b'e' | b'D' | b' ' | b'[' | b'E' | b'$' | 0xE2) => {
            SCRIPT_LINES.begin(line)
        }
        _ => false,
    }
}

/// Whether a line without leading blanks shows source code around a failure: `> 4 | code`, `5 | code`, `4| code`, `|
/// ^`.
pub(crate) fn is_excerpt(trimmed: &str) -> bool {
    let marked =
        |byte: &u8| matches!(byte, b'0'..=b'9' | b'>' | b'|' | b' ' | b'\t') || *byte >= 0x80;
    if !trimmed.as_bytes().first().is_some_and(marked) {
        return false;
    }
    let rest = trimmed.strip_prefix(['>', '❯']).unwrap_or(trimmed);
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let bar = rest.get(digits..).unwrap_or_default().trim_start();
    if digits > 0 {
        return bar.starts_with(['|', '│']);
    }
    bar.strip_prefix(['|', '│'])
        .is_some_and(|carets| carets.trim().trim_matches(['^', '~']).is_empty())
}

/// Whether a line is a ruler: `-----`, `⎯⎯⎯⎯`, `---|---|---`.
pub(crate) fn is_rule(line: &str) -> bool {
    let line = line.trimmed();
    let written = |byte: &u8| byte.is_ascii_alphanumeric();
    line.len() >= 3
        && !line.as_bytes().first().is_some_and(written)
        && line.chars().all(|sign| {
            matches!(
                sign,
                '-' | '=' | '|' | '+' | '_' | '*' | '─' | '⎯' | '━' | '│'
            )
        })
}

/// Whether a line is a row of a coverage table: a name and numbers between bars.
pub(crate) fn is_coverage_row(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut bars = memchr::memchr_iter(b'|', bytes);
    let Some(name) = bars.next().and_then(|bar| line.get(..bar)) else {
        return false;
    };
    let begins_cell = |bar: usize| {
        let cell = line.get(bar + 1..).unwrap_or_default().trim_start();
        cell.starts_with(|sign: char| sign.is_ascii_digit() || sign == '%')
    };
    begins_cell(name.len())
        && bars
            .by_ref()
            .take(3)
            .filter(|bar| begins_cell(*bar))
            .count()
            == 3
        && !name.trim().is_empty()
}

/// `line` with each run of blanks replaced by one, and none at its ends.
pub(crate) fn squeezed(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    let bytes = line.as_bytes();
    let wide =
        memchr::memchr(b'\t', bytes).is_some() || memchr::memmem::find(bytes, b"  ").is_some();
    if !wide {
        return Cow::Borrowed(line);
    }
    let mut words = line.split_ascii_whitespace();
    let mut squeezed = words.next().unwrap_or_default().to_owned();
    for word in words {
        squeezed.push(' ');
        squeezed.push_str(word);
    }
    Cow::Owned(squeezed)
}

/// A diff line as it is shown: symbol, one blank, text. `None` when it only explains the symbols, or is not a changed
/// line.
pub(crate) fn changed_line(trimmed: &str) -> Option<String> {
    let sign = trimmed
        .chars()
        .next()
        .filter(|sign| matches!(sign, '-' | '+'))?;
    let text = trimmed.get(1..)?.trim();
    let legend = [
        "Expected", "Received", "Snapshot", "expected", "actual", "Actual",
    ];
    let told = legend.iter().any(|word| {
        text.strip_prefix(word)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', ':']))
    });
    // A blank after the symbol is kept as one; none is added.
    let blank = if trimmed.get(1..2) == Some(" ") {
        " "
    } else {
        ""
    };
    let file = trimmed.starts_with("--- ") || trimmed.starts_with("+++ ");
    (!text.is_empty() && !told && !file && !is_rule(trimmed))
        .then(|| format!("{sign}{blank}{text}"))
}

/// Whether `message` contains `value` as whole words, ignoring quotes and commas around it.
pub(crate) fn says(message: &str, value: &str) -> bool {
    let value = value.trim_matches([' ', ',', '"', '\'', '`']);
    if value.is_empty() {
        return false;
    }
    let part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let bytes = message.as_bytes();
    let ends = (
        part(value.as_bytes().first()),
        part(value.as_bytes().last()),
    );
    memchr::memmem::find_iter(bytes, value.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + value.len());
        !(ends.0 && part(before) || ends.1 && part(after))
    })
}

/// `title` without the duration at its end: `adds 26ms`, `adds (3 ms)`, `adds (1.2s)`.
pub(crate) fn without_time(title: &str) -> &str {
    let title = title.trim_end();
    if let Some(open) = title.strip_suffix("s)").and_then(|_| title.rfind(" (")) {
        let inside = title.get(open + 2..).unwrap_or_default();
        if inside.starts_with(|sign: char| sign.is_ascii_digit()) {
            return title.get(..open).unwrap_or(title).trim_end();
        }
        return title;
    }
    let Some((before, time)) = title.rsplit_once(' ') else {
        return title;
    };
    let number = time.strip_suffix("ms").or_else(|| time.strip_suffix('s'));
    if number.is_some_and(|number| number.parse::<f64>().is_ok()) {
        return before.trim_end();
    }
    title
}

/// Adds `title` to `names`, and each part of it after a `separator`: outlines show shorter titles.
pub(crate) fn add_title<'a>(names: &mut Names<'a>, title: &'a str, separator: &str) {
    let mut rest = title;
    loop {
        if names.len() >= MAX_NAMES {
            return;
        }
        names.insert(rest);
        match rest.split_text(separator) {
            Some((_, after)) => rest = after,
            None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_in_packages_and_in_the_runtime_have_no_place() {
        for (frame, place) in [
            ("at add (src/sum.js:3:4)", Some("src/sum.js:3:4")),
            ("at file:///home/a/sum.mjs:3:4", Some("/home/a/sum.mjs:3:4")),
            ("❯ add src/sum.js:3:4", Some("src/sum.js:3:4")),
            ("at async Promise.all (index 0)", None),
            ("at run (node:internal/timers:483:21)", None),
            ("at x (../node_modules/expect/index.js:1:2)", None),
            ("at new Promise (<anonymous>)", None),
        ] {
            assert_eq!(javascript_place(frame), place, "{frame}");
        }
    }

    #[test]
    fn excerpts_are_told_from_text() {
        for line in ["> 4 | sum()", "5| sum()", "| ^", "|    ^^^~", "12 |"] {
            assert!(is_excerpt(line), "{line}");
        }
        for line in ["4 errors", "| a table", "> quoted", "a | b"] {
            assert!(!is_excerpt(line), "{line}");
        }
    }

    #[test]
    fn a_message_says_a_value_as_a_whole_word() {
        let message = "expected 3.5 to be 'low' or [ 12 ]";
        for value in ["3.5", "\"low\",", "[ 12 ]", "expected"] {
            assert!(says(message, value), "{value}");
        }
        for value in ["lo", "2 ]", "", "expect", "45"] {
            assert!(!says(message, value), "{value}");
        }
    }

    #[test]
    fn a_time_at_the_end_is_no_part_of_a_title() {
        for (title, bare) in [
            ("adds 26ms", "adds"),
            ("adds (3 ms)", "adds"),
            ("adds (1.25s)", "adds"),
            ("lasts 3 turns", "lasts 3 turns"),
            ("has (two parts)", "has (two parts)"),
        ] {
            assert_eq!(without_time(title), bare);
        }
    }

    #[test]
    fn rows_of_coverage_are_known_by_their_numbers() {
        assert!(is_coverage_row(
            " sum.js |  80.5 |  100 |  50 |  80.5 | 3-4 "
        ));
        assert!(is_coverage_row(
            "File | % Stmts | % Branch | % Funcs | % Lines | Uncovered"
        ));
        assert!(!is_coverage_row("-----|-----|-----|-----|-----|"));
        assert!(!is_coverage_row("a | b | c"));
    }
}
