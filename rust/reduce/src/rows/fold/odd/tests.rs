#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may panic"
)]

use super::super::Templates;
use crate::input::Exit;
use crate::pipeline::terminal;

/// The exceptional lines, each with the number of lines that differ in the same way, and the number of other lines.
fn odd(lines: &[String]) -> (Vec<(&str, usize)>, usize) {
    let mut templates = Templates::watching();
    for (number, line) in lines.iter().enumerate() {
        templates.add(number, line);
    }
    let odd = templates.odd();
    let told = odd.iter().map(|odd| (odd.first.line, odd.count));
    let usual = templates.iter().map(|template| template.count).sum();
    (told.collect(), usual)
}

fn leaves(count: usize, line: impl Fn(usize) -> String) -> Vec<String> {
    (0..count).map(line).collect()
}

#[test]
fn a_number_that_is_another_in_few_lines_is_odd_wherever_it_stands() {
    let forms: [fn(usize, u8) -> String; 5] = [
        |leaf, state| format!("GET /leaf/{leaf} -> 20{state}"),
        |leaf, state| format!("oak-{leaf}-x {state}/1 Running {}d", leaf * 7 % 40),
        |leaf, state| format!("{state} knots in leaf {leaf}, {} ms", leaf * 13 % 101),
        |leaf, state| format!("{:064x} leaf up={state} load=0.{leaf}", leaf * 77_777),
        |leaf, state| format!("leaf {leaf} of oak{leaf} ({state})"),
    ];
    for form in forms {
        for at in [1, 2, 3, 4, 57, 118] {
            let lines = leaves(120, |leaf| form(leaf, u8::from(leaf != at)));
            let expected = vec![(form(at, 0), 1)];
            let (told, usual) = odd(&lines);
            let told: Vec<_> = told
                .iter()
                .map(|(line, n)| ((*line).to_owned(), *n))
                .collect();
            assert_eq!((told, usual), (expected, 119));
        }
    }
}

#[test]
fn lines_that_differ_alike_are_counted() {
    let status = |leaf| match leaf % 100 {
        7 => 503,
        9 => 404,
        _ => 200,
    };
    let lines = leaves(1_000, |leaf| {
        format!("GET /leaf/{leaf} {} {} ms", status(leaf), leaf % 83)
    });
    let (told, usual) = odd(&lines);
    let expected = [("GET /leaf/7 503 7 ms", 10), ("GET /leaf/9 404 9 ms", 10)];
    assert_eq!((told, usual), (expected.to_vec(), 980));
}

#[test]
fn a_log_tells_records_with_a_number_that_is_another_than_usual() {
    let line = |second: usize, attempts| {
        let time = format!("2026-01-02 10:{:02}:{:02}", second / 60, second % 60);
        format!(
            "{time} INFO oak {} sent, attempts={attempts}, {second} ms\n",
            second * 7
        )
    };
    let text: String = (0..600)
        .map(|second| line(second, 1 + u8::from(second == 57)))
        .collect();
    let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
    assert!(told.contains(&line(57, 2)), "{told}");
    assert!(
        told.contains("oak 0 sent, attempts=1, 0 ms (+598 similar)"),
        "{told}"
    );
}

#[test]
fn a_clock_of_few_values_hides_no_odd_number() {
    for step in [5, 20, 30, 601, 1_200] {
        let time = |second: usize| {
            format!(
                "{:02}:{:02}:{:02}",
                second / 3_600,
                second / 60 % 60,
                second % 60
            )
        };
        let peers = |leaf| match leaf {
            13 | 93 | 173 => 2,
            53 | 133 => 4,
            _ => 3,
        };
        let lines = leaves(400, |leaf| {
            format!("{} leaf {leaf} peers={}", time(leaf * step), peers(leaf))
        });
        let (told, usual) = odd(&lines);
        let expected = [(lines[53].as_str(), 2), (lines[13].as_str(), 3)];
        assert_eq!((told, usual), (expected.to_vec(), 395), "{step}");
    }
}

#[test]
fn what_was_otherwise_for_a_while_is_odd_from_its_first_line_on() {
    let up = |leaf| if (200..240).contains(&leaf) { 0 } else { 3 };
    let lines = leaves(4_000, |leaf| {
        format!("leaf {leaf} has {}/3 roots", up(leaf))
    });
    assert_eq!(odd(&lines), (vec![("leaf 200 has 0/3 roots", 40)], 3_960));
}

#[test]
fn an_odd_first_line_does_not_stand_for_the_others() {
    let lines = leaves(40, |leaf| format!("leaf {leaf} up={}", u8::from(leaf > 0)));
    let mut templates = Templates::watching();
    for (number, line) in lines.iter().enumerate() {
        templates.add(number, line);
    }
    assert_eq!(
        templates.odd().first().map(|odd| odd.first.line),
        Some("leaf 0 up=0")
    );
    let first = templates
        .iter()
        .next()
        .map(|template| (template.first.line, template.count));
    assert_eq!(first, Some(("leaf 1 up=1", 39)));
}

#[test]
fn counts_measures_and_states_that_many_lines_have_are_usual() {
    let forms: [fn(usize) -> String; 5] = [
        |leaf| format!("leaf {leaf}"),
        |leaf| format!("leaf {} of {}", leaf * 7_919 % 1_000, leaf % 3),
        |leaf| format!("2026-01-{:02} {:02}:00:00 leaf", 1 + leaf / 24, leaf % 24),
        |leaf| format!("leaf {}", leaf / 50),
        // The last line shows a new state that persists.
        |leaf| format!("leaf {leaf} in round {}", leaf / 395),
    ];
    for form in forms {
        let lines = leaves(400, form);
        assert_eq!(odd(&lines), (Vec::new(), 400), "{}", form(17));
    }
}

#[test]
fn the_usual_number_may_change_for_good() {
    let lines = leaves(400, |leaf| {
        let state = if leaf == 300 { 3 } else { 1 + leaf / 200 };
        format!("leaf {leaf} in round {state}")
    });
    assert_eq!(odd(&lines), (vec![("leaf 300 in round 3", 1)], 399));
}

#[test]
fn lines_with_other_numbers_of_numbers_are_not_compared() {
    let lines = leaves(400, |leaf| {
        format!("oak {} leaf 1", if leaf == 7 { "12:30" } else { "a1b2" })
    });
    let mut templates = Templates::watching();
    for (number, line) in lines.iter().enumerate() {
        templates.add_told_apart(1, 1, number, line);
    }
    assert!(templates.odd().is_empty());
}
