//! What a reduced text states that the text does not say: each line is shown or counted, in order, and once.

use ethos_registry_core::clean;

use super::Broken;
use super::walk::{self, Lie};
use crate::case::Case;

/// What states how to see lines that are cut.
const HINT: &str =
    "[lines with \"...[N chars]...\" are cut; pipe the command into \"fold\" to see them]";
const NOTICE: (&str, &str, &str) = (
    "\n... [reduced from ",
    " lines / ",
    " chars to head+tail] ...\n",
);
/// First lines that show how a command ended.
const ENDS: [&str; 2] = ["Command exited with code ", "Command was killed"];
/// Options with which git marks words by colour alone, which become signs.
const COLOURED: [&str; 2] = ["--color-words", "--word-diff=color"];
const TIMES: &str = " \u{d7}";

/// The first lie of `reduced`, if there is one.
pub(super) fn of(case: &Case<'_>, reduced: &str) -> Option<Broken> {
    let is_coloured = |command: &str| COLOURED.iter().any(|option| command.contains(option));
    // Binary lines are counted before anything else.
    if case.text.contains('\0') || case.command.as_deref().is_some_and(is_coloured) {
        return None;
    }
    let has_end = case.exit_code != Some(0) && ENDS.iter().any(|end| case.text.starts_with(end));
    let (end, text) = case.text.split_at(if has_end {
        case.text.find('\n').map_or(case.text.len(), |at| at + 1)
    } else {
        0
    });
    let Some(reduced) = reduced.strip_prefix(end) else {
        return Some(Broken::Row);
    };
    let cleaned = clean::terminal(text);
    if reduced.trim().is_empty() && !cleaned.trim().is_empty() {
        return Some(Broken::Empty);
    }
    if reduced == cleaned || repeats(reduced, &cleaned) || is_head_and_tail(reduced, &cleaned) {
        return None;
    }
    let rows: Vec<&str> = reduced.split('\n').collect();
    let all = cleaned
        .strip_suffix('\n')
        .unwrap_or(&cleaned)
        .split('\n')
        .count();
    let found = match rows
        .split_last()
        .map(|(last, before)| (account(last), before))
    {
        Some((Some((left_out, counted)), before)) if counted == all => {
            lie(&cleaned, before, left_out)
        }
        Some((Some(_), _)) => Some(Broken::Account),
        _ => return lie(&cleaned, &rows, 0),
    };
    // The output may end with such a line itself.
    found.filter(|_| lie(&cleaned, &rows, 0).is_some())
}

/// The first lie of rows without an account.
fn lie(text: &str, rows: &[&str], left_out: usize) -> Option<Broken> {
    let rows = rows.strip_suffix(&[HINT]).unwrap_or(rows);
    walk::lie(text, rows, left_out).map(|lie| match lie {
        Lie::Row => Broken::Row,
        Lie::Place => Broken::Place,
        Lie::Account => Broken::Account,
        Lie::Listed => Broken::Listed,
    })
}

/// The numbers of the account: the lines that are left out, and all.
fn account(row: &str) -> Option<(usize, usize)> {
    let numbers = row.strip_prefix('[')?.strip_suffix(" lines left out]")?;
    let (left_out, all) = numbers.split_once(" of ")?;
    Some((left_out.parse().ok()?, all.parse().ok()?))
}

/// Whether `reduced` is `text` with its runs of equal lines counted.
fn repeats(reduced: &str, text: &str) -> bool {
    if text.contains(TIMES) {
        return false;
    }
    let mut lines = text.split('\n');
    let is_equal = reduced.split('\n').all(|row| {
        let (line, times) = row.rsplit_once(TIMES).unwrap_or((row, "1"));
        let times = times.parse().unwrap_or(0);
        times > 0 && (0..times).all(|_| lines.next() == Some(line))
    });
    is_equal && lines.next().is_none()
}

/// Whether `reduced` is the beginning and the end of `text` with a notice of both lengths between them.
fn is_head_and_tail(reduced: &str, text: &str) -> bool {
    let (before, lines, chars) = NOTICE;
    let body = text.strip_suffix('\n').unwrap_or(text);
    let notice = format!(
        "{before}{}{lines}{}{chars}",
        body.split('\n').count(),
        text.chars().count()
    );
    reduced.match_indices(&notice).any(|(at, _)| {
        let head = reduced.get(..at).unwrap_or_default();
        let tail = reduced.get(at + notice.len()..).unwrap_or_default();
        head.len() + tail.len() < text.len() && text.starts_with(head) && text.ends_with(tail)
    })
}
