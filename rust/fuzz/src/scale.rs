//! Whether a large text is reduced at the rate of a small one, and in how much memory.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write, stderr};

use crate::corpus::Corpus;
use crate::growth::inputs::{self, Input};
use crate::growth::{case, shortest};
use crate::memory::{measured, scratch_folder};

/// How many times the small text the large one has.
const TIMES: u32 = 100;
/// Of the inputs that are made to take long, those that are measured so large.
const MADE: [&str; 10] = [
    "\"a\"",
    "\"[\"",
    "\"{\"",
    "\"\\n\"",
    "\"\\r\"",
    "\"a\\r\"",
    "\"\\u{1b}\"",
    "\"\\u{1b}[A\\n\"",
    "\"error: \\n\"",
    "distinct words",
];

/// Measures the inputs that are made to take long and one output of each family, with other numbers each
/// time it is repeated, at `bytes` and at 100 times that number, and shows the rates as a Markdown table.
pub(crate) fn table(corpus: &Corpus, bytes: usize) -> io::Result<String> {
    let mut table = String::from(
        "| text | reduced by | MB/s | MB/s of 100 times as much | KiB beyond text and result |\n|---|---|--:|--:|--:|\n",
    );
    let folder = scratch_folder()?;
    let inputs = inputs::all(corpus);
    for inputs in inputs.chunk_by(|one, other| one.family == other.family) {
        let of_no_command = inputs.iter().all(|input| input.command.is_empty());
        let is_made = |input: &&Input| MADE.contains(&input.name.as_str());
        let is_own = |input: &&Input| {
            !input.is_line
                && input.name.starts_with("numbered ")
                && family(input, bytes) == Some(input.family)
        };
        let made = inputs.iter().filter(|_| of_no_command).filter(is_made);
        let own = inputs.iter().filter(|_| !of_no_command).filter(is_own);
        for input in made.chain(own.take(1)) {
            let row = row(input, bytes, &folder)?;
            write!(stderr(), "{row}")?;
            table.push_str(&row);
        }
    }
    fs::remove_dir_all(&folder)?;
    Ok(table)
}

fn family(input: &Input, bytes: usize) -> Option<&'static str> {
    shortest(&case(input, bytes), 1, 1).1?.family
}

fn row(input: &Input, bytes: usize, folder: &std::path::Path) -> io::Result<String> {
    let (small, reduced) = {
        let case = case(input, bytes);
        // As much text in all, since a short time is known less well.
        let (time, reduced) = shortest(&case, TIMES, 1);
        (rate(case.text.len(), time), reduced)
    };
    let large = case(input, bytes * TIMES as usize);
    let (time, _) = shortest(&large, 1, 1);
    let file = folder.join("text");
    fs::write(&file, &large.text)?;
    let large = rate(large.text.len(), time);
    let peak = measured(input, &file)?;
    let by = reduced.and_then(|reduced| reduced.family);
    let mut row = String::new();
    let _ = writeln!(
        row,
        "| `{}` | {} | {small:.0} | {large:.0} | {} |",
        input.name,
        by.unwrap_or("none"),
        peak.beyond >> 10
    );
    Ok(row)
}

/// Millions of bytes a second.
fn rate(bytes: usize, time: std::time::Duration) -> f64 {
    let bytes = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
    bytes / time.as_secs_f64().max(1e-9) / 1e6
}
