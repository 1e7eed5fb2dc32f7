//! The text of a file: an outline of source code or of prose with headings, the packages of a lock file.

mod asked;
mod c;
mod kind;
mod lock;
mod members;

use self::asked::{is_part, kind};
use self::c::C;
use self::kind::Kind;
use self::members::Members;
use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line;
use crate::line::beginnings::Beginnings;
use crate::line::source::{is_assigned, is_head, is_mark};
use crate::output::Output;

pub(crate) const FAMILY: Family = Family {
    name: "file",
    runs,
    marks: Marks::OneOf(&[&["0\t"]]),
    recognises,
    reduce,
};

/// How many lines below a heading are shown while there is room.
const LINES_BELOW_HEADING: usize = 3;
/// What a person wrote stays whole up to this size; longer code and prose are identified by an outline.
const WHOLE_BYTES: usize = 16_384;
const OUTLINE_CHARS: usize = 120;
/// Fewer numbered lines prove no listing.
const LEAST_NUMBERED: usize = 20;
/// Prefixes of lines that say that something is wrong.
static RAISES: Beginnings<6> = Beginnings::new([
    "raise ",
    "throw ",
    "panic!(",
    "panic(",
    "bail!(",
    "return Err(",
]);

fn runs(input: &Input<'_>) -> bool {
    let is_short = input.text.len() <= WHOLE_BYTES;
    kind(input).is_some_and(|kind| match kind {
        // Long settings are data of any form.
        Kind::Settings => is_part(input) || is_short,
        Kind::Rows => is_short,
        Kind::Lock | Kind::Source | Kind::Prose => true,
    })
}

/// Whether most of the first lines are numbered one after the other, as `cat -n` and `nl` do it: they were
/// asked for to be read, whatever else was run beside them.
fn is_numbered(input: &Input<'_>) -> bool {
    let (mut numbered, mut lines, mut last) = (0, 0, 0_usize);
    for line in input.beginning() {
        lines += 1;
        let number = line.split_once('\t').map(|(number, _)| number.trim_start());
        let Some(Ok(number)) = number.map(str::parse::<usize>) else {
            continue;
        };
        numbered += usize::from(last.checked_add(1) == Some(number));
        last = number;
    }
    numbered >= LEAST_NUMBERED && numbered * 4 >= lines * 3
}

fn recognises(input: &Input<'_>) -> Match {
    if input.text.len() <= WHOLE_BYTES && is_numbered(input) {
        Match::Certain
    } else if runs(input) && !input.text.is_empty() {
        Match::Likely
    } else {
        Match::No
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    match kind(input) {
        _ if is_part(input) => output.stays(),
        None if input.text.len() <= WHOLE_BYTES && is_numbered(input) => output.stays(),
        Some(Kind::Lock) => lock::reduce(input, output),
        _ if input.text.len() <= WHOLE_BYTES => output.stays(),
        Some(Kind::Source) => outline(input, output),
        Some(Kind::Prose) => headings(input, output),
        Some(Kind::Settings | Kind::Rows) | None => {}
    }
}

/// The headings of prose with their line numbers; of the first lines below each as many as fit.
fn headings(input: &Input<'_>, output: &mut Output) {
    let mut rows: Vec<(usize, usize, &str)> = Vec::new();
    let (mut below, mut fenced) = (LINES_BELOW_HEADING, false);
    for (index, line) in input.lines().enumerate() {
        fenced ^= line.trim_start().starts_with("```");
        if !fenced && line::heading_level(line).is_some() {
            below = 0;
            rows.push((0, index + 1, line.trim_end()));
        } else if below < LINES_BELOW_HEADING && !line.trim().is_empty() {
            below += 1;
            rows.push((below, index + 1, line.trim_end()));
        }
    }
    if rows.len() < 5 {
        return;
    }
    let bytes = |most: usize| -> usize {
        let shown = rows.iter().filter(|(below, ..)| *below <= most);
        shown
            .map(|(_, _, text)| text.len().min(OUTLINE_CHARS) + 6)
            .sum()
    };
    let target = input.text.len() * 19 / 100;
    let most = (1..=LINES_BELOW_HEADING)
        .rev()
        .find(|most| bytes(*most) <= target);
    for (below, number, text) in rows {
        if below <= most.unwrap_or(0) {
            output.summary(
                &format!("{number}:{}", line::shorten(text, OUTLINE_CHARS)),
                1,
            );
        }
    }
}

/// How much a line of an outline matters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Head,
    Mark,
    Constant,
    Raise,
}

