use std::fmt::Write as _;

use super::*;
use crate::input::Exit;

fn reduced(text: &str, words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let input = Input {
        text,
        words: &words,
        exit: Exit::Success,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

#[test]
fn few_hits_keep_their_text_and_the_first_of_a_file_its_path() {
    let text = "a/b.c:10:    open(x);\na/b.c:12:    open(y);\nc.c:1:open(z);\n";
    assert_eq!(
        reduced(text, &["grep", "-rn", "open", "."]),
        "a/b.c:10:open(x);\n12:open(y);\nc.c:1:open(z);\n[0 of 3 lines left out]"
    );
}

#[test]
fn the_definitions_of_one_file_are_all_told() {
    let names: Vec<String> = ('a'..='z')
        .flat_map(|name| (1..4).map(move |times| name.to_string().repeat(times)))
        .collect();
    let mut text = String::new();
    for (number, name) in names.iter().enumerate() {
        let _ = writeln!(text, "{}:    def {name}(self):", number * 9);
    }
    let told = reduced(&text, &["grep", "-n", "def ", "oak.py"]);
    for name in &names {
        assert!(
            told.contains(&format!("def {name}(self):")),
            "{name}: {told}"
        );
    }
}

#[test]
fn definitions_of_several_files_are_told_by_their_names_unless_these_are_the_same() {
    let text = |name: fn(usize) -> String| -> String {
        let row = |at: usize| {
            format!(
                "oak/leaf_{}.py:{}:    def {}(self):\n",
                at / 9,
                at + 7,
                name(at)
            )
        };
        (0..90).map(row).collect::<Vec<_>>().concat()
    };
    let grow = |at: usize| "leaf".repeat(1 + at % 9) + &"oak".repeat(at / 9);
    let told = reduced(&text(grow), &["grep", "-rn", "def ", "oak"]);
    for at in 0..90 {
        assert!(told.contains(&format!("def {}(self):", grow(at))), "{told}");
    }
    let alike = text(|_| "grow".to_owned());
    let told = reduced(&alike, &["grep", "-rn", "def grow", "oak"]);
    assert!(told.len() * 3 < alike.len(), "{told}");
}

#[test]
fn no_number_of_a_line_is_shown_without_its_text() {
    let mut text = String::new();
    for file in 0..20 {
        for hit in 1..5 {
            let _ = writeln!(
                text,
                "leaves/of/a/tree_{file}.c:{}:grow()",
                file * 90 + hit * 7
            );
        }
    }
    let short = reduced(&text, &["grep", "-rn", "grow", "."]);
    for file in 0..20 {
        assert!(
            short.contains(&format!("tree_{file}.c:{}:grow()", file * 90 + 7)),
            "{short}"
        );
    }
    for line in short
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_digit()))
    {
        assert!(line.ends_with(":grow()"), "{short}");
    }
}

#[test]
fn lines_around_hits_are_kept_when_they_are_few() {
    let text = "a.py-9-def f():\na.py:10:    go()\na.py-11-    stop()\n--\nb.py:3:go()\n";
    assert_eq!(
        reduced(text, &["grep", "-n", "-C1", "go"]),
        "a.py-9-def f():\na.py:10:go()\n11-stop()\nb.py:3:go()\n[1 of 5 lines left out]"
    );
}

#[test]
fn headings_stand_over_their_hits() {
    let text = "a.py\n9-def f():\n10:    go()\n\nb/c.py\n3:go()\n";
    assert_eq!(
        reduced(text, &["rg", "-n", "--heading", "go"]),
        "a.py\n9-def f():\n10:go()\nb/c.py\n3:go()\n[1 of 6 lines left out]"
    );
}

#[test]
fn a_giant_line_is_cut_around_what_was_searched_for() {
    let text = format!(
        "m.js:1:{}needle{}\n",
        "a;".repeat(9_000),
        "b;".repeat(9_000)
    );
    let short = reduced(&text, &["grep", "-n", "needle", "m.js"]);
    assert!(
        short.starts_with("m.js:1:...a;") && short.contains(";needleb;"),
        "{short}"
    );
    assert!(short.len() < 300);
}

#[test]
fn a_complaint_is_a_failure() {
    let words = ["grep".to_owned()];
    let input = Input {
        text: "grep: x: Is a directory\na:1:b\n",
        words: &words,
        exit: Exit::Failure,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    assert!(output.saw_failure());
}

#[test]
fn counts_of_nothing_go() {
    assert_eq!(
        reduced("a:0\nb:10\n", &["grep", "-c", "x", "a", "b"]),
        "b:10\n[1 of 2 lines left out]"
    );
}

#[test]
fn lines_of_another_program_are_no_hits() {
    for (line, filters) in [
        ("tail -600 access.log | grep -v health", true),
        ("journalctl | grep -iE 'oom|killed' | tail -40", true),
        ("cat a.log | grep -A 3 -e boom", true),
        ("grep -v health access.log", false),
        ("grep -e boom a.log", false),
        ("grep -rv health", false),
        ("cat a.log | grep -n boom", false),
        ("rg boom", false),
    ] {
        let words = ethos_registry_core::command::producer(line).unwrap_or_default();
        let input = Input {
            text: "10.0.0.7 - - [20/Nov/2026:06:00:00 +0000] \"GET /oak HTTP/1.1\" 502 7\n",
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(runs(&input), !filters, "{line}");
    }
}

#[test]
fn paths_that_were_asked_for_stay_as_they_stand() {
    let paths = |from: usize, to: usize| -> String {
        (from..to).fold(String::new(), |text, number| {
            text + &format!("src/part_{}/module_{number}.py\n", number / 40)
        })
    };
    let words = ["rg", "-l", "oak", "src"].map(str::to_owned);
    let told = |text: &str| {
        let input = Input {
            text,
            words: &words,
            exit: Exit::Success,
        };
        let mut output = Output::default();
        reduce(&input, &mut output);
        (
            output.is_to_stay(),
            output.finish(text.lines().count(), usize::MAX),
        )
    };
    assert!(told(&paths(0, 300)).0);
    let (stays, text) = told(&format!(
        "rg: elm: No such file or directory\n{}",
        paths(0, 2_000)
    ));
    assert!(!stays);
    for fact in [
        "rg: elm: No such file",
        "src/part_0: module_0.py",
        "src/part_49: module_1960.py",
    ] {
        assert!(text.contains(fact), "{fact}: {text}");
    }
}

#[test]
fn paths_over_hits_are_told_without_empty_lines_too() {
    let mut text = String::new();
    for (path, from) in [("src/oak.py", 10), ("src/elm.py", 40)] {
        text.push_str(path);
        text.push('\n');
        for number in from..from + 30 {
            let _ = writeln!(text, "{number}:leaf_{number} = grow({number})");
        }
    }
    let told = reduced(&text, &["git", "grep", "--heading", "-n", "grow"]);
    assert!(told.contains("src/oak.py:10:leaf_10"), "{told}");
    assert!(told.contains("src/elm.py (30 hits)"), "{told}");
    assert!(!told.contains("src/oak.py:40"), "{told}");
    assert!(!told.lines().any(|line| line == "src/elm.py"), "{told}");
}
