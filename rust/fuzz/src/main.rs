//! Mutates the recorded outputs of `tests/corpus` and holds the reducers to their guards.
//!
//! `ethos-registry-fuzz --seed 1 --seconds 60` or `--executions N`, in the folder of the project;
//! `--only INDEX` runs that one execution again. The same seed gives the same executions. Ends with
//! 1 when a guard was broken, with a table of the executions on standard output either way.
#![expect(
    clippy::disallowed_methods,
    reason = "a tool for developers reads files and the clock"
)]

mod arguments;
mod corpus;
mod minimise;
mod mutation;
mod oracle;
mod random;
mod report;

use std::io::{Write, stderr, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use arguments::{Arguments, End};
use corpus::Corpus;
use mutation::Case;
use random::Random;
use report::{Finding, Report};

/// How many executions pass between two looks at the clock.
const STRIDE: u64 = 64;
/// A guard that breaks everywhere is known after so many findings.
const MOST_FINDINGS: usize = 20;

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let corpus = Corpus::read(Path::new("tests/corpus"))?;
    // A panic is a finding; its message is taken from where it is caught.
    std::panic::set_hook(Box::new(|_| ()));
    let mut report = Report::default();
    let started = Instant::now();
    let mut index = arguments.first();
    while !arguments.is_over(index, || started.elapsed()) {
        execute(&corpus, arguments.seed, index, &mut report);
        if report.findings.len() >= MOST_FINDINGS {
            break;
        }
        index += 1;
    }
    for finding in &report.findings {
        writeln!(stderr(), "{finding}")?;
    }
    let title = match arguments.end {
        End::Seconds(seconds) => format!("seed {}, {seconds} seconds", arguments.seed),
        End::Executions(_) | End::Only(_) => format!("seed {}", arguments.seed),
    };
    write!(stdout(), "{}", report.table(&title))?;
    Ok(if report.findings.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// One case made, judged and counted.
fn execute(corpus: &Corpus, seed: u64, index: u64, report: &mut Report) {
    let mut random = Random::of(seed, index);
    let case = Case::mutated(corpus, &mut random);
    let judged = oracle::judge(&case);
    if let Some(broken) = judged
        .broken
        .filter(|broken| report.is_new(*broken, judged.family))
    {
        let smaller = minimise::minimised(&case, broken);
        report.findings.push(Finding {
            seed,
            index,
            family: judged.family,
            broken,
            reduced: oracle::reduced_text(&smaller),
            case: smaller,
        });
    }
    report.count(&judged, case.text.len());
}
