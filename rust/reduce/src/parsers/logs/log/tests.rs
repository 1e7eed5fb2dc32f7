#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod raised;

use std::fmt::Write as _;

use super::*;
use crate::input::Exit;
use crate::pipeline::terminal;

fn reduced(text: &str) -> String {
    let input = Input {
        text,
        words: &[],
        exit: Exit::Success,
    };
    assert_eq!(recognises(&input), Match::Certain);
    let mut output = Output::default();
    reduce(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}

fn service(odd: &[(usize, &str)]) -> String {
    let mut text = String::from("2026-11-21 20:00:00 INFO boot starting version=1.2\n");
    for number in 0..2_000 {
        let at = odd.iter().find(|(at, _)| *at == number);
        if let Some((_, lines)) = at {
            text.push_str(lines);
        }
        let time = format!("2026-11-21 20:{:02}:{:02}", number / 60 % 60, number % 60);
        writeln!(text, "{time} INFO oak leaf {number} fell in {number} ms").unwrap();
    }
    text
}

#[test]
fn warnings_of_python_that_stand_between_records_are_told() {
    let text = service(&[(
        700,
        "/app/elm.py:14: DeprecationWarning: grow() will go, see rise()\n  grow(3)\n",
    )]);
    let reduced = reduced(&text);
    assert!(
        reduced.contains("/app/elm.py:14: DeprecationWarning: grow() will go, see rise()"),
        "{reduced}"
    );
}

#[test]
fn every_kind_of_warning_is_counted() {
    let warning = |number: usize| {
        format!("2026-11-21 20:01:{number:02} WARNING pool slow after {number} ms\n")
    };
    let warnings: Vec<(usize, String)> = (10..40).map(|at| (at, warning(at))).collect();
    let odd: Vec<(usize, &str)> = warnings
        .iter()
        .map(|(at, line)| (*at, line.as_str()))
        .collect();
    let reduced = reduced(&service(&odd));
    assert!(reduced.contains("pool slow after 10 ms ×30"), "{reduced}");
}

#[test]
fn odd_statuses_of_an_access_log_are_seen() {
    let mut text = String::new();
    for number in 0..500 {
        let (path, status) = match number {
            77 => ("/none.css", 404),
            300 => ("/", 503),
            _ => ("/", 200),
        };
        writeln!(
            text,
            "10.0.0.{} - - [21/Nov/2026:20:10:40 +0000] \"GET {path} HTTP/1.1\" {status} 51",
            number % 200
        )
        .unwrap();
    }
    let reduced = reduced(&text);
    for fact in [
        "GET /none.css HTTP/1.1\" 404",
        "GET / HTTP/1.1\" 503",
        "GET / HTTP/1.1\" 200 51 ×498",
    ] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}

#[test]
fn no_count_of_errors_is_made_up() {
    let reduced = reduced(&service(&[]));
    assert!(!reduced.contains("rror"), "{reduced}");
}

#[test]
fn prose_and_tests_are_no_logs() {
    for text in [
        "ok 1\n".repeat(50),
        "a: b\n".repeat(50),
        "{\"id\": 1}\n".repeat(50),
    ] {
        let input = Input {
            text: &text,
            words: &[],
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), Match::No);
    }
}

#[test]
fn long_last_lines_of_a_short_log_do_not_displace_what_is_bad() {
    let record = |level: &str, at: usize, text: &str| {
        format!(
            "{{\"timestamp\":\"2026-11-22T15:16:{at:02}Z\",\"level\":\"{level}\",\"fields\":{{\"message\":\"{text}\"}},\"target\":\"{}\"}}\n",
            "oak".repeat(70)
        )
    };
    let mut text: String = (0..40).map(|at| record("INFO", at, "leaf fell")).collect();
    text.insert_str(0, &record("ERROR", 3, "no water"));
    text.insert_str(0, &record("INFO", 1, "leaf fell"));
    text.insert_str(0, &record("WARN", 2, "slow root"));
    let reduced = reduced(&text);
    for fact in ["no water", "slow root", ":39Z"] {
        assert!(reduced.contains(fact), "{fact}: {reduced}");
    }
}

