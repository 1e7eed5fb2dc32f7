//! A failure in the format of Python itself: the exception, and the most informative frames.

use super::failure::is_in_tests;
use crate::line::frame::is_python_frame;
use crate::parsers::logs::traceback::kept_lines;

/// A traceback of at most this many lines is not shortened.
const FEW: usize = 8;
/// How many exceptions, with the lines between them, are kept.
const RAISED: usize = 8;
/// How many innermost frames of the last exception are kept, and of each earlier one.
const FRAMES: usize = 4;
const EARLIER_FRAMES: usize = 2;
/// At most this much source is before the first frame of a traceback whose start was cut off.
const CUT_BYTES: usize = 400;

/// The lines of `body` to keep. Frames are removed before exceptions.
pub(super) fn kept(body: &str) -> Vec<&str> {
    let lines = kept_lines(body);
    if lines.len() <= FEW {
        return lines;
    }
    let is_same = |first: &&str, next: &&str| is_frame(first) == is_frame(next);
    let raised = lines.iter().filter(|line| !is_frame(line)).count();
    let (mut told, mut kept) = (0, Vec::new());
    for part in lines.chunk_by(is_same) {
        if part.first().is_some_and(|line| !is_frame(line)) {
            for line in part {
                told += 1;
                // Of very many, the first and the last ones are the most informative.
                if told <= RAISED / 2 || told + RAISED / 2 > raised {
                    kept.push(*line);
                }
            }
            continue;
        }
        let most = if told + 1 >= raised {
            FRAMES
        } else {
            EARLIER_FRAMES
        };
        let (outer, inner) = part.split_at(part.len().saturating_sub(most));
        let has_test = inner.iter().any(|frame| is_test(frame));
        kept.extend(outer.iter().rfind(|frame| !has_test && is_test(frame)));
        kept.extend(inner);
    }
    kept
}

fn is_frame(line: &str) -> bool {
    is_python_frame(line.trim_ascii_start())
}

/// Whether `line`, which begins at `start` of `text`, is the first frame of a traceback whose header was cut off: only
/// source precedes it.
pub(super) fn is_within(text: &str, start: usize, line: &str) -> bool {
    let before = text.get(..start).unwrap_or_default();
    is_frame(line)
        && before.len() < CUT_BYTES
        && before.lines().all(|line| line.starts_with("    "))
}

/// Whether `frame` is in a file of tests.
fn is_test(frame: &str) -> bool {
    let path = frame.split('"').nth(1).unwrap_or_default();
    is_in_tests(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_frames_leave_what_was_raised_and_the_frame_of_the_test() {
        let mut body = String::from("Traceback (most recent call last):\n");
        let mut frame = |path: &str, line: usize| {
            body += "  File \"";
            body += path;
            body += "\", line ";
            body += &line.to_string();
            body += ", in f\n    f()\n";
        };
        (0..9).for_each(|line| frame("/w/hooks.py", line));
        frame("/w/tests/test_oak.py", 7);
        (0..9).for_each(|line| frame("/w/oak.py", line));
        body.push_str("oak.LeafError: no leaf\n");
        let kept = kept(&body);
        assert_eq!(
            kept.first(),
            Some(&"File \"/w/tests/test_oak.py\", line 7, in f")
        );
        assert_eq!(kept.last(), Some(&"oak.LeafError: no leaf"));
        assert_eq!(kept.len(), FRAMES + 2);
    }

    #[test]
    fn a_traceback_without_its_head_begins_with_source() {
        let frame = "  File \"/w/a.py\", line 3, in f";
        let text = format!("    f()\n    ^^^\n{frame}\n");
        assert!(is_within(&text, 16, frame) && is_within(frame, 0, frame));
        let text = format!("Traceback (most recent call last):\n{frame}\n");
        assert!(!is_within(&text, 35, frame));
    }

    #[test]
    fn few_lines_stay() {
        let body = "Traceback (most recent call last):\n  File \"/w/a.py\", line 1, in f\n    f()\nOakError: x\n";
        assert_eq!(
            kept(body),
            ["File \"/w/a.py\", line 1, in f", "OakError: x"]
        );
    }
}
