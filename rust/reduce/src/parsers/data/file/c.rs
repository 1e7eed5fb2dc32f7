//! Headers of definitions in C and what is written like it: no word states there that a definition begins.

use crate::input::Input;

/// Which of its files are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum C {
    Source,
    Header,
}

impl C {
    /// What the command of `input` shows, if its files are of C.
    pub(super) fn shown(input: &Input<'_>) -> Option<Self> {
        let words = input.words.iter().skip(1);
        let mut endings = words.filter_map(|word| word.rsplit_once('.').map(|(_, ending)| ending));
        endings.find_map(|ending| match ending {
            "c" | "cc" | "cpp" | "cxx" | "m" | "mm" | "cu" | "ino" => Some(Self::Source),
            "h" | "hh" | "hpp" | "hxx" => Some(Self::Header),
            _ => None,
        })
    }

    /// Whether `line` is the header of a function, or of a type that has a name of its own; in a header also
    /// what only declares a function.
    ///
    /// Its type can be in `above`, the line before.
    pub(super) fn is_head(self, line: &str, above: &str) -> bool {
        // What is in a block is indented.
        if !line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
            return false;
        }
        let line = line.trim_ascii_end();
        if line.starts_with("typedef ") {
            return !line.ends_with(',');
        }
        let line = without_macro(line);
        let Some((before, _)) = line.split_once('(') else {
            return false;
        };
        let ends = line.ends_with([')', '{', '}', ',', '('])
            || self == Self::Header && line.ends_with(';');
        ends && !before.contains('=') && (has_type(before) || is_type(above))
    }
}

/// `line` without a macro around its type, `OAK_API(leaf_t *) oak_leaf(void)`, up to the bracket before the type.
fn without_macro(line: &str) -> &str {
    let Some((name, rest)) = line.split_once('(') else {
        return line;
    };
    let inner = rest.split_once(") ");
    // Parameters of a macro may contain brackets; then it is not known where the type ends.
    let declared =
        inner.filter(|(kind, head)| !kind.contains(['(', '"', ')']) && head.contains('('));
    if is_macro(name) && declared.is_some() {
        rest
    } else {
        line
    }
}

fn is_macro(name: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
    name.len() > 1 && name.bytes().all(is_sign)
}

/// Whether `before`, what precedes the parameters, is a type and a name: `static int leaf`, `Oak::Oak`.
fn has_type(before: &str) -> bool {
    let mut words = before.split_ascii_whitespace();
    let first = words.next().unwrap_or_default();
    let is_statement = matches!(
        first,
        "if" | "else" | "for" | "while" | "switch" | "return" | "do" | "case" | "goto" | "using"
    );
    !is_statement && (words.next().is_some() || before.contains("::"))
}

/// Whether `line` is nothing but a type: `static leaf_t*`, `OAK_API(leaf_t*)`.
fn is_type(line: &str) -> bool {
    let of_macro = line
        .strip_suffix(')')
        .and_then(|line| line.split_once('('))
        .is_some_and(|(name, kind)| is_macro(name) && !kind.contains(['(', '"']));
    if of_macro {
        return true;
    }
    line.starts_with(|first: char| first.is_ascii_alphabetic())
        && line
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'*'))
        && !line.starts_with("else")
        && !line.starts_with("do")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_heads_wherever_their_brace_stands() {
        for head in [
            "int leaf_count(const tree_t* tree)",
            "static unsigned leaf_isGreen(void) { return 1; }",
            "OAK_API size_t oak_grow(oak_t* oak,",
            "Oak::Oak(int leaves) : leaves_(leaves) {",
            "typedef struct leaf_s leaf_t;",
            "typedef enum {",
            "OAK_API(leaf_t *) oak_leaf(const oak_t *oak)",
            "OAK_API(const char*) oak_name(void)",
        ] {
            assert!(C::Source.is_head(head, ""), "{head}");
        }
    }

    #[test]
    fn a_type_may_stand_above_the_name() {
        assert!(C::Source.is_head("leaf_grow(leaf_t* leaf)", "static void"));
        assert!(C::Source.is_head("leaf_grow(leaf_t* leaf)", "OAK_API(int)"));
        assert!(!C::Source.is_head("LEAF_ASSERT(oak)", ""));
        assert!(!C::Source.is_head("LEAF_ASSERT(oak)", "}"));
    }

    #[test]
    fn statements_and_declarations_are_none() {
        for line in [
            "    return leaf(oak);",
            "int leaf_count(const tree_t* tree);",
            "static const int leaves = count(3);",
            "LEAF_ASSERT(oak)",
            "if (oak) {",
            "LEAF_ASSERT(oak) LEAF_ASSERT",
            "} leaf_t;",
            "#define LEAF(a) (a)",
            "",
        ] {
            assert!(!C::Source.is_head(line, ""), "{line}");
        }
        assert!(C::Header.is_head("int leaf_count(const tree_t* tree);", ""));
    }
}
