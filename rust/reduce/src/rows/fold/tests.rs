#![expect(clippy::unwrap_used, reason = "tests may panic")]

use super::*;
use crate::line::mask::coarse_mask;

fn folded(text: &str) -> String {
    let mut output = Output::default();
    write(text.lines(), &mut output);
    let text = output.finish(text.lines().count(), usize::MAX);
    text.rsplit_once('\n').unwrap().0.to_owned()
}

#[test]
fn a_byte_more_of_a_kind_makes_another_mask() {
    let masks: Vec<u64> = (1..200).map(|bytes| mask(&"^".repeat(bytes))).collect();
    for (at, one) in masks.iter().enumerate() {
        assert!(!masks.iter().skip(at + 1).any(|other| other == one), "{at}");
    }
}

#[test]
fn a_word_is_a_number_wherever_its_letters_stand() {
    for (one, other, same) in [
        ("id ab12 x", "id 9 x", true),
        ("id 12ab x", "id 9 x", true),
        ("id 1a2b3c x", "id 9 x", true),
        ("id 0x1f x", "id 9 x", true),
        ("id g1h2a x", "id g7h77a x", true),
        ("id g1h2a x", "id 9 x", false),
        ("id a1 x", "id 9 x", false),
        ("id 0xzz x", "id 9 x", true),
        ("id 1xzz x", "id 9 x", false),
        ("id oak12ab x", "id oak3ab x", true),
        ("id dead x", "id 9 x", false),
        ("id a_12 x", "id a_9 x", true),
        ("id b1e5.2f x", "id 9.2f x", true),
    ] {
        assert_eq!(mask(one) == mask(other), same, "{one} {other}");
    }
}

#[test]
fn lines_that_differ_in_numbers_are_told_by_the_first_and_the_last() {
    let text = (0..9)
        .map(|step| format!("step {step} took 1{step}.5 ms\n"))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(folded(&text), "step 0 took 10.5 ms ×9\nstep 8 took 18.5 ms");
}

#[test]
fn fewer_than_four_are_all_shown() {
    let text = "step 1\nother\nstep 2\nstep 3";
    assert_eq!(folded(text), text);
}

#[test]
fn numbers_are_masked_in_every_spelling() {
    for (one, other) in [
        ("at 0x7ffe12ab", "at 0x1"),
        ("id 3f2504e0-4f89", "id 1234567-1"),
        ("a   1", "a 12"),
        ("v2.10.1 in 3s", "v1.2.3 in 45s"),
    ] {
        assert_eq!(mask(one), mask(other), "{one} {other}");
    }
    for (one, other) in [
        ("ok 1", "bad 1"),
        ("facade", "decade"),
        ("a 1 b", "a 1 c"),
        ("-1", "1"),
        ("test_a", "test_b"),
    ] {
        assert_ne!(mask(one), mask(other), "{one} {other}");
    }
}

#[test]
fn an_odd_line_among_many_stays() {
    let mut lines: Vec<String> = (0..500).map(|row| format!("row {row} is fine")).collect();
    lines.insert(250, "row 250 is broken".to_owned());
    let text = lines.join("\n");
    assert_eq!(
        folded(&text),
        "row 0 is fine ×500\nrow 250 is broken\nrow 499 is fine"
    );
}

#[test]
fn the_number_of_templates_is_bounded() {
    let words: Vec<String> = (0..20_000_u32)
        .map(|number| {
            let letter = |shift: u32| char::from(b'a' + (number >> shift & 15) as u8);
            format!(
                "{}{}{}{} x y z u v",
                letter(0),
                letter(4),
                letter(8),
                letter(12)
            )
        })
        .collect();
    let mut templates = Templates::default();
    for (number, line) in words.iter().enumerate() {
        templates.add(number, line);
    }
    assert!(templates.len() <= MAX_MASKS + MAX_COARSE_MASKS + 1);
    assert_eq!(
        templates
            .iter()
            .map(|template| template.count)
            .sum::<usize>(),
        20_000
    );
}

#[test]
fn first_words_are_enough_for_a_coarse_template() {
    let mut templates = Templates::default();
    for (number, line) in ["GET /a from x to y z", "GET /a from x to y w", "PUT /b"]
        .iter()
        .enumerate()
    {
        templates.add(number, line);
    }
    let coarse = templates.merged(|template| coarse_mask(template.first.line, 5));
    let counts: Vec<_> = coarse.iter().map(|template| template.count).collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn a_mask_is_the_same_wherever_eight_bytes_begin() {
    // Computed byte by byte: numbers and runs of blanks are one symbol each.
    let plain = |line: &str| {
        let mut kept = String::new();
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let is_word = |sign: char| sign.is_ascii_alphanumeric() || !sign.is_ascii();
            let length = rest.find(|sign| !is_word(sign)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length.max(first.len_utf8()));
            let number = word.bytes().any(|byte| byte.is_ascii_digit())
                && (word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
                    || word.starts_with("0x"));
            for sign in if number { "0" } else { word }.chars() {
                let sign = if sign.is_ascii_digit() { '0' } else { sign };
                let joins = matches!(sign, '0' | ' ') && kept.ends_with(sign);
                if !joins || sign == '0' && length == 0 {
                    kept.push(sign);
                }
            }
            rest = after;
        }
        kept
    };
    let parts = [
        "a", "b", "fade", "x", "12", "0x1f", " ", "  ", ".", "zebra", "\u{e9}", "e9", "decade7",
        "- ", "seven", "1a", "ff", "feedbeef", "q1w22e",
    ];
    let mut state = 7_u64;
    let mut chosen = |count: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % count
    };
    let mut lines = Vec::new();
    for _ in 0..20_000 {
        let count = chosen(9);
        lines.push(
            (0..count)
                .map(|_| *parts.get(chosen(parts.len())).unwrap())
                .collect::<String>(),
        );
    }
    let mut by_mask = std::collections::BTreeMap::new();
    let mut by_text = std::collections::BTreeMap::new();
    for line in &lines {
        let (mask, kept) = (mask(line), plain(line));
        assert_eq!(
            by_mask.entry(mask).or_insert_with(|| kept.clone()),
            &kept,
            "{line}"
        );
        assert_eq!(*by_text.entry(kept).or_insert(mask), mask, "{line}");
    }
    assert!(by_mask.len() > 1_000);
}

#[test]
fn lines_that_begin_alike_have_the_masks_that_each_has_alone() {
    let mut masks = Masks::default();
    let starts = [
        "2026-11-22 10:00:01,123 ",
        "2026-11-22 23:59:59,000 ",
        "2026-11-22T10:00:01.123Z ",
        "[2026-11-22 10:00:00] ",
        "a 0x12 b 0x34 c 0x56 d 0 ",
        "id ab12cd34 of 12 oaks   ",
        "",
    ];
    let ends = [" two blanks", "INFO oak", "\tINFO 12", "12ab", "\u{e9}", ""];
    for start in starts {
        for end in ends.iter().cycle().take(40) {
            for line in [
                format!("{start}{end}"),
                format!("{start}{end}").replace('1', "7"),
            ] {
                assert_eq!(masks.mask(&line), mask(&line), "{line}");
                assert_eq!(masks.coarse(&line, 5), coarse_mask(&line, 5), "{line}");
            }
        }
    }
}
