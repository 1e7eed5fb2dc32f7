//! The runners that print the names of tasks before their lines.

use crate::input::{Exit, Input};
use crate::output::Nested;
use crate::parsers::logs::log;
use ethos_registry_core::find_text::FindText as _;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    Turbo,
    Pnpm,
    Concurrently,
    Ant,
    Compose,
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// `text`, printed by the task whose lines begin with `title`.
    Of { title: &'a str, text: &'a str },
    /// The task begins with this command.
    Command { title: &'a str, command: &'a str },
    /// The task ended.
    Ended { title: &'a str, exit: Exit },
    /// The runner reports that the task of that package failed.
    Blamed { package: &'a str, name: &'a str },
    /// A line of the runner.
    Own,
    /// Nothing that matters.
    Noise,
}

/// Messages of turbo about a task before it runs, or instead of running it.
const CACHES: [&str; 4] = [
    "cache miss, executing ",
    "cache hit, ",
    "cache bypass, ",
    "cache miss (",
];
/// How many lines of a container prove the format, and how many lines of the runner may precede them.
const CONTAINER_LINES: usize = 8;
const EXITED: &str = " exited with code ";

impl Runner {
    pub(super) fn of(input: &Input<'_>) -> Option<Self> {
        for line in input.beginning() {
            if line.starts_with("Buildfile: ") {
                return Some(Self::Ant);
            }
            if line.starts_with("Scope: ") && line.ends_with(" workspace projects") {
                return Some(Self::Pnpm);
            }
            if turbo(line).is_some_and(|(_, text)| is_cached(text)) {
                return Some(Self::Turbo);
            }
        }
        if composed(input).is_some() {
            return Some(Self::Compose);
        }
        let ended = |line: &str| {
            let (_, text) = bracketed(line)?;
            code(text)
        };
        let in_brackets = input.beginning().take(9);
        let in_brackets = in_brackets.filter(|line| bracketed(line).is_some());
        (input.ending().any(|line| ended(line).is_some()) && in_brackets.count() > 2)
            .then_some(Self::Concurrently)
    }

    /// Whether the output of the tasks is reduced separately; containers that only write logs are read as one log.
    pub(super) fn is_apart(self, input: &Input<'_>, nested: Option<Nested>) -> bool {
        if self != Self::Compose {
            return true;
        }
        let printed = composed(input).unwrap_or_default();
        let first = Input {
            text: &printed,
            words: &[],
            exit: input.exit,
        };
        let known = nested.and_then(|nested| (nested.family)(&first));
        known.is_some_and(|family| family != log::FAMILY.name)
    }

    pub(super) fn read(self, line: &str) -> Line<'_> {
        match self {
            Self::Turbo => read_turbo(line),
            Self::Pnpm => read_pnpm(line),
            Self::Concurrently => match bracketed(line) {
                Some((title, text)) => match code(text) {
                    Some(exit) => Line::Ended { title, exit },
                    None => Line::Of { title, text },
                },
                None => Line::Own,
            },
            Self::Compose => match (piped(line), code(line)) {
                (Some((title, text)), _) => Line::Of { title, text },
                (None, Some(exit)) => Line::Ended {
                    title: line.split(' ').next().unwrap_or(line),
                    exit,
                },
                (None, None) => Line::Own,
            },
            Self::Ant => match bracketed(line.trim_start()) {
                Some((title, text)) if line.starts_with(' ') => Line::Of { title, text },
                _ => Line::Own,
            },
        }
    }
}

/// `@shop/api:test: text`, split after the second colon.
fn turbo(line: &str) -> Option<(&str, &str)> {
    let colon = line.find_text(":")?;
    let (package, task) = (line.get(..colon)?, line.get(colon + 1..)?);
    let length = task.find_text(":")?;
    let name = task.get(..length)?;
    let is_task = name.starts_with(|sign: char| sign.is_ascii_alphabetic());
    let text = task.get(length + 1..)?;
    let text = text.strip_prefix(' ').or(text.is_empty().then_some(text))?;
    let blank = |name: &str| name.is_empty() || name.contains([' ', '\t']);
    (is_task && !blank(package) && !blank(name)).then_some((line.get(..colon + length + 2)?, text))
}

