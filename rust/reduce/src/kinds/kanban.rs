//! A list of tickets, reduced to counts by status and the most important open tickets.

mod board;
mod scanner;
mod value;

use self::board::Board;
use self::scanner::Scanner;
use crate::piece::Piece;
use ethos_registry_core::text::Source;

/// Text up to this length is not reduced: no shorter list has a longer summary.
pub(crate) const WHOLE_CHARS: usize = 42;
/// Lists of up to this many entries are not reduced.
const WHOLE_ENTRIES: usize = 10;

/// Counts by status and the five most important open tickets, from a JSON array of more than ten.
///
/// `None` when it does not change: it is not a JSON array, is nested too deeply, is short, or has no
/// entry that is a ticket.
///
/// # Errors
/// Errors of the source.
pub(crate) fn reduce<S: Source + ?Sized>(source: &S) -> Result<Option<Vec<Piece>>, S::Error> {
    let (_, text) = source.window(0, source.end())?;
    Ok(summary(&text).map(|summary| vec![Piece::Text(summary)]))
}

fn summary(text: &str) -> Option<String> {
    let mut scanner = Scanner::new(text);
    let mut board = Board::default();
    scanner.array(|scanner| {
        board.add(scanner.entry()?);
        Some(())
    })?;
    if !scanner.is_at_end() || board.entries() <= WHOLE_ENTRIES || !board.has_tickets() {
        return None;
    }
    board.summary()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    fn list(entries: &[&str]) -> String {
        let rest = vec!["{\"id\":0,\"status\":\"DONE\"}"; 11_usize.saturating_sub(entries.len())];
        format!("[{}]", [entries, &rest].concat().join(","))
    }

    fn top(entries: &[&str]) -> String {
        let summary = summary(&list(entries)).unwrap();
        summary.split_once(". Top ").unwrap().1.to_owned()
    }

    #[test]
    fn ten_entries_stay_and_eleven_are_counted() {
        let entry = "{\"id\":1,\"status\":\"todo\",\"title\":\"t\"}";
        assert_eq!(summary(&format!("[{}]", [entry; 10].join(","))), None);
        assert_eq!(
            summary(&format!(" [{}]\n", [entry; 11].join(" , "))).unwrap(),
            "Counts by status: todo=11. Top 5 open: 1: t; 1: t; 1: t; 1: t; 1: t"
        );
    }

    #[test]
    fn either_spelling_of_the_time_orders() {
        let entries = [
            "{\"id\":1,\"updated_at\":1}",
            "{\"id\":2,\"updatedAt\":3}",
            "{\"id\":3,\"updated_at\":2,\"updatedAt\":null}",
            "{\"id\":4}",
        ];
        assert_eq!(
            top(&entries),
            "4 open: 2: (no title); 3: (no title); 1: (no title); 4: (no title)"
        );
    }

    #[test]
    fn what_is_urgent_comes_first() {
        let entries = [
            "{\"id\":1,\"title\":\"\",\"updatedAt\":9}",
            "{\"id\":2,\"title\":\"\",\"priority\":\"low\"}",
            "{\"id\":3,\"title\":\"\",\"priority\":10}",
            "{\"id\":4,\"title\":\"\",\"priority\":\"Urgent\"}",
        ];
        assert_eq!(top(&entries), "4 open: 3: ; 4: ; 2: ; 1: ");
    }

    #[test]
    fn a_title_fakes_no_entry() {
        let entry = "{\"id\":\"T\",\"title\":\"a; T-9: b\\n\\u0000\\\\\\u202e\"}";
        assert_eq!(
            top(&[entry]),
            "1 open: T: a\\u003b T-9: b\\n\\u0000\\\\\\u202e"
        );
        let status = "{\"id\":\"T\",\"title\":\"\",\"status\":\"a=1, b. Top 5 open: x\"}";
        let summary = summary(&list(&[status])).unwrap();
        assert!(
            summary.starts_with(
                "Counts by status: a\\u003d1\\u002c b. Top 5 open\\u003a x=1, DONE=10."
            ),
            "{summary}"
        );
    }

    #[test]
    fn escapes_numbers_and_keys_are_read_as_json_says() {
        let entry = "{\"\\u0069d\":123456789012345678901,\"title\":\"\\ud83d\\ude00 \\ud83dx\"}";
        assert_eq!(top(&[entry]), "1 open: 123456789012345678901: 😀 \u{fffd}x");
        let twice = "{\"id\":1,\"id\":2,\"title\":[{}],\"title\":true}";
        assert_eq!(top(&[twice]), "1 open: 2: true");
    }

    #[test]
    fn what_is_no_json_stays() {
        for bad in [
            "01",
            "1.",
            "-",
            "+1",
            "NaN",
            "'a'",
            "\"\n\"",
            "\"\\x\"",
            "\"\\u12\"",
            "[1,]",
            "{\"a\" 1}",
            "{a:1}",
            "tru",
            "1 2",
            "\"",
            "[",
            "{\"a\":}",
            "1e",
            ".5",
            "\u{feff}1",
        ] {
            let entry = format!("{{\"id\":{bad}}}");
            assert_eq!(summary(&list(&[&entry])), None, "{bad}");
            assert_eq!(summary(&list(&[bad])), None, "{bad}");
        }
        assert_eq!(summary(&(list(&["{\"id\":1}"]) + "x")), None);
        assert_eq!(summary(&format!("\u{feff}{}", list(&["{\"id\":1}"]))), None);
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let entry = |depth: usize| format!("{{\"id\":1,\"x\":{}}}", nested(depth));
        assert!(summary(&list(&[&entry(126)])).is_some());
        assert!(summary(&list(&[&entry(127)])).is_none());
        assert!(summary(&list(&[&nested(1_000_000)])).is_none());
    }

    #[test]
    fn a_list_without_tickets_stays() {
        assert_eq!(summary("[1,2,3,4,5,6,7,8,9,10,11]"), None);
        assert_eq!(summary(&format!("[{}]", ["{\"a\":1}"; 11].join(","))), None);
        let mixed = list(&["null", "{\"id\":1,\"status\":null}", "{}"]);
        assert_eq!(
            summary(&mixed).unwrap(),
            "Counts by status: unknown=3, DONE=8. Top 2 open: 1: (no title); ?: (no title)"
        );
    }
}
