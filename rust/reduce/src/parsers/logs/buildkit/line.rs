//! Recognises the lines of `BuildKit`'s plain progress.

/// A line of one step, without its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// The title of the step: `[build 2/5] RUN make`.
    Title(&'a str),
    /// It succeeded, or was not needed.
    Done,
    Failed,
    /// Output of its command, without the time.
    Said(&'a str),
    /// The name or the digest of the image.
    Named,
    /// Progress.
    Progress,
}

const PROGRESS: [&str; 11] = [
    "sha256:",
    "transferring ",
    "extracting ",
    "resolve ",
    "exporting ",
    "sending tarball",
    "importing cache",
    "preparing ",
    "unpacking to ",
    "inferred cache",
    "...",
];

/// The number of the step that `line` belongs to, and its content.
pub(super) fn step_line(line: &str) -> Option<(u32, Line<'_>)> {
    let (number, rest) = line.strip_prefix('#')?.split_once(' ')?;
    if !digits(number) {
        return None;
    }
    let number = number.parse().ok()?;
    let rest = rest.trim_end();
    let kind = if rest.starts_with('[') {
        Line::Title(rest)
    } else if rest.starts_with("DONE ") || matches!(rest, "CACHED" | "CANCELED") {
        Line::Done
    } else if rest.starts_with("ERROR: ") {
        Line::Failed
    } else if rest.starts_with("naming to ") || rest.starts_with("writing image ") {
        Line::Named
    } else if let Some(said) = timed(rest) {
        Line::Said(said)
    } else if PROGRESS.iter().any(|words| rest.starts_with(words)) {
        Line::Progress
    } else {
        Line::Said(rest)
    };
    Some((number, kind))
}

/// The text after the seconds: `12.345 text`.
pub(super) fn timed(line: &str) -> Option<&str> {
    let (seconds, rest) = line.split_once(' ').unwrap_or((line, ""));
    let (whole, parts) = seconds.split_once('.')?;
    (digits(whole) && digits(parts) && parts.len() <= 3).then_some(rest)
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
