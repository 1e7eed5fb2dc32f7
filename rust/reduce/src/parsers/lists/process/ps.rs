//! `ps` in its forms: processes by their command.

use hashbrown::{HashMap, HashSet};
use memchr::memmem;

use crate::input::Input;
use crate::line;
use crate::output::Output;
use crate::rows::names::{Alike, Fold, side_by_side};
use crate::rows::report::squeezed;

const COMMAND_CHARS: usize = 160;
/// A share of a processor or of the memory, in per cent, that is worth a word.
const BUSY_PERCENT: f32 = 1.0;
/// Lines that are not processes and are shown.
const OTHER_LINES: usize = 30;
const COMMANDS: usize = 4_096;
/// Of processes in another order than that of their numbers, this many were asked for by what they use.
const SORTED_ROWS: usize = 10;

/// Which words of a row are what; the command is the rest of the line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns {
    pid: usize,
    processor: Option<usize>,
    memory: Option<usize>,
    command: usize,
}

/// The columns that the heading `line` names, if it is one of processes.
pub(super) fn columns(line: &str) -> Option<Columns> {
    let at = |name: &str| line.split_ascii_whitespace().position(|word| word == name);
    let command = at("COMMAND").or_else(|| at("CMD"))?;
    let last = line.split_ascii_whitespace().count() - 1;
    (command == last && command > 0).then_some(Columns {
        pid: at("PID")?,
        processor: at("%CPU"),
        memory: at("%MEM"),
        command,
    })
}

/// Whether `line` is a heading of processes, shown by its end before its words are read.
fn is_heading(line: &str) -> bool {
    let line_end = line.trim_ascii_end();
    (line_end.ends_with("COMMAND") || line_end.ends_with("CMD")) && columns(line).is_some()
}

struct Process<'a> {
    pid: &'a str,
    command: &'a str,
    /// Its share of the processor and of the memory.
    shares: [(&'static str, &'a str); 2],
    count: usize,
}

pub(super) fn reduce(input: &Input<'_>, columns: Columns, output: &mut Output) {
    let mut processes: Vec<Process<'_>> = Vec::new();
    let mut index: HashMap<&str, usize> = HashMap::new();
    let mut kernel = Vec::new();
    let mut in_table = false;
    let mut others = 0;
    // In a later table, as `top` repeats it, the same processes are not counted again.
    let repeats = has_other_table(input.text);
    let mut seen = HashSet::new();
    let most_sorted = if is_sorted_by_use(input, columns) {
        SORTED_ROWS
    } else {
        0
    };
    let mut sorted = most_sorted;
    for source in input.lines() {
        if is_heading(source) {
            in_table = true;
            sorted = most_sorted;
            if sorted > 0 {
                output.fact(&squeezed(source));
            }
            continue;
        }
        let Some(process) = process(source, columns).filter(|_| in_table) else {
            if others < OTHER_LINES && !source.trim().is_empty() {
                others += 1;
                output.fact(&line::shorten(source.trim(), COMMAND_CHARS));
            }
            continue;
        };
        if sorted > 0 {
            sorted -= 1;
            if repeats {
                seen.insert(process.pid);
            }
            output.fact(&line::shorten(&squeezed(source), COMMAND_CHARS));
            continue;
        }
        if repeats && !seen.insert(process.pid) {
            continue;
        }
        if process.command.starts_with('[') && process.command.ends_with(']') {
            kernel.push(process.command);
            continue;
        }
        let next = processes.len();
        let known = index.get(process.command).copied();
        match known.and_then(|at| processes.get_mut(at)) {
            Some(known) => known.count += 1,
            None if next < COMMANDS => {
                index.insert(process.command, next);
                processes.push(process);
            }
            None => {}
        }
    }
    for process in &processes {
        output.summary(&row(process), process.count);
    }
    if !kernel.is_empty() {
        let fold = match output.asked_lines() {
            0 => Fold::new(Alike::Words, 1),
            _ => Fold::new(Alike::Never, 0),
        };
        let (row, _) = side_by_side(&kernel, fold);
        output.summary(&row, kernel.len());
    }
}

/// Whether the heading is in `text` once more.
fn has_other_table(text: &str) -> bool {
    let heading = text.lines().find(|line| is_heading(line));
    heading.is_some_and(|heading| {
        let mut found = memmem::find_iter(text.as_bytes(), heading.as_bytes());
        found.nth(1).is_some()
    })
}

/// Whether the first processes are in another order than that of their numbers, and the table shows more of them than
/// these.
fn is_sorted_by_use(input: &Input<'_>, columns: Columns) -> bool {
    let numbers = || {
        let rows = input.lines().skip_while(|line| !is_heading(line)).skip(1);
        let read = rows
            .take(SORTED_ROWS)
            .map_while(|row| process(row, columns));
        read.filter_map(|process| process.pid.parse::<u64>().ok())
    };
    (columns.processor.is_some() || columns.memory.is_some())
        && numbers().count() >= 3
        && !numbers().is_sorted()
}

fn process(line: &str, columns: Columns) -> Option<Process<'_>> {
    let (mut pid, mut processor, mut memory) = (None, "", "");
    let mut command = line.trim_ascii_start();
    for at in 0..columns.command {
        // The words are too short for a vector search.
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let end = command.as_bytes().iter().position(is_blank)?;
        let (word, rest) = command.split_at_checked(end)?;
        if at == columns.pid {
            pid = Some(word).filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()));
            pid?;
        } else if Some(at) == columns.processor {
            processor = word;
        } else if Some(at) == columns.memory {
            memory = word;
        }
        command = rest.trim_ascii_start();
    }
    Some(Process {
        pid: pid?,
        command: command.trim_ascii_end(),
        shares: [("%CPU", processor), ("%MEM", memory)],
        count: 1,
    })
}

fn row(process: &Process<'_>) -> String {
    let command = line::shorten(process.command, COMMAND_CHARS);
    let mut row = format!("{} {command}", process.pid);
    for (name, share) in process.shares {
        if share
            .parse::<f32>()
            .is_ok_and(|share| share >= BUSY_PERCENT)
        {
            row.push_str(&[" (", name, " ", share, ")"].concat());
        }
    }
    if process.count > 1 {
        row.push_str(&[" ×", &process.count.to_string()].concat());
    }
    row
}
