//! Findings as annotations for hosted workflows, which say the place in properties.

use super::forms::{place_in_file, trimmed_end};
use crate::find_text::FindText as _;
use crate::reduce::findings::Finding;

/// What an annotation for a hosted workflow says: `::error file=a.py,line=1::a.py:1:1: E1 no`.
pub(super) fn workflow_command(text: &str) -> Option<&str> {
    let (command, message) = text.strip_prefix("::")?.split_text("::")?;
    let known = ["error", "warning", "notice"]
        .iter()
        .any(|kind| command.starts_with(kind));
    // Its further lines, which are encoded in one, give advice.
    let first = message
        .split_text("%0A")
        .map_or(message, |(first, _)| first);
    known.then_some(first)
}

/// What an annotation says whose place stands in its properties alone:
/// `::error title=no-any,file=a.ts,line=1,col=2::Unexpected any.`
pub(super) fn annotation(text: &str) -> Option<Finding<'_>> {
    let (command, _) = text.strip_prefix("::")?.split_text("::")?;
    let message = workflow_command(text)?;
    let (before, path) = command.split_text("file=")?;
    if !before.ends_with([' ', ',']) || !path.has_text("line=") || place_in_file(message).is_some()
    {
        return None;
    }
    let message_end = 2 + command.len() + 2 + message.len();
    Some(Finding {
        place: command.get(before.len()..)?,
        path: path.split(',').next()?,
        message,
        whole: text.get(..message_end)?,
    })
}

/// What a logged issue of another hosted workflow says:
/// `##vso[task.logissue type=error;sourcepath=a.py;linenumber=1;columnnumber=2;code=E1;]no`.
pub(super) fn logged_issue(text: &str) -> Option<Finding<'_>> {
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
        whole: "",
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::finding;

    #[test]
    fn the_place_of_an_annotation_stands_in_its_properties() {
        let text = "::warning title=lint/noFog,file=/a/sea.ts,line=3,endLine=3,col=7::Fog is \
                    denied.%0A 3 | fog()";
        let found = finding(text).unwrap();
        assert_eq!(found.path, "/a/sea.ts");
        assert_eq!(found.place, "file=/a/sea.ts,line=3,endLine=3,col=7");
        assert_eq!(found.message, "Fog is denied.");
        assert!(found.whole.starts_with("::warning title=lint/noFog"));
        assert!(found.whole.ends_with("::Fog is denied."));
    }

    #[test]
    fn an_annotation_that_repeats_its_place_is_told_by_that() {
        let found = finding("::error file=a.py,line=1,col=2::a.py:1:2: E501 too long").unwrap();
        assert_eq!((found.place, found.message), ("a.py:1:2", "E501 too long"));
    }

    #[test]
    fn a_logged_issue_keeps_its_code_with_its_message() {
        let text = "##vso[task.logissue type=error;sourcepath=a/b.py;linenumber=3;columnnumber=4;\
                    code=X1;]no fog";
        let found = finding(text).unwrap();
        assert_eq!(found.path, "a/b.py");
        assert_eq!(found.place, "a/b.py;linenumber=3;columnnumber=4");
        assert_eq!(found.message, "code=X1;]no fog");
        assert!(finding("##[section] b.py:3: x").is_none());
    }
}
