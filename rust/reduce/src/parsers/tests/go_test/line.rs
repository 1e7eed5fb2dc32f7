//! Recognises single lines of Go.

use crate::line::beginnings::Beginnings;
use ethos_registry_core::find_text::FindText as _;

/// Unindented lines that are not needed.
pub(super) static NOISE: Beginnings<10> = Beginnings::new([
    "PASS",
    "=== PAUSE ",
    "go: downloading ",
    "go: finding ",
    "go: extracting ",
    "goos: ",
    "goarch: ",
    "cpu: ",
    "exit status 1",
    "testing: warning: no tests to run",
]);
/// Messages of `go` about work that did not fail.
pub(super) static GO_NOTES: Beginnings<6> = Beginnings::new([
    "added ",
    "upgraded ",
    "downgraded ",
    "removed ",
    "creating ",
    "to add ",
]);

/// Whether a line is `path.go:line:column: message`, perhaps after `vet: `.
pub(super) fn is_diagnostic(line: &str) -> bool {
    if line.starts_with([' ', '\t', '=', '-']) {
        return false;
    }
    let line = line.strip_prefix("vet: ").unwrap_or(line);
    let Some(at) = line.find_text(".go:") else {
        return false;
    };
    let rest = line.get(at + ".go:".len()..).unwrap_or_default();
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = rest.splitn(3, ':');
    let placed = parts.next().is_some_and(digits) && parts.next().is_some_and(digits);
    let message = parts.next().is_some_and(|message| message.starts_with(' '));
    placed && message
}

pub(super) fn is_seconds(text: &str) -> bool {
    let number = text.strip_suffix('s');
    number.is_some_and(|number| number.parse::<f64>().is_ok())
}

/// Whether a verdict, `--- FAIL: name (0.00s)`, is a failure; `None` for other lines.
pub(super) fn verdict(trimmed: &str) -> Option<bool> {
    let rest = trimmed.strip_prefix("--- ")?;
    if rest.starts_with("FAIL: ") {
        return Some(true);
    }
    let other = ["PASS: ", "SKIP: ", "BENCH: "];
    other
        .iter()
        .any(|word| rest.starts_with(word))
        .then_some(false)
}
