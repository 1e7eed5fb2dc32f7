//! The pipeline for terminal output: clean, route, reduce, check.

use std::borrow::Cow;
use std::cell::LazyCell;

use crate::divide::part::{Answer, NESTED};
use crate::divide::several::{self, Sections};
use crate::family::Family;
use crate::formats::{self, USERS};
use crate::generic;
use crate::generic::importance::IMPORTANCE;
use crate::input::{Exit, Input, WHOLE_CHARS};
use crate::line::long_line;
use crate::output::{Output, account_of_all, is_reduced, lossless};
use crate::parsers::lists::search::Pattern;
use crate::pipeline::asked;
use crate::pipeline::binary;
use crate::pipeline::cut_mark;
use crate::pipeline::route::{FAMILIES, families, runs_others};
use crate::policy::{Level, Policy};
use ethos_registry_core::clean;
use ethos_registry_core::command::{CommandLine, git_subcommand, producer};
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

/// Output that cleaning shortens to one part in this many was mostly progress.
const SHORT_SHARE: usize = 5;

/// Reducing must remove at least one part in this many: less is not worth any loss.
const LEAST_SAVED_SHARE: usize = 10;

/// Shorter inputs with only one line are not cut within it.
const LONG_TEXT_BYTES: usize = 8_192;

/// Options with which git marks old and new words by colour alone.
const COLOURED_WORDS: [&str; 2] = ["--color-words", "--word-diff=color"];

/// `text`, the output of `command`, reduced, and the name of the family that did it if the text was more
/// than cleaned. `None` when it does not change.
///
/// Without a command, or for an unknown one, the family must be certain of the content.
#[cfg(test)]
pub(crate) fn reduce(
    text: &str,
    command: Option<&str>,
    exit: Exit,
    budget_chars: usize,
) -> Option<(String, Option<&'static str>)> {
    reduce_within(text, command, exit, budget_chars, None)
}

/// Like [`reduce`], keeping as much of `text` as `policy` requires.
pub(crate) fn reduce_within(
    text: &str,
    command: Option<&str>,
    exit: Exit,
    budget_chars: usize,
    policy: Option<Policy>,
) -> Option<(String, Option<&'static str>)> {
    if is_reduced(text) {
        return None;
    }
    let line = command.and_then(CommandLine::read).map(CommandLine::opened);
    let line = line.unwrap_or_default();
    let printed = binary::counted(text);
    let marked = with_marked_words(&printed, &line);
    let cleaned = clean::terminal(&marked);
    let words = several::words(&line);
    let legible = legible(&cleaned, &words);
    let input = Input {
        text: &legible,
        words: &words,
        exit: match exit {
            Exit::Failure if line.prints_more() => Exit::LastFailure,
            exit => exit,
        },
    };
    let source_lines = input.lines().count() + lines_of_bytes(text, &printed);
    let cleaned_chars = cleaned.char_count();
    let source_chars = match &cleaned {
        Cow::Borrowed(same) if std::ptr::eq(*same, text) => cleaned_chars,
        Cow::Borrowed(_) | Cow::Owned(_) => text.char_count(),
    };
    // Output that is short without overwritten progress needs none of the rules for long outputs.
    let is_short =
        cleaned_chars <= WHOLE_CHARS.min(budget_chars) && cleaned.len() * SHORT_SHARE <= text.len();
    let asked_lines = line.asked_lines();
    let is_as_printed = cleaned.len() == text.len() && cleaned_chars <= budget_chars;
    let from_several = runs_others(&input) || line.runs_several() || line.may_say_why_unprepared();
    let may_be_cut = cut_mark::may_stand_in(&legible);
    let fits = cleaned_chars <= budget_chars;
    let level = policy.map(|policy| policy.level);
    if let Some(lossless) = lossless_if_kept(&cleaned, level, budget_chars) {
        let is_shorter = lossless.char_count() < source_chars;
        return is_shorter.then(|| (lossless.into_owned(), None));
    }
    let finished = |name: &'static str, write: &dyn Fn(&mut Output)| {
        let mut output = Output::asked_for(asked_lines)
            .of_source(text.len())
            .with_nested(NESTED);
        write(&mut output);
        if output.is_to_stay() && (level.is_none() || fits) {
            return Some(Made::Whole);
        }
        let trusted = exit == Exit::Success || output.saw_failure() || name == generic::FAMILY.name;
        if output.is_empty() && !output.is_to_fill() || !trusted {
            return None;
        }
        if may_be_cut {
            cut_mark::keep(&legible, &mut output);
        }
        let reduced = match level {
            Some(level) => {
                output.finish_within(&legible, source_lines, budget_chars, level, IMPORTANCE)
            }
            None => output.finish_of(&legible, source_lines, budget_chars),
        };
        // Tabs expanded to blanks can make the clean text longer than the source.
        let saved = cleaned_chars
            .min(source_chars)
            .saturating_sub(reduced.char_count());
        if is_as_printed && saved * LEAST_SAVED_SHARE < cleaned_chars {
            return Some(Made::Whole);
        }
        (saved > 0).then_some(Made::Text(reduced, name))
    };
    let cannot_be_cut = fits && is_one_line(&cleaned);
    let sections = (!is_short).then(|| Sections::of(&legible, &line, exit));
    let of_sections = sections
        .flatten()
        .and_then(|sections| finished(several::FAMILY.name, &|output| sections.write(output)));
    let whole = || cannot_be_cut.then_some(Made::Whole);
    let empty = || {
        is_blank(&cleaned).then(|| Made::Text(account_of_all(source_lines), generic::FAMILY.name))
    };
    let made = of_sections.or_else(whole).or_else(empty).or_else(|| {
        let answer = Answer::of(input, &line, from_several);
        let known = answer.families(may_be_cut);
        known
            .chain((!is_short).then_some(&generic::FAMILY))
            .find_map(|family| {
                if fits && asked::shows_all(family, &input, &line) {
                    return Some(Made::Whole);
                }
                finished(family.name, &|output| {
                    answer.write(family, output);
                })
            })
    });
    let made = match made {
        // The text is longer than the target allows.
        Some(Made::Whole) | None if level.is_some() && !fits => {
            finished(generic::FAMILY.name, &Output::fills)
        }
        made => made,
    };
    match made {
        Some(Made::Text(reduced, family)) => Some((reduced, Some(family))),
        Some(Made::Whole) | None => {
            (cleaned_chars < source_chars).then(|| (cleaned.into_owned(), None))
        }
    }
}

