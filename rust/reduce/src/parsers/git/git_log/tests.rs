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
fn a_block_becomes_a_row_with_its_trailers_and_files() {
    let short = reduced(&history(6), "git log --stat");
    assert!(
        short.starts_with(
            "00000000 Change 0\nFixes: X-0\nsrc/a.c 0 +-\n1 file changed, 0 insertions(+)\n"
        ),
        "{short}"
    );
    assert!(short.contains("\nAuthor: Ada B\n"), "{short}");
    assert!(!short.contains("Signed-off-by"));
}

#[test]
fn one_author_of_several_is_not_told_as_the_only_one() {
    let text = history(6).replacen("Ada B", "Elm C", 2);
    let short = reduced(&text, "git log --stat");
    assert!(short.contains("\nAuthor: Ada B +1\n"), "{short}");
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
fn few_commits_keep_their_messages() {
    assert!(reduced(&history(2), "git log -2").contains("Because of this and that.\n"));
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
fn totals_below_commits_of_one_line_are_as_many_as_the_commits() {
    let text: String = (0..60).fold(String::new(), |text, number| {
        text + &format!("{number:07x} Change {number}\n 1 file changed, {number} insertions(+)\n")
    });
    let reduced = reduced(&text, "git log --oneline --shortstat -n 60");
    for fact in ["0000000 Change 0\n", "1 file changed, 59 insertions(+)"] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
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
fn commits_that_a_last_stage_asks_for_keep_their_subjects() {
    let text: String = (0..100).fold(String::new(), |text, number| {
        text + &format!(
            "{number:040x} oak@elm.test Leaf {number} falls far from the tree and stays there\n"
        )
    });
    let reduced = |command| {
        let short =
            crate::pipeline::terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
        short.map_or_else(|| text.clone(), |(short, _)| short)
    };
    assert!(reduced("git log --format='%H %ae %s' | tail -100").contains("Leaf 77 falls"));
    assert!(!reduced("git log --format='%H %ae %s'").contains("Leaf 77 falls"));
}

#[test]
fn blocks_of_a_format_of_its_own_keep_every_name_and_subject() {
    let mut text = String::new();
    for number in 0..45 {
        let name = format!("{:08x}", number + 0x0a0b_0c00).repeat(5);
        let _ = write!(
            text,
            "{name}\n  author: Ada B <a@b.c>\n  Mon May 18\n  Leaf {number}\n  Because of this.\n\n"
        );
    }
    let told = reduced(&text, "git log --format=%H%n%an%n%cd%n%B -n 45");
    assert!(
        told.starts_with(
            "0a0b0c00\nauthor: Ada B <a@b.c>\nMon May 18\nLeaf 0\nBecause of this.\n0a0b0c01\nLeaf 1\n0a0b0c02\nLeaf 2\n"
        ),
        "{told}"
    );
    assert!(told.contains("\n0a0b0c2c\nLeaf 44\n"), "{told}");
}

#[test]
fn lines_without_names_of_commits_are_told_one_by_one() {
    let mut text = String::new();
    for number in 0..300 {
        let _ = writeln!(text, "2026-05-18 Ada B: Leaf of release 1.{number} grows");
    }
    let told = reduced(&text, "git log --format=%ad_%an:_%s --date=short");
    assert!(
        told.contains("2026-05-18 Ada B: Leaf of release 1.137 grows\n"),
        "{told}"
    );
    assert!(
        told.contains("2026-05-18 Ada B: Leaf of release 1.299 grows\n"),
        "{told}"
    );
    assert!(!told.contains("1.250 grows"), "{told}");
    let asked = reduced(&text, "git log --format=%ad_%an:_%s -n 300");
    assert!(asked.contains("1.250 grows"), "{asked}");
}

#[test]
fn what_an_earlier_log_told_is_not_cut_to_the_number_that_a_later_one_was_asked_for() {
    let mut text = history(4);
    for number in 10..40 {
        let name = format!("{number:08x}").repeat(5);
        let _ = writeln!(text, "{name}\t{name}\tAda\tLeaf {number}");
    }
    text += "fatal: bad revision 'elm'\n";
    let short = reduced(
        &text,
        "git log -4; git log --format='%H%x09%P%x09%an%x09%s' -30; git log -1 elm",
    );
    for fact in [
        "00000003 Change 3",
        "\tAda\tLeaf 10",
        "\tAda\tLeaf 39",
        "fatal: bad revision 'elm'",
    ] {
        assert!(short.contains(fact), "{fact}: {short}");
    }
}

#[test]
fn rows_of_a_format_are_told_one_by_one_when_another_log_failed() {
    let mut text = String::new();
    for number in 10..40 {
        let name = format!("{number:08x}").repeat(5);
        let _ = writeln!(
            text,
            "{{\"commit\":\"{name}\",\"subject\":\"Leaf {number}\"}},"
        );
    }
    text += "fatal: ambiguous argument 'elm': unknown revision\n";
    let short = reduced(
        &text,
        "git log -30 --format='{\"commit\":\"%H\",\"subject\":\"%s\"},'; git log -1 --format=%B elm",
    );
    assert!(
        short.contains("\"Leaf 27\"") && short.contains("fatal: "),
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

#[test]
fn files_of_commits_without_a_subject_are_told() {
    let text = (0..30).fold(String::new(), |text, number| {
        let name = format!("{number:08x}").repeat(5);
        text + &format!("commit {name}\n\n{number}\t2\tsrc/oak{number}.c\n-\t-\ta leaf.png\n")
    });
    let short = reduced(&text, "git log --numstat --format='commit %H'");
    assert!(
        short.contains("\n7\t2\tsrc/oak7.c\n-\t-\ta leaf.png\n"),
        "{short}"
    );
}
