//! Annotations for a hosted workflow: `::error file=src/a.js,line=3,col=7,title=no-var::Unexpected var.`

use super::Finding;
use super::code::trimmed_end;
use ethos_registry_core::find_text::FindText as _;

const SEVERITIES: [&str; 3] = ["error", "warning", "notice"];
/// What ends a line in a message, which is one line.
const LINE_END: &str = "%0A";
/// Properties that tell where in a file.
const POSITIONS: [&str; 6] = ["line", "endLine", "col", "column", "endColumn", "endcolumn"];

/// What an annotation states, read once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Annotation<'a> {
    text: &'a str,
    properties: &'a str,
    /// The first line of the message; the further ones give advice.
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

    /// All of it up to the end of the first line of its message.
    pub(crate) fn first_line(&self) -> &'a str {
        let end = self.from + self.message.len();
        self.text.get(..end).unwrap_or(self.text)
    }

    /// The finding whose place the properties tell.
    pub(crate) fn finding(&self) -> Option<Finding<'a>> {
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
        Some(Finding {
            place,
            path,
            message: self.titled(),
            whole: self.first_line(),
        })
    }

    /// The message, with the title that can be before it: mostly the name of a rule.
    fn titled(&self) -> &'a str {
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

/// What a logged issue of another hosted workflow states:
/// `##vso[task.logissue type=error;sourcepath=a.py;linenumber=1;columnnumber=2;code=E1;]no`.
pub(crate) fn logged_issue(text: &str) -> Option<Finding<'_>> {
    let (_, place) = text
        .strip_prefix("##vso[task.logissue ")?
        .split_text("sourcepath=")?;
    let (path, rest) = place.split_once(';')?;
    let mut numbers = rest.char_indices().filter(|(_, sign)| *sign == ';');
    let more = usize::from(rest.has_text("columnnumber="));
    let (end, _) = numbers.nth(more)?;
    Some(Finding {
        place: place.get(..path.len() + 1 + end)?,
        path,
        message: trimmed_end(rest.get(end + 1..)?),
        whole: trimmed_end(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(text: &str) -> Option<Finding<'_>> {
        Annotation::read(text)?.finding()
    }

    /// The place, the path and the message.
    fn told(text: &str) -> Option<(&str, &str, &str)> {
        finding(text).map(|found| (found.place, found.path, found.message))
    }

    #[test]
    fn the_properties_tell_the_place_and_the_rule() {
        let text = "::error file=src/oak.js,line=3,endLine=3,col=7,endColumn=12,title=oak(no-leaf)::No leaf.%0AMore";
        let place = "file=src/oak.js,line=3,endLine=3,col=7,endColumn=12";
        let message = "oak(no-leaf)::No leaf.";
        assert_eq!(told(text), Some((place, "file=src/oak.js", message)));
        let whole = finding(text).map(|found| found.whole);
        assert_eq!(whole, text.split_text("%0A").map(|(first, _)| first));
    }

    #[test]
    fn the_title_may_stand_in_front_of_the_place() {
        let text = "::warning title=no-leaf,file=oak.js,line=3::No leaf.";
        assert_eq!(
            told(text),
            Some(("file=oak.js,line=3", "file=oak.js", "No leaf."))
        );
    }

    #[test]
    fn what_names_no_line_is_no_finding() {
        for text in [
            "::group::oak",
            "::error::oak fell",
            "::error file=oak.js::oak fell",
            "::debug file=oak.js,line=3::oak fell",
            "::error file=oak.js,line=3",
        ] {
            assert_eq!(finding(text).map(|found| found.place), None, "{text}");
        }
    }

    #[test]
    fn a_logged_issue_keeps_its_code_with_its_message() {
        let text = "##vso[task.logissue type=error;sourcepath=a/b.py;linenumber=3;columnnumber=4;\
                    code=X1;]no fog";
        let found = logged_issue(text);
        let told = found.map(|found| (found.path, found.place, found.message, found.whole));
        let place = "a/b.py;linenumber=3;columnnumber=4";
        assert_eq!(told, Some(("a/b.py", place, "code=X1;]no fog", text)));
        assert!(logged_issue("##[section] b.py:3: x").is_none());
    }
}
