//! Ways to change the bytes of an output.

use std::ops::Range;

use memchr::memchr_iter;

use crate::corpus::Corpus;
use crate::random::Random;
use crate::window::line_end;

/// A repeated byte is at times so often there that a line is of the very long ones.
const HUGE_LINE_BYTES: usize = 80_000;
const LONG_LINE_BYTES: usize = 1_000;
const MOST_BYTES: usize = 2_000_000;

/// What disturbs readers of lines and of terminals.
const DISTURBING: [&[u8]; 30] = [
    b"\x1b",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[2K",
    b"\x1b[3A",
    b"\x1b[99999999999B",
    b"\x1b[1G",
    b"\x1b]0;title",
    b"\x1b]8;;file:///a\x1b\\",
    b"\r",
    b"\r\n",
    b"\n\n\n",
    b"\x08",
    b"\0",
    b"\t",
    b"\xff",
    b"\xc2\x9b",
    b"\xf0\x9f\x91",
    "\u{a0}".as_bytes(),
    "\u{e9}".as_bytes(),
    "e\u{301}".as_bytes(),
    "\u{feff}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{2026}".as_bytes(),
    "\u{2713}".as_bytes(),
    "\u{1F468}\u{200D}\u{1F467}".as_bytes(),
    b"[12 of 34 lines left out]",
    b"  99%|##########   | 99/100",
    b"... 7 lines",
    b" \xc3\x9712",
];

/// Beginnings, marks and verdicts of many formats: where they are, another family may read on.
const MARKS: [&[u8]; 36] = [
    b"::",
    b": ",
    b":1:",
    b"a.py:3:7: error: ",
    b"    at f (a.js:1:2)",
    b"  File \"a.py\", line 3, in f",
    b"Traceback (most recent call last):",
    b"FAILED ",
    b"ERROR ",
    b"FAIL ",
    b"ok 1 - a",
    b"not ok 2 - b",
    b"1..0",
    b"TAP version 13",
    b"error: ",
    b"error[E0308]: ",
    b"warning: ",
    b"+++ b/a",
    b"--- a/a",
    b"@@ -1,2 +1,3 @@",
    b"diff --git a/a b/a",
    b"commit ",
    b"=====",
    b"_____",
    b"-----",
    b"{",
    b"}",
    b"[",
    b"\"",
    b"| ",
    b"\xe2\x97\x8f ",
    b"1 passed, 1 failed",
    b"0 errors",
    b"100%",
    b"test result: ok. 1 passed; 0 failed;",
    b"--- FAIL: TestA (0.00s)",
];

const NUMBERS: [&[u8]; 8] = [
    b"0",
    b"-1",
    b"1",
    b"4294967296",
    b"18446744073709551616",
    b"99999999999999999999999999999999999999999",
    b"1e400",
    b"007",
];

/// Changes `bytes` in one way and states which.
pub(crate) fn mutate(bytes: &mut Vec<u8>, corpus: &Corpus, random: &mut Random) -> &'static str {
    match random.below(17) {
        0 => flip_bits(bytes, random),
        1 => {
            bytes.drain(some_lines(bytes, random));
            "deleted lines"
        }
        2 => repeat_lines(bytes, random),
        3 => shuffle_lines(bytes, random),
        4 => take_lines_of_another(bytes, corpus, random),
        5 => {
            // What is left has to be long enough to be reduced at all.
            let least = bytes.len().min(1_100);
            bytes.truncate(least + random.below(bytes.len() - least + 1));
            "cut"
        }
        6 => {
            insert(bytes, &DISTURBING, 6, random);
            "control characters"
        }
        7 => repeat_byte(bytes, random),
        8 => change_digits(bytes, random),
        9 => end_lines_by_both(bytes),
        10 => {
            let start = random.below(bytes.len());
            let end = (start + random.below(40)).min(bytes.len());
            bytes.drain(start..end);
            "deleted bytes"
        }
        11 => change_numbers(bytes, random),
        12 => join_or_split_lines(bytes, random),
        13 => indent_lines(bytes, random),
        14 => repeat_part(bytes, random),
        15 => {
            insert(bytes, &MARKS, 4, random);
            "marks of formats"
        }
        _ => colour_words(bytes, random),
    }
}

/// Some whole lines, one to twenty.
fn some_lines(bytes: &[u8], random: &mut Random) -> Range<usize> {
    let start = match random.below(bytes.len()) {
        0 => 0,
        at => line_end(bytes, at),
    };
    let mut end = start;
    for _ in 0..=random.below(20) {
        end = line_end(bytes, end);
    }
    start..end
}

fn flip_bits(bytes: &mut [u8], random: &mut Random) -> &'static str {
    for _ in 0..=random.below(8) {
        let at = random.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << random.below(8);
        }
    }
    "flipped bits"
}

fn repeat_lines(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let range = some_lines(bytes, random);
    let times = if random.once_in(32) { 60 } else { 1 };
    let lines = bytes.get(range.clone()).unwrap_or_default().repeat(times);
    bytes.splice(range.start..range.start, lines);
    "repeated lines"
}

