//! Calls of the kernel, as strace shows them.
//!
//! Of thousands of calls those stay that start or end a program, send a signal or talk to the network,
//! those that failed, and what was written to a terminal; of the rest, how many of each there were.

mod summary;

use std::fmt::Write as _;

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::unknown::Unknown;

pub(crate) const FAMILY: Family = Family {
    name: "strace",
    runs,
    marks: Marks::OneOf(&[&[" = "], &["<unfinished ...>"]]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 200;
/// The share of the text that failed calls may take, and how many are shown in any case.
const FAILED_SHARE: usize = 10;
const MIN_FAILED_BYTES: usize = 2_000;
const MAX_FAILED_BYTES: usize = 24_000;
/// Calls that are distinguished by name.
const MAX_NAMES: usize = 512;
/// Failed calls that are distinguished.
const MAX_FAILED: usize = 4_096;

/// Calls that are always shown.
const TOLD: [&str; 8] = [
    "execve",
    "execveat",
    "kill",
    "tgkill",
    "connect",
    "bind",
    "listen",
    "exit_group",
];
/// Parts of paths that a loader or a library tries without need.
const SEARCHED: [&str; 9] = [
    "/etc/ld.so.",
    "/locale/",
    "/locale-archive",
    "/gconv/",
    "glibc-hwcaps",
    "/nscd/",
    ".so\"",
    ".so.",
    "selinux",
];

fn runs(input: &Input<'_>) -> bool {
    matches!(input.program(), "strace" | "ltrace")
}

/// Certain when most of the first lines are calls.
fn recognises(input: &Input<'_>) -> Match {
    let (mut calls, mut lines) = (0_usize, 0_usize);
    for line in input.beginning().take(100) {
        lines += 1;
        calls += usize::from(call(line).is_some());
    }
    if runs(input) && summary::is_table(input) {
        return Match::Likely;
    }
    if calls >= 8 && calls * 3 >= lines * 2 {
        Match::Certain
    } else if calls >= 4 {
        Match::Likely
    } else {
        Match::No
    }
}

/// A call: its name, its arguments with what it gave, and what it gave where that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call<'a> {
    name: &'a str,
    arguments: &'a str,
    result: &'a str,
}

/// The call that `line` shows, after a process and a time: `[pid 12] 10:00:00.1 open("a") = 3`.
fn call(line: &str) -> Option<Call<'_>> {
    let text = without_prefix(line);
    let resumed = text.strip_prefix("<... ");
    let (name, arguments) = match resumed {
        Some(rest) => rest.split_once(" resumed>")?,
        None => text.split_once('(')?,
    };
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !is_name {
        return None;
    }
    let result = arguments.rsplit_once(" = ").map(|(_, result)| result);
    let unfinished = arguments.ends_with("<unfinished ...>");
    (result.is_some() || unfinished).then_some(Call {
        name,
        arguments,
        result: result.unwrap_or_default(),
    })
}

/// `line` without process and time before the call.
fn without_prefix(line: &str) -> &str {
    let text = line
        .strip_prefix("[pid ")
        .and_then(|rest| rest.split_once("] "))
        .map_or(line, |(_, text)| text);
    let text = text.trim_start();
    if !text.starts_with(|sign: char| sign.is_ascii_digit()) {
        return text;
    }
    text.trim_start_matches(|sign: char| {
        sign.is_ascii_digit() || matches!(sign, ':' | '.' | ' ' | '(' | ')' | '+')
    })
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if summary::is_table(input) {
        return summary::reduce(input, output);
    }
    let budget = (input.text.len() / FAILED_SHARE).clamp(MIN_FAILED_BYTES, MAX_FAILED_BYTES);
    let mut reader = Reader {
        names: Vec::new(),
        failed: HashSet::new(),
        failed_bytes: 0,
        most_failed_bytes: budget,
        hidden: 0,
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        reader.line(line);
    }
    reader.close();
}

struct Reader<'a, 'o> {
    /// Names of calls that are not shown, with their numbers.
    names: Vec<(&'a str, usize)>,
    /// Failed calls that are shown: most are tried by every process.
    failed: HashSet<(&'a str, &'a str)>,
    failed_bytes: usize,
    most_failed_bytes: usize,
    /// Failed calls that are not shown for want of room.
    hidden: usize,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let text = without_prefix(line);
        if text.starts_with("+++ ") || text.starts_with("--- ") {
            // How a process ended, and the signals that it got.
            if !(text.ends_with("exited with 0 +++") || text.starts_with("--- SIGCHLD ")) {
                self.fact(line);
            }
            return;
        }
        let Some(call) = call(line) else {
            if !is_form(text) {
                self.unknown.push(line);
            }
            return;
        };
        let failed = call.result.starts_with("-1 E");
        if TOLD.contains(&call.name) && !call.arguments.is_empty() {
            self.told(line, call, failed);
        } else if failed {
            self.failed(line, call);
        } else if is_message(call) {
            self.fact(line);
        } else {
            self.count(call.name);
        }
    }

    fn told(&mut self, line: &'a str, call: Call<'a>, failed: bool) {
        let resumed = call.arguments.starts_with([' ', ')']) || call.arguments.is_empty();
        let quiet = call.name == "exit_group" && call.arguments.starts_with("0)");
        if failed {
            self.failed(line, call);
        } else if !resumed && !quiet {
            self.fact(line);
        } else {
            self.count(call.name);
        }
    }

