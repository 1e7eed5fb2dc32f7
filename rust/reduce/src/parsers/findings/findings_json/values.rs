//! The objects of a JSON text one after the other, also of one that was cut or written into.

use serde_json::{Deserializer, Error, Value};

use super::MAX_OTHERS;
use super::object::{CODE_KEYS, LINE_KEYS, MESSAGE_KEYS, PATH_KEYS};
use crate::parsers::data::json::document::Document;
use ethos_registry_core::find_text::FindText as _;

/// What is read without effect is at most this many times the text, and these bytes.
const IN_VAIN_TIMES: usize = 3;
const IN_VAIN_BYTES: usize = 65_536;
/// How many members of broken objects are examined.
const MOST_MEMBERS: usize = 60;

/// What is beside the objects that could be read.
#[derive(Debug, Default)]
pub(super) struct Rest<'a> {
    /// The first lines that are not JSON, and how many there are.
    pub(super) lines: Vec<&'a str>,
    pub(super) line_count: usize,
    /// Members of broken objects that describe a finding: `"code": "E1"`.
    pub(super) members: Vec<&'a str>,
    /// Objects after a list that has ended in which nothing was found: other inputs than it.
    pub(super) objects: Vec<&'a str>,
}

/// Gives each object that is in no other one to `take`, in their order: those of a list or of a line
/// each; of an object that is broken, those in it, with the path that it names above them. `take` states
/// whether it found something.
pub(super) fn read<'a>(text: &'a str, mut take: impl FnMut(&Value, &'a str) -> bool) -> Rest<'a> {
    let mut rest = Rest::default();
    let mut in_vain = text.len() * IN_VAIN_TIMES + IN_VAIN_BYTES;
    let mut unread = text;
    let mut listed = false;
    let mut path = "";
    loop {
        let from = unread;
        unread = unread.trim_start_matches([' ', '\t', '\n', '\r', ',', '[', ']', '}']);
        let between = from.get(..from.len() - unread.len()).unwrap_or_default();
        listed |= between.contains('[');
        let is_other = listed && between.contains(']') && !between.contains(['[', ',']);
        if unread.is_empty() {
            return rest;
        }
        if between.contains('}') {
            path = "";
        }
        if !unread.starts_with('{') {
            let end = end_of_members(unread);
            let (before, after) = unread.split_at_checked(end).unwrap_or((unread, ""));
            rest.add(before.trim_end());
            if path.is_empty() {
                path = named_path(before);
            }
            unread = after;
            continue;
        }
        let mut values = Deserializer::from_str(unread).into_iter::<Value>();
        let read = match values.next() {
            Some(Ok(value)) => {
                let end = values.byte_offset();
                if !take(&value, path) && is_other && rest.objects.len() < MAX_OTHERS {
                    rest.objects.extend(unread.get(..end));
                }
                end
            }
            Some(Err(error)) => {
                let spent = bytes_before(&error, unread);
                if spent > in_vain {
                    unread.lines().for_each(|line| rest.add_line(line));
                    return rest;
                }
                in_vain -= spent;
                1
            }
            None => 1,
        };
        unread = unread.get(read..).unwrap_or_default();
    }
}

impl<'a> Rest<'a> {
    /// The lines around a document that could be read.
    pub(super) fn around(document: &Document<'a>) -> Self {
        let mut rest = Self::default();
        document.around().for_each(|line| rest.add_line(line));
        rest
    }

    fn add_line(&mut self, line: &'a str) {
        self.line_count += 1;
        if self.lines.len() < MAX_OTHERS {
            self.lines.push(line);
        }
    }

    fn add(&mut self, text: &'a str) {
        let Some(member) = text.strip_prefix('"') else {
            self.add_line(text);
            return;
        };
        let key = member.split('"').next().unwrap_or_default();
        let mut known = MESSAGE_KEYS
            .iter()
            .chain(&PATH_KEYS)
            .chain(&LINE_KEYS)
            .chain(&CODE_KEYS);
        let is_room = self.members.len() < MOST_MEMBERS;
        if is_room && known.any(|known| *known == key) && !self.members.contains(&text) {
            self.members.push(text);
        }
    }
}

/// Where members of a broken object end: at the next line, or where an object begins in none of their strings.
fn end_of_members(text: &str) -> usize {
    let mut is_string = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return at,
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            // What is not JSON may hold a quote of its own.
            b'"' if is_string || text.starts_with('"') => is_string = !is_string,
            b'{' if !is_string => return at,
            _ => {}
        }
    }
    text.len()
}

