//! What a search looked for, so that long lines can be shown around it.

use aho_corasick::AhoCorasick;

use ethos_registry_core::command::{program, searches};

/// Letters of short options after which a value is, in the same word or the next one.
const WITH_VALUE: [char; 8] = ['A', 'B', 'C', 'D', 'd', 'e', 'f', 'm'];
const WITH_VALUE_IN_RG: [char; 14] = [
    'A', 'B', 'C', 'E', 'M', 'T', 'd', 'e', 'f', 'g', 'j', 'm', 'r', 't',
];
/// Long options whose value is the next word.
const LONG: [&str; 9] = [
    "--after-context",
    "--before-context",
    "--context",
    "--exclude",
    "--exclude-dir",
    "--file",
    "--include",
    "--max-count",
    "--regexp",
];
const LONG_IN_RG: [&str; 14] = [
    "--color",
    "--colors",
    "--encoding",
    "--engine",
    "--glob",
    "--iglob",
    "--max-columns",
    "--max-depth",
    "--replace",
    "--sort",
    "--sortr",
    "--threads",
    "--type",
    "--type-not",
];
/// Options that make capital and small letters the same.
const ANY_CASE: [&str; 3] = ["--ignore-case", "--smart-case", "--no-case-sensitive"];
/// A shorter piece of a pattern is everywhere.
const PIECE_BYTES: usize = 2;

/// Plain pieces of what was searched for, which can be in a hit.
#[derive(Debug, Default)]
pub(crate) struct Pattern(Option<AhoCorasick>);

impl Pattern {
    /// What the command of `words` searches for; nothing when it does not search.
    pub(crate) fn of(words: &[String]) -> Self {
        let mut texts = words.iter().map(String::as_str);
        // `git grep` and `xargs grep` name the search after the program.
        let name = match program(words) {
            Some(name) if searches(name) => {
                texts.next();
                name
            }
            Some("git" | "git.exe" | "xargs") => match texts.find(|word| searches(word)) {
                Some(name) => name,
                None => return Self::default(),
            },
            _ => return Self::default(),
        };
        let asked = Asked::read(texts, name == "rg");
        let pieces: Vec<&str> = asked
            .patterns
            .iter()
            .flat_map(|text| pieces(text))
            .collect();
        if pieces.is_empty() {
            return Self::default();
        }
        let finder = AhoCorasick::builder()
            .ascii_case_insensitive(asked.any_case)
            .build(pieces);
        Self(finder.ok())
    }

    /// Whether nothing is known of what was looked for.
    pub(crate) fn is_any(&self) -> bool {
        self.0.is_none()
    }

    /// Where the first piece is in `text`.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let found = self.0.as_ref()?.find(text)?;
        Some(found.start())
    }
}

/// What of the words of a command matters here.
#[derive(Default)]
struct Asked<'a> {
    patterns: Vec<&'a str>,
    any_case: bool,
}

impl<'a> Asked<'a> {
    fn read(mut words: impl Iterator<Item = &'a str>, is_rg: bool) -> Self {
        let mut asked = Self::default();
        let mut first = None;
        let mut named = false;
        while let Some(word) = words.next() {
            if word == "--" {
                first = first.or_else(|| words.next());
            } else if let Some(text) = word.strip_prefix("--regexp=") {
                asked.patterns.push(text);
            } else if word.starts_with("--") {
                asked.any_case |= ANY_CASE.contains(&word);
                if LONG.contains(&word) || is_rg && LONG_IN_RG.contains(&word) {
                    let value = words.next().filter(|_| word == "--regexp");
                    asked.patterns.extend(value);
                    named |= word == "--file";
                }
                named |= word.starts_with("--file=");
            } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
                let with_value = if is_rg {
                    &WITH_VALUE_IN_RG[..]
                } else {
                    &WITH_VALUE
                };
                let at = letters.find(with_value);
                let flags = letters.get(..at.unwrap_or(letters.len()));
                asked.any_case |= flags.unwrap_or_default().contains(['i', 'S']);
                let Some(option) = at.and_then(|at| letters.get(at..)) else {
                    continue;
                };
                let value = match option.get(1..) {
                    Some("") | None => words.next(),
                    value => value,
                };
                asked
                    .patterns
                    .extend(value.filter(|_| option.starts_with('e')));
                named |= option.starts_with('f');
            } else if first.is_none() {
                first = Some(word);
            }
        }
        if asked.patterns.is_empty() && !named {
            asked.patterns.extend(first);
        }
        asked
    }
}

/// The pieces of a pattern between the symbols that mean something in it.
fn pieces(pattern: &str) -> impl Iterator<Item = &str> {
    let is_plain =
        |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | ' ' | '-' | '=' | '/' | ':');
    let mut escaped = false;
    let pieces = pattern.split(move |sign: char| {
        let after_backslash = escaped;
        escaped = !escaped && sign == '\\';
        after_backslash || !is_plain(sign)
    });
    pieces.filter(|piece| piece.len() >= PIECE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(command: &str, text: &str) -> Option<usize> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        Pattern::of(&words).find(text)
    }

    #[test]
    fn values_of_options_are_no_pattern() {
        let text = "path 12 oak";
        for command in [
            "grep -rn oak src",
            "rg -n --sort path oak",
            "rg -C 12 -g path oak",
            "grep -rnA 12 oak .",
            "grep -e oak path",
            "rg -n -- oak path",
            "git grep -n oak",
            "xargs grep -n oak",
            "grep -rn \\boak\\b .",
            "grep --regexp=oak path",
        ] {
            assert_eq!(found(command, text), Some(8), "{command}");
        }
    }

    #[test]
    fn case_counts_unless_it_was_asked_not_to() {
        assert_eq!(found("grep -rn OAK .", "an oak"), None);
        assert_eq!(found("grep -rin OAK .", "an oak"), Some(3));
        assert_eq!(found("rg --smart-case OAK", "an oak"), Some(3));
    }

    #[test]
    fn other_programs_and_files_of_patterns_name_nothing_to_find() {
        for command in ["cat oak", "git log oak", "grep -f oak oak", "grep -rn . o"] {
            assert_eq!(found(command, "an oak"), None, "{command}");
        }
    }
}
