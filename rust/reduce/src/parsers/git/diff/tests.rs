//! Tests of reduced diffs.

use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::pipeline::terminal;
use crate::tested;

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Success)
}

#[test]
fn the_only_change_of_a_file_is_told_even_where_others_are_like_it() {
    let text: String = (1..12).fold(String::new(), |text, number| {
        let body = (0..60 * (number % 2)).fold(String::new(), |body, row| {
            body + &format!("+let leaf_{} = oak();\n", "abcdefgh".repeat(1 + row % 9))
        });
        let lines = 2 + body.lines().count();
        text + &format!(
            "diff --git a/f{number} b/f{number}\n--- a/f{number}\n+++ b/f{number}\n\
             @@ -1,1 +1,{lines} @@\n root\n+use oak;\n{body}"
        )
    });
    let told = reduced(&text, "git diff");
    assert!(
        told.contains("+++ b/f6\n@@ -1,1 +1,2 @@\n+use oak;\n"),
        "{told}"
    );
}

#[test]
fn lines_like_others_stay_where_little_would_go_with_them() {
    let letters = "leaf oak bark twig root moss fern ivy elm ash";
    let text = (400_usize..440).fold(
        "diff --git a/oak.py b/oak.py\n--- a/oak.py\n+++ b/oak.py\n@@ -9,3 +9,99 @@\n".to_owned(),
        |text, code| {
            let from = code % 37;
            let words = letters.get(from..).unwrap_or_default();
            let name = format!("{}{}", "Leaf".repeat(1 + code % 7), "Oak".repeat(code % 11));
            let rows = "Twig".repeat(code % 13);
            text + &format!(
                "+class {name}(Tree):\n+    code = {code}\n+    text = \"{words} {name} {rows} {letters} {letters}\"\n+\n"
            )
        },
    );
    assert!(text.len() > 8_500, "{}", text.len());
    let told = reduced(&text, "git diff");
    for code in 400..440 {
        assert!(
            told.contains(&format!("+    code = {code}\n")),
            "{code}: {told}"
        );
    }
}

#[test]
fn a_large_diff_names_every_file_and_shares_the_room() {
    let mut text = String::new();
    for file in 0..10 {
        let _ = writeln!(
            text,
            "diff --git a/f{file}.py b/f{file}.py\n--- a/f{file}.py\n+++ b/f{file}.py\n@@ -0,0 +1,{} @@",
            1 + file * 400
        );
        for line in 0..=file * 400 {
            let word = "abcdefghij".repeat(1 + line % 40);
            let _ = writeln!(
                text,
                "+value_{word} = compute({line}, {file}, {})",
                "x".repeat(line / 40)
            );
        }
    }
    let short = reduced(&text, "git diff");
    for file in 0..10 {
        assert!(short.contains(&format!("+++ b/f{file}.py\n")));
    }
    assert!(
        short.contains("+value_abcdefghij = compute(0, 0, )\n")
            && short.contains(" lines left out]\n")
    );
    assert!(short.len() < 25_000, "{}", short.len());
}

#[test]
fn bars_of_a_stat_go_and_its_rows_stay() {
    let text = "commit 12345678\nAuthor: Ada <a@b.c>\n\n    Subject\n\n a/b.c  | 38 ++++++++----\n \
                    c.png  | Bin 0 -> 12 bytes\n 2 files changed, 30 insertions(+), 8 deletions(-)\n";
    assert_eq!(
        reduced(text, "git show --stat"),
        "commit 12345678\nAuthor: Ada <a@b.c>\nSubject\na/b.c 38 +-\nc.png Bin 0 -> 12 bytes\n2 files \
             changed, 30 insertions(+), 8 deletions(-)\n[2 of 8 lines left out]"
    );
}

#[test]
fn a_list_of_names_with_states_stays() {
    let text = "M\ta.c\nA\tb.c\nR100\tc.c\td.c\n";
    let words = ["git".to_owned(), "diff".to_owned()];
    let input = Input {
        text,
        words: &words,
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::Likely);
    let mut output = Output::default();
    reduce(&input, &mut output);
    assert!(output.is_to_stay());
}