#[test]
fn indented_records_below_a_bad_one_are_records() {
    let text = (0..60)
        .map(|at| {
            let level = if at == 20 { "ERROR" } else { " INFO" };
            format!("  2026-11-22T15:16:{at:02}Z {level} oak: stored, leaf: {at}!\n    at src/oak.rs:8\n\n")
        })
        .collect::<Vec<_>>()
        .concat();
    let reduced = reduced(&text);
    assert!(reduced.contains(":20Z ERROR oak: stored"), "{reduced}");
    assert!(reduced.contains("stored, leaf: 0! ×59"), "{reduced}");
    assert!(!reduced.contains(":31Z"), "{reduced}");
}

#[test]
fn logs_of_services_that_were_asked_for_need_no_times() {
    let text = "oak-1  | leaf 1 fell\nelm-1  | grew\n".repeat(20);
    for (words, known) in [
        (&["docker", "compose", "logs", "oak"][..], Match::Certain),
        (&["docker", "compose", "up"], Match::Certain),
        (&["docker", "ps"], Match::No),
    ] {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let input = Input {
            text: &text,
            words: &words,
            exit: Exit::Success,
        };
        assert_eq!(recognises(&input), known, "{words:?}");
    }
}

#[test]
fn what_tells_of_a_failure_comes_before_what_came_last() {
    let mut text = String::new();
    for number in 0..120 {
        let tells = if number == 40 {
            "oak.service: Failed with result 'oom-kill'."
        } else {
            "a leaf of the tall old oak fell to the ground without a word"
        };
        writeln!(
            text,
            "Nov 20 06:00:{:02} wood oak[{number}]: {tells}",
            number % 60
        )
        .unwrap();
        writeln!(
            text,
            "Nov 20 06:00:{:02} wood elm{}: {}",
            number % 60,
            "x".repeat(number % 24),
            "y".repeat(90)
        )
        .unwrap();
    }
    assert!(reduced(&text).contains("oak.service: Failed with result 'oom-kill'."));
}

#[test]
fn what_a_long_json_record_says_is_told_wherever_it_stands() {
    let record = |number: usize, said: &str| {
        format!(
            "{{\"_MACHINE\":\"{}\",\"CURSOR\":\"{}\",\"PRIORITY\":\"6\",\"MESSAGE\":\"{said}\",\"BOOT\":\"{}\",\"AT\":\"{number}\"}}\n",
            "3d12".repeat(20),
            "s=bb".repeat(30),
            "19af".repeat(60)
        )
    };
    let mut text: String = (0..40).map(|number| record(number, "leaf grows")).collect();
    text.push_str(&record(40, "oak stopped: no water"));
    let reduced = reduced(&text);
    assert!(reduced.contains("\"oak stopped: no water\""), "{reduced}");
}

#[test]
fn the_stack_of_a_json_record_does_not_hide_its_message() {
    let record = |number: usize| {
        format!("{{\"level\":30,\"time\":17954056{number:05},\"pid\":7,\"msg\":\"leaf grew\"}}\n")
    };
    let mut text: String = (0..60).map(record).collect();
    let stack = "\\n    at grow (/srv/wood/oak.js:2:197)".repeat(20);
    writeln!(
        text,
        "{{\"level\":50,\"time\":1795405652542,\"pid\":7,\"err\":{{\"type\":\"Error\",\"message\":\"no water in \\\"3\\\"\",\"stack\":\"Error: no water{stack}\"}},\"msg\":\"oak stopped\"}}"
    )
    .unwrap();
    text.extend((61..90).map(record));
    let reduced = reduced(&text);
    assert!(
        reduced.contains("\"message\":\"no water in \\\"3\\\"\""),
        "{reduced}"
    );
    assert!(reduced.contains("\"msg\":\"oak stopped\"}"), "{reduced}");
    assert!(reduced.contains(" chars]..."), "{reduced}");
}

