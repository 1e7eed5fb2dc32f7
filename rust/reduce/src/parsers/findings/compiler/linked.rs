//! Undefined references in one function, merged into one row.

use ethos_registry_core::find_text::FindText as _;

/// How many lines about one function are shown unchanged.
const WHOLE: usize = 8;

/// The last unchanged line about a function of an object, how many there are, and the further symbols it refers to.
#[derive(Debug)]
struct Reference<'a> {
    line: &'a str,
    whole: usize,
    symbols: Vec<&'a str>,
}

/// Undefined references in order.
#[derive(Debug, Default)]
pub(super) struct References<'a> {
    all: Vec<Reference<'a>>,
    /// Whether this line is one, and whether the previous line is.
    is_open: bool,
    was_open: bool,
}

impl<'a> References<'a> {
    /// Moves to the next line: only consecutive lines belong to one function.
    pub(super) fn next_line(&mut self) {
        self.was_open = std::mem::take(&mut self.is_open);
    }

    /// Reads `text`; returns whether it repeats the line that many lines before it, except for an offset and a symbol.
    pub(super) fn take(&mut self, text: &'a str) -> bool {
        let Some((place, symbol)) = parts(text) else {
            return false;
        };
        self.is_open = true;
        if let Some(last) = self.all.last_mut().filter(|_| self.was_open)
            && parts(last.line).is_some_and(|(known, _)| is_same(known, place))
        {
            let is_told = last.whole < WHOLE;
            if is_told {
                last.whole += 1;
                last.line = text;
            } else {
                last.symbols.push(symbol);
            }
            return !is_told;
        }
        self.all.push(Reference {
            line: text,
            whole: 1,
            symbols: Vec::new(),
        });
        false
    }

    /// The row to write after `line`, if that was shown, and how many lines it represents.
    pub(super) fn row(&self, line: &str) -> Option<(String, usize)> {
        let is_it = |reference: &&Reference<'_>| std::ptr::eq(reference.line, line);
        let symbols = &self.all.iter().find(is_it)?.symbols;
        (!symbols.is_empty()).then(|| (format!("also {}", symbols.join(" ")), symbols.len()))
    }
}

/// The text before and after the message of a linker: `a.c:(.text+0x5): undefined reference to 'f'`.
fn parts(text: &str) -> Option<(&str, &str)> {
    text.trim_end().split_text("undefined reference to ")
}

/// Whether two locations differ at most in the offset, not in the source line.
fn is_same(one: &str, other: &str) -> bool {
    let bare = |place: &str| {
        let (head, offset) = place.split_text("+0x").unwrap_or((place, ""));
        let tail = offset.trim_start_matches(|digit: char| digit.is_ascii_hexdigit());
        (head.len(), tail.len())
    };
    let (mine, its) = (bare(one), bare(other));
    mine == its
        && one.get(..mine.0) == other.get(..its.0)
        && one.get(one.len() - mine.1..) == other.get(other.len() - its.1..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn told(lines: &[String]) -> String {
        let mut references = References::default();
        let mut told: Vec<&str> = Vec::new();
        for line in lines {
            references.next_line();
            if !references.take(line) {
                told.push(line);
            }
        }
        let rows = told.iter().map(|line| {
            let row = references.row(line);
            row.map_or((*line).to_owned(), |(row, count)| {
                format!("{line}\n{row} ({count})")
            })
        });
        rows.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn many_references_of_one_function_are_told_by_their_symbols() {
        let line = |leaf: usize| {
            format!(
                "oak.c:(.text+0x{:x}): undefined reference to `leaf_{leaf}'",
                leaf * 20
            )
        };
        let lines: Vec<String> = (0..12).map(line).collect();
        let end = "oak.c:(.text+0x8c): undefined reference to `leaf_7'\nalso `leaf_8' `leaf_9' `leaf_10' `leaf_11' (4)";
        assert!(told(&lines).ends_with(end), "{}", told(&lines));
        assert_eq!(
            told(lines.get(..8).unwrap_or_default()),
            lines.get(..8).unwrap_or_default().join("\n")
        );
    }

    #[test]
    fn symbols_behind_one_that_was_named_twice_stay() {
        let line = |leaf: usize| {
            let leaf = if leaf == 7 { 6 } else { leaf };
            format!("oak.c:12: undefined reference to `leaf_number_{leaf}'\n")
        };
        let text = "cc -o oak oak.o\n".to_owned() + &(0..80).map(line).collect::<String>();
        let told = terminal::reduce(&text, Some("make"), Exit::Failure, usize::MAX);
        let told = told.map_or(text, |(told, _)| told);
        for leaf in 0..80 {
            let name = format!("`leaf_number_{leaf}'");
            assert!(leaf == 7 || told.contains(&name), "{told}");
        }
    }

    #[test]
    fn references_of_lines_of_the_source_are_told_apart() {
        let line = |leaf: usize| format!("oak.c:{leaf}: undefined reference to `leaf_{leaf}'");
        let lines: Vec<String> = (0..40).map(line).collect();
        assert_eq!(told(&lines), lines.join("\n"));
    }
}
