#![expect(clippy::unwrap_used, reason = "tests may panic")]

use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::tested;

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Success)
}

#[test]
fn rows_of_a_tree_of_git_are_told_by_their_paths_and_objects() {
    let rows = ["docs/a.md", "docs/b.md", "src/oak/leaf.rs"]
        .iter()
        .map(|path| {
            format!("100644 blob 5e1c309dae7f45e0f39b1bf3ac3cd9db12e7d689     320\t{path}\n")
        })
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(
        reduced(&rows, "git ls-tree -r -l HEAD"),
        "docs: a.md 5e1c309d b.md 5e1c309d\nsrc/oak: leaf.rs 5e1c309d\n[0 of 3 lines left out]"
    );
}

#[test]
fn found_names_stand_under_their_folder() {
    let text = "./top\n./top/a.c\n./top/b.c\n./top/inner/c.c\n./.git/objects/01\n";
    assert_eq!(
        reduced(text, "find ."),
        "./top: a.c b.c\n./top/inner: c.c\n.git: … (1)\n[2 of 5 lines left out]"
    );
}

#[test]
fn rows_of_files_in_several_folders_stand_under_these_unless_there_are_few() {
    let rows = "-rw-r--r-- 1 ash ash 320 Nov 23 16:44 ./oak/leaf.rs\n-rw-r--r-- 1 ash ash 99 Nov 23 16:44 ./oak/ring.rs\n\
                -rwxr-xr-x 1 ash ash 45100 Nov 23 16:44 ./elm/src/grow.sh\n-rw-r--r-- 1 ash ash 41 Nov 23 16:44 ./.git/HEAD\n\
                lrwxrwxrwx 1 ash ash 9 Nov 23 16:44 ./elm/twig -> ../oak/leaf.rs\n\
                -rw-r--r-- 1 ash ash 9 Nov 23 16:44 top.txt\n";
    let row = |leaf| format!("-rw-r--r-- 1 ash ash 320 Nov 23 16:44 ./fir/leaf_{leaf}.rs\n");
    let more = (10..90).map(row).collect::<Vec<_>>().concat();
    let command = "find . -type f -exec ls -l {} +";
    let short = reduced(&format!("{rows}{more}"), command);
    assert!(
        short.starts_with(
            "./oak: leaf.rs ring.rs\n./elm/src: -rwxr-xr-x grow.sh 45100\n./elm: twig -> ../oak/leaf.rs\n.: top.txt\n./fir: leaf_10.rs"
        ),
        "{short}"
    );
    assert!(reduced(rows, command).contains("./elm/src/grow.sh"));
}

#[test]
fn names_asked_for_by_a_pattern_are_all_there() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for number in 0..900_u32 {
        let letter = char::from_u32(97 + number % 26).unwrap();
        writeln!(text, "./source/{letter}{number}x.stories").unwrap();
    }
    let all = text.replace("./source/", "");
    let short = reduced(
        &all.replace(|sign: char| sign.is_ascii_digit(), "q"),
        "find -name x",
    );
    assert!(short.matches("qx.stories").count() == 900, "{short}");
    assert!(reduced(&text, "find .").len() < text.len() / 5);
}

#[test]
fn paths_of_which_some_are_left_out_are_not_asked_for_by_a_pattern() {
    let paths: Vec<String> = (1..40)
        .map(|at| format!("./oak/bark/leaf_of_{}\n", "x".repeat(at)))
        .collect();
    let text = paths.concat();
    for command in [
        "find . -type f -not -path './.git/*'",
        "find . -type f ! -path './.git/*'",
        "find . -path ./target -prune -o -print",
    ] {
        assert!(
            reduced(&text, command).starts_with("./oak/bark: "),
            "{command}"
        );
    }
}

#[test]
fn folders_of_a_recursive_list_keep_their_path() {
    let text = "src:\nlib\nmain.c\n\nsrc/lib:\n\nsrc/lib/deep:\nx.c\n";
    assert_eq!(
        reduced(text, "ls -R src"),
        "src: main.c\nsrc/lib/deep: x.c\n[4 of 8 lines left out]"
    );
}

#[test]
fn of_folders_that_are_not_long_every_name_is_told() {
    use std::fmt::Write as _;
    let mut text = String::from("oak:\ntotal 400\n");
    for name in "abcdefghijklmnopqrstuvwxyz"
        .chars()
        .flat_map(|first| "bcd".chars().map(move |next| (first, next)))
    {
        let (first, next) = name;
        writeln!(
            text,
            "-rw-r--r-- 1 ash ash   812 Nov  3 10:16 test_{first}leaf_{next}.py"
        )
        .unwrap();
    }
    let short = reduced(&text, "ls -lR oak");
    assert!(short.contains("test_qleaf_c.py test_qleaf_d.py"), "{short}");
}

