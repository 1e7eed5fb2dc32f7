//! A recorded output with its command and exit code, changed by chance.

use crate::corpus::Corpus;
use crate::random::Random;

/// Most cases are windows of about this size: short ones are fast, and reach as much.
const WINDOW_BYTES: usize = 6_000;
/// One case in so many is a whole output.
const WHOLE_ONCE_IN: usize = 1_000;
const MOST_MUTATIONS: usize = 4;
const HUGE_LINE_BYTES: usize = 20_000;

/// What disturbs readers of lines and of terminals.
const DISTURBING: [&[u8]; 17] = [
    b"\x1b",
    b"\x1b[31m",
    b"\x1b[0m",
    b"\x1b[2K",
    b"\x1b]0;title",
    b"\x1b]8;;file:///a\x1b\\",
    b"\r",
    b"\r\n",
    b"\n\n\n",
    b"\0",
    b"\xff",
    b"\xc2\x9b",
    "\u{feff}".as_bytes(),
    "\u{2028}".as_bytes(),
    "\u{1F468}\u{200D}\u{1F467}".as_bytes(),
    b"[12 of 34 lines left out]",
    b"  99%|##########   | 99/100",
];

/// A text as a tool might answer it.
#[derive(Clone)]
pub(crate) struct Case {
    /// Where the text came from, and what was done to it.
    pub(crate) history: Vec<String>,
    pub(crate) text: String,
    pub(crate) command: Option<String>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) budget_chars: usize,
}

impl Case {
    /// A recorded output, mutated some times.
    pub(crate) fn mutated(corpus: &Corpus, random: &mut Random) -> Self {
        let mut case = Self {
            history: Vec::new(),
            text: String::new(),
            command: None,
            exit_code: None,
            budget_chars: usize::MAX,
        };
        let mut bytes = Vec::new();
        if let Some(recorded) = corpus.any(random) {
            bytes = window(&recorded.bytes, random).to_vec();
            case.history.push(recorded.file.clone());
            case.command = Some(recorded.command.clone());
            case.exit_code = recorded.exit_code;
        }
        for _ in 0..random.below(MOST_MUTATIONS + 1) {
            let name = mutate(&mut bytes, corpus, random);
            case.history.push(name.to_owned());
        }
        if random.once_in(8) {
            case.command = match corpus.any(random) {
                Some(other) if !random.once_in(3) => Some(other.command.clone()),
                _ => None,
            };
            case.history.push("command".to_owned());
        }
        if random.once_in(4) {
            case.exit_code = [None, Some(0), Some(1), Some(2)]
                .get(random.below(4))
                .copied()
                .flatten();
            case.history.push("exit code".to_owned());
        }
        if random.once_in(8) {
            case.budget_chars = 100 + random.below(4_000);
            case.history.push("budget".to_owned());
        }
        case.text = String::from_utf8_lossy(&bytes).into_owned();
        case
    }
}

/// The beginning, the end or the middle of an output, whole lines of it; at times all of it.
fn window<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    let size = 1_200 + random.below(WINDOW_BYTES * 2 - 1_200);
    if bytes.len() <= size || random.once_in(WHOLE_ONCE_IN) {
        return bytes;
    }
    let most = bytes.len() - size;
    let start = match random.below(4) {
        0 | 1 => 0,
        2 => most,
        _ => random.below(most),
    };
    let rest = bytes.get(start..).unwrap_or_default();
    let skipped = if start == 0 { 0 } else { line_end(rest, 0) };
    let rest = rest.get(skipped..).unwrap_or_default();
    rest.get(..size.min(rest.len())).unwrap_or_default()
}

/// Behind the newline that is the first from `at` on.
fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    let newline = rest.iter().position(|byte| *byte == b'\n');
    newline.map_or(bytes.len(), |newline| at + newline + 1)
}

/// Some whole lines, one to twenty.
fn some_lines(bytes: &[u8], random: &mut Random) -> std::ops::Range<usize> {
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

/// Changes `bytes` in one way and says which.
fn mutate(bytes: &mut Vec<u8>, corpus: &Corpus, random: &mut Random) -> &'static str {
    match random.below(10) {
        0 => {
            for _ in 0..=random.below(8) {
                let at = random.below(bytes.len());
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            "flipped bits"
        }
        1 => {
            let lines = some_lines(bytes, random);
            bytes.drain(lines);
            "deleted lines"
        }
        2 => {
            let range = some_lines(bytes, random);
            let lines = bytes.get(range.clone()).unwrap_or_default().to_vec();
            bytes.splice(range.start..range.start, lines);
            "repeated lines"
        }
        3 => {
            let range = some_lines(bytes, random);
            let part = bytes.get(range.clone()).unwrap_or_default();
            let mut lines: Vec<Vec<u8>> = part
                .split_inclusive(|byte| *byte == b'\n')
                .map(<[u8]>::to_vec)
                .collect();
            for at in 0..lines.len() {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            bytes.splice(range, lines.concat());
            "shuffled lines"
        }
        4 => {
            if let Some(other) = corpus.any(random) {
                let range = some_lines(&other.bytes, random);
                let lines = other.bytes.get(range).unwrap_or_default().to_vec();
                let at = some_lines(bytes, random).start;
                bytes.splice(at..at, lines);
            }
            "lines of another output"
        }
        5 => {
            bytes.truncate(random.below(bytes.len() + 1));
            "cut"
        }
        6 => {
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len() + 1);
                let added = random.one(&DISTURBING).copied().unwrap_or_default();
                bytes.splice(at..at, added.iter().copied());
            }
            "control characters"
        }
        7 => {
            let at = random.below(bytes.len() + 1);
            let byte = bytes.get(at).copied().unwrap_or(b'x');
            let count = random.below(HUGE_LINE_BYTES);
            bytes.splice(at..at, std::iter::repeat_n(byte, count));
            "one byte many times"
        }
        8 => {
            let digits: Vec<usize> = (0..bytes.len())
                .filter(|at| bytes.get(*at).is_some_and(u8::is_ascii_digit))
                .collect();
            for _ in 0..=random.below(4) {
                let at = random.one(&digits).copied().unwrap_or(usize::MAX);
                let digit = random.one(b"0123456789").copied().unwrap_or(b'0');
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = digit;
                }
            }
            "other digits"
        }
        _ => {
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            let ends = lines.flat_map(|line| match line.split_last() {
                Some((b'\n', line)) => [line, b"\r\n"].concat(),
                _ => line.to_vec(),
            });
            *bytes = ends.collect();
            "CRLF"
        }
    }
}