fn shuffle_lines(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let range = some_lines(bytes, random);
    let part = bytes.get(range.clone()).unwrap_or_default().to_vec();
    let mut lines: Vec<&[u8]> = part.split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..lines.len() {
        let other = random.below(lines.len());
        lines.swap(at, other);
    }
    bytes.splice(range, lines.concat());
    "shuffled lines"
}

fn take_lines_of_another(
    bytes: &mut Vec<u8>,
    corpus: &Corpus,
    random: &mut Random,
) -> &'static str {
    if let Some(other) = corpus.any(random) {
        let range = some_lines(&other.bytes, random);
        let lines = other.bytes.get(range).unwrap_or_default();
        // Some recorded outputs are one line of many kilobytes.
        let lines = lines.get(..lines.len().min(4_000)).unwrap_or_default();
        let at = some_lines(bytes, random).start;
        bytes.splice(at..at, lines.iter().copied());
    }
    "lines of another output"
}

fn insert(bytes: &mut Vec<u8>, parts: &[&[u8]], most: usize, random: &mut Random) {
    for _ in 0..=random.below(most) {
        let mut at = random.below(bytes.len() + 1);
        if random.once_in(2) && at < bytes.len() {
            at = line_end(bytes, at);
        }
        let added = random.one(parts).copied().unwrap_or_default();
        bytes.splice(at..at, added.iter().copied());
    }
}

fn repeat_byte(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let at = random.below(bytes.len() + 1);
    let byte = bytes.get(at).copied().unwrap_or(b'x');
    let most = if random.once_in(64) {
        HUGE_LINE_BYTES
    } else {
        LONG_LINE_BYTES
    };
    let count = random.below(most);
    bytes.splice(at..at, std::iter::repeat_n(byte, count));
    "one byte many times"
}

/// The position of a digit, looked for from anywhere on.
fn some_digit(bytes: &[u8], random: &mut Random) -> Option<usize> {
    let start = random.below(bytes.len());
    let rest = bytes.get(start..)?;
    let digit = rest.iter().position(u8::is_ascii_digit)?;
    Some(start + digit)
}

fn change_digits(bytes: &mut [u8], random: &mut Random) -> &'static str {
    for _ in 0..=random.below(4) {
        let digit = random.one(b"0123456789").copied().unwrap_or(b'0');
        if let Some(byte) = some_digit(bytes, random).and_then(|at| bytes.get_mut(at)) {
            *byte = digit;
        }
    }
    "other digits"
}

fn change_numbers(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    for _ in 0..=random.below(3) {
        if let Some(start) = some_digit(bytes, random) {
            let rest = bytes.get(start..).unwrap_or_default();
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
            let end = start + digits.count();
            let number = random.one(&NUMBERS).copied().unwrap_or_default();
            bytes.splice(start..end, number.iter().copied());
        }
    }
    "other numbers"
}

fn end_lines_by_both(bytes: &mut Vec<u8>) -> &'static str {
    let before = std::mem::take(bytes);
    let mut kept_from = 0;
    for newline in memchr_iter(b'\n', &before) {
        bytes.extend_from_slice(before.get(kept_from..newline).unwrap_or_default());
        bytes.extend_from_slice(b"\r\n");
        kept_from = newline + 1;
    }
    bytes.extend_from_slice(before.get(kept_from..).unwrap_or_default());
    "CRLF"
}

fn join_or_split_lines(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        if random.once_in(2) {
            bytes.splice(at..at, *b"\n");
        } else {
            let end = line_end(bytes, at);
            bytes.drain(end.saturating_sub(1)..end);
        }
    }
    "joined or split lines"
}

fn indent_lines(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let mut at = some_lines(bytes, random).start;
    let deeper = random.once_in(2);
    for depth in 0..=random.below(8) {
        let rest = bytes.get(at..).unwrap_or_default();
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        if deeper {
            bytes.splice(at..at, std::iter::repeat_n(b' ', depth * 2));
        } else {
            bytes.drain(at..at + blanks);
        }
        at = line_end(bytes, at);
    }
    "indents"
}

fn repeat_part(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let start = random.below(bytes.len());
    let end = (start + 1 + random.below(30)).min(bytes.len());
    let most = if random.once_in(16) { 400 } else { 10 };
    let times = random.below(most);
    if bytes.len() < MOST_BYTES {
        let part = bytes.get(start..end).unwrap_or_default().repeat(times);
        bytes.splice(start..start, part);
    }
    "a part many times"
}

fn colour_words(bytes: &mut Vec<u8>, random: &mut Random) -> &'static str {
    let before = std::mem::take(bytes);
    let mut coloured = false;
    for word in before.split_inclusive(|byte| matches!(byte, b' ' | b'\n')) {
        if random.once_in(8) {
            bytes.extend_from_slice(if coloured { b"\x1b[0m" } else { b"\x1b[1;32m" });
            coloured = !coloured;
        }
        bytes.extend_from_slice(word);
    }
    "colours"
}
