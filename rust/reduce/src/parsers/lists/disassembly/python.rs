//! What `python -m dis` reads back from code: the headers of the functions.

use super::{FEW, FEW_FUNCTIONS, FUNCTIONS, LINE_CHARS};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::unknown::Unknown;

/// How the head of a function begins, below what is above it.
pub(super) const MARK: &str = "\nDisassembly of <code object ";

/// Whether there are more functions than are read instruction by instruction.
pub(super) fn has_functions(input: &Input<'_>) -> bool {
    let heads = memchr::memmem::find_iter(input.text.as_bytes(), MARK);
    heads.take(FEW_FUNCTIONS + 1).count() > FEW_FUNCTIONS
}

/// The head of each function; the instructions only where there are few.
pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let instructions = input.lines().filter(|line| is_instruction(line));
    if instructions.take(FEW + 1).count() <= FEW || output.asked_lines() > 0 {
        return;
    }
    let mut unknown = Unknown::default();
    let (mut functions, mut left_out) = (0, 0);
    for line in input.lines() {
        if is_instruction(line) || is_handler(line) {
            continue;
        }
        if line.starts_with(MARK.trim_start()) {
            unknown.write(output);
            functions += 1;
            if functions <= FUNCTIONS {
                output.fact(&shorten(line, LINE_CHARS));
            } else {
                left_out += 1;
            }
        } else {
            unknown.push(line);
        }
    }
    unknown.write(output);
    output.gap(left_out);
}

/// Whether `line` is an instruction behind its line, its offset and marks of jumps: `12   >>   26 LOAD_FAST   1 (x)`.
fn is_instruction(line: &str) -> bool {
    let is_before = |word: &&str| {
        let label = word
            .strip_prefix('L')
            .and_then(|rest| rest.strip_suffix(':'));
        let number = label.unwrap_or(word);
        matches!(*word, ">>" | "-->" | "--") || number.bytes().all(|byte| byte.is_ascii_digit())
    };
    let code = line.split_ascii_whitespace().find(|word| !is_before(word));
    let begins = |sign: char| sign == ' ' || sign.is_ascii_digit();
    line.starts_with(begins)
        && code.is_some_and(|code| {
            code.len() > 2
                && code.starts_with(|sign: char| sign.is_ascii_uppercase())
                && code
                    .bytes()
                    .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        })
}

/// Whether `line` is of the table of handlers of exceptions: `  4 to 18 -> 36 [0]`.
fn is_handler(line: &str) -> bool {
    line == "ExceptionTable:"
        || line.starts_with("  ") && line.contains(" to ") && line.contains(" -> ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn code(functions: usize) -> String {
        let head = "  1           0 RESUME                   0\n              2 LOAD_CONST               0 ('leaf')\n\n";
        let function = |at: usize| {
            let jumps = "        >>   26 LOAD_FAST                1 (x)\n   L1:     RETURN_VALUE\n"
                .repeat(30);
            format!(
                "Disassembly of <code object grow_{at} at 0x7f0, file \"oak.py\", line {at}>:\n{jumps}ExceptionTable:\n  4 to 18 \
                 -> 36 [0]\n\n"
            )
        };
        head.to_owned() + &(0..functions).map(function).collect::<Vec<_>>().concat()
    }

    #[test]
    fn each_function_stays_by_its_head() {
        let reduced = terminal::reduce(
            &code(90),
            Some("python -m dis oak.py"),
            Exit::Success,
            usize::MAX,
        );
        let (text, family) = reduced.unwrap_or_default();
        assert_eq!(family, Some("disassembly"));
        assert!(
            text.contains("<code object grow_89 at 0x7f0, file \"oak.py\", line 89>:\n["),
            "{text}"
        );
        assert!(!text.contains("LOAD") && !text.contains("to 18"), "{text}");
    }

    #[test]
    fn one_function_is_read_by_others() {
        let reduced = terminal::reduce(
            &code(2),
            Some("python -m dis oak.py"),
            Exit::Success,
            usize::MAX,
        );
        assert_ne!(reduced.unwrap_or_default().1, Some("disassembly"));
    }

    #[test]
    fn instructions_are_told_from_text() {
        for line in [
            "  1           0 RESUME                   0",
            "        >>   26 LOAD_FAST    1 (x)",
            "   L1:     RETURN_VALUE",
        ] {
            assert!(is_instruction(line), "{line}");
        }
        for line in ["OK", "  12 trees", "Disassembly of <code", "NOTE x"] {
            assert!(!is_instruction(line), "{line}");
        }
    }
}