/// The path that `members` of an object name: `"filePath":"src/oak.js","messages":[`.
fn named_path(members: &str) -> &str {
    let value = |key: &&str| {
        let at = members.find_text(key)?;
        let before = members.get(..at)?.ends_with('"');
        let rest = members.get(at + key.len()..)?.strip_prefix("\":")?;
        let (path, _) = rest
            .trim_start_matches(' ')
            .strip_prefix('"')?
            .split_once('"')?;
        (before && !path.contains('\\')).then_some(path)
    };
    PATH_KEYS.iter().find_map(value).unwrap_or_default()
}

/// How much of `text` was read before the error in it.
fn bytes_before(error: &Error, text: &str) -> usize {
    let lines = text
        .split_inclusive('\n')
        .take(error.line().saturating_sub(1));
    lines.map(str::len).sum::<usize>() + error.column()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Vec<String>, Rest<'_>) {
        let mut values = Vec::new();
        let rest = read(text, |value, _| {
            values.push(value.to_string());
            value.get("b").is_none()
        });
        (values, rest)
    }

    #[test]
    fn items_of_a_list_and_texts_of_a_line_each_are_given_one_by_one() {
        for text in [
            "[{\"a\":1},\n{\"a\":[{\"b\":2}]}]\n",
            "{\"a\":1}\n{\"a\":[{\"b\":2}]}\n",
        ] {
            let (values, rest) = read_all(text);
            assert_eq!(values, ["{\"a\":1}", "{\"a\":[{\"b\":2}]}"]);
            assert!(rest.lines.is_empty() && rest.members.is_empty());
        }
    }

    #[test]
    fn an_object_behind_a_list_that_has_ended_is_another_text() {
        let (values, rest) = read_all("[{\"a\":1},\n{\"a\":[2]}]\n{\"b\":3}\n");
        assert_eq!(values, ["{\"a\":1}", "{\"a\":[2]}", "{\"b\":3}"]);
        assert_eq!(rest.objects, ["{\"b\":3}"]);
    }

    #[test]
    fn of_a_broken_object_those_in_it_and_its_members_are_given() {
        let text = "warn old\n[\n {\n  \"code\": \"E1\",\n  \"fix\": null,\n  \"at\": {\"row\": 3},\n 40 %\n  \"x\": 1\n \
                    },\n {\n  \"code\": \"E2\"\n }\n]\n";
        let (values, rest) = read_all(text);
        assert_eq!(values, ["{\"row\":3}", "{\"code\":\"E2\"}"]);
        assert_eq!(rest.lines, ["warn old", "40 %"]);
        assert_eq!(rest.members, ["\"code\": \"E1\","]);
    }

    #[test]
    fn deep_and_unfinished_texts_are_not_read_again_and_again() {
        let deep = "{\"a\":".repeat(40_000);
        let (values, rest) = read_all(&deep);
        assert!(values.is_empty() && !rest.lines.is_empty());
    }

    #[test]
    fn objects_of_one_that_was_cut_in_a_string_have_the_path_that_stands_above_them() {
        let text = "[{\"a\":1},{\"filePath\":\"src/oak.js\",\"messages\":[{\"b\":2},{\"b\":3}],\"count\":2,\
                    \"source\":\"function f() {\\n  const a = {}\\n} {";
        let mut told = Vec::new();
        let rest = read(text, |value, path| {
            told.push(format!("{path} {value}"));
            true
        });
        assert_eq!(
            told,
            [" {\"a\":1}", "src/oak.js {\"b\":2}", "src/oak.js {\"b\":3}"]
        );
        assert_eq!(rest.line_count, 0);
    }
}
