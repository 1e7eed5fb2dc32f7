//! Headings by indentation: the nearest line above with a smaller one. Explicit headings are above it.

use crate::source::{Kind, Part, Source};

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let section = part.is_headed.then_some(part.start);
    let mut file = None;
    // Lines with growing indentation.
    let mut stack: Vec<usize> = Vec::new();
    for number in source.live(part.start, part.end) {
        let (kind, indent) = (source.lines[number].kind, source.lines[number].indent);
        while let Some(above) = stack.last() {
            let above = &source.lines[*above];
            let holds = above.kind == Kind::Heading
                && above.indent == indent
                && indent > 0
                && kind != Kind::Heading;
            if above.indent < indent || holds {
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