/// `text` without repeats, if nothing more is removed at this level.
fn lossless_if_kept(text: &str, level: Option<Level>, target_chars: usize) -> Option<Cow<'_, str>> {
    if level? == Level::Verdict {
        return None;
    }
    let lossless = lossless::folded(text);
    let is_kept = level == Some(Level::Lossless) || lossless.char_count() <= target_chars;
    is_kept.then_some(lossless)
}

/// How many lines of `text` are counted by the notes about binary lines in `printed`.
fn lines_of_bytes(text: &str, printed: &str) -> usize {
    if std::ptr::eq(text, printed) {
        return 0; // all of it is text: millions of lines need no counting
    }
    lines(text).count().saturating_sub(lines(printed).count())
}

/// Whether `text` is a single line that is not long, so that a part of it would not be useful. JSON can be divided.
fn is_one_line(text: &str) -> bool {
    let line = text.trim();
    text.len() <= LONG_TEXT_BYTES && !line.starts_with(['{', '[']) && !line.contains('\n')
}

/// Whether `text` consists of blanks and line ends.
fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_whitespace())
}

/// `text` with markers around the words that a command of `line` marks by colour alone.
fn with_marked_words<'a>(text: &'a str, line: &CommandLine) -> Cow<'a, str> {
    if colours_words(line) {
        clean::marked_words(text)
    } else {
        Cow::Borrowed(text)
    }
}

/// Whether a command of `line` marks words by colour alone.
fn colours_words(line: &CommandLine) -> bool {
    let is_option = |word: &String| COLOURED_WORDS.iter().any(|option| word.starts_with(option));
    let mut printers = line.printers();
    printers.any(|words| git_subcommand(&words).is_some() && words.iter().any(is_option))
}

/// The reduction of an input by a family that recognises it.
enum Made {
    /// The reduced text, and the name of the family.
    Text(String, &'static str),
    /// All of it is needed.
    Whole,
}

/// `text` with very long lines cut; what a search looked for is kept.
fn legible<'a>(text: &'a str, words: &[String]) -> Cow<'a, str> {
    let pattern = LazyCell::new(|| Pattern::of(words));
    long_line::cut(text, |part| pattern.find(part))
}

/// The names of all families, [`generic`] last.
pub(crate) fn family_names() -> impl Iterator<Item = &'static str> {
    FAMILIES
        .into_iter()
        .chain([&cut_mark::FAMILY, &several::FAMILY, &generic::FAMILY])
        .map(|family| family.name)
}

/// The name of the family that `reduce` would try first.
pub(crate) fn family_name(text: &str, command: Option<&str>) -> &'static str {
    first_family(text, command, |_, family| family.name).unwrap_or(generic::FAMILY.name)
}

/// The name of the registered format that `reduce` would try first.
pub(crate) fn registered_name(text: &str, command: Option<&str>) -> Option<String> {
    let name = |input: &Input<'_>, family: &Family| {
        let is_registered = family.name == USERS.name;
        is_registered
            .then(|| formats::registered_name(input))
            .flatten()
    };
    first_family(text, command, name).flatten()
}

fn first_family<T>(
    text: &str,
    command: Option<&str>,
    get: impl Fn(&Input<'_>, &Family) -> T,
) -> Option<T> {
    let printed = binary::counted(text);
    let cleaned = clean::terminal(&printed);
    let words = command.and_then(producer).unwrap_or_default();
    let legible = legible(&cleaned, &words);
    let input = Input {
        text: &legible,
        words: &words,
        exit: Exit::Success,
    };
    families(&input).next().map(|family| get(&input, family))
}
