//! `ps` in its forms: processes by their command.

use hashbrown::HashMap;

use super::super::input::Input;
use super::super::line;
use super::super::names::{Alike, side_by_side};
use super::super::output::Output;

const COMMAND_CHARS: usize = 160;
/// A share of a processor or of the memory, in per cent, that is worth a word.
const BUSY_PERCENT: f32 = 1.0;
/// Lines that are no processes and are shown.
const OTHER_LINES: usize = 30;
const COMMANDS: usize = 4_096;

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
    for source in input.lines() {
        if self::columns(source).is_some() {
            in_table = true;
            continue;
        }
        let Some(process) = process(source, columns).filter(|_| in_table) else {
            if others < OTHER_LINES && !source.trim().is_empty() {
                others += 1;
                output.fact(&line::shorten(source.trim(), COMMAND_CHARS));
            }
            continue;
        };
        if process.command.starts_with('[') && process.command.ends_with(']') {
            kernel.push(process.command);
            continue;
        }
        let next = processes.len();
        let at = *index.entry(process.command).or_insert(next);
        match processes.get_mut(at) {
            Some(known) => known.count += 1,
            None if next < COMMANDS => processes.push(process),
            None => {}
        }
    }
    for process in &processes {
        output.summary(&row(process), process.count);
    }
    if !kernel.is_empty() {
        let (row, _) = side_by_side(&kernel, (Alike::Words, 1));
        output.summary(&row, kernel.len());
    }
}

fn process(line: &str, columns: Columns) -> Option<Process<'_>> {
    let word = |at: usize| line.split_ascii_whitespace().nth(at);
    let pid = word(columns.pid)?;
    if !pid.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut command = line.trim_start();
    for _ in 0..columns.command {
        let end = command.find(' ')?;
        command = command.get(end..)?.trim_start();
    }
    let share = |at: Option<usize>| at.and_then(word).unwrap_or("");
    Some(Process {
        pid,
        command: command.trim_end(),
        shares: [
            ("%CPU", share(columns.processor)),
            ("%MEM", share(columns.memory)),
        ],
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
