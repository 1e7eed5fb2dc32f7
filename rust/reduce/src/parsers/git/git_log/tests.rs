use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::tested;

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Success)
}

fn history(commits: usize) -> String {
    let mut text = String::new();
    for number in 0..commits {
        let name = format!("{number:08x}").repeat(5);
        let _ = write!(
            text,
            "commit {name}\nAuthor: Ada B <a@b.c>\nDate:   Mon May 18 14:40:24 2026 +0000\n\n    \
             Change {number}\n    \n    Because of this and that.\n    Fixes: X-{number}\n    \
             Signed-off-by: Ada\n\n src/a.c | {number} +++++---\n 1 file changed, {number} \
             insertions(+)\n\n"
        );
    }
    text
}

#[test]
fn a_number_that_was_asked_for_is_honoured() {
    let short = reduced(&history(300), "git log -n 300");
    assert_eq!(short.matches(" Change ").count(), 300);
    let short = reduced(&history(300), "git log");
    assert_eq!(
        short
            .lines()
            .filter(|line| line.starts_with("0000"))
            .count(),
        201
    );
    assert!(short.contains(" Change 299\n"));
}

#[test]
fn a_graph_keeps_the_newest_and_where_branches_meet() {
    let mut text = String::new();
    for number in 0..150 {
        let what = if number % 40 == 39 {
            "Merge branch 'x'"
        } else {
            "Do a thing that takes words"
        };
        let _ = writeln!(text, "| * {number:07x} {what} {number}");
        text.push_str("|/  \n");
    }
    let short = reduced(&text, "git log --oneline --graph");
    for fact in [
        "0000000 Do a thing that takes words 0\n",
        "0000013 Do a thing that takes words 19\n0000014 0000015",
        "Merge branch 'x' 119\n",
        "words 149\n",
    ] {
        assert!(short.contains(fact), "{fact}: {short}");
    }
    assert!(short.len() * 5 < text.len());
    let whole = reduced(&text, "git log --oneline --graph -n 150");
    assert_eq!(whole.lines().count(), 151);
}

#[test]
fn a_diff_is_another_family() {
    let text = history(1) + "diff --git a/x b/x\n";
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Unknown,
    };
    assert_eq!(recognises(&input), Match::No);
}

#[test]
fn a_shortlog_has_all_subjects_under_their_authors() {
    let subjects = (0..60)
        .map(|at| format!("      Fix oak {at}\n"))
        .collect::<Vec<_>>()
        .concat();
    let short = reduced(
        &format!("Ada B (60):\n{subjects}\n"),
        "git shortlog v1..main",
    );
    assert!(
        short.starts_with("Ada B (60):\nFix oak 0\nFix oak 1\n"),
        "{short}"
    );
    assert!(
        (0..60).all(|at| short.contains(&format!("Fix oak {at}\n"))),
        "{short}"
    );
}

#[test]
fn what_a_graph_draws_is_no_part_of_a_name() {
    for (line, rest) in [
        ("| |  .github/oak.yml | 3 +", ".github/oak.yml | 3 +"),
        ("|\\ \\  _static/leaf.css | 9 -", "_static/leaf.css | 9 -"),
        ("*-.   2463db40 Join three", "2463db40 Join three"),
        ("| |_|/  ", ""),
        ("* 2463db40 Subject", "2463db40 Subject"),
        (" .oak | 1 +", " .oak | 1 +"),
    ] {
        assert_eq!(commit::without_graph(line), rest);
    }
}
