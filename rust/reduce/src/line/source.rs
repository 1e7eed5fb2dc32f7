//! Recognises lines of source code that outline a file, in any language.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use ethos_registry_core::find_text::any_of;
/// Whether a definition can begin with this word, after modifiers like `pub` and `export`.
fn is_definition(word: &str) -> bool {
    matches!(
        word,
        "class"
            | "def"
            | "fn"
            | "func"
            | "function"
            | "struct"
            | "enum"
            | "trait"
            | "impl"
            | "interface"
            | "type"
            | "mod"
            | "module"
            | "namespace"
            | "package"
            | "record"
            | "object"
            | "protocol"
            | "macro_rules!"
            | "union"
            | "template"
            | "sub"
            | "contract"
            | "extension"
            | "fun"
            | "defp"
            | "defmodule"
    )
}

/// Whether the word is a modifier of a definition.
fn is_modifier(word: &str) -> bool {
    matches!(
        word,
        "pub"
            | "pub(crate)"
            | "pub(super)"
            | "export"
            | "default"
            | "async"
            | "static"
            | "abstract"
            | "final"
            | "public"
            | "private"
            | "protected"
            | "internal"
            | "unsafe"
            | "const"
            | "extern"
            | "inline"
            | "declare"
            | "sealed"
            | "override"
            | "open"
            | "data"
    )
}

/// Markers of open work.
const MARKS: [&str; 4] = ["TODO", "FIXME", "XXX", "HACK"];

static MARK: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| any_of(MARKS));

/// Whether `line` is the first line of a definition: `class A:`, `pub fn b(`, `export async function c()`.
pub(crate) fn is_head(line: &str) -> bool {
    let line = line.trim_ascii_start();
    if !line.starts_with(|sign: char| sign.is_ascii_lowercase()) {
        return false;
    }
    let mut words = line.split_ascii_whitespace();
    let mut modified = false;
    for word in words.by_ref().take(5) {
        let bare = word.split(['(', '<', ':']).next().unwrap_or(word);
        if is_definition(bare) && bare.len() < word.len() || is_definition(word) {
            let name = words.next().is_some_and(starts_a_name);
            let end = line.trim_ascii_end();
            // Prose ends like this, except for an omitted body: `def area(self) -> int: ...`.
            let is_prose = end.ends_with(['.', ',']) && !end.ends_with(": ...");
            // A comment may follow: `def leaf(self):  # Only the green ones.`
            let is_prose = is_prose && !(end.ends_with('.') && end.contains("): "));
            // `struct oak *oak = grow();` declares a variable of that type.
            let is_variable = matches!(word, "struct" | "union" | "enum")
                && end.ends_with(';')
                && end.contains(" = ")
                && !end.contains('{');
            let named = name || bare.len() < word.len();
            return named && !is_variable && (!is_prose || goes_on(end));
        }
        if !is_modifier(word) {
            // `public static void main(String[] a) {`: no keyword shows what it is.
            return modified && line.contains('(') && line.trim_end().ends_with('{');
        }
        modified = true;
    }
    false
}

/// Whether `head` opens a parameter list that continues on the next line: `def grow(self, leaf,`.
fn goes_on(head: &str) -> bool {
    if !head.ends_with(',') {
        return false;
    }
    let (mut depth, mut last, mut is_list) = (0_i32, b' ', false);
    for byte in head.bytes() {
        match byte {
            b'(' => {
                depth += 1;
                // In prose a blank is before the parenthesis.
                is_list |= last.is_ascii_alphanumeric() || matches!(last, b'_' | b'>' | b']');
            }
            b')' => depth -= 1,
            _ => {}
        }
        last = byte;
    }
    is_list && depth > 0
}

/// Whether `line` assigns a function or a class to a member: `app.use = function use(fn) {`.
pub(crate) fn is_assigned(line: &str) -> bool {
    let Some((name, value)) = line.split_once(" = ") else {
        return false;
    };
    let is_path = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.".contains(&byte);
    let value = value.strip_prefix("async ").unwrap_or(value);
    name.contains('.')
        && name.bytes().all(is_path)
        && (value.starts_with("function")
            || value.starts_with("class ")
            || value.contains("=> {")
                && value.starts_with(|sign: char| sign == '(' || sign.is_ascii_alphabetic()))
}

fn starts_a_name(word: &str) -> bool {
    word.starts_with(|sign: char| {
        sign.is_alphabetic() || matches!(sign, '_' | '*' | '(' | '<' | '$')
    })
}

/// Whether `line` contains a marker of open work.
pub(crate) fn is_mark(line: &str) -> bool {
    // Each marker contains one of these letters.
    memchr::memchr3(b'D', b'X', b'K', line.as_bytes()).is_some()
        && MARK.as_ref().is_some_and(|marks| {
            let is_sign = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\\');
            // `\uXXXX` and `TODOS` only contain the same letters.
            marks.find_iter(line).any(|mark| {
                let before = line.as_bytes().get(..mark.start()).and_then(<[u8]>::last);
                let after = line.as_bytes().get(mark.end());
                !before.is_some_and(is_sign) && !after.is_some_and(is_sign)
            })
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_whole_words() {
        for line in ["# TODO: prune", "// XXX(oak) leaf", "/* FIXME", "HACK"] {
            assert!(is_mark(line), "{line}");
        }
        for line in ["length = 6; /* \\uXXXX */", "TODOS = []", "A_HACK_B"] {
            assert!(!is_mark(line), "{line}");
        }
    }

    #[test]
    fn a_variable_of_a_struct_is_no_head_and_a_comment_hides_none() {
        assert!(!is_head("struct oak *oak = grow();"));
        assert!(is_head("def leaf(self):  # Only the green ones."));
        assert!(is_head("struct oak {") && is_head("enum Leaf { Green = 1 };"));
    }

    #[test]
    fn heads_are_known_in_many_languages() {
        for line in [
            "class A(B):",
            "def area(self) -> int: ...",
            "    def grow(self, leaf, ring=None,",
            "fn grow<T: Leaf, U>(leaf: T,",
            "func (o *Oak) Grow(leaf Leaf,",
            "    async def run(self) -> None:",
            "pub(crate) fn read<'a>(",
            "impl<T> Iterator for A<T> {",
            "export default async function go() {",
            "func (s *Server) Close() error {",
            "  public static void main(String[] args) {",
            "type Point struct {",
            "namespace inner {",
        ] {
            assert!(is_head(line), "{line}");
        }
    }

    #[test]
    fn members_that_are_functions_are_known() {
        for line in [
            "app.use = function use(fn) {",
            "Oak.prototype.grow = async function (rings) {",
            "module.exports = class Oak extends Tree {",
            "exports.leaf = (rings) => {",
            "exports.leaf = async ring => {",
        ] {
            assert!(is_assigned(line), "{line}");
        }
        for line in [
            "this.rings = rings;",
            "oak.rings = count(function (ring) {",
            "rings = function () {",
            "if (a.b = function () {}) {",
        ] {
            assert!(!is_assigned(line), "{line}");
        }
    }

    #[test]
    fn marks_are_known_wherever_they_stand() {
        for mark in MARKS {
            assert!(is_mark(mark) && is_mark(&format!("x = 1  // {mark}: mend")));
        }
        assert!(!is_mark("DO IT, KNOW IT"));
    }

    #[test]
    fn prose_and_calls_are_no_heads() {
        for line in [
            "return class_of(x)",
            "type of the value is not known.",
            "let x = function(a);",
            "classes = 3",
            "class of trees (oaks,",
            "function grow(s), but not always,",
            "",
        ] {
            assert!(!is_head(line), "{line}");
        }
    }
}
