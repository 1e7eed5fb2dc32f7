use std::collections::HashMap;

use super::*;

/// The bytes that are hashed, computed one byte at a time.
fn plain(line: &[u8]) -> Vec<u8> {
    let kind = |at: usize| line.get(at).map_or(0, |byte| class(*byte));
    let mut told = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        let length = |bits: u8| {
            (at..line.len())
                .take_while(|at| kind(*at) & bits != 0)
                .count()
        };
        if kind(at) & BLANK != 0 {
            told.push(*byte);
            at += length(BLANK);
        } else if kind(at) & WORD != 0 {
            let word = line.get(at..at + length(WORD)).unwrap_or_default();
            let all = word.iter().fold(WORD | HEX, |all, byte| all & class(*byte));
            let has_digit = word.iter().any(u8::is_ascii_digit);
            if has_digit && is_number(word, all) {
                told.push(b'0');
            } else {
                let digit = |at: usize| word.get(at).is_some_and(u8::is_ascii_digit);
                for (place, byte) in word.iter().enumerate() {
                    if !digit(place) {
                        told.push(*byte);
                    } else if place == 0 || !digit(place - 1) {
                        told.push(b'0');
                    }
                }
            }
            at += word.len();
        } else {
            told.push(*byte);
            at += 1;
        }
    }
    told
}

#[test]
fn lines_have_one_mask_that_are_the_same_without_numbers_and_blanks_and_no_others() {
    let parts = [
        "",
        " ",
        "  ",
        "\t",
        "a",
        "g",
        "x",
        "0",
        "12",
        "0x",
        "deadbeef",
        "ab",
        "oak-tree",
        "=",
        ":",
        "\u{e9}",
        " \t ",
        "3f25",
        "longer_word",
    ];
    let mut known: HashMap<u64, Vec<u8>> = HashMap::new();
    let mut masks = Masks::default();
    let mut state = SEED;
    for _ in 0..20_000 {
        let mut line = String::new();
        for _ in 0..7 {
            state = mixed(state, 1);
            let part = (state >> 40) as usize % parts.len();
            line.push_str(parts.get(part).copied().unwrap_or_default());
        }
        let told = plain(line.as_bytes());
        assert_eq!(masks.mask(&line), mask(&line), "{line}");
        let first = known.entry(mask(&line)).or_insert_with(|| told.clone());
        assert_eq!(*first, told, "{line}");
    }
    let mut masks: HashMap<&[u8], u64> = HashMap::new();
    for (mask, told) in &known {
        assert_eq!(*masks.entry(told).or_insert(*mask), *mask, "{told:?}");
    }
}
