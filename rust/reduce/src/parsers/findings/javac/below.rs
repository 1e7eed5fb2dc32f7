//! What is below a message of a compiler of the JVM: its source, a caret, and what else is said.

use crate::line::indent;
use ethos_registry_core::find_text::FindText as _;

/// Lines that say more of one message.
const DETAILS: usize = 12;

/// Where in the lines below a message the next one is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Below {
    #[default]
    Nothing,
    /// The line of the source is next.
    Source,
    /// A caret under the source is next.
    Caret,
    /// What else is said is next; this many lines of it were read.
    Details(usize),
}

/// What a line below a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The source, its caret, or where a variable of a type is declared.
    Source,
    /// More of what is said.
    Detail,
}

impl Below {
    /// What the next line is; `None` when it does not belong to the message any more.
    pub(crate) fn part(&mut self, line: &str) -> Option<Part> {
        let said = line.trimmed();
        let depth = indent(line);
        let (part, next) = match *self {
            Self::Nothing => (None, Self::Nothing),
            _ if said.is_empty() || is_count(said) => (None, Self::Nothing),
            // Scala names the types before it shows the source.
            Self::Source if depth > 0 && is_of_symbol(said) => (Some(Part::Detail), Self::Source),
            Self::Source => (Some(Part::Source), Self::Caret),
            Self::Caret if is_caret(said) => (Some(Part::Source), Self::Details(0)),
            _ if depth == 0 => (None, Self::Nothing),
            Self::Caret if !is_of_symbol(said) => (None, Self::Nothing),
            Self::Details(DETAILS..) => (Some(Part::Source), *self),
            Self::Details(_) if is_of_variables(said) => {
                (Some(Part::Source), Self::Details(DETAILS))
            }
            Self::Details(read) => (Some(Part::Detail), Self::Details(read + 1)),
            Self::Caret => (Some(Part::Detail), Self::Details(1)),
        };
        *self = next;
        part
    }
}

fn is_caret(said: &str) -> bool {
    said.bytes().all(|sign| matches!(sign, b'^' | b'~'))
}

/// `symbol:   class Strin`, `found   : String("x")`.
fn is_of_symbol(said: &str) -> bool {
    said.split_once(':').is_some_and(|(name, _)| {
        matches!(
            name.trim_end(),
            "symbol" | "location" | "required" | "found" | "reason"
        )
    })
}

/// `where T is a type-variable:`, above where each is declared.
fn is_of_variables(said: &str) -> bool {
    said.starts_with("where ") && said.has_text("type-variable")
}

/// `3 errors`, `1 warning`.
pub(crate) fn is_count(said: &str) -> bool {
    said.split_once(' ').is_some_and(|(count, word)| {
        !count.is_empty()
            && count.bytes().all(|byte| byte.is_ascii_digit())
            && matches!(word.trim_end(), "error" | "errors" | "warning" | "warnings")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(text: &str) -> Vec<&str> {
        let mut below = Below::Source;
        let lines = text.lines().map(|line| (below.part(line), line.trim()));
        lines
            .filter(|(part, _)| *part == Some(Part::Detail))
            .map(|(_, said)| said)
            .collect()
    }

    #[test]
    fn what_is_said_below_the_caret_belongs_to_the_message() {
        let text = "  List<String> eggs = Arrays.asList(1);\n            ^\n    equality constraints: String\n    \
                    lower bounds: Integer\n  where T is a type-variable:\n    T extends Object declared in asList\n\
                    BUILD\n  not of it\n";
        let said = ["equality constraints: String", "lower bounds: Integer"];
        assert_eq!(details(text), said);
    }

    #[test]
    fn types_may_stand_above_the_source() {
        let text = " found   : String(\"x\")\n required: Int\n  val egg: Int = \"x\"\n    ^\n";
        assert_eq!(details(text), ["found   : String(\"x\")", "required: Int"]);
    }

    #[test]
    fn a_line_where_the_caret_is_missing_does_not_belong_to_the_message() {
        let mut below = Below::Source;
        assert_eq!(below.part("  return egg;"), Some(Part::Source));
        assert_eq!(below.part("Wing.java:9: error: no"), None);
        assert_eq!(below.part("  return egg;"), None);
    }

    #[test]
    fn a_count_ends_what_stands_below() {
        assert!(is_count("1 error") && is_count("30 warnings") && !is_count("30 tests completed"));
        assert_eq!(Below::Source.part("2 errors"), None);
    }
}