/// A diff that deletes a file of `lines` lines.
fn deletion(lines: usize) -> String {
    let mut text = format!(
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ \
             -1,{lines} +0,0 @@\n"
    );
    for line in 0..lines {
        let word = "abcdefghij".repeat(1 + line % 5);
        let _ = writeln!(text, "-    {word}{} = {line}", "x".repeat(line / 5));
    }
    text
}

#[test]
fn a_small_diff_tells_every_line_of_a_deleted_file() {
    let text = deletion(40);
    let short = reduced(&text, "git diff");
    let told = |line: &str| short.lines().any(|row| row == line);
    assert!(text.lines().skip(5).all(told), "{short}");
    assert!(reduced(&deletion(300), "git diff").contains("[300 lines left out]\n"));
}

#[test]
fn what_is_no_diff_is_not_taken_for_one() {
    for text in [
        "--- a\n+++ b\nand more\n",
        "@@ -1 +1 @@ alone\n",
        "no diff at all\n",
    ] {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Unknown,
        };
        assert_eq!(recognises(&input), Match::No, "{text}");
    }
}

#[test]
fn of_what_a_formatter_would_do_all_places_and_the_first_lines_are_told() {
    let mut text = String::from("--- oak.py\n+++ oak.py\n");
    for hunk in 0..60 {
        let _ = writeln!(
            text,
            "@@ -{hunk},3 +{hunk},3 @@ def leaf():\n     pass\n-    fall(leaf_{hunk}, 'autumn', 'slowly')\n+    fall(leaf_{hunk}, \"autumn\", \"slowly\")"
        );
    }
    let short = reduced(&text, "ruff format --diff oak.py");
    assert!(
        (0..60).all(|hunk| short.contains(&format!("@@ -{hunk},3 +{hunk},3 @@"))),
        "{short}"
    );
    assert!(
        short.contains("leaf_0") && short.len() * 2 < text.len(),
        "{short}"
    );
    assert!(reduced(&text, "git diff").contains("leaf_59"));
}

#[test]
fn colours_are_read_as_marks_of_words_only_where_git_was_asked_for_them() {
    let rows = "\u{1b}[31mfell\u{1b}[m\u{1b}[32mstayed\u{1b}[m\n".repeat(60);
    let text = format!("\u{1b}[36m@@ -1,60 +1,60 @@\u{1b}[m\n{rows}");
    for (command, is_marked) in [
        ("git diff --color-words", true),
        ("git log -p --color-words='[a-z]+' | cat", true),
        ("./draw --color-words", false),
        ("echo 'git diff --color-words'; ./draw", false),
    ] {
        let reduced = terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
        let has_marks = reduced.is_some_and(|(reduced, _)| reduced.contains("[-fell-]"));
        assert_eq!(has_marks, is_marked, "{command}");
    }
}

#[test]
fn a_linter_that_was_asked_for_a_diff_writes_one() {
    let runs = |command: &str| {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        runs(&Input {
            text: "",
            words: &words,
            exit: Exit::Failure,
        })
    };
    assert!(runs("shellcheck -f diff a.sh") && runs("shellcheck --format=diff a.sh"));
    assert!(!runs("shellcheck -f gcc diff.sh") && !runs("shellcheck a.sh"));
}

#[test]
fn changes_without_context_are_a_diff_whatever_printed_them() {
    let known = |text: &str| {
        recognises(&Input {
            text,
            words: &[],
            exit: Exit::Failure,
        })
    };
    assert_eq!(
        known("3c3\n< oak\n---\n> elm\n7,8d6\n< leaf\n< bud\n"),
        Match::Certain
    );
    assert_eq!(known("3c3\n< oak\n---\n> elm\n"), Match::No);
    assert_eq!(
        known("> GET / HTTP/1.1\n> Host: a\n< HTTP/1.1 200 OK\n< Via: b\n"),
        Match::No
    );
}
