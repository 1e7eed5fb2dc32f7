//! First and last lines of the outputs of some programs.

use crate::line::is_number;
use ethos_registry_core::find_text::FindText as _;

/// Whether the tests of a Rust program start: `running 12 tests`.
pub(super) fn is_harness(line: &str) -> bool {
    let count = line.strip_prefix("running ").and_then(|rest| {
        rest.strip_suffix(" tests")
            .or_else(|| rest.strip_suffix(" test"))
    });
    count.is_some_and(is_number)
}

/// The result of a Go package: `ok  \tapp/oak\t0.004s`.
pub(super) fn is_go_package(line: &str) -> bool {
    ["ok  \t", "FAIL\t", "?   \t"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

pub(super) fn is_divider(line: &str) -> bool {
    line.len() == 70 && line.bytes().all(|byte| byte == b'=')
}

pub(super) fn is_unittest(line: &str) -> bool {
    ["ERROR: ", "FAIL: ", "UNEXPECTED SUCCESS: "]
        .iter()
        .any(|head| line.starts_with(head))
}

pub(super) fn is_jest_file(line: &str) -> bool {
    let path = line
        .strip_prefix("PASS ")
        .or_else(|| line.strip_prefix("FAIL "));
    path.is_some_and(|path| {
        !path.starts_with([' ', '\t'])
            && (path.has_text(".test.") || path.has_text(".spec.") || path.has_text("__tests__/"))
    })
}

pub(super) fn is_rust_format(line: &str) -> bool {
    line.starts_with("Diff in ") && line.ends_with(':')
}

/// Prefixes of the lines of `git log` above a commit message, except the line with the commit id.
pub(super) const COMMIT_HEADS: [&str; 8] = [
    "Author:",
    "AuthorDate:",
    "Commit:",
    "CommitDate:",
    "Date:",
    "Merge:",
    "Notes:",
    "Reflog",
];

/// Whether `line` is a line of `git log` with a commit id: `commit 4ce410c... (HEAD -> main)`.
pub(super) fn is_head_of_commit(line: &str) -> bool {
    let id = line.strip_prefix("commit ").unwrap_or_default();
    let digits = id.bytes().take_while(u8::is_ascii_hexdigit).count();
    digits == 40 && matches!(id.as_bytes().get(40), None | Some(b' '))
}

/// The first line of a finding of ruff: `F401 [*] ...`, `invalid-syntax: ...`.
pub(super) fn is_rule(line: &str) -> bool {
    let code = line.split(' ').next().unwrap_or(line);
    let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
    letters <= 4
        && code.len() - letters >= 3
        && code.bytes().skip(letters).all(|byte| byte.is_ascii_digit())
}

/// A finding of `eslint` below its file name: `  12:5  error  ...`.
pub(super) fn is_in_file(line: &str) -> bool {
    let Some(row) = line.strip_prefix("  ") else {
        return false;
    };
    let place = row.trim_start_matches(' ');
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let line_digits = digits(place);
    let Some(rest) = place
        .get(line_digits..)
        .and_then(|rest| rest.strip_prefix(':'))
    else {
        return false;
    };
    let rest = rest.get(digits(rest)..).unwrap_or_default();
    let severity = rest.trim_start_matches(' ');
    line_digits > 0
        && rest.starts_with("  ")
        && (severity.starts_with("error  ") || severity.starts_with("warning  "))
}

/// A message of `tsc`, plain or pretty.
pub(super) fn is_compiled(line: &str) -> bool {
    line.has_text(": error TS") && line.has_text("): error TS") || line.has_text(" - error TS")
}

/// An indented line of a test outline: `    ✔ adds`, `    1) fails`, `  3 passing (4ms)`.
pub(super) fn is_outlined(line: &str) -> bool {
    let row = line.trim_start();
    let mut words = row.split(' ');
    let first = words.next().unwrap_or_default();
    matches!(first, "\u{2714}" | "\u{2713}")
        || first.strip_suffix(')').is_some_and(is_number)
        || is_number(first) && matches!(words.next(), Some("passing" | "failing" | "pending"))
}

/// A source line after its number: `2 import leaf`.
pub(super) fn is_numbered(line: &str) -> bool {
    let (number, _) = line.trim_start().split_once(' ').unwrap_or((line, ""));
    is_number(number)
}

/// Prefixes of the lines in which npm reports an error.
pub(super) const NPM_ERRORS: [&str; 2] = ["npm error", "npm ERR!"];

/// Whether `line` shows that npm itself failed, not the script that it ran.
pub(super) fn is_npm_error(line: &str) -> bool {
    let of_npm = NPM_ERRORS.iter().find_map(|begin| line.strip_prefix(begin));
    of_npm.is_some_and(|rest| rest.starts_with(" code E") && !rest.ends_with("LIFECYCLE"))
}

pub(super) fn is_npm(line: &str, beginning: &str) -> bool {
    let rest = line.strip_prefix(beginning).unwrap_or_default();
    rest.starts_with(|first: char| first.is_ascii_digit())
        && rest.has_text(" package")
        && rest.has_text(" in ")
}

/// A file name above findings of pyright, which repeat the name.
pub(super) fn is_typed_file(line: &str, behind: &str) -> bool {
    let row = behind.strip_prefix("  ");
    let place = row.and_then(|row| row.strip_prefix(line));
    place.is_some_and(|place| place.starts_with(':'))
}

/// The totals of pyright: `3 errors, 1 warning, 0 informations`.
pub(super) fn is_typed(line: &str) -> bool {
    (line.ends_with(" informations") || line.ends_with(" information"))
        && line.has_text(" error")
        && line.has_text(" warning")
}

/// A file that is not formatted, as black and ruff report it.
pub(super) fn is_unformatted(line: &str) -> bool {
    line.starts_with("would reformat ") || line.starts_with("Would reformat: ")
}

/// The totals of a formatter: `2 files would be reformatted, 1 file would be left unchanged.`
pub(super) fn is_formatted(line: &str) -> bool {
    let ends = [
        "would be reformatted",
        "reformatted",
        "left unchanged",
        "already formatted",
    ];
    if !line.ends_with(['d', '.']) {
        return false;
    }
    let said = line.split(',').next().unwrap_or(line).trim_end_matches('.');
    said.has_text(" file") && ends.iter().any(|end| said.ends_with(end))
}

/// A step of uv: `Resolved 21 packages in 596ms`.
pub(super) fn is_uv(line: &str) -> bool {
    const VERBS: [&str; 5] = [
        "Resolved ",
        "Prepared ",
        "Installed ",
        "Uninstalled ",
        "Audited ",
    ];
    let Some(rest) = VERBS.iter().find_map(|verb| line.strip_prefix(verb)) else {
        return false;
    };
    let mut words = rest.split(' ');
    words.next().is_some_and(is_number)
        && words.next().is_some_and(|word| word.starts_with("package"))
        && words.next() == Some("in")
}

/// The first line of a step of a build: `#0 building with ...`, `#5 [2/7] RUN make`.
pub(super) fn is_build_step(line: &str) -> bool {
    let step = line.strip_prefix('#').and_then(|rest| rest.split_once(' '));
    step.is_some_and(|(number, title)| {
        is_number(number) && (title.starts_with('[') || title.starts_with("building with "))
    })
}

/// Whether `line` is the version that Node prints last when it exits with an error: `Node.js v20.1.0`.
pub(super) fn is_node_dead(line: &str) -> bool {
    let version = line.strip_prefix("Node.js v");
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// Whether `line` begins with a symbol of the Node test runner.
pub(super) fn is_node_sign(line: &str) -> bool {
    [
        "\u{25b6} ",
        "\u{2714} ",
        "\u{2716} ",
        "\u{2139} ",
        "\u{fe63} ",
    ]
    .iter()
    .any(|sign| line.starts_with(sign))
}

/// Whether `line` is a test result or a suite name of Node: `✔ floats (0.31ms)`.
pub(super) fn is_node_row(line: &str) -> bool {
    let time = line
        .strip_suffix("ms)")
        .and_then(|line| line.rsplit_text(" ("));
    let timed = time.is_some_and(|(_, time)| {
        time.contains('.')
            && time
                .bytes()
                .all(|byte| byte == b'.' || byte.is_ascii_digit())
    });
    is_node_sign(line) && (timed || line.starts_with('\u{25b6}'))
}

/// A finding of flake8 and similar tools: `src/a.py:3:1: E302 ...`.
pub(super) fn is_coded(line: &str) -> bool {
    let Some((path, rest)) = line.split_text(".py:") else {
        return false;
    };
    let mut parts = rest.splitn(3, ':');
    let mut number = || parts.next().is_some_and(is_number);
    let placed = !path.contains(' ') && number() && number();
    let code = parts.next().and_then(|rest| rest.strip_prefix(' '));
    placed && code.is_some_and(is_rule)
}
