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
