//! Findings that hosted workflows read from a log.

use super::Finding;
use super::code::trimmed_end;
use crate::line::annotation::Annotation;
use ethos_registry_core::find_text::FindText as _;

/// The finding of an annotation whose properties contain a location.
pub(crate) fn annotated<'a>(annotation: &Annotation<'a>) -> Option<Finding<'a>> {
    let (place, path) = annotation.place()?;
    Some(Finding {
        place,
        path,
        message: annotation.titled(),
        whole: annotation.first_line(),
    })
}

/// The finding in a logged issue of another hosted workflow: `##vso[task.logissue
/// type=error;sourcepath=a.py;linenumber=1;columnnumber=2;code=E1;]no`.
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
        annotated(&Annotation::read(text)?)
    }

    /// The location, the path and the message.
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
