//! Annotations for a hosted workflow: `::error file=src/a.js,line=3,col=7,title=no-var::Unexpected var.`

use ethos_registry_core::find_text::FindText as _;

const SEVERITIES: [&str; 3] = ["error", "warning", "notice"];
/// An escaped line end: the message of an annotation is written on one line.
const LINE_END: &str = "%0A";
/// Properties that give the position in a file.
const POSITIONS: [&str; 6] = ["line", "endLine", "col", "column", "endColumn", "endcolumn"];

/// An annotation, parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Annotation<'a> {
    text: &'a str,
    properties: &'a str,
    /// The first line of the message; later lines give advice.
    pub(crate) message: &'a str,
    /// Where the message begins in the text.
    from: usize,
}

impl<'a> Annotation<'a> {
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        let (command, message) = text.strip_prefix("::")?.split_text("::")?;
        let severity = command.split(' ').next()?;
        let message = message
            .split_text(LINE_END)
            .map_or(message, |(first, _)| first);
        SEVERITIES.contains(&severity).then_some(Self {
            text,
            properties: command.get(severity.len()..)?.trim_ascii_start(),
            message,
            from: "::".len() * 2 + command.len(),
        })
    }

    /// The annotation up to the end of the first line of its message.
    pub(crate) fn first_line(&self) -> &'a str {
        let end = self.from + self.message.len();
        self.text.get(..end).unwrap_or(self.text)
    }

    /// The path from the properties, and the end of the path with its line and column appended.
    pub(crate) fn place(&self) -> Option<(&'a str, &'a str)> {
        let from = self.start_of("file=")?;
        let file = self.properties.get(from..)?;
        let path = file.split(',').next()?;
        let mut place = path.len();
        let mut is_line = false;
        for property in file.get(path.len()..)?.split(',').skip(1) {
            let (name, _) = property.split_once('=')?;
            if !POSITIONS.contains(&name) {
                break;
            }
            is_line |= name == "line";
            place += ",".len() + property.len();
        }
        let place = file.get(..place).filter(|_| is_line)?;
        Some((place, path))
    }

    /// The message with its title, which is usually the name of a rule.
    pub(crate) fn titled(&self) -> &'a str {
        let title = self.start_of("title=").and_then(|at| {
            let title = self.properties.get(at + "title=".len()..)?;
            // It ends where the message begins, two colons later.
            (!title.contains(',')).then_some(title.len() + 2)
        });
        let from = self.from.saturating_sub(title.unwrap_or_default());
        let told = self.text.get(from..self.from + self.message.len());
        told.unwrap_or(self.message)
    }

    /// Where a property begins.
    fn start_of(&self, name: &str) -> Option<usize> {
        memchr::memmem::find_iter(self.properties.as_bytes(), name)
            .find(|at| *at == 0 || self.properties.as_bytes().get(at - 1) == Some(&b','))
    }
}
