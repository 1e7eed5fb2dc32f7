//! What git lists of tags and branches: every one is a name that somebody may ask for next.

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::shorten;
use crate::output::Output;

pub(crate) const FAMILY: Family = Family {
    name: "git refs",
    runs,
    marks: Marks::Never,
    recognises,
    reduce,
};

/// Digits that tell one object of git from others.
const OBJECT_CHARS: usize = 8;
const LINE_CHARS: usize = 240;
/// Up to this many bytes all rows are shown.
const ROWS_BYTES: usize = 8_000;
/// Of more rows the first and the last, which in most orders are the oldest and the newest.
const FIRST_ROWS: usize = 100;
const LAST_ROWS: usize = 100;
/// Options with which a list of stashes shows what is in them.
const PATCHES: [&str; 4] = ["-p", "-u", "--patch", "--stat"];
/// How lines begin in which git states what it could not do.
static FAILURES: Beginnings<2> = Beginnings::new(["error: ", "fatal: "]);

/// Whether git lists what has a name: also stashes, worktrees, submodules and what is fetched from.
fn runs(input: &Input<'_>) -> bool {
    let asks_for = |word: &str| input.words.iter().any(|of_command| of_command == word);
    input.git_is(&["tag", "branch", "for-each-ref", "show-ref", "ls-remote"])
        || input.git_is(&["stash", "worktree"])
            && asks_for("list")
            && !PATCHES.iter().any(|option| input.has(option))
        || input.git_is(&["submodule"]) && asks_for("status")
        || input.git_is(&["remote"]) && input.has("-v")
}

fn recognises(input: &Input<'_>) -> Match {
    if input.text.is_empty() {
        Match::No
    } else {
        Match::Likely
    }
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let most = ROWS_BYTES.max(output.asked_lines() * LINE_CHARS);
    let shown = if input.text.len() <= most {
        whole
    } else {
        object
    };
    let (mut lines, mut bytes) = (0, 0);
    for line in input.lines() {
        lines += 1;
        bytes += line
            .split_ascii_whitespace()
            .map(|word| shown(word).len() + 1)
            .sum::<usize>();
    }
    let last_from = if bytes <= most {
        0
    } else {
        lines - LAST_ROWS.min(lines)
    };
    let mut left_out = 0;
    let mut row = String::new();
    for (number, line) in input.lines().enumerate() {
        let failed = FAILURES.begin(line);
        if !failed && (FIRST_ROWS..last_from).contains(&number) {
            left_out += 1;
            continue;
        }
        output.gap(std::mem::take(&mut left_out));
        if failed {
            output.failed();
        }
        write_row(line, shown, &mut row);
        if !row.is_empty() {
            output.fact(&shorten(&row, LINE_CHARS));
        }
    }
    output.stays_unless_shorter(input.text);
}

/// Writes into `row` what `shown` gives of each word of `line`, without padding.
fn write_row(line: &str, shown: fn(&str) -> &str, row: &mut String) {
    row.clear();
    for word in line.split_ascii_whitespace() {
        if !row.is_empty() {
            row.push(' ');
        }
        row.push_str(shown(word));
    }
}

fn whole(word: &str) -> &str {
    word
}

/// The first digits of `word` when it is the whole name of an object.
fn object(word: &str) -> &str {
    let is_name =
        matches!(word.len(), 40 | 64) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.get(..OBJECT_CHARS).filter(|_| is_name).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::tested;

    fn reduced(text: &str, command: &str) -> String {
        tested::reduced(&FAMILY, text, command, Exit::Success)
    }

    fn tags(count: usize) -> String {
        (0..count).fold(String::new(), |text, number| {
            text + &format!("v1.{number}.0\n")
        })
    }

    #[test]
    fn stashes_and_worktrees_that_differ_in_numbers_are_all_told() {
        let lines = |form: fn(usize) -> String| (0..30).map(form).collect::<Vec<_>>().concat();
        let stashes =
            lines(|number| format!("stash@{{{number}}}: On main: leaf {number} of the old oak\n"));
        let told = terminal(&stashes, "git stash list");
        assert!(
            told.contains("stash@{17}: On main: leaf 17 of the old oak"),
            "{told}"
        );
        let trees =
            lines(|number| format!("/srv/oak/leaf-{number}   0a1b2c{number:02} [leaf-{number}]\n"));
        let told = terminal(&trees, "git worktree list");
        assert!(told.contains("/srv/oak/leaf-17"), "{told}");
    }

    fn terminal(text: &str, command: &str) -> String {
        let reduced =
            crate::pipeline::terminal::reduce(text, Some(command), Exit::Success, usize::MAX);
        reduced.map_or_else(|| text.to_owned(), |(reduced, _)| reduced)
    }

    #[test]
    fn names_that_differ_in_numbers_are_all_told() {
        let told = reduced(
            &(0..60)
                .map(|number| {
                    format!("  feat/OAK-{number}-leaf    0a1b2c{number:02} [ahead {number}] Grow\n")
                })
                .collect::<Vec<_>>()
                .concat(),
            "git branch -vv",
        );
        for number in 0..60 {
            let row = format!("feat/OAK-{number}-leaf 0a1b2c{number:02} [ahead {number}] Grow\n");
            assert!(told.contains(&row), "{row}: {told}");
        }
    }

    #[test]
    fn objects_of_many_are_told_by_their_first_digits() {
        let name = "0123456789abcdef0123456789abcdef01234567";
        let rows = |count| {
            format!("{name}\trefs/tags/v1.0.0\n{name}\trefs/tags/v1.1.0^{{}}\n").repeat(count)
        };
        let few = reduced(&rows(2), "git ls-remote --tags origin");
        assert!(few.contains(name), "{few}");
        let many = reduced(&rows(100), "git ls-remote --tags origin");
        assert!(
            many.contains("01234567 refs/tags/v1.0.0\n01234567 refs/tags/v1.1.0^{}\n"),
            "{many}"
        );
        assert!(!many.contains(name), "{many}");
    }

    #[test]
    fn of_very_many_the_first_and_the_last_are_told_and_what_git_could_not_do() {
        let text = format!("{}fatal: oak is gone\n{}", tags(900), tags(900));
        let told = reduced(&text, "git tag");
        for fact in [
            "v1.0.0\nv1.1.0\n",
            "\nfatal: oak is gone\n",
            "\nv1.898.0\nv1.899.0\n",
        ] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
        assert!(told.len() < 3_000, "{told}");
    }
}
