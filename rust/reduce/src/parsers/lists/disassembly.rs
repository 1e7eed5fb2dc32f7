//! What objdump reads back from machine code: sections, functions, and whom they call; what `dis` reads
//! back from Python's: the functions.

mod python;

use hashbrown::HashSet;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::shorten;
use crate::output::Output;
use crate::rows::unknown::Unknown;

pub(crate) const FAMILY: Family = Family {
    name: "disassembly",
    runs: |input| input.program().ends_with("objdump"),
    marks: Marks::OneOf(&[&["\nDisassembly of section "], &[python::MARK]]),
    recognises,
    reduce,
};

const LINE_CHARS: usize = 240;
/// A short disassembly is read instruction by instruction.
const FEW: usize = 120;
/// So few functions are asked for by their names.
const FEW_FUNCTIONS: usize = 2;
/// Functions whose calls are shown; those that one of them calls.
const FUNCTIONS: usize = 400;
const CALLS: usize = 12;
/// How instructions are named that call, in the assembly of several machines.
const CALL_NAMES: [&str; 6] = ["call", "callq", "bl", "blx", "jal", "jalr"];

/// Certain when a section and one of its instructions stand near the beginning, or there are several
/// functions of Python.
fn recognises(input: &Input<'_>) -> Match {
    if python::has_functions(input) {
        return Match::Certain;
    }
    let mut in_section = false;
    for line in input.beginning() {
        in_section |= line.starts_with("Disassembly of section ");
        if in_section && is_instruction(line) {
            return Match::Certain;
        }
    }
    Match::No
}

/// Whether `line` is an instruction below its address: `1000: sub    $0x8,%rsp`.
fn is_instruction(line: &str) -> bool {
    let text = line.trim_ascii_start();
    let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    digits > 0 && text.len() < line.len() && text.as_bytes().get(digits) == Some(&b':')
}

/// The function that begins at `line`: `0000000000001204 <main>:`.
fn function(line: &str) -> Option<&str> {
    let (address, name) = line.strip_suffix(">:")?.split_once(" <")?;
    let is_address = address.len() >= 8 && address.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_address.then_some(name)
}

/// The function that an instruction calls: `1284: call   1040 <puts@plt>`.
fn called(line: &str) -> Option<&str> {
    let target = line.strip_suffix('>')?;
    let (_, target) = target.rsplit_once('<')?;
    let mut words = line.split_ascii_whitespace();
    let calls = words.any(|word| CALL_NAMES.contains(&word));
    calls.then_some(target)
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if python::has_functions(input) {
        return python::reduce(input, output);
    }
    let instructions = input.lines().filter(|line| is_instruction(line));
    let few = instructions.take(FEW + 1).count() <= FEW;
    let functions = input.lines().filter(|line| function(line).is_some());
    if few || output.asked_lines() > 0 || functions.take(FEW_FUNCTIONS + 1).count() <= FEW_FUNCTIONS
    {
        // It was asked for to be read.
        return;
    }
    let mut unknown = Unknown::default();
    let mut functions = 0;
    let mut left_out = 0;
    let mut calls: HashSet<&str> = HashSet::new();
    for line in input.lines() {
        if is_instruction(line) {
            if functions <= FUNCTIONS
                && calls.len() < CALLS
                && let Some(target) = called(line)
                && calls.insert(target)
            {
                output.context(&shorten(line.trim(), LINE_CHARS));
            }
        } else if function(line).is_some() {
            unknown.write(output);
            functions += 1;
            calls.clear();
            if functions <= FUNCTIONS {
                output.fact(&shorten(line, LINE_CHARS));
            } else {
                left_out += 1;
            }
        } else if line.starts_with("Disassembly of section ") {
            unknown.write(output);
            output.fact(line);
        } else if line.trim_ascii() != "..." {
            unknown.push(line);
        }
    }
    unknown.write(output);
    output.gap(left_out);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use std::fmt::Write as _;

    use crate::input::Exit;
    use crate::tested::unmarked as terminal;

    fn disassembly(functions: usize) -> String {
        let mut text = String::from(
            "\noak:     file format elf64-x86-64\n\n\nDisassembly of section .text:\n",
        );
        for at in 0..functions {
            let _ = write!(text, "\n{at:016x} <grow_{at}>:\n");
            for _ in 0..10 {
                text.push_str("    1096:\tmov    %rsp,%rdx\n");
            }
            text.push_str("    10a0:\tcall   1040 <puts@plt>\n    10a8:\tcall   1040 <puts@plt>\n    10b0:\tret\n");
        }
        text
    }

    fn reduced(text: &str) -> (String, &'static str) {
        let (reduced, family) =
            terminal::reduce(text, Some("make dump"), Exit::Success, usize::MAX).unwrap();
        (reduced, family.unwrap_or_default())
    }

    #[test]
    fn functions_stay_with_whom_they_call() {
        let (short, family) = reduced(&disassembly(20));
        assert_eq!(family, "disassembly");
        assert!(
            short.starts_with("oak:     file format elf64-x86-64\nDisassembly of section .text:\n"),
            "{short}"
        );
        let told = "0000000000000013 <grow_19>:\n10a0:\tcall   1040 <puts@plt>\n[";
        assert!(short.contains(told) && !short.contains("mov"), "{short}");
    }

    #[test]
    fn a_short_disassembly_and_one_function_are_left_to_others() {
        assert_ne!(reduced(&disassembly(6)).1, "disassembly");
        let one = disassembly(2)
            .replace(
                "rdx\n",
                "rdx\n    109a:\tadd    %rbx,%rdx\n    109c:\tnop\n",
            )
            .repeat(9);
        let one = one
            .replace("grow_", "")
            .replace("<0>", "")
            .replace("<1>", "<grow>");
        let one = one.replacen("<grow>:", "<only>:", 1).replace("<grow>:", "");
        assert_ne!(reduced(&one).1, "disassembly");
    }
}
