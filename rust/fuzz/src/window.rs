//! A part of a recorded output, whole lines of it.

use memchr::memchr;

use crate::corpus::Recorded;
use crate::random::Random;

/// Windows have at least this many bytes, when the output has: what is shorter stays as it is.
const LEAST_BYTES: usize = 1_100;
/// And mostly at most this many: short ones are fast, and reach as much.
const MOST_BYTES: usize = 4_000;
/// One case in this many is a whole output.
const WHOLE_ONCE_IN: usize = 400;

/// Puts the beginning, some of the middle, the end, or these together, of an output into `bytes`.
pub(crate) fn take(recorded: &Recorded, bytes: &mut Vec<u8>, random: &mut Random) {
    let output = recorded.bytes.as_slice();
    let size = LEAST_BYTES + random.below(MOST_BYTES - LEAST_BYTES);
    let size = match recorded.part_bytes {
        ..MOST_BYTES => size,
        part => part,
    };
    if output.len() <= size || random.once_in(WHOLE_ONCE_IN) {
        bytes.extend_from_slice(output);
        return;
    }
    // A window of JSON is not one, unless what it opens is closed.
    if output.starts_with(b"{\"") || output.starts_with(b"[") && !random.once_in(8) {
        return json(output, size, bytes, random);
    }
    let third = size / 3;
    let (head, middle, tail) = match random.below(6) {
        0 => (size, 0, 0),
        1 => (0, size, 0),
        2 => (0, 0, size),
        3 => (size - third, 0, third),
        _ => (third, third, third),
    };
    bytes.extend_from_slice(lines(output, 0, head));
    let start = random.below(output.len() - size);
    bytes.extend_from_slice(lines(output, start, middle));
    bytes.extend_from_slice(lines(output, output.len() - tail, tail));
}

/// The whole lines of `output` from the first that begins at `start` or later, about `size` bytes.
fn lines(output: &[u8], start: usize, size: usize) -> &[u8] {
    if size == 0 {
        return &[];
    }
    let start = match start {
        0 => 0,
        start => line_end(output, start - 1),
    };
    let end = line_end(output, (start + size).min(output.len()) - 1);
    let long = start + 2 * size;
    // A line of a megabyte is not a window; the beginning of it is.
    output.get(start..end.min(long)).unwrap_or_default()
}

/// The beginning of a list or object, or a list of its items from anywhere on, closed after about `size`
/// bytes.
fn json(output: &[u8], size: usize, bytes: &mut Vec<u8>, random: &mut Random) {
    let mut rest = output;
    let items =
        memchr::memmem::find_iter(output.get(..output.len() - size).unwrap_or_default(), b"},");
    let items: Vec<usize> = items.collect();
    if let Some(item) = random.one(&items).filter(|_| random.below(2) == 0) {
        bytes.push(b'[');
        rest = output.get(item + 2..).unwrap_or_default();
    }
    let mut open = bytes.clone();
    let (mut in_string, mut escaped) = (false, false);
    for byte in rest {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => open.push(*byte),
            b'}' | b']' if !in_string => {
                open.pop();
            }
            // An item that is cut is not an item, so a list ends where one would begin.
            b',' if !in_string && bytes.len() >= size => break,
            _ => {}
        }
        if open.is_empty() {
            break;
        }
        bytes.push(*byte);
    }
    bytes.extend(open.iter().rev().map(|open| match open {
        b'{' => b'}',
        _ => b']',
    }));
}

/// Behind the newline that is the first from `at` on; the end when there is none.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr(b'\n', rest).map_or(bytes.len(), |newline| at + newline + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(output: &[u8], index: u64) -> Vec<u8> {
        let recorded = Recorded {
            file: String::new(),
            command: String::new(),
            exit_code: None,
            bytes: output.to_vec(),
            part_bytes: 0,
        };
        let mut bytes = Vec::new();
        take(&recorded, &mut bytes, &mut Random::of(1, index));
        bytes
    }

    #[test]
    fn a_window_holds_whole_lines_of_the_output() {
        let lines: Vec<String> = (0..2_000)
            .map(|number| format!("line {number} of it\n"))
            .collect();
        let output = lines.concat();
        let mut sizes = Vec::new();
        for index in 0..300 {
            let bytes = window(output.as_bytes(), index);
            let text = String::from_utf8_lossy(&bytes);
            for line in text.split_inclusive('\n') {
                assert!(
                    line.starts_with("line ") && line.ends_with(" of it\n"),
                    "{line:?}"
                );
            }
            sizes.push(bytes.len());
        }
        sizes.sort_unstable();
        let usual = sizes.get(290).copied().unwrap_or_default();
        assert!(usual < MOST_BYTES + 200, "{usual}");
        assert!(sizes.first().is_some_and(|size| *size > 900), "{sizes:?}");
    }

    #[test]
    fn a_window_of_json_is_json() {
        let item = r#"{"path": "a\"],b", "lines": [1, 2, {"at": null}]},"#;
        let output = format!("[{}{{}}]", item.repeat(1_000));
        let mut sound = 0;
        for index in 0..200 {
            let bytes = window(output.as_bytes(), index);
            let value: Result<serde_json::Value, _> = serde_json::from_slice(&bytes);
            sound += u32::from(value.is_ok_and(|value| value.is_array()));
        }
        assert!(sound > 140, "{sound}");
    }

    #[test]
    fn a_huge_line_is_cut() {
        let output = vec![b'a'; 100_000];
        let bytes = window(&output, 3);
        assert!(bytes.len() < 20_000, "{}", bytes.len());
    }
}
