//! Mutates the recorded outputs of `tests/corpus` and holds the reducers to their guards.
//!
//! `ethos-registry-fuzz --seed 1 --seconds 60`, or `--executions N --per-family M`, in the folder of
//! the project, begins with the families of `--family NAME …` or with all; `--only INDEX --family NAME`
//! runs one execution again. The same seed gives the same
//! executions. Only those are counted in which a family reduced the text. Ends with 1 when a guard was
//! broken, with a table of the executions on standard output either way, and findings and progress on
//! standard error.
#![expect(
    clippy::disallowed_methods,
    reason = "a tool for developers reads files and the clock"
)]

mod arguments;
mod case;
mod clock;
mod corpus;
mod growth;
mod memory;
mod minimise;
mod mutation;
mod oracle;
mod random;
mod report;
mod scale;
mod schedule;
mod window;

use std::cell::RefCell;
use std::io::{Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use arguments::{Arguments, End};
use case::Case;
use corpus::Corpus;
use oracle::{Broken, Checked};
use random::Random;
use report::{Finding, Report};
use schedule::Schedule;

/// How many executions pass between two looks at the clock.
const STRIDE: u64 = 64;
/// A guard that breaks everywhere is known after this many findings.
const MOST_FINDINGS: usize = 100;
/// One execution in this many is repeated, and its result reduced again.
const SAMPLED_ONCE_IN: usize = 16;
/// One execution in this many is timed on its text many times over.
const TIMED_ONCE_IN: usize = 4_096;
const PROGRESS_EVERY: Duration = Duration::from_secs(20);

thread_local! {
    /// What the last panic said, and where.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == memory::PEAK).is_some() {
        write!(stdout(), "{}", memory::peak(words)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let arguments = Arguments::parse(words)?;
    // A panic is a finding; its message is taken from where it is caught.
    std::panic::set_hook(Box::new(|panic| {
        PANIC.with_borrow_mut(|message| *message = panic.to_string());
    }));
    let corpus = Corpus::read(Path::new("."), &oracle::core)?;
    let title = match arguments.end {
        End::Growth(bytes) => {
            write!(stdout(), "{}", growth::table(&corpus, bytes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        End::Memory(bytes) => {
            write!(stdout(), "{}", memory::table(&corpus, bytes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        End::Scale(bytes) => {
            write!(stdout(), "{}", scale::table(&corpus, bytes)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        End::Seconds(seconds) => format!("seed {}, {seconds} seconds", arguments.seed),
        End::Counted { .. } | End::Only(_) => format!("seed {}", arguments.seed),
    };
    let schedule = Schedule::of(corpus.names(), &arguments.families)?;
    let report = run(&arguments, &corpus, schedule)?;
    write!(stdout(), "{}", report.table(&title))?;
    Ok(if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn run<'a>(
    arguments: &Arguments,
    corpus: &'a Corpus,
    mut schedule: Schedule,
) -> std::io::Result<Report<'a>> {
    let mut report = Report::of(corpus.names());
    let mut case = Case::empty();
    let mut bytes = Vec::new();
    let started = Instant::now();
    let mut tell_at = PROGRESS_EVERY;
    let mut index = arguments.first();
    while !arguments.is_over(index, schedule.counted(), || started.elapsed()) {
        let mut random = Random::of(arguments.seed, index);
        let position = schedule.next(&mut random);
        case.mutate(corpus, position, &mut random, &mut bytes);
        let checked = oracle::check(&case, &oracle::core);
        report.count(&checked, &case);
        schedule.count(checked.family.unwrap_or_default());
        let is_new = |broken: &Broken| report.is_new(*broken, checked.family);
        if let Some(broken) = checked.broken.filter(is_new) {
            let begun_with = corpus.groups().get(position);
            let begun_with = begun_with.map_or("", |group| group.family);
            let at = (arguments.seed, index);
            let finding = finding(at, begun_with, &checked, broken, &case);
            writeln!(stderr(), "{finding}")?;
            report.findings.push(finding);
        }
        if report.findings.len() >= MOST_FINDINGS {
            break;
        }
        index += 1;
        if index.is_multiple_of(STRIDE) && started.elapsed() >= tell_at {
            let seconds = started.elapsed().as_secs();
            tell_at = started.elapsed() + PROGRESS_EVERY;
            let (all, fewest) = schedule.counted();
            writeln!(
                stderr(),
                "{seconds} s: {index} executions, {all} counted, at least {fewest} a family, {} findings",
                report.findings.len()
            )?;
        }
    }
    Ok(report)
}

/// What is shown of a broken guard.
fn finding<'a>(
    (seed, index): (u64, u64),
    begun_with: &'static str,
    checked: &Checked,
    broken: Broken,
    case: &Case<'a>,
) -> Finding<'a> {
    let smaller = match broken {
        // Each look at it takes seconds.
        Broken::NotLinear => case.clone(),
        _ => minimise::minimised(case, broken, &oracle::core),
    };
    let reduced = oracle::caught(&smaller, &oracle::core);
    let panic = match broken {
        Broken::Panicked => PANIC.take(),
        _ => String::new(),
    };
    let reduced = reduced.ok().flatten();
    let reduced = reduced.map(|reduced| String::from_utf8_lossy(&reduced.bytes).into_owned());
    Finding {
        seed,
        index,
        begun_with,
        family: checked.family,
        broken,
        panic,
        case: smaller,
        reduced,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use std::sync::LazyLock;

    /// Read once: each output is reduced to find out its family.
    pub(crate) static CORPUS: LazyLock<Corpus> = LazyLock::new(|| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Corpus::read(&root, &oracle::core).unwrap()
    });

    #[test]
    fn no_guard_is_broken_by_mutated_outputs() {
        let words = ["--seed", "1", "--executions", "250"].map(str::to_owned);
        let arguments = Arguments::parse(words.into_iter()).unwrap();
        let schedule = Schedule::of(CORPUS.names(), &[]).unwrap();
        let report = run(&arguments, &CORPUS, schedule).unwrap();
        assert!(report.findings.is_empty(), "{}", report.table("seed 1"));
    }
}
