//! Logs: templates with their counts, and all unusual or bad records.

mod reader;
mod record;
mod source;
mod values;

use std::borrow::Cow;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::long_line::{NOTE_HEAD, NOTE_TAIL};
use crate::line::shorten;
use crate::output::Output;
use ethos_registry_core::clean::beginning;
use reader::{ENDS, EXPLANATION, Reader};
pub(crate) use record::is_record;
use record::message;
use source::Form;

pub(crate) const FAMILY: Family = Family {
    name: "log",
    runs,
    marks: Marks::OneOf(&[
        &["\n{"],
        &["\n["],
        &[" |"],
        &["0:0"],
        &["\nINFO"],
        &["\nDEBUG"],
        &["\nWARN"],
        &["\nERROR"],
        &["\nlevel="],
        &["\ntime="],
    ]),
    recognises,
    reduce,
};

/// The longest reduced log: a share of the log, within limits.
const SHOWN_SHARE: usize = 8;
/// The base size of a long reduced log, to which a smaller share is added.
const LONG_SHARE: usize = 40;
const LONG_BYTES: usize = 2_500;
const MIN_SHOWN_BYTES: usize = 1_500;
const MAX_SHOWN_BYTES: usize = 16_000;
/// Bad records, warnings and unusual answers may use this much space of a short log, too.
const MIN_ODD_BYTES: usize = 4_000;

/// How much of the beginning of a JSON record that is too long is kept.
const HEAD_CHARS: usize = 60;

/// Fewer records are not a log.
const LEAST_RECORDS: usize = 8;
/// Subcommands of compose that show the output of services.
const OF_SERVICES: [&str; 2] = ["logs", "up"];

fn runs(input: &Input<'_>) -> bool {
    let shows_services = || {
        input
            .words
            .iter()
            .any(|word| OF_SERVICES.contains(&word.as_str()))
    };
    match input.program() {
        "journalctl" | "dmesg" => true,
        "docker-compose" | "podman-compose" => shows_services(),
        "docker" | "podman" if input.subcommand() == "compose" => shows_services(),
        "docker" | "kubectl" | "podman" | "heroku" | "pm2" => input.subcommand() == "logs",
        _ => input.shows_files(),
    }
}

/// Likely, as well as certain, when most of the first lines are records, or when logs of several services were
/// requested.
fn recognises(input: &Input<'_>) -> Match {
    let form = Form::of(input);
    if is_of_records(input, form) || form != Form::None && runs(input) {
        Match::Certain
    } else {
        Match::No
    }
}

/// Whether most of the first lines are records.
pub(crate) fn is_log(input: &Input<'_>) -> bool {
    is_of_records(input, Form::of(input))
}

fn is_of_records(input: &Input<'_>, form: Form) -> bool {
    let (records, others) = source::records(input, form);
    records >= LEAST_RECORDS && records >= 2 * others
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader::of(input);
    for (number, line) in input.lines().enumerate() {
        reader.line(number, line);
    }
    if reader.failed {
        output.failed();
    }
    let bytes = input.text.len();
    let budget = (bytes / SHOWN_SHARE)
        .min(bytes / LONG_SHARE + LONG_BYTES)
        .clamp(MIN_SHOWN_BYTES, MAX_SHOWN_BYTES);
    let mut rows = reader.rows(budget);
    rows.sort_unstable();
    let odd_budget = budget.max(MIN_ODD_BYTES);
    let mut shown = 0;
    rows.retain(|row| {
        let bytes = row.line.len().min(row.max_chars()) + 1;
        let most = if row.rank <= EXPLANATION {
            odd_budget
        } else {
            budget
        };
        let fits = shown + bytes <= most;
        shown += if fits { bytes } else { 0 };
        fits
    });
    rows.sort_unstable_by_key(|row| (row.number, std::cmp::Reverse(row.times)));
    rows.dedup_by_key(|row| row.number);
    for row in rows {
        let text = legible(row.line, row.max_chars());
        if row.times == 1 && row.rank <= ENDS {
            output.fact(&text);
        } else {
            output.repeated(&text, row.times);
        }
    }
}

/// `line` in at most this many characters; of a long JSON record, its message, wherever that is.
fn legible(line: &str, max_chars: usize) -> Cow<'_, str> {
    if line.len() > max_chars && line.starts_with('{') {
        let short = values::shortened(line);
        if short.len() <= max_chars {
            return short.into();
        }
        let said = message(line);
        let at = line.len() - said.len();
        if at > max_chars / 2 {
            let head = beginning(line, HEAD_CHARS);
            let hidden = line.get(head.len()..at).unwrap_or_default();
            let said = shorten(said, max_chars - HEAD_CHARS);
            return format!(
                "{head}{NOTE_HEAD}{}{NOTE_TAIL}{said}",
                hidden.chars().count()
            )
            .into();
        }
    }
    shorten(line, max_chars)
}

#[cfg(test)]
mod tests;
