#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::input::Exit;
use crate::tested;

fn reduced(text: &str, command: &str) -> String {
    tested::reduced(&FAMILY, text, command, Exit::Success)
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
fn folders_of_a_recursive_list_keep_their_path() {
    let text = "src:\nlib\nmain.c\n\nsrc/lib:\n\nsrc/lib/deep:\nx.c\n";
    assert_eq!(
        reduced(text, "ls -R src"),
        "src: main.c\nsrc/lib/deep: x.c\n[4 of 8 lines left out]"
    );
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
