#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;

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
