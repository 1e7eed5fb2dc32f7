//! Lines of the short summary: result, node id, reason.

use ethos_registry_core::find_text::FindText as _;

/// One line of the short summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry<'a> {
    /// The line up to the end of the node id: `FAILED tests/a.py::test_b`.
    pub(super) head: &'a str,
    /// The node id, or the file that could not be collected.
    pub(super) node: &'a str,
    /// The whole line.
    pub(super) line: &'a str,
}

impl<'a> Entry<'a> {
    /// The line without its message, if one of `messages` contains it, perhaps shortened by pytest, or gives the reason
    /// why a file could not be imported.
    pub(super) fn unless_said(&self, messages: &[&str]) -> &'a str {
        let message = self.line.get(self.head.len()..).unwrap_or_default();
        let message = message.strip_prefix(" - ").unwrap_or(message);
        let message = message.strip_suffix("...").unwrap_or(message);
        let bare = message.strip_prefix("Failed: ").unwrap_or(message);
        let is_said = |said: &&str| said.starts_with(message) || said.starts_with(bare);
        let is_import = !messages.is_empty() && message.starts_with("ImportError while importing");
        if is_import || messages.iter().any(is_said) {
            self.head
        } else {
            self.line
        }
    }
}

/// The entry in `line`; its header is the whole line if there is no message.
pub(super) fn entry(line: &str) -> Option<Entry<'_>> {
    let line = line.trim_end();
    let start = node_start(line)?;
    let rest = line.get(start..)?;
    let mut end = rest.len();
    let mut from = 0;
    while let Some(found) = rest.get(from..).and_then(|text| text.find_text(" - ")) {
        let node = rest.get(..from + found).unwrap_or_default();
        // A parameter may contain the separator between node id and message.
        if !node.contains('[') || node.ends_with(']') {
            end = from + found;
            break;
        }
        from += found + 3;
    }
    Some(Entry {
        head: line.get(..start + end)?,
        node: rest.get(..end)?,
        line,
    })
}

/// Where the node id begins after `FAILED`, `ERROR`, `SUBFAILED(i=1)`, `[message] SUBFAIL`.
fn node_start(line: &str) -> Option<usize> {
    const WORDS: [&str; 3] = ["FAILED", "ERROR", "SUBFAIL"];
    // The description of a subtest precedes the word, and may contain anything.
    const BEHIND: &str = " SUBFAIL";
    let word = if line.starts_with(['[', '(']) {
        line.find_text(BEHIND)? + BEHIND.len()
    } else if line.starts_with(['F', 'E', 'S']) {
        let ends = WORDS
            .iter()
            .filter_map(|word| Some(line.find(word)? + word.len()));
        ends.min()?
    } else {
        return None;
    };
    let rest = line.get(word..)?;
    let (word, rest) = rest
        .strip_prefix("ED")
        .map_or((word, rest), |rest| (word + "ED".len(), rest));
    let file = rest
        .find_text(".py - ")
        .map_or(rest.len(), |at| at + ".py".len());
    let rest = rest.get(..file)?;
    let double = rest.find_text("::").unwrap_or(rest.len());
    let before_node = rest.get(..double)?;
    let blank = if double == rest.len() {
        before_node.find(' ')?
    } else {
        // The path before `::` cannot contain a blank, but the description of a subtest can.
        let parameter = before_node.find('[').unwrap_or(before_node.len());
        let path = before_node
            .get(..parameter)
            .filter(|_| !before_node.starts_with(['(', '[']));
        path.unwrap_or(before_node).rfind(' ')?
    };
    Some(word + blank + 1)
}

/// Whether the failure under the header `name` is that of `node`.
pub(super) fn is_of(name: &str, node: &str) -> bool {
    if let Some(file) = name.strip_prefix("ERROR collecting ") {
        return file == node;
    }
    let mut rest = name;
    for place in ["ERROR at setup of ", "ERROR at teardown of ", "[doctest] "] {
        rest = rest.strip_prefix(place).unwrap_or(rest);
    }
    let Some((_, tail)) = node.split_text("::") else {
        return false;
    };
    let parameters = tail.find('[').unwrap_or(tail.len());
    let Some((names, parameters)) = tail.split_at_checked(parameters) else {
        return false;
    };
    for (number, part) in names.split("::").enumerate() {
        if number > 0 {
            let Some(after) = rest.strip_prefix('.') else {
                return false;
            };
            rest = after;
        }
        let Some(after) = rest.strip_prefix(part) else {
            return false;
        };
        rest = after;
    }
    rest.strip_prefix(parameters)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(" (") || rest.starts_with(" ["))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;

    #[test]
    fn node_ids_are_cut_out_of_entries() {
        for (line, node) in [
            ("FAILED t/a.py::test_b - KeyError: 'x'", "t/a.py::test_b"),
            (
                "FAILED t/a.py::C::test_b[a - b] - x - y",
                "t/a.py::C::test_b[a - b]",
            ),
            (
                "FAILED t/a.py::test_b[  pad -pad] - x",
                "t/a.py::test_b[  pad -pad]",
            ),
            ("ERROR t/a.py - ImportError: no", "t/a.py"),
            ("ERROR t/a.py", "t/a.py"),
            ("ERROR t/a.py - Failed: t/a.py::test_b: no", "t/a.py"),
            (
                "SUBFAILED(s='x y') t/a.py::C::test_b - x",
                "t/a.py::C::test_b",
            ),
            (
                "SUBFAILED[a message] (i=1) t/a.py::C::test_b - x",
                "t/a.py::C::test_b",
            ),
            ("SUBFAILED[leaf] t/a.py::test_b[1] - x", "t/a.py::test_b[1]"),
            ("[a message] SUBFAIL t/a.py::test_b - x", "t/a.py::test_b"),
            ("[ERROR] SUBFAIL t/a.py::test_b - x", "t/a.py::test_b"),
            (
                "(s='a b', n=2) SUBFAIL t/a.py::C::test_b - x",
                "t/a.py::C::test_b",
            ),
        ] {
            assert_eq!(entry(line).unwrap().node, node, "{line}");
        }
        assert_eq!(entry("SKIPPED [1] t/a.py:3: no"), None);
        assert_eq!(entry("a line"), None);
    }

    #[test]
    fn a_message_that_was_told_goes() {
        let messages = ["t/a.py::test_b: in \"parametrize\" the numbers differ"];
        for (line, kept) in [
            (
                "FAILED t/a.py::test_b - t/a.py::test_b: in \"pa...",
                "FAILED t/a.py::test_b",
            ),
            (
                "ERROR t/a.py - Failed: t/a.py::test_b: in \"pa...",
                "ERROR t/a.py",
            ),
            ("ERROR t/a.py - KeyError: 1", "ERROR t/a.py - KeyError: 1"),
        ] {
            assert_eq!(entry(line).unwrap().unless_said(&messages), kept);
        }
    }

    #[test]
    fn headers_are_of_their_node_alone() {
        for (name, node, same) in [
            ("test_b", "t/a.py::test_b", true),
            ("C.test_b[a::b]", "t/a.py::C::test_b[a::b]", true),
            ("test_b (i=1)", "t/a.py::test_b", true),
            ("ERROR at setup of test_b", "t/a.py::test_b", true),
            ("ERROR collecting t/a.py", "t/a.py", true),
            ("[doctest] m.f", "m.py::m.f", true),
            ("test_bc", "t/a.py::test_b", false),
            ("test_b[1]", "t/a.py::test_b[2]", false),
        ] {
            assert_eq!(is_of(name, node), same, "{name} {node}");
        }
    }
}
