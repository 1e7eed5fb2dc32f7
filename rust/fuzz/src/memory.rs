//! How much memory a reduction takes beyond its text and its result.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write, stderr};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::Case;
use crate::corpus::Corpus;
use crate::growth::inputs::{self, Input};
use crate::oracle::core;

/// The word by which a process of this program is asked to measure one text.
pub(crate) const PEAK: &str = "--peak";
/// What a reduction may take: so much, and so much a line that is held.
const BASE_BYTES: u64 = 1 << 20;
const LINE_BYTES: u64 = 32;
const WARMING_BYTES: usize = 20_000;

/// What was measured of an input, in bytes.
pub(crate) struct Peak {
    pub(crate) beyond: u64,
    allowed: u64,
}

/// Measures all inputs of `bytes`, each in a process of its own, and shows the most of each family as a
/// Markdown table, and on standard error each that takes too much.
pub(crate) fn table(corpus: &Corpus, bytes: usize) -> io::Result<String> {
    let mut table = String::from(
        "| family | texts | most KiB | of | beyond the bound |\n|---|--:|--:|---|--:|\n",
    );
    let folder = scratch_folder()?;
    let inputs = inputs::all(corpus);
    for inputs in inputs.chunk_by(|one, other| one.family == other.family) {
        let family = inputs.first().map_or("", |input| input.family);
        let inputs: Vec<&Input> = inputs.iter().filter(|input| !input.is_line).collect();
        let (mut most, mut of, mut beyond) = (0, "", 0);
        for input in &inputs {
            let file = folder.join("text");
            fs::write(&file, input.text(bytes))?;
            let peak = measured(input, &file)?;
            if peak.beyond > most {
                (most, of) = (peak.beyond, &input.name);
            }
            if peak.beyond > peak.allowed {
                beyond += 1;
                writeln!(
                    stderr(),
                    "{family}: {}: {} KiB, allowed are {} KiB",
                    input.name,
                    peak.beyond >> 10,
                    peak.allowed >> 10
                )?;
            }
        }
        let _ = writeln!(
            table,
            "| {family} | {} | {} | `{of}` | {beyond} |",
            inputs.len(),
            most >> 10
        );
    }
    fs::remove_dir_all(&folder)?;
    Ok(table)
}

/// A new folder for inputs that other processes read.
pub(crate) fn scratch_folder() -> io::Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("ethos-registry-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// What a fresh process states of the text in `file`.
pub(crate) fn measured(input: &Input, file: &Path) -> io::Result<Peak> {
    let exit_code = input.exit_code.map(|code| code.to_string());
    let output = Command::new(std::env::current_exe()?)
        .arg(PEAK)
        .arg(file)
        .arg(&input.command)
        .arg(exit_code.unwrap_or_default())
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(beyond)), Some(Ok(allowed))) => Ok(Peak { beyond, allowed }),
        _ => Err(io::Error::other(format!("{}: {output:?}", input.name))),
    }
}

/// The work of such a process: what the reduction of the text in a file took, and what it may.
pub(crate) fn peak(mut words: impl Iterator<Item = String>) -> io::Result<String> {
    let mut case = Case::empty();
    let mut word = || words.next().unwrap_or_default();
    case.text = fs::read_to_string(word())?;
    let command = word();
    case.command = Some(Cow::Borrowed(&command));
    case.exit_code = word().parse().ok();
    // The code that is read from its file when it first runs is not memory of a reduction.
    let mut beginning = case.clone();
    inputs::whole_lines(&case.text, WARMING_BYTES).clone_into(&mut beginning.text);
    core(&beginning);
    // The peak so far is that of the start of the process.
    fs::write("/proc/self/clear_refs", "5")?;
    let before = kibibytes("VmRSS:")?;
    let reduced = core(&case);
    let taken = kibibytes("VmHWM:")?.saturating_sub(before) << 10;
    let result = reduced.map(|reduced| reduced.bytes);
    let result_bytes = result.as_ref().map_or(0, Vec::len);
    let result_bytes = u64::try_from(result_bytes).unwrap_or(u64::MAX);
    // Of an input that stays all lines are held.
    let held = result.as_deref().unwrap_or(case.text.as_bytes());
    let lines = memchr::memchr_iter(b'\n', held).count();
    let lines = u64::try_from(lines).unwrap_or(u64::MAX);
    let allowed = BASE_BYTES + LINE_BYTES * lines;
    Ok(format!("{} {allowed}", taken.saturating_sub(result_bytes)))
}

/// A number of the status of this process.
fn kibibytes(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    number.ok_or_else(|| io::Error::other(format!("{name} is not told")))
}
