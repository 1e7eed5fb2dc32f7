//! Headings by indentation: the nearest line above with a smaller one. Explicit headings are above it.

use crate::source::{Kind, Part, Source};

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let section = part.is_headed.then_some(part.start);
    let mut file = None;
    // Lines with growing indentation.
    let mut stack: Vec<usize> = Vec::new();
    for number in source.filled(part.start, part.end) {
        let (kind, indent) = (source.lines[number].kind, level(source, number));
        while let Some(above) = stack.last() {
            let above_indent = level(source, *above);
            let holds = source.lines[*above].kind == Kind::Heading
                && above_indent == indent
                && indent > 0
                && kind != Kind::Heading;
            if above_indent < indent || holds {
                break;
            }
            stack.pop();
        }
        let outer = section.filter(|section| *section != number);
        source.lines[number].heading = match stack.last() {
            Some(above) => Some(*above),
            None if kind == Kind::Heading => outer,
            None => file.or(outer),
        };
        if kind == Kind::Heading && indent == 0 {
            file = Some(number);
        }
        let is_content = matches!(
            kind,
            Kind::Code | Kind::Context | Kind::Frame | Kind::Noise | Kind::Progress
        );
        if !is_content {
            stack.push(number);
        }
    }
}

/// The indentation of a line; of a number that is aligned at its right, the column of its end.
fn level(source: &Source<'_>, number: usize) -> usize {
    let line = &source.lines[number];
    let text = source.at(number).trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_aligned = digits > 0 && line.blanks > 0 && text.as_bytes().get(digits) == Some(&b' ');
    line.indent + if is_aligned { digits } else { 0 }
}
