#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::input::Exit;
use crate::tested;

#[test]
fn lines_are_read_with_and_without_path_author_and_date() {
    for (line, name, author, date, number) in [
        (
            "^3cd2135 (Ada (ops) B 2026-01-08 10:21:00 +0000  7) f(1) x",
            "3cd2135",
            "Ada (ops) B",
            "2026-01-08",
            "7",
        ),
        (
            "3cd2135f src/a.c (Ada 2026-01-08 10:21:00 +0000 12) f(1) x",
            "3cd2135f",
            "Ada",
            "2026-01-08",
            "12",
        ),
        ("3cd2135f 7) f(1) x", "3cd2135f", "", "", "7"),
    ] {
        let read = parse(line).unwrap();
        assert_eq!(
            (read.name, author_and_date(read.who)),
            (name, (author, date)),
            "{line}"
        );
        assert_eq!((read.number, read.code), (number, " f(1) x"), "{line}");
    }
    assert!(parse("deadbeef and (nothing more)").is_none());
}

#[test]
fn a_commit_has_its_ranges_and_what_they_hold() {
    let mut text = String::new();
    for number in 1..=60 {
        let name = if (20..30).contains(&number) {
            "aaaaaaa1"
        } else {
            "bbbbbbb2"
        };
        let code = match number {
            22 => "    def run(self):",
            25 => "        # never twice",
            _ => "        x = 1",
        };
        let _ = writeln!(
            text,
            "{name} (Ada 2026-01-08 10:21:00 +0000 {number:2}) {code}"
        );
    }
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Unknown,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let mut output = Output::default();
    reduce(&input, &mut output);
    let short = output.finish(60, usize::MAX);
    assert!(
        short.starts_with("bbbbbbb2 Ada 2026-01-08 1-19 30-60\n"),
        "{short}"
    );
    assert!(short.contains("aaaaaaa1 Ada 2026-01-08 20-29\n"), "{short}");
    assert!(
        short.contains("def run(self):\n") && short.contains("# never twice\n"),
        "{short}"
    );
}

#[test]
fn what_is_written_for_programs_is_told_by_commit() {
    let name = |digit: &str| digit.repeat(40);
    let head = "author Ada B\nauthor-mail <a@b.c>\nauthor-time 1739262060\nauthor-tz +0200\ncommitter Ada B\nsummary Leaf grows\nfilename oak.py\n";
    let mut text = String::new();
    for number in 1..=40 {
        let digit = if (10..=12).contains(&number) {
            "b"
        } else {
            "a"
        };
        let _ = writeln!(text, "{} {number} {number}", name(digit));
        if number == 1 || number == 10 {
            text.push_str(head);
        }
        let _ = writeln!(text, "\tleaf_{number} = {number}");
    }
    let told = tested::reduced(
        &FAMILY,
        &text,
        "git blame --porcelain oak.py",
        Exit::Success,
    );
    for fact in [
        "aaaaaaaa Ada B 1739262060 1-9 13-40: Leaf grows",
        "bbbbbbbb Ada B 1739262060 10-12: Leaf grows",
    ] {
        assert!(told.contains(fact), "{fact}: {told}");
    }
}
