//! Members of classes in languages where no word reports that a function begins, and tests with titles.

use crate::input::Input;
use crate::line::indent;

/// Languages whose members are written `name(parameters) {`.
const ENDINGS: [&str; 12] = [
    "ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs", "java", "cs", "dart", "vue",
];
/// Words with which a class begins.
const CLASSES: [&str; 5] = ["class", "interface", "enum", "record", "struct"];
/// Words before parentheses that name no member.
const STATEMENTS: [&str; 16] = [
    "if", "else", "for", "while", "switch", "catch", "return", "throw", "await", "new", "super",
    "do", "try", "with", "yield", "function",
];
/// Functions that take the title of a test or of a group of them.
const TESTS: [&str; 6] = ["describe", "it", "test", "context", "suite", "specify"];

/// Where in a file of such a language the next line is.
#[derive(Default)]
pub(super) struct Members {
    /// The indent of the class whose members are read, and theirs once it is known.
    class: Option<usize>,
    member: Option<usize>,
}

impl Members {
    /// For the files that the command of `input` shows, if they are of such a language.
    pub(super) fn shown(input: &Input<'_>) -> Option<Self> {
        let words = input.words.iter().skip(1);
        let mut endings = words.filter_map(|word| word.rsplit_once('.').map(|(_, ending)| ending));
        endings
            .any(|ending| ENDINGS.contains(&ending))
            .then(Self::default)
    }

    /// Whether `line` is the header of a member, or of a test.
    pub(super) fn is_head(&mut self, line: &str) -> bool {
        let text = line.trim();
        let Some(first) = text.as_bytes().first() else {
            return false;
        };
        if !first.is_ascii_alphabetic() && !matches!(first, b'_' | b'$' | b'#' | b'*') {
            return false;
        }
        let here = indent(line);
        if is_class(text) {
            self.class = Some(here);
            self.member = None;
            return false;
        }
        if is_test(text) {
            return true;
        }
        match self.class {
            Some(class) if here > class => {
                let member = *self.member.get_or_insert(here);
                here == member && is_member(text)
            }
            Some(_) => {
                self.class = None;
                false
            }
            None => false,
        }
    }
}

/// `export class Oak extends Tree {`, `public final class Oak`.
fn is_class(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().take(5);
    words.any(|word| CLASSES.contains(&word)) && !text.ends_with([';', ','])
}

/// `it("grows", () => {`
fn is_test(text: &str) -> bool {
    text.split_once('(').is_some_and(|(name, rest)| {
        let name = name.split('.').next().unwrap_or(name);
        TESTS.contains(&name) && rest.starts_with(['"', '\'', '`'])
    })
}

/// `compile<T>(schema: Schema): T {`, `void grow(int leaves) {`, `constructor(`.
fn is_member(text: &str) -> bool {
    let Some((before, _)) = text.split_once('(') else {
        return false;
    };
    let first = text.split([' ', '(', '<']).next().unwrap_or_default();
    // A parameter of a type may have a default.
    let before = before.split('<').next().unwrap_or(before);
    text.ends_with(['{', '(', ','])
        && !text.ends_with("=> {")
        && !before.contains(['=', '.', '"', '\''])
        && !STATEMENTS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heads(text: &str) -> Vec<&str> {
        let mut members = Members::default();
        text.lines()
            .filter(|line| members.is_head(line))
            .map(str::trim)
            .collect()
    }

    #[test]
    fn methods_of_a_class_are_heads_and_what_they_call_is_none() {
        let text = "export class Oak extends Tree {\n  leaves = count(3)\n\n  constructor(\n    private a: number,\n  ) {\n    super(a)\n  }\n\n  \
                    grow<T = Leaf>(leaf: T): void {\n    if (leaf) {\n      this.fall(leaf)\n    }\n  }\n\n  async fall(leaf: Leaf) {\n    wait(() => {\n    })\n  }\n}\n\n\
                    function f() {\n  grow(\n    1,\n  )\n}\n";
        assert_eq!(
            heads(text),
            [
                "constructor(",
                "grow<T = Leaf>(leaf: T): void {",
                "async fall(leaf: Leaf) {"
            ]
        );
    }

    #[test]
    fn methods_without_a_modifier_are_heads() {
        let text = "class OakTest {\n    @Test\n    void grows() {\n        if (leaf(1)) {\n        }\n    }\n\n    private int size;\n    int leaves(int a,\n            int b) {\n    }\n}\n";
        assert_eq!(heads(text), ["void grows() {", "int leaves(int a,"]);
    }

    #[test]
    fn tests_are_heads_wherever_they_stand() {
        let text = "describe(\"oak\", () => {\n  it('grows', async () => {\n    expect(oak()).toBe(1)\n  })\n  test.each([1])(`a`, () => {})\n})\n";
        assert_eq!(
            heads(text),
            ["describe(\"oak\", () => {", "it('grows', async () => {"]
        );
    }
}