/// The headers of definitions with their line numbers, and of what else shows much as much as fits.
fn outline(input: &Input<'_>, output: &mut Output) {
    let mut rows = Vec::new();
    let c = C::shown(input);
    let mut members = Members::shown(input);
    let mut above = "";
    for (index, source) in input.lines().enumerate() {
        let text = source.trim();
        let is_of_c = c.is_some_and(|c| c.is_head(source, above.trim_end()));
        above = source;
        let is_member = members
            .as_mut()
            .is_some_and(|members| members.is_head(source));
        let rank = (is_of_c || is_member).then_some(Rank::Head);
        if let Some(rank) = rank.or_else(|| self::rank(source, text)) {
            rows.push((rank, index + 1, text));
        }
    }
    if rows.len() < 5 {
        // Data or prose with the name of a source file.
        return;
    }
    let bytes = |most: Rank| -> usize {
        let shown = rows.iter().filter(|(rank, ..)| *rank <= most);
        shown
            .map(|(_, _, text)| text.len().min(OUTLINE_CHARS) + 6)
            .sum()
    };
    let target = input.text.len() * 19 / 100;
    let most = [Rank::Raise, Rank::Constant, Rank::Mark]
        .into_iter()
        .find(|most| bytes(*most) <= target)
        .unwrap_or(Rank::Head);
    for (_, number, text) in rows.iter().filter(|(rank, ..)| *rank <= most) {
        output.summary(
            &format!("{number}:{}", line::shorten(text, OUTLINE_CHARS)),
            1,
        );
    }
}

fn rank(source: &str, text: &str) -> Option<Rank> {
    if is_head(text) || is_assigned(text) {
        Some(Rank::Head)
    } else if is_mark(text) {
        Some(Rank::Mark)
    } else if source.len() == text.len() && is_constant(text) {
        Some(Rank::Constant)
    } else if RAISES.begin(text) {
        Some(Rank::Raise)
    } else {
        None
    }
}

/// `LIMIT = 3`, `export const LIMIT = 3`, `#define LIMIT 3`.
fn is_constant(text: &str) -> bool {
    if text.starts_with("#define ") || text.starts_with("export const ") {
        return true;
    }
    let name = text.split([' ', ':', '=']).next().unwrap_or(text);
    name.len() > 1
        && text.contains('=')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::input::Exit;

    fn reduced(text: &str, command: &str) -> Option<String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let input = Input {
            text,
            words: &words,
            exit: Exit::Success,
        };
        assert_ne!(recognises(&input), Match::No, "{text}");
        let mut output = Output::default();
        reduce(&input, &mut output);
        (!output.is_to_stay()).then(|| output.finish(text.lines().count(), usize::MAX))
    }

    #[test]
    fn numbered_lines_stay_whatever_was_run_beside_them() {
        let mut text: String = (120..200).fold(String::new(), |text, number| {
            text + &format!("   {number}\tlet oak = leaf({});\n", number % 3)
        });
        text.push_str("awk: cannot open elm\n");
        assert_eq!(reduced(&text, "awk 1 elm"), None);
        let counts = "  12\toak\n  12\telm\n".repeat(40);
        let input = Input {
            text: &counts,
            words: &[],
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn rows_that_were_asked_for_stay() {
        let text = "oak,north,3\nelm,north,4\n".repeat(60);
        assert_eq!(reduced(&text, "head -n 120 trees.csv"), None);
        let words = ["cat".to_owned(), "trees.csv".to_owned()];
        let input = Input {
            text: &text,
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn long_prose_is_told_by_its_headings() {
        let mut text = String::from("# Leaves\n\nAll about them.\n");
        for number in 0..300 {
            let _ = writeln!(
                text,
                "\n## Tree {number}\n\nIt has many leaves.\n```sh\n# no heading\n```\n{}",
                "And more of it.\n".repeat(6)
            );
        }
        let short = reduced(&text, "cat docs/TREES.md").unwrap_or_default();
        assert!(short.starts_with("1:# Leaves\n"), "{short}");
        assert!(
            (0..300).all(|number| short.contains(&format!(":## Tree {number}\n"))),
            "{short}"
        );
        assert!(
            !short.contains("# no heading") && short.len() * 4 < text.len(),
            "{short}"
        );
        assert_eq!(reduced("# A\n\nAll about it.\n", "cat a.md"), None);
    }

    #[test]
    fn short_settings_stay_and_long_ones_are_of_no_known_form() {
        let text = "[oak]\nleaves = 12\n".repeat(80);
        assert_eq!(reduced(&text, "cat deploy/oak.toml"), None);
        let words = ["cat".to_owned(), "oak.toml".to_owned()];
        let input = Input {
            text: &text.repeat(20),
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }

    #[test]
    fn code_beside_data_is_not_all_that_is_shown() {
        let words = ["cat", "-n", "a.py", "rows.csv"].map(str::to_owned);
        let input = Input {
            text: "def f(): pass\n1,2,3\n",
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }
}
