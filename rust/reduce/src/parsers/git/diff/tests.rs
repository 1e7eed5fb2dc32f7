//! What stays of diffs.

mod merge;

use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::pipeline::terminal;
use crate::tested;

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Success)
}

#[test]
fn rows_that_differ_in_numbers_are_all_told_of_what_was_compared() {
    let text: String = (1..10).fold("--- a\n+++ b\n".to_owned(), |text, number| {
        let at = number * 30;
        text + &format!(
            "@@ -{at},2 +{at},2 @@\n row {at}\n-row {number} {at}\n+row {number} {number}\n"
        )
    });
    let told = tested::reduced(&FAMILY, &text, "diff -u <(./old) <(./new)", Exit::Failure);
    for number in 1..10 {
        let at = number * 30;
        for fact in [
            format!("@@ -{at},2 +{at},2 @@"),
            format!("-row {number} {at}"),
        ] {
            assert!(told.contains(&fact), "{fact}: {told}");
        }
    }
}

#[test]
fn a_short_history_has_both_sides_of_each_change() {
    let text: String = (1..6).fold(String::new(), |text, number| {
        let side = "leaf of an oak ".repeat(4);
        let around = " bark and root\n".repeat(6);
        text + &format!(
            "commit {number:040x}\nAuthor: Ash <ash@oak.test>\nDate:   Mon Nov 3 10:16:00 2025 +0000\n\n    \
             Fold leaves\n\ndiff --git a/f{number} b/f{number}\n--- a/f{number}\n+++ b/f{number}\n\
             @@ -1,7 +1,7 @@\n{around}-{side}{number}\n+{side}{number}, folded\n\n"
        )
    });
    let told = reduced(&text, "git log -p -n 5");
    assert!(
        told.contains("4\n+leaf of an oak ") && told.contains(" 4, folded\n"),
        "{told}"
    );
    assert!(!told.contains("bark"), "{told}");
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
fn changed_lines_stay_and_lines_around_them_go() {
    let text = "diff --git a/x.c b/x.c\nindex 1..2 100644\n--- a/x.c\n+++ b/x.c\n@@ -1,3 +1,3 @@ int \
                    main()\n one\n--- two\n+++ three\n four\ndiff --git a/old b/new\nsimilarity index \
                    100%\nrename from old\nrename to new\ndiff --git a/run b/run\nold mode 100644\nnew \
                    mode 100755\n";
    assert_eq!(
        reduced(text, "git diff"),
        "+++ b/x.c\n@@ -1,3 +1,3 @@ int main()\n--- two\n+++ three\nrename from old\nrename to \
             new\ndiff --git a/run b/run\nold mode 100644\nnew mode 100755\n[7 of 16 lines left out]"
    );
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
fn a_formatter_keeps_files_places_and_its_verdict() {
    let text = "--- src/a.py\t2026-01-01 10:00\n+++ src/a.py\t2026-01-01 10:01\n@@ -4,3 +4,3 @@\n \
                    x\n-y=1\n+y = 1\n z\nwould reformat src/a.py\n1 file would be reformatted.\n";
    assert_eq!(
        reduced(text, "black --diff ."),
        "+++ src/a.py\n@@ -4,3 +4,3 @@\n-y=1\n+y = 1\nwould reformat src/a.py\n1 file would be \
             reformatted.\n[3 of 9 lines left out]"
    );
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

#[test]
fn heads_of_hunks_that_count_wrong_lose_no_change_and_no_commit() {
    let mut text = String::new();
    for commit in 0..5 {
        let name = format!("{commit:08x}").repeat(5);
        let _ = write!(
            text,
            "commit {name}\nAuthor: Ada <a@b.c>\n\n    Subject {commit}\n\ndiff --git a/x{commit} b/x{commit}\n--- \
                 a/x{commit}\n+++ b/x{commit}\n@@ -1,{} +1,{} @@\n context\n-old {commit}\n+new \
                 {commit}\n more context\n\n",
            1 + commit * 9,
            1 + commit * 9
        );
    }
    let short = reduced(&text, "git log -p");
    for commit in 0..5 {
        let told = format!("commit {commit:08x}\nSubject {commit}\n+++ b/x{commit}\n");
        assert!(short.contains(&told), "{told}: {short}");
    }
    assert!(!short.contains("context"), "{short}");
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
fn a_small_diff_tells_lines_that_differ_by_numbers_only() {
    let rows: Vec<String> = (0..9).map(|row| format!("-P{row},8{row}\n")).collect();
    let rows = rows.concat();
    let diff = format!("diff --git a/p b/p\n--- a/p\n+++ b/p\n@@ -1,11 +1,2 @@\n a\n{rows} z\n");
    assert!(reduced(&diff, "git diff").contains("-P4,84\n"));
    assert!(reduced(&diff, "git log -p").contains("[7 lines left out]"));
    let merge = diff.replace("@@", "@@@").replace("--git a/p b/p", "--cc p");
    assert!(reduced(&merge, "git diff").contains("[7 lines left out]"));
}

#[test]
fn hunks_whose_lines_others_tell_have_no_head() {
    let mut text = String::from("diff --git a/x.json b/x.json\n--- a/x.json\n+++ b/x.json\n");
    for hunk in 0..400 {
        let _ = write!(
            text,
            "@@ -{hunk}1,3 +{hunk}1,3 @@\n {{\n-  \"height\": 11{hunk},\n+  \"height\": 22{hunk},\n }}\n"
        );
    }
    let short = reduced(&text, "git diff");
    assert!(
        short.starts_with("+++ b/x.json\n@@ -01,3 +01,3 @@\n-  \"height\": 110,\n"),
        "{short}"
    );
    assert!(
        short.contains("@@ -3991,3 +3991,3 @@\n") && !short.contains("@@ -2001"),
        "{short}"
    );
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
fn of_marked_words_the_lines_around_them_are_left_out() {
    let text = format!(
        "diff --git a/oak.txt b/oak.txt\n--- a/oak.txt\n+++ b/oak.txt\n@@ -1,60 +1,60 @@\n{}leaf [-fell-]{{+stayed+}} in 7\n{}",
        "a calm line\n".repeat(30),
        "another calm line\n".repeat(29)
    );
    let short = reduced(&text, "git diff --word-diff");
    assert!(short.contains("leaf [-fell-]{+stayed+} in 7"), "{short}");
    assert!(!short.contains("calm"), "{short}");
    assert_eq!(reduced(&text, "git diff --color-words"), short);
    let without_colours = text.replace("[-fell-]{+stayed+}", "fellstayed");
    assert!(reduced(&without_colours, "git diff --color-words").contains("calm"));
    // Of several commands no one knows which one was asked for words.
    let of_blanks = text
        .replace("\na calm", "\n a calm")
        .replace("\nanother", "\n another");
    let of_blanks = of_blanks.replace("\nleaf", "\n    leaf");
    let short = reduced(&of_blanks, "git diff");
    assert!(short.contains("leaf [-fell-]{+stayed+} in 7"), "{short}");
    assert!(!short.contains("calm"), "{short}");
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

#[test]
fn lines_of_a_hunk_without_its_head_do_not_crowd_out_commits() {
    let name = "0123456789abcdef0123456789abcdef01234567";
    let cut: Vec<String> = (0..300)
        .map(|row| format!(" same {row}\n-old {row}\n+new {row}\n"))
        .collect();
    let commits: Vec<String> = (0..9)
        .map(|commit| {
            format!(
                "commit {name}\nAuthor: A <a@b.c>\n\n    Plant oak {commit}\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old {commit}\n+new {commit}\n"
            )
        })
        .collect();
    let text = format!("of a line\n{}{}", cut.concat(), commits.concat());
    let reduced = reduced(&text, "git log -p");
    for commit in 0..9 {
        assert!(
            reduced.contains(&format!("Plant oak {commit}")),
            "{reduced}"
        );
    }
    assert!(!reduced.contains("same 40"), "{reduced}");
}

#[test]
fn the_bytes_of_a_file_that_is_no_text_are_left_out() {
    let packed = "zcmV;p3rF<Kl*_I+PZfCgSdu8I;2U2|9+dih2^gUIz(wEudgC+_Gh*Iso1saTw*e>>\n".repeat(30);
    let text = format!(
        "diff --git a/oak.png b/oak.png\nindex 1..2 100644\nGIT binary patch\nliteral 1500\n{packed}\nliteral 1400\n{packed}\n\
         diff --git a/elm.txt b/elm.txt\nindex 3..4 100644\n--- a/elm.txt\n+++ b/elm.txt\n@@ -1 +1 @@\n-leaf\n+leaves\n"
    );
    let told = tested::reduced(&FAMILY, &text, "git diff --binary", Exit::Success);
    assert!(
        told.starts_with("diff --git a/oak.png b/oak.png\nGIT binary patch\n+++ b/elm.txt\n@@ -1 +1 @@\n-leaf\n+leaves\n"),
        "{told}"
    );
}
