#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;

const TERMINAL: Request<'_> = Request {
    command: None,
    ranged: false,
    ok: true,
    exit_code: Some(0),
    budget_chars: usize::MAX,
    policy: None,
};

#[test]
fn a_range_that_was_asked_for_is_honoured() {
    let text = "line\n".repeat(1_000);
    let ranged = Request {
        ranged: true,
        ..TERMINAL
    };
    assert!(reduce(Kind::ReadFile, &TERMINAL, &text).is_some());
    assert_eq!(reduce(Kind::ReadFile, &ranged, &text), None);
}

#[test]
fn a_text_of_which_little_would_go_stays_as_it_is() {
    let names = ["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig"];
    let lines = names.iter().flat_map(|one| {
        let all = names.iter();
        all.map(move |other| format!("{one} grows beside {other} here\n"))
    });
    let text: String = lines.collect();
    let repeated = "it is 10 years old\nit is 12 years old\nit is 15 years old\n";
    let few = text.clone() + &repeated.repeat(4);
    assert_eq!(reduce(Kind::Terminal, &TERMINAL, &few), None);
    let many = text + &repeated.repeat(20);
    let reduced = reduce(Kind::Terminal, &TERMINAL, &many).unwrap();
    assert!(
        reduced.contains("it is 10 years old \u{d7}20 (+40 similar)\n"),
        "{reduced}"
    );
}

#[test]
fn what_was_printed_before_a_command_that_failed_is_an_answer_of_its_own() {
    let names = [
        "oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "asp", "gum", "koa", "may", "nut",
        "pea", "rue", "sal", "tea", "ule", "wax", "zam",
    ];
    let pairs = names
        .iter()
        .flat_map(|one| names.iter().map(move |other| (one, other)));
    let rows: Vec<String> = pairs
        .map(|(one, other)| format!("{one} is near {other}\n"))
        .collect();
    let rows = rows.concat();
    let text = format!("{rows}error: no door to 10.0.0.1\n");
    let failed = |command| Request {
        command: Some(command),
        ok: false,
        exit_code: Some(1),
        ..TERMINAL
    };
    assert_eq!(
        reduce(Kind::Terminal, &failed("leaves; ./door 10.0.0.1"), &text),
        None
    );
    let alone = reduce(Kind::Terminal, &failed("cd oak && ./door 10.0.0.1"), &text);
    assert!(alone.is_some_and(|alone| alone.len() * 3 < text.len() * 2));
}

#[test]
fn the_line_that_says_how_a_command_ended_stays_first() {
    let text = "Command exited with code -9.\n".to_owned() + &"a line of output\n".repeat(1_000);
    let failed = Request {
        ok: false,
        exit_code: None,
        ..TERMINAL
    };
    let reduced = reduce(Kind::Terminal, &failed, &text).unwrap();
    assert!(reduced.starts_with("Command exited with code -9.\n"));
    assert!(reduced.ends_with("of 1000 lines left out]"), "{reduced}");
    assert_eq!(reduce(Kind::Terminal, &failed, &reduced), None);
}