    /// A call that failed, unless it is one of a search, or was shown before.
    fn failed(&mut self, line: &'a str, call: Call<'a>) {
        let waits = ["EAGAIN", "EINTR", "ERESTARTSYS", "ECHILD"]
            .iter()
            .any(|error| {
                call.result
                    .get(3..)
                    .is_some_and(|rest| rest.starts_with(error))
            });
        let searched = SEARCHED.iter().any(|part| call.arguments.contains(part));
        let path = call.arguments.split('"').nth(1).unwrap_or(call.arguments);
        if waits || searched || self.failed.contains(&(call.name, path)) {
            self.count(call.name);
            return;
        }
        let bytes = line.len().min(LINE_CHARS) + 1;
        if self.failed_bytes + bytes > self.most_failed_bytes || self.failed.len() >= MAX_FAILED {
            self.hidden += 1;
            return;
        }
        self.failed_bytes += bytes;
        self.failed.insert((call.name, path));
        self.fact(line);
    }

    fn count(&mut self, name: &'a str) {
        let known = self.names.iter_mut().find(|(known, _)| *known == name);
        if let Some((_, count)) = known {
            *count += 1;
        } else if self.names.len() < MAX_NAMES {
            self.names.push((name, 1));
        }
    }

    fn fact(&mut self, line: &str) {
        self.unknown.write(self.output);
        let line = shorten(line.trim_end(), LINE_CHARS);
        self.output.fact(&line);
    }

    fn close(mut self) {
        self.unknown.write(self.output);
        let mut row = String::new();
        self.names
            .sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (name, count) in &self.names {
            // Writing to a `String` cannot fail.
            let _ = write!(row, "{name} ×{count} ");
        }
        if self.hidden > 0 {
            let _ = write!(row, "... {} more that failed", self.hidden);
        }
        if !row.is_empty() {
            self.output.context_of(row.trim_end(), 0);
        }
        if !self.failed.is_empty() {
            self.output.failed();
        }
    }
}

/// Whether a line belongs to a call that another line shows: `vfork(strace: Process 12 attached`.
fn is_form(text: &str) -> bool {
    text.contains("strace: Process ") && text.ends_with(" attached")
        || text == "<unfinished ...>"
        || text.starts_with(") ") && text.contains(" = ")
        || text.contains("resuming interrupted")
}

/// Whether a call writes to a terminal: `write(2, "oak: no such file\n", 18) = 18`.
fn is_message(call: Call<'_>) -> bool {
    call.name == "write" && call.arguments.starts_with("2, \"")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    #[test]
    fn calls_are_read_with_and_without_process_and_time() {
        for (line, name, result) in [
            ("close(3)                 = 0", "close", "0"),
            (
                "[pid  12] openat(AT_FDCWD, \"a\", O_RDONLY) = -1 ENOENT (No such file)",
                "openat",
                "-1 ENOENT (No such file)",
            ),
            (
                "[pid 12] 10:20:30.123 <... wait4 resumed>) = 7",
                "wait4",
                "7",
            ),
            ("vfork( <unfinished ...>", "vfork", ""),
        ] {
            let call = call(line).unwrap();
            assert_eq!((call.name, call.result), (name, result), "{line}");
        }
        for line in ["a = b", "Total (7) = 8", "print(x)", "f(x) is 3"] {
            assert_eq!(call(line), None, "{line}");
        }
    }

    #[test]
    fn programs_failures_and_ends_stay() {
        let calls =
            "[pid 12] mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, 3, 0) = 0x7f0cb87ff000\n".repeat(40);
        let text = format!(
            "execve(\"/usr/bin/oak\", [\"oak\", \"-x\"], 0x7ffd /* 19 vars */) = 0\n{calls}strace: Process 12 attached\n\
             [pid 12] access(\"/etc/ld.so.preload\", R_OK) = -1 ENOENT (No such file or directory)\n\
             [pid 12] openat(AT_FDCWD, \"/etc/oak.conf\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
             [pid 13] openat(AT_FDCWD, \"/etc/oak.conf\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
             [pid 12] write(2, \"oak: no bark\\n\", 13) = 13\n[pid 12] +++ exited with 3 +++\n\
             --- SIGCHLD {{si_signo=SIGCHLD}} ---\n+++ killed by SIGSEGV +++\n"
        );
        assert_eq!(
            terminal::reduce(&text, Some("strace -f oak"), Exit::Failure, usize::MAX)
                .unwrap()
                .0,
            "execve(\"/usr/bin/oak\", [\"oak\", \"-x\"], 0x7ffd /* 19 vars */) = 0\n\
            [42 lines left out]\n\
            [pid 12] openat(AT_FDCWD, \"/etc/oak.conf\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
            [1 line left out]\n[pid 12] write(2, \"oak: no bark\\n\", 13) = 13\n\
            [pid 12] +++ exited with 3 +++\n[1 line left out]\n+++ killed by SIGSEGV +++\n\
            mmap ×40 access ×1 openat ×1\n[44 of 49 lines left out]"
        );
    }

    #[test]
    fn what_the_program_prints_stays() {
        let calls = "read(3, \"oak\", 832) = 832\n".repeat(60);
        let text = format!("{calls}out of bark\n{calls}+++ exited with 0 +++\n");
        let reduced = terminal::reduce(&text, Some("strace oak"), Exit::Failure, usize::MAX)
            .unwrap()
            .0;
        assert!(reduced.contains("out of bark\n"), "{reduced}");
    }
}
