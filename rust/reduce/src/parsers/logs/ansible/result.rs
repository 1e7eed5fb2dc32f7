//! The result of a task on a host: `fatal: [oak]: FAILED! => {"msg": "no leaf", "rc": 1}`.

use ethos_registry_core::find_text::FindText as _;

/// At most this much of a multi-line result is read.
pub(super) const MOST_BYTES: usize = 20_000;
/// Longer values are cut in the middle.
const VALUE_CHARS: usize = 500;

/// Prefixes of lines with the result of a host.
const STATUSES: [&str; 5] = ["ok", "changed", "skipping", "failed", "fatal"];
/// Members of a result that contain a reason, or the output of a command.
const TOLD: [&str; 14] = [
    "msg",
    "rc",
    "stderr",
    "stdout",
    "cmd",
    "module_stderr",
    "module_stdout",
    "exception",
    "reason",
    "status",
    "url",
    "assertion",
    "stat",
    "skip_reason",
];

/// Members that describe how a task was run, or repeat others.
const BESIDE: [&str; 14] = [
    "changed",
    "failed",
    "unreachable",
    "delta",
    "start",
    "end",
    "stdout_lines",
    "stderr_lines",
    "invocation",
    "ansible_facts",
    "ansible_loop_var",
    "item",
    "warnings",
    "diff",
];

/// A line with the result of a task on a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outcome<'a> {
    pub(super) status: &'a str,
    pub(super) host: &'a str,
    /// The text between the host and the result: `: FAILED!`, ` => (item=leaf)`.
    pub(super) head: &'a str,
    /// The result, if it is shown: JSON, or its opening bracket.
    pub(super) told: &'a str,
}

impl Outcome<'_> {
    pub(super) fn is_failure(&self) -> bool {
        matches!(self.status, "failed" | "fatal")
    }

    /// Whether the value follows as YAML: `ok: [oak] =>`.
    pub(super) fn shows_below(&self) -> bool {
        self.told.is_empty() && self.head.ends_with("=>")
    }
}

/// The result in `line`, if it has one.
pub(super) fn outcome(line: &str) -> Option<Outcome<'_>> {
    let (status, rest) = line.split_once(": [")?;
    if !STATUSES.contains(&status) {
        return None;
    }
    let (host, rest) = rest.split_once(']')?;
    if host.contains(' ') && !host.contains(" -> ") {
        return None;
    }
    let told = rest.find_text("=> {");
    let (head, told) = match told {
        Some(at) => (rest.get(..at)?, rest.get(at + 3..)?),
        None => (rest, ""),
    };
    Some(Outcome {
        status,
        host,
        head: head.trim_end(),
        told: told.trim_end(),
    })
}

/// The informative members of the result `body`, unchanged: of a result that `failed`, and of a value that a task was
/// written to show, including members that only its module defines.
pub(super) fn told(body: &str, failed: bool) -> String {
    // Only results that just show a value do not report whether something changed.
    let all = failed || members(body).all(|(key, _)| key != "changed");
    let says = |member: &str| {
        let value = member.split_once(": ").map_or("", |(_, value)| value);
        !matches!(value, "\"\"" | "[]" | "{}" | "null")
    };
    let known = members(body).filter(|(key, _)| TOLD.contains(key));
    let others = members(body).filter(|(key, _)| {
        all && !TOLD.contains(key) && !BESIDE.contains(key) && !key.starts_with("_ansible")
    });
    let mut row = String::new();
    for (_, member) in known.chain(others).filter(|(_, member)| says(member)) {
        row.push_str(if row.is_empty() { "" } else { ", " });
        row.push_str(&super::shorten(member.trim(), VALUE_CHARS));
    }
    row
}

/// The keys of the JSON object `body` and its members, `"key": value`.
fn members(body: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = body.strip_prefix('{').unwrap_or_default();
    std::iter::from_fn(move || {
        let text = rest.trim_start_matches([' ', ',']);
        let end = member_end(text);
        let member = text.get(..end).filter(|member| !member.is_empty())?;
        rest = text.get(end..).unwrap_or_default();
        let key = member.strip_prefix('"')?.split('"').next()?;
        Some((key, member.trim_end()))
    })
}

/// The end of the first member of `text`: before the next comma or bracket outside of strings and brackets.
fn member_end(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
