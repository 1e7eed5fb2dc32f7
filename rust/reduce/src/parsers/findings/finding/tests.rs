use super::*;

fn reduced(findings: &[(&'static str, &'static str)]) -> String {
    let mut all = Findings::default();
    for (place, message) in findings {
        all.push(Finding {
            place,
            path: place.split(':').next().unwrap_or_default(),
            message,
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    output.finish(findings.len(), usize::MAX)
}

#[test]
fn the_same_message_is_told_once_with_every_place() {
    let text = reduced(&[
        ("a.x:1", "error: no"),
        ("b.x:2", "warning: odd"),
        ("c.x:3", "error: no"),
    ]);
    assert_eq!(
        text,
        "a.x:1: error: no; also c.x:3\nb.x:2: warning: odd\n[0 of 3 lines left out]"
    );
}

#[test]
fn a_message_is_the_same_whatever_it_quotes() {
    let text = reduced(&[
        ("a.md:1", "MD034 Bare URL [Context: \"oak\"]"),
        ("a.md:1", "MD034 Bare URL [Context: \"oak\"]"),
        ("b.md:2", "MD034 Bare URL [Context: \"elm\"]"),
        ("c.md:3", "MD001 Level [Expected: h2]"),
        ("c.md:3", "MD001 Level [Expected: h2]"),
    ]);
    assert_eq!(
        text,
        "a.md:1: MD034 Bare URL [Context: \"oak\"]; also b.md:2\nc.md:3: MD001 Level [Expected: h2] \u{d7}2\n\
             [0 of 5 lines left out]"
    );
}

#[test]
fn of_very_many_findings_every_message_and_file_stays() {
    let places: Vec<String> = (0..700)
        .map(|line| format!("f{}.x:{line}", line % 7))
        .collect();
    let mut all = Findings::default();
    for place in &places {
        let path = place.split(':').next().unwrap_or_default();
        all.push(Finding {
            place,
            path,
            message: "E1 too long (80 > 79)",
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    let text = output.finish(700, usize::MAX);
    assert!(
        text.starts_with("f0.x:0: E1 too long (80 > 79); also f1.x:1"),
        "{text}"
    );
    assert!(text.contains("f6.x (100)"), "{text}");
}

#[test]
fn of_many_remarks_severe_ones_keep_all_places() {
    let mut all = Findings::default();
    let places: Vec<String> = (0..400).map(|line| format!("a.py:{line}:1")).collect();
    for (number, place) in places.iter().enumerate() {
        all.push(Finding {
            place,
            path: "a.py",
            message: if number % 50 == 7 {
                "E0602: Undefined variable 'x' (undefined-variable)"
            } else {
                "C0116: Missing docstring (missing-docstring)"
            },
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    let reduced = output.finish(400, usize::MAX);
    assert!(reduced.contains("a.py:357:1"), "{reduced}");
    assert!(
        reduced.contains("; also") && reduced.contains(" (+363 similar)\n"),
        "{reduced}"
    );
    assert!(reduced.len() < 600, "{reduced}");
}

#[test]
fn other_messages_of_one_rule_share_a_row() {
    let mut all = Findings::default();
    let letters = "abcdefghijklmnopqrstuvwxyz";
    let messages: Vec<String> = (0_usize..200)
        .map(|number| {
            let word = letters
                .get(number.saturating_sub(30) % 26..)
                .unwrap_or_default();
            format!("R0401: Cycle of {word} and others (cyclic-import)")
        })
        .collect();
    for message in &messages {
        all.push(Finding {
            place: "a.py:1:0",
            path: "a.py",
            message,
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    let reduced = output.finish(200, usize::MAX);
    assert!(reduced.contains("; others of R0401 +"), "{reduced}");
    assert!(reduced.lines().count() < 14, "{reduced}");
}

#[test]
fn little_room_leaves_a_place_of_each_rule_and_the_name_of_each_file() {
    let mut all = Findings::default();
    let places: Vec<String> = (0..600)
        .map(|line| format!("src/{}.py:{line}:1", line % 9))
        .collect();
    let messages: Vec<String> = (0..600)
        .map(|line| {
            let name = "abc".get(line % 3..).unwrap_or_default();
            format!("B{:03} Avoid {name}", line % 40)
        })
        .collect();
    for (place, message) in places.iter().zip(&messages) {
        let path = place.split(':').next().unwrap_or_default();
        all.push(Finding {
            place,
            path,
            message,
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(1_500, &mut output);
    let text = output.finish(600, usize::MAX);
    for line in 0..40 {
        assert!(
            text.contains(&format!("src/{}.py:{line}:1: B{line:03} Avoid", line % 9)),
            "{text}"
        );
    }
    assert!(text.contains("; others of B010 +10"), "{text}");
    assert!(!text.contains("src/0.py (") && text.len() < 2_600, "{text}");
}

/// An error for each line, about one of three functions; every other message is broken at the width.
fn calls(count: usize) -> Vec<(String, Vec<String>)> {
    let call = |line: usize| {
        let name = ["oak", "elm", "ash"].get(line % 3).copied();
        let name = name.unwrap_or_default();
        let place = format!("a.py:{line}");
        if line.is_multiple_of(2) {
            let message = format!("error: Call to untyped \"{name}\"  [no-untyped-call]");
            (place, vec![message])
        } else {
            let message = format!("error: Call to untyped \"{name}\"");
            (place, vec![message, "[no-untyped-call]".to_owned()])
        }
    };
    (1..=count).map(call).collect()
}

fn written(calls: &[(String, Vec<String>)]) -> String {
    let mut all = Findings::default();
    for (place, lines) in calls {
        let mut lines = lines.iter();
        all.push(Finding {
            place,
            path: "a.py",
            message: lines.next().map_or("", String::as_str),
            whole: "",
        });
        lines.for_each(|line| all.continue_last(line));
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    output.finish(calls.len(), usize::MAX)
}

#[test]
fn many_errors_that_differ_in_names_are_told_once_with_each_name_and_every_place() {
    let calls = calls(250);
    let text = written(&calls);
    assert!(
        text.starts_with(
            "a.py:1: error: Call to untyped \"elm\" [no-untyped-call]; also a.py:4 a.py:7 "
        ),
        "{text}"
    );
    assert!(text.contains("; \"ash\" a.py:2 a.py:5 ") && text.contains("; \"oak\" a.py:3 a.py:6 "));
    for (place, _) in &calls {
        let ends = [
            format!("{place} "),
            format!("{place};"),
            format!("{place}:"),
            format!("{place}\n"),
        ];
        assert!(ends.iter().any(|end| text.contains(end)), "{place} {text}");
    }
    assert!(text.lines().count() < 4, "{text}");
}

#[test]
fn a_few_errors_are_told_in_their_own_words() {
    let text = written(&calls(150));
    for name in ["oak", "elm", "ash"] {
        assert!(
            text.contains(&format!("Call to untyped \"{name}\"")),
            "{text}"
        );
    }
}

#[test]
fn many_warnings_of_a_compiler_that_differ_in_names_are_told_together() {
    let mut lines = Vec::new();
    for number in 0..42 {
        lines.push((
            format!("src/oak.c:{number}:3"),
            format!("warning: unused variable \u{2018}leaf{number}\u{2019} [-Wunused-variable]"),
        ));
    }
    for number in 0..3 {
        let bark = format!("warning: leak of \u{2018}bark{number}\u{2019}");
        lines.push((format!("src/elm.c:{number}:1"), bark.clone()));
        lines.push((format!("src/elm.c:{number}:9"), bark));
    }
    let mut findings = Findings::warnings();
    for (place, message) in &lines {
        findings.push(Finding {
            place,
            path: "src/oak.c",
            message,
            whole: "",
        });
    }
    let mut output = Output::default();
    findings.write(9_000, &mut output);
    let text = output.finish(lines.len(), usize::MAX);
    assert!(
        text.starts_with(
            "src/oak.c:0:3: warning: unused variable \u{2018}leaf0\u{2019} [-Wunused-variable]; \u{2018}leaf1\u{2019} \
             src/oak.c:1:3; "
        ),
        "{text}"
    );
    let alone = "\nsrc/elm.c:2:1: warning: leak of \u{2018}bark2\u{2019}; also src/elm.c:2:9\n";
    assert!(text.contains(alone), "{text}");
    assert!(text.ends_with("[0 of 48 lines left out]"), "{text}");
}

#[test]
fn an_apostrophe_is_no_quote() {
    for (message, quote) in [
        ("Name 'oak' is not defined", '\''),
        ("Class 'oak' doesn't have 'leaf'", '`'),
        ("No `oak` in 'elm'", '`'),
        ("No \"oak\" in 'elm'", '"'),
        ("unused \u{2018}oak\u{2019}", '\u{2018}'),
    ] {
        let [open, _] = message::quotes(message);
        assert_eq!(open, quote, "{message}");
    }
}

#[test]
fn of_messages_with_many_names_different_ones_are_told() {
    let mut all = Findings::default();
    let places: Vec<String> = (0..400).map(|line| format!("a.py:{line}:1")).collect();
    for (number, place) in places.iter().enumerate() {
        let message = match number {
            0..40 => "no bark",
            350 => "unused leaf 'ash'",
            _ => "unused leaf 'oak'",
        };
        all.push(Finding {
            place,
            path: "a.py",
            message,
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(2_000, &mut output);
    let reduced = output.finish(400, usize::MAX);
    assert!(reduced.contains(" 'ash' a.py:350:1 (+"), "{reduced}");
}

#[test]
fn several_names_of_one_place_are_told_with_it_once() {
    let mut all = Findings::default();
    let places: Vec<String> = (0..200)
        .map(|line| format!("a.py:{}:1", line / 2))
        .collect();
    for (number, place) in places.iter().enumerate() {
        all.push(Finding {
            place,
            path: "a.py",
            message: if number % 2 == 0 {
                "unused leaf 'oak'"
            } else {
                "unused leaf 'elm'"
            },
            whole: "",
        });
    }
    let mut output = Output::default();
    all.write(900, &mut output);
    let reduced = output.finish(200, usize::MAX);
    let told = "a.py:0:1: unused leaf 'oak'; also 'elm' (there) 'oak' a.py:1:1 'elm' (there) 'oak' a.py:2:1";
    assert!(reduced.starts_with(told), "{reduced}");
}
