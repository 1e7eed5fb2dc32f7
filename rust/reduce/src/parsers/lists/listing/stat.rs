//! What `stat` states of files: a row for each, without what only the file system needs to know.

use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;

const LINE_CHARS: usize = 240;
const FILE: &str = "  File: ";
const SIZE: &str = "  Size: ";
/// Other times are seldom asked for: `touch` and backups change them.
const LEFT_OUT: [&str; 4] = ["Device: ", "Change: ", " Birth: ", "Context: "];

/// Whether the first lines describe a file.
pub(super) fn is_stat(input: &Input<'_>) -> bool {
    let mut lines = input.beginning();
    lines.next().is_some_and(|line| line.starts_with(FILE))
        && lines.next().is_some_and(|line| line.starts_with(SIZE))
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut row = String::new();
    let mut lines = 0;
    for line in input.lines() {
        let is_first = line.starts_with(FILE);
        let is_field = is_first
            || lines > 0
                && (line.starts_with(SIZE)
                    || line.starts_with("Access: ")
                    || line.starts_with("Modify: ")
                    || LEFT_OUT.iter().any(|start| line.starts_with(start)));
        if is_first || !is_field {
            write(&mut row, &mut lines, output);
        }
        if !is_field {
            if !line.trim().is_empty() {
                output.fact(&shorten(line, LINE_CHARS));
            }
            continue;
        }
        lines += 1;
        // The time of the last access is below the rights.
        let is_time = line.starts_with("Access: ") && !line.starts_with("Access: (");
        if !is_time && !LEFT_OUT.iter().any(|start| line.starts_with(start)) {
            push(&mut row, line);
        }
    }
    write(&mut row, &mut lines, output);
}

/// Adds the words of `line`, except for those of blocks.
fn push(row: &mut String, line: &str) {
    let mut words = line.split_ascii_whitespace();
    let is_size = line.starts_with(SIZE);
    while let Some(word) = words.next() {
        // `Blocks: 672        IO Block: 4096` report the file system.
        match word {
            "Blocks:" if is_size => {
                words.next();
                continue;
            }
            "IO" if is_size => {
                words.nth(1);
                continue;
            }
            _ => {}
        }
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(word);
    }
}

fn write(row: &mut String, lines: &mut usize, output: &mut Output) {
    if *lines > 0 {
        output.summary(&shorten(row, LINE_CHARS), *lines);
    }
    row.clear();
    *lines = 0;
}
