//! The pipeline for the output of commands: clean, read, classify, group, rank, fit, render.

use std::borrow::Cow;

use ethos_registry_core::clean;
use ethos_registry_core::command::{CommandLine, git_subcommand};
use ethos_registry_core::find_text::FindText as _;

use crate::binary;
use crate::classify::classify;
use crate::fit::{Plan, Rows};
use crate::folds::Folds;
use crate::format::{REGISTERED, Strategy};
use crate::gap::{ACCOUNTED, PIECES_END, PIECES_START};
use crate::grammar;
use crate::kinds::head_tail;
use crate::lossless;
use crate::piece::{Piece, join};
use crate::policy::{Level, Policy};
use crate::rank::rank;
use crate::read::read;
use crate::render::render;
use crate::row::Width;
use crate::segment::{Found, formats, parts};
use crate::source::{Kind, Part, Source};

/// The name of outputs without a known format.
pub(crate) const GENERIC: &str = "generic";
/// Without a policy, a longer text is cut.
const SEED_CHARS: usize = 8_192;
/// Options with which git marks old and new words by colour alone.
const COLOURED_WORDS: [&str; 2] = ["--color-words", "--word-diff=color"];

/// An output whose lines have kinds and values.
struct Analysed<'a> {
    source: Source<'a>,
    parts: Vec<Part>,
    formats: Vec<Found>,
}

/// `text`, the output of `command`, in at most `target_chars` characters, and the name of the first format that was found
/// if lines are left out. `None` when it does not change.
pub(crate) fn reduce(
    text: &str,
    command: Option<&str>,
    target_chars: usize,
    policy: Option<Policy>,
) -> Option<(String, Option<&'static str>)> {
    let line = command.and_then(CommandLine::read).map(CommandLine::opened);
    let line = line.unwrap_or_default();
    let printed = binary::counted(text);
    let marked = if colours_words(&line) {
        clean::marked_words(&printed)
    } else {
        Cow::Borrowed(&*printed)
    };
    let cleaned = clean::terminal(&marked);
    let chars = cleaned.char_count();
    let source_chars = match &cleaned {
        Cow::Borrowed(same) if std::ptr::eq(*same, text) => chars,
        Cow::Borrowed(_) | Cow::Owned(_) => text.char_count(),
    };
    let commands: Vec<Vec<String>> = line.printers().collect();
    let made = match policy.map(|policy| policy.level) {
        Some(Level::Lossless) => Some((lossless::folded(&cleaned).into_owned(), None)),
        Some(Level::Facts) if chars <= target_chars => None,
        Some(Level::Facts) => {
            let folded = lossless::folded(&cleaned);
            if folded.char_count() <= target_chars {
                Some((folded.into_owned(), None))
            } else {
                let analysed = analyse(&cleaned, &commands);
                Some((analysed.fit(target_chars, |_| true), Some(analysed.name())))
            }
        }
        Some(Level::Verdict) | None if chars <= target_chars && is_accounted(&cleaned) => None,
        Some(Level::Verdict) => {
            let analysed = analyse(&cleaned, &commands);
            let is_verdict = |kind| {
                matches!(
                    kind,
                    Kind::Verdict | Kind::Title | Kind::Failed | Kind::Failure
                )
            };
            Some((
                analysed.fit(target_chars, is_verdict),
                Some(analysed.name()),
            ))
        }
        None => without_policy(&cleaned, chars, &commands, target_chars),
    };
    let made = made.unwrap_or_else(|| (cleaned.into_owned(), None));
    (made.0.char_count() < source_chars).then_some(made)
}