#[test]
fn sizes_keep_the_sums_and_the_largest() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for number in 0..200 {
        let size = if number == 70 { "3.2G" } else { "4.0K" };
        writeln!(text, "{size}\t./store/part_{number}").unwrap();
    }
    text.push_str("3.3G\t.\n");
    let short = reduced(&text, "du -ah .");
    assert!(short.contains("3.2G\t./store/part_70\n") && short.contains("3.3G\t.\n"));
    assert!(short.len() * 5 < text.len(), "{short}");
}

#[test]
fn rows_asked_for_by_a_last_stage_are_all_there() {
    use crate::pipeline::terminal;
    let rows: String = (0..80).fold(String::new(), |rows, number| {
        rows + &format!("{number}M\t./store/part_{number}\n")
    });
    let reduced = |command| terminal::reduce(&rows, Some(command), Exit::Success, usize::MAX);
    assert_eq!(reduced("du -ah . | sort -h | tail -n 80"), None);
    assert!(reduced("du -ah . | sort -h").is_some());
}

#[test]
fn a_complaint_is_a_failure_and_stays() {
    let text = "find: './x': Permission denied\n./a\n./b\n";
    let words = ["find".to_owned()];
    let input = Input {
        text,
        words: &words,
        exit: Exit::Failure,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    assert!(output.saw_failure());
    let short = output.finish(3, usize::MAX);
    assert!(
        short.starts_with("find: './x': Permission denied\n"),
        "{short}"
    );
}

#[test]
fn what_git_said_before_its_list_is_no_list() {
    let said = "Auto-merging src/oak.py\nCONFLICT (content): Merge conflict in src/oak.py\n\
        Automatic merge failed; fix conflicts and then commit the result.\nOn branch elm\n";
    let object = "0123456789abcdef0123456789abcdef01234567";
    let rows = format!("100644 {object} 1\tsrc/oak.py\n100644 {object} 2\tsrc/leaf of oak.py\n");
    let words = ["git", "ls-files", "-u"].map(str::to_owned);
    let known = |text: &str| {
        recognises(&Input {
            text,
            words: &words,
            exit: Exit::Success,
        })
    };
    assert_eq!(known(&rows), Match::Likely);
    assert_eq!(known(&format!("{said}{rows}")), Match::No);
}

#[test]
fn counts_beside_paths_are_no_sizes_of_folders() {
    let rows: String = (10..70)
        .map(|number| format!("{number} src/deep/folder/module_{number}.py\n"))
        .collect::<Vec<_>>()
        .concat();
    let reduced = reduced(&rows, "fdfind -e py . src -x wc -l {}");
    for kept in ["module_10.py 10 ", "module_40.py 40 ", "module_69.py 69"] {
        assert!(reduced.contains(kept), "{kept}: {reduced}");
    }
}

#[test]
fn rows_of_an_archive_are_told_by_their_paths() {
    let rows: String = (10..40)
        .map(|number| {
            format!(
                "-rw-r--r-- dev/staff    {number}0 2026-11-20 08:15 oak/src/module_{number}.py\n"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(
        reduced(&rows, "tar -tzvf oak.tar.gz"),
        "oak/src: module_10.py … module_39.py (30)\n[0 of 30 lines left out]"
    );
    let told = reduced(&rows, "make list");
    for kept in ["oak/src/module_10.py", "oak/src/module_39.py"] {
        assert!(told.contains(kept), "{kept}: {told}");
    }
    assert!(!told.contains("staff"), "{told}");
}

#[test]
fn messages_before_a_list_of_names_are_no_names() {
    let said = "=== RUN   TestOak\n    oak_test.go:3: too tall\n--- FAIL: TestOak (0.00s)\nFAIL\n";
    let words = ["ls".to_owned()];
    let input = |text| Input {
        text,
        words: &words,
        exit: Exit::Success,
    };
    let text = said.repeat(9) + "oak\nelm\n";
    assert_eq!(recognises(&input(&text)), Match::No);
    let sized = "total 12\n  4 oak tree\n  4 elm\n  4 ash: old\n";
    assert_eq!(recognises(&input(sized)), Match::Likely);
}

#[test]
fn what_another_command_said_before_names_is_no_list() {
    let words = ["ls", "oaks"].map(str::to_owned);
    let known = |text: &str| {
        recognises(&Input {
            text,
            words: &words,
            exit: Exit::Success,
        })
    };
    let names = "ash.txt\nelm tree.txt\noak.txt\n".repeat(20);
    let said = "running 3 trees from ./oak\noak: error: too green\n  at oak.ts:3:4\n".repeat(20);
    assert_eq!(known(&names), Match::Likely);
    assert_eq!(known(&format!("{said}{names}")), Match::No);
}

#[test]
fn a_path_that_git_quotes_stays_whole() {
    let object = "0123456789abcdef0123456789abcdef01234567";
    let rows: Vec<String> = (0..20)
        .map(|leaf| format!("100644 blob {object}\t\"src/leaf \\303\\234 {leaf}.py\"\n"))
        .collect();
    let words = ["git", "ls-tree", "-r", "HEAD"].map(str::to_owned);
    let input = Input {
        text: &rows.concat(),
        words: &words,
        exit: Exit::Success,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    let short = output.finish(20, usize::MAX);
    assert!(
        short.starts_with("\"src/leaf \\303\\234 0.py\" 01234567"),
        "{short}"
    );
}

#[test]
fn an_error_of_git_beside_its_list_is_no_path() {
    let object = "0123456789abcdef0123456789abcdef01234567";
    let rows: Vec<String> = (0..20)
        .map(|number| format!("100644 blob {object}\tsrc/leaf_{number}.py\n"))
        .collect();
    let text =
        "fatal: Cannot open existing pack file '.git/oak/*.idx'\n".to_owned() + &rows.concat();
    let words = ["git", "ls-tree", "-r", "HEAD"].map(str::to_owned);
    let input = Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    let short = output.finish(21, usize::MAX);
    assert!(
        short.starts_with("fatal: Cannot open existing pack file '.git/oak/*.idx'\nsrc: "),
        "{short}"
    );
}

#[test]
fn a_tree_that_yarn_draws_is_one_of_packages() {
    let mut text = String::from("yarn list v1.22.22\n");
    for number in 0..12 {
        let _ = writeln!(
            text,
            "├─ oak{number}@1.{number}.0\n│  ├─ leaf@2.0.{number}\n│  └─ bark@3.0.0"
        );
    }
    text += "└─ elm@9.9.9\nDone in 0.37s.\n";
    let words = ["yarn", "list"].map(str::to_owned);
    let input = Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let mut output = Output::default();
    reduce(&input, &mut output);
    let told = output.finish(text.lines().count(), usize::MAX);
    for fact in [
        "oak7@1.7.0: leaf@2.0.7 bark@3.0.0\n",
        "elm@9.9.9\nDone in 0.37s.",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}

#[test]
fn files_that_a_search_would_read_are_a_list() {
    let text: String = (0..300).fold(String::new(), |text, number| {
        text + &format!("forest/oak{}/leaf_{number}.rs\n", number % 7)
    });
    let words = ["rg", "--files"].map(str::to_owned);
    let input = Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    };
    assert_eq!(list(&input), Some(List::Paths));
    assert!(runs(&input));
}

#[test]
fn the_first_rows_of_a_list_in_order_of_size_keep_their_sizes() {
    let rows: String = (0..200).fold(String::new(), |text, number| {
        let size = 9_000_000 / (number + 1);
        text + &format!("-rw-r--r-- 1 oak oak {size:8} Jul  3 08:06 leaf-{number}.txt\n")
    });
    let told = reduced(&format!("total 90\n{rows}"), "ls -lS forest");
    assert!(
        told.starts_with("-rw-r--r-- 1 oak oak 9000000 Jul 3 08:06 leaf-0.txt\n"),
        "{told}"
    );
    assert!(told.contains(" 900000 Jul 3 08:06 leaf-9.txt\n"), "{told}");
    let usual = reduced(&format!("total 90\n{rows}"), "ls -l forest");
    assert!(!usual.contains("Jul 3"), "{usual}");
}

#[test]
fn rows_below_a_heading_stand_under_that_folder_and_not_under_that_of_rows_above() {
    let row = |name: String| format!("-rw-r--r-- 1 ash ash 320 Nov 23 16:44 {name}\n");
    let rows = |form: fn(usize) -> String| (0..70).map(form).map(row).collect::<String>();
    let text = rows(|leaf| format!("src/leaf_{leaf}.c"))
        + "\nlib:\ntotal 40\n"
        + &rows(|bud| format!("bud_{bud}.c"));
    let told = reduced(&text, "ls -l src/*.c lib");
    assert!(
        told.contains("\nlib: bud_0.c") && !told.contains(".: "),
        "{told}"
    );
}

#[test]
fn folders_links_and_what_git_has_stand_where_their_rows_name_them() {
    let rows = |form: fn(usize) -> String| {
        let row = |row: String| row.replacen(' ', " 1 ash ash 320 Nov 23 16:44 ", 1) + "\n";
        (0..100).map(form).map(row).collect::<String>()
    };
    let told = reduced(
        &rows(|at| format!("lrwxrwxrwx /l{at} -> usr/l{at}")),
        "ls -ld /*",
    );
    assert!(told.starts_with("/: l0"), "{told}");
    let form = |at| match at {
        0..50 => format!("-rw-r--r-- src/leaf_{at}.c"),
        _ => format!("drwxr-xr-x tests/dir_{at}"),
    };
    let told = reduced(&rows(form), "ls -ld src/* tests/*");
    assert!(told.contains("tests: dir_50/"), "{told}");
    let told = reduced(
        &rows(|at| format!("-rw-r--r-- .git/hooks/h{at}")),
        "ls -l .git/hooks/*",
    );
    assert!(told.contains(".git/hooks: h0"), "{told}");
}