#[test]
fn places_of_records_below_them_are_not_taken_for_each_other() {
    let mut text = String::new();
    for number in 0..40 {
        let (level, place) = if number == 30 {
            ("WARN", 12)
        } else {
            ("INFO", 11)
        };
        writeln!(text, "  2026-11-21T20:00:{number:02}.173Z  {level} wood: leaf grows, size: {number}\n    at src/oak.rs:{place}\n").unwrap();
    }
    let reduced = reduced(&text);
    assert!(reduced.contains("at src/oak.rs:11 \u{d7}39"), "{reduced}");
    assert!(reduced.contains("at src/oak.rs:12"), "{reduced}");
}

#[test]
fn a_record_that_did_not_end_with_nought_is_told_beside_those_that_did() {
    let record = |number: usize| {
        let ended = u8::from(number == 57);
        format!(
            "2026-01-02 10:{:02}:00 INFO oak.leaf job {number} finished rc={ended}\n",
            number % 60
        )
    };
    let text = (1..=120).map(record).collect::<Vec<_>>().concat();
    let command = Some("cat oak.log");
    let (reduced, family) = terminal::reduce(&text, command, Exit::Success, usize::MAX).unwrap();
    assert_eq!(family, Some("log"));
    assert!(reduced.contains(record(57).trim_end()), "{reduced}");
    assert!(reduced.lines().count() < 16, "{reduced}");
}

#[test]
fn what_explains_a_bad_record_in_a_record_of_its_own_stays_once() {
    let said =
        |level: &str, text: &str| format!("2031-02-03 10:11:12.130 UTC [41] {level}:  {text}\n");
    let calm: String = (0..60)
        .map(|number| said("LOG", &format!("connection received: port={number}")))
        .collect();
    let refused = [
        said(
            "ERROR",
            "duplicate key value violates unique constraint \"oak_key\"",
        ),
        said("DETAIL", "Key (name)=(elm) already exists."),
        said("STATEMENT", "INSERT INTO oak"),
        "\tVALUES ('elm')\n".to_owned(),
    ]
    .concat();
    let text = format!("{calm}{refused}{calm}{refused}{calm}");
    let told = reduced(&text);
    for fact in [
        "DETAIL:  Key (name)=(elm) already exists.\n",
        "STATEMENT:  INSERT INTO oak\n\tVALUES ('elm')\n",
    ] {
        assert_eq!(told.matches(fact).count(), 1, "{fact}: {told}");
    }
}

#[test]
fn records_that_tell_their_level_by_a_letter_or_a_word_that_was_cut_are_bad_too() {
    let heads: [fn(&str, usize) -> String; 2] = [
        |level, at| {
            let letter = level.get(..1).unwrap_or_default();
            format!(
                "{letter}0304 05:00:{:02}.058000    7711 oak.go:{at}]",
                at % 60
            )
        },
        |level, at| format!("{}[{at:04}]", level.get(..4).unwrap_or_default()),
    ];
    for head in heads {
        let text: String = (0..300)
            .map(|at| match at {
                77 => format!("{} ring 3 is lost\n", head("FATAL", at)),
                150 => format!("{} no water for ring 4\n", head("ERROR", at)),
                _ => {
                    let word = ["grew", "drank", "bent", "shed"].get(at * at % 4);
                    format!(
                        "{} leaf {at} {} of oak {}\n",
                        head("INFO", at),
                        word.unwrap_or(&"was"),
                        at % 7
                    )
                }
            })
            .collect();
        let told = reduced(&text);
        for fact in ["ring 3 is lost", "no water for ring 4"] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
        assert!(told.len() < text.len() / 8, "{told}");
    }
}