/// The strategies for outputs without a target: status, tests and installations lose what is not needed; of any other long
/// output the first and the last lines are kept.
fn without_policy(
    text: &str,
    chars: usize,
    commands: &[Vec<String>],
    budget_chars: usize,
) -> Option<(String, Option<&'static str>)> {
    let analysed = analyse(text, commands);
    let strategy = analysed
        .formats
        .iter()
        .find_map(|found| found.format().strategy());
    if let Some(strategy) = strategy {
        let goes = |kind: Kind| match strategy {
            Strategy::Status => kind == Kind::Hint,
            Strategy::Tests => matches!(
                kind,
                Kind::Passed | Kind::Progress | Kind::Preamble | Kind::Noise
            ),
            Strategy::Install => matches!(kind, Kind::Progress | Kind::Noise),
        };
        let lines = &analysed.source.lines;
        let rows: Rows = (0..lines.len())
            .filter(|number| !goes(lines[*number].kind))
            .map(|number| (number, Vec::new()))
            .collect();
        let most = budget_chars;
        let made = if rows.len() == lines.len() {
            text.to_owned()
        } else {
            render(&analysed.source, &rows, &Folds::new(), Width::WHOLE)
        };
        let made = if made.char_count() > most {
            analysed.fit(most, |kind| !goes(kind))
        } else if chars <= most && text.strip_suffix('\n') == Some(&*made) {
            text.to_owned() // all gaps were shorter than their marks
        } else {
            made
        };
        return Some((made, Some(analysed.name())));
    }
    let is_status = |words: &Vec<String>| git_subcommand(words) == Some("status");
    if chars <= budget_chars && commands.iter().any(is_status) {
        return None; // the short formats have no advice
    }
    if chars > budget_chars {
        let Ok(pieces) = head_tail::reduce(text, 0, text.len());
        let cut = pieces.and_then(|pieces: Vec<Piece>| join(text, &pieces));
        let cut = cut.filter(|cut| cut.char_count() <= budget_chars);
        return Some((
            cut.unwrap_or_else(|| analysed.fit(budget_chars, |_| true)),
            Some(GENERIC),
        ));
    }
    if chars > SEED_CHARS {
        let Ok(pieces) = head_tail::reduce(text, 0, text.len());
        return pieces
            .and_then(|pieces| join(text, &pieces))
            .map(|cut| (cut, Some(GENERIC)));
    }
    None
}

/// The name of the first registered format that is found in an output.
pub(crate) fn registered_name(text: &str, command: Option<&str>) -> Option<String> {
    let line = command.and_then(CommandLine::read).map(CommandLine::opened);
    let commands: Vec<Vec<String>> = line.unwrap_or_default().printers().collect();
    let printed = binary::counted(text);
    let cleaned = clean::terminal(&printed);
    let analysed = analyse(&cleaned, &commands);
    analysed.formats.iter().find_map(|found| match found {
        Found::Registered(format) => Some(format.name().to_owned()),
        Found::BuiltIn(_) => None,
    })
}

fn analyse<'a>(text: &'a str, commands: &[Vec<String>]) -> Analysed<'a> {
    let mut source = read(text);
    let parts = parts(&source);
    let mut all = Vec::new();
    for part in &parts {
        let found = formats(&source, *part, commands);
        classify(&mut source, *part, &found);
        grammar::read(&mut source, *part);
        all.extend(found);
    }
    rank(&mut source, &parts);
    Analysed {
        source,
        parts,
        formats: all,
    }
}

impl Analysed<'_> {
    fn name(&self) -> &'static str {
        match self.formats.first() {
            Some(Found::BuiltIn(format)) => format.name(),
            Some(Found::Registered(_)) => REGISTERED,
            None => GENERIC,
        }
    }

    /// The text of the rows that fit.
    fn fit(&self, target_chars: usize, accepts: impl Fn(Kind) -> bool) -> String {
        let plan = Plan::new(&self.source, &self.parts);
        let mut rows = plan.fit(target_chars, accepts);
        let made = render(&self.source, &rows, &plan.folds, plan.width);
        self.trim(&mut rows, &plan, target_chars, made)
    }

    /// Removes the rows of least value until the text fits.
    fn trim(
        &self,
        rows: &mut Rows,
        plan: &Plan<'_, '_>,
        target_chars: usize,
        mut made: String,
    ) -> String {
        let lines = &self.source.lines;
        let mut order: Vec<usize> = rows.keys().copied().collect();
        order.sort_by(|one, other| {
            let (a, b) = (&lines[*one], &lines[*other]);
            b.reserved
                .cmp(&a.reserved)
                .then(b.value.total_cmp(&a.value))
                .then(one.cmp(other))
        });
        let mut over = made.char_count().saturating_sub(target_chars);
        while over > 0 && !order.is_empty() {
            let mut removed = 0;
            while removed < over
                && let Some(last) = order.pop()
            {
                rows.remove(&last);
                removed += self.source.at(last).char_count().max(1);
            }
            made = render(&self.source, rows, &plan.folds, plan.width);
            over = made.char_count().saturating_sub(target_chars);
        }
        made
    }
}

/// Whether `text` ends with a mark of a reduced output.
fn is_accounted(text: &str) -> bool {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let has = |start: &str, end: &str| last.starts_with(start) && last.ends_with(end);
    has("[", ACCOUNTED) || has(PIECES_START, PIECES_END)
}

/// Whether a command of `line` marks words by colour alone.
fn colours_words(line: &CommandLine) -> bool {
    let is_option = |word: &String| COLOURED_WORDS.iter().any(|option| word.starts_with(option));
    let mut printers = line.printers();
    printers.any(|words| git_subcommand(&words).is_some() && words.iter().any(is_option))
}
