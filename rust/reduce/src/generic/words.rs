//! Words and symbols that classify the lines of any program.

use crate::line::beginnings::Beginnings;

/// Prefixes of lines that report a success.
pub(super) static PASSED_BEGINNINGS: Beginnings<16> = Beginnings::new([
    "ok ",
    "ok:",
    "PASS ",
    "PASS:",
    "PASSED ",
    "pass ",
    "✓",
    "✔",
    "√",
    "✅",
    "[  OK  ]",
    "[ OK ]",
    "[OK]",
    "[       OK ]",
    "[ RUN      ]",
    "[PASS]",
]);
/// Suffixes of such lines.
pub(super) const PASSED_ENDS: [&str; 10] = [
    "... ok",
    "...ok",
    "... OK",
    "... PASSED",
    "[OK]",
    "[ OK ]",
    "[PASS]",
    " PASSED",
    "...Passed",
    " ✓",
];
/// The last bytes of these suffixes.
pub(super) const PASSED_LAST: [u8; 6] = *b"kKD]d\x93";
/// Prefixes of lines that report one failure without naming it as one.
pub(super) static FAILED_BEGINNINGS: Beginnings<12> = Beginnings::new([
    "dpkg-query: ",
    "(!)",
    "not ok",
    "✗",
    "✖",
    "✘",
    "×",
    "❌",
    "FAILED",
    "FAIL",
    "E: ",
    "!!!",
]);
/// The longest name of a count.
pub(super) const COUNT_NAME_BYTES: usize = 24;
/// Prefixes of expected and actual values, and of diff lines.
pub(super) static CHANGES: Beginnings<14> = Beginnings::new([
    "expected", "Expected", "got:", "got ", "Got:", "actual", "Actual", "received", "Received",
    "message:", "- ", "+ ", "left:", "right:",
]);
/// Symbols before warnings.
pub(super) static WARNING_MARKS: Beginnings<4> = Beginnings::new(["▲", "⚠", "[warn]", "Warn:"]);
/// Prefixes of advice.
pub(super) static HINTS: Beginnings<16> = Beginnings::new([
    "help:",
    "= help:",
    "= note:",
    "note:",
    "hint:",
    "HINT:",
    "Hint:",
    "More Info:",
    "More info:",
    "See http",
    "see http",
    "http://",
    "https://",
    "For more information",
    "Did you mean to",
    "i ",
]);
/// Directives of TAP test points that did not run as planned.
pub(super) const TAP_DIRECTIVES: [&str; 4] = ["# TODO", "# SKIP", "# todo", "# skip"];

/// Parts of paths of library code.
pub(super) const LIBRARY_FOLDERS: [&str; 12] = [
    "site-packages/",
    "dist-packages/",
    "pip-build-env",
    "/lib/python3",
    "<frozen ",
    "node_modules/",
    "(node:",
    "at node:",
    "(internal/",
    "at java.",
    "at jdk.",
    "at sun.",
];

pub(super) const BAD: usize = 0;
pub(super) const VERDICT: usize = 1;
pub(super) const WARNING: usize = 2;
/// Words of at least three letters, matched as whole words in any case, and their meaning.
pub(super) const WORDS: [(&str, usize); 88] = [
    ("error", BAD),
    ("errors", BAD),
    ("err!", BAD),
    ("fail", BAD),
    ("fails", BAD),
    ("failed", BAD),
    ("failure", BAD),
    ("failures", BAD),
    ("failing", BAD),
    ("fatal", BAD),
    ("panic", BAD),
    ("panicked", BAD),
    ("traceback", BAD),
    ("exception", BAD),
    ("critical", BAD),
    ("emergency", BAD),
    ("denied", BAD),
    ("forbidden", BAD),
    ("unauthorized", BAD),
    ("cannot", BAD),
    ("can't", BAD),
    ("could not", BAD),
    ("couldn't", BAD),
    ("unable to", BAD),
    ("unreachable", BAD),
    ("abort", BAD),
    ("aborted", BAD),
    ("aborting", BAD),
    ("refused", BAD),
    ("timed out", BAD),
    ("timeout", BAD),
    ("not found", BAD),
    ("no such", BAD),
    ("undefined", BAD),
    ("unknown", BAD),
    ("unexpected", BAD),
    ("unrecognized", BAD),
    ("invalid", BAD),
    ("illegal", BAD),
    ("missing", BAD),
    ("mismatch", BAD),
    ("conflict", BAD),
    ("conflicts", BAD),
    ("killed", BAD),
    ("crashed", BAD),
    ("segmentation", BAD),
    ("core dumped", BAD),
    ("stack overflow", BAD),
    ("out of memory", BAD),
    ("overflow", BAD),
    ("violation", BAD),
    ("corrupt", BAD),
    ("rejected", BAD),
    ("unsatisfiable", BAD),
    ("caused by", BAD),
    ("leak", BAD),
    ("ran", VERDICT),
    ("tests", VERDICT),
    ("violations", VERDICT),
    ("problems", VERDICT),
    ("findings", VERDICT),
    ("offenses", VERDICT),
    ("issues", VERDICT),
    ("examples", VERDICT),
    ("specs", VERDICT),
    ("scenarios", VERDICT),
    ("steps", VERDICT),
    ("assertions", VERDICT),
    ("lost", VERDICT),
    ("linting", VERDICT),
    ("passed", VERDICT),
    ("total", VERDICT),
    ("summary", VERDICT),
    ("finished", VERDICT),
    ("completed", VERDICT),
    ("succeeded", VERDICT),
    ("success", VERDICT),
    ("successful", VERDICT),
    ("successfully", VERDICT),
    ("skipped", VERDICT),
    ("done in", VERDICT),
    ("elapsed", VERDICT),
    ("transmitted", VERDICT),
    ("warning", WARNING),
    ("warnings", WARNING),
    ("warn", WARNING),
    ("deprecated", WARNING),
    ("vulnerabilities", WARNING),
];
