use super::*;

/// A run of tests by node in which `failed` fails, each line after `title`.
fn lines(title: &str, failed: Option<usize>) -> String {
    let mut text = format!("{title}TAP version 13\n");
    for number in 1..=40 {
        let point = if failed == Some(number) {
            format!(
                "{title}not ok {number} - adds {number}\n{title}  ---\n{title}  error: '3 !== 4'\n{title}  ...\n"
            )
        } else {
            format!("{title}ok {number} - adds {number}\n")
        };
        text.push_str(&point);
    }
    text + title + "1..40\n"
}

#[test]
fn other_lines_with_colons_and_brackets_are_of_no_task() {
    for text in [
        "src/a.c:12: error\nsrc/a.c:main: cache\n[1] 3 4\n[2] 5\n[3] 5\n",
        "[a] x\n[b] y\n[c] z\n",
        "web:build: done\n",
    ] {
        let input = Input {
            text,
            words: &[],
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No, "{text}");
    }
}

#[test]
fn lines_behind_two_names_of_containers_are_not_asked_what_printed_them() {
    let text = lines("oak-1 | elm-1 | ", Some(7));
    let words = ["docker", "compose", "up"].map(str::to_owned);
    let known = recognises(&Input {
        text: &text,
        words: &words,
        exit: Exit::Success,
    });
    assert_eq!(known, Match::No);
}

#[test]
fn the_time_of_a_log_record_is_no_name_of_a_task() {
    let record =
        |level: &str, told: &str| format!("[2026-11-21 20:00:01 +0000] [47] [{level}] {told}\n");
    let text = record("INFO", "Starting oak 2.0")
        + &record("INFO", "Using leaf: sync")
        + &record("INFO", "Growing leaf with pid: 48")
        + &record("ERROR", "Exception in leaf")
        + &record("ERROR", "Leaf (pid:48) exited with code 3.")
        + &record("INFO", "Falling");
    let input = Input {
        text: &text,
        words: &[],
        exit: Exit::Failure,
    };
    assert_eq!(recognises(&input), Match::No);
}