fn is_cached(text: &str) -> bool {
    CACHES.iter().any(|beginning| text.starts_with(beginning))
}

fn read_turbo(line: &str) -> Line<'_> {
    match turbo(line) {
        Some((_, text)) if is_cached(text) => Line::Noise,
        Some((title, text)) if text.starts_with("ERROR: command finished with error") => {
            Line::Ended {
                title,
                exit: Exit::Failure,
            }
        }
        Some((title, text)) => Line::Of { title, text },
        None => match blamed(line) {
            Some((package, name, "ERROR")) => Line::Blamed { package, name },
            Some(_) => Line::Noise,
            None => Line::Own,
        },
    }
}

/// `@shop/api#test:  ERROR  command (...) exited (1)`: package, task and error.
fn blamed(line: &str) -> Option<(&str, &str, &str)> {
    let (package, rest) = line.split_text("#")?;
    let (name, rest) = rest.split_text(":  ")?;
    let (severity, _) = rest.split_text("  command ")?;
    (!package.contains(' ') && !name.contains(' ')).then_some((package, name, severity))
}

/// `packages/api test: text`, `packages/api test$ node --test`.
fn read_pnpm(line: &str) -> Line<'_> {
    let title_end = line.find([':', '$']);
    let Some((title, rest)) = title_end.and_then(|at| line.split_at_checked(at)) else {
        return Line::Own;
    };
    let is_title = title.split(' ').filter(|word| !word.is_empty()).count() == 2
        && title.matches(' ').count() == 1;
    match (rest.strip_prefix("$ "), rest.strip_prefix(':')) {
        _ if !is_title => Line::Own,
        (Some(command), _) => Line::Command { title, command },
        (None, Some(" Done")) => Line::Ended {
            title,
            exit: Exit::Success,
        },
        (None, Some(" Failed")) => Line::Ended {
            title,
            exit: Exit::Failure,
        },
        (None, Some(text)) => Line::Of {
            title,
            text: text.strip_prefix(' ').unwrap_or(text),
        },
        (None, None) => Line::Own,
    }
}

/// `[api] text`.
fn bracketed(line: &str) -> Option<(&str, &str)> {
    let length = line.strip_prefix('[')?.find_text("]")?;
    let (title, text) = line.split_at_checked(length + 2)?;
    let text = text.strip_prefix(' ').or(text.is_empty().then_some(text))?;
    // A time, or a second field in brackets, belongs to a log record.
    let is_record = title.contains(':') && title.contains(|sign: char| sign.is_ascii_digit())
        || text.starts_with('[') && text.has_text("] [");
    let is_name = length > 0 && !title.contains(['%', '"']) && !is_record;
    is_name.then_some((title, text))
}

/// `api-1  | text`: the name of a container with its number, and its output.
fn piped(line: &str) -> Option<(&str, &str)> {
    let (before, text) = line.split_text("|")?;
    let title = before.trim_end_matches(' ');
    let name = title.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let is_title = title.len() < before.len()
        && name.len() < title.len()
        && name.len() > 1
        && name.ends_with(['-', '_'])
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    is_title.then(|| (title, text.strip_prefix(' ').unwrap_or(text)))
}

/// The output of the first container in `input`, if there are several.
fn composed(input: &Input<'_>) -> Option<String> {
    let (mut with, mut without) = (0_usize, 0_usize);
    let mut first = "";
    let mut printed = String::new();
    for line in input.beginning().filter(|line| !line.trim().is_empty()) {
        let Some((title, text)) = piped(line) else {
            without += 1;
            if without > with + CONTAINER_LINES {
                return None;
            }
            continue;
        };
        with += 1;
        if first.is_empty() {
            first = title;
        }
        if title == first {
            printed.push_str(text);
            printed.push('\n');
        }
    }
    // Output that looks like this itself would be divided again for every level of nesting.
    let nested = printed.lines().filter(|line| piped(line).is_some());
    if with < CONTAINER_LINES || without > with || nested.count() >= CONTAINER_LINES {
        return None;
    }
    Some(printed)
}

/// The exit status that `text` reports.
fn code(text: &str) -> Option<Exit> {
    let at = text.rfind(EXITED)?;
    match text.get(at + EXITED.len()..)? {
        "0" => Some(Exit::Success),
        _ => Some(Exit::Failure),
    }
}
