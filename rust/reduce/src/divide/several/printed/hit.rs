//! The form of lines that a search prints.

use super::names::Names;
use crate::line::is_number;
use crate::parsers::lists::search::Pattern;
use ethos_registry_core::command::program;
use ethos_registry_core::find_text::FindText as _;

/// Short options whose value is the next word.
const WITH_VALUE: [char; 10] = ['A', 'B', 'C', 'd', 'D', 'e', 'f', 'g', 'm', 't'];
/// Long options whose value is the next word.
const LONG_WITH_VALUE: [&str; 10] = [
    "--after-context",
    "--before-context",
    "--context",
    "--exclude",
    "--exclude-dir",
    "--glob",
    "--include",
    "--max-count",
    "--type",
    "--regexp",
];
/// Options that change the form of the lines.
const OTHER_FORMS: [&str; 9] = [
    "--column",
    "--files",
    "--files-with-matches",
    "--files-without-match",
    "--heading",
    "--json",
    "--pretty",
    "--stats",
    "--vimgrep",
];

/// No path is longer.
const LONGEST_PATH: usize = 4_096;

/// The command of a search.
pub(super) struct Search<'a> {
    pattern: Pattern,
    names: Names<'a>,
    /// Whether lines around the hits are shown too.
    has_context: bool,
}

impl<'a> Search<'a> {
    /// The search `words`. `letters` decides whether a short option is set. `None` if its lines have another form.
    pub(super) fn of(words: &'a [String], letters: impl Fn(char) -> bool) -> Option<Self> {
        let has = |option: &&str| words.iter().any(|word| word == option);
        if OTHER_FORMS.iter().any(has) || letters('L') || is_headed(words) {
            return None;
        }
        // With this option, matching lines are left out.
        let inverts = letters('v') || has(&"--invert-match");
        let pattern = if inverts {
            Pattern::default()
        } else {
            Pattern::of(words)
        };
        let is_long = |word: &String| word.contains("-context") || word.starts_with("--show-f");
        let is_count = |sign: char| sign.is_ascii_digit() && letters(sign);
        let has_context = ['A', 'B', 'C', 'W', 'p'].into_iter().any(&letters)
            || ('0'..='9').any(is_count)
            || words.iter().any(is_long);
        Some(Self {
            pattern,
            names: names(words),
            has_context,
        })
    }

    pub(super) fn names(&self) -> &Names<'a> {
        &self.names
    }

    /// Whether `line` is a hit or a context line with its number: `src/oak.rs:12:leaf`, `12:leaf`, `oak.rs-13-`.
    pub(super) fn has(&self, line: &str) -> bool {
        if line == "--" {
            return self.has_context;
        }
        let is_hit = || self.pattern.is_any() || self.pattern.find(line).is_some();
        line.starts_with("Binary file ")
            || match self.place(line) {
                Some(b':') => is_hit(),
                Some(_) => true,
                None => false,
            }
    }

    /// Whether `line` is the number of hits in a file: `src/oak.rs:12`, or `12` for a single file.
    pub(super) fn tallies(&self, line: &str) -> bool {
        match line.rsplit_text(":") {
            Some((name, count)) => is_number(count) && self.names.have(name),
            None => is_number(line) && self.names.count().is_some_and(|count| count <= 1),
        }
    }

    /// The separator around the line number in `line`.
    fn place(&self, line: &str) -> Option<u8> {
        let signs: &[u8] = if self.has_context { b":-=" } else { b":" };
        let of_number = |rest: &str| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let sign = rest.as_bytes().get(digits).filter(|_| digits > 0)?;
            let behind = rest.as_bytes().get(digits + 1..).unwrap_or_default();
            // The date of a record: `2026-01-02`.
            let is_day = *sign == b'-' && matches!(behind, [b'0'..=b'9', b'0'..=b'9', b'-', ..]);
            (signs.contains(sign) && !rest.starts_with('0') && !is_day).then_some(*sign)
        };
        let behind_name = |at: usize| {
            let (name, rest) = line.split_at_checked(at)?;
            let own = rest.as_bytes().first()?;
            let sign = of_number(rest.get(1..)?)?;
            (sign == *own && self.names.have(name)).then_some(sign)
        };
        of_number(line).or_else(|| {
            let signs = memchr::memchr3_iter(b':', b'-', b'=', line.as_bytes());
            let mut places = signs.take_while(|at| *at <= LONGEST_PATH);
            places.find_map(behind_name)
        })
    }
}

/// Whether `rg` prints the file name above the hits of each file.
fn is_headed(words: &[String]) -> bool {
    program(words) == Some("rg") && words.iter().any(|word| word == "-p")
}

/// The files and folders that are searched; empty if any may be.
pub(super) fn names(words: &[String]) -> Names<'_> {
    if matches!(program(words), Some("git" | "xargs")) {
        return Names::among(std::iter::empty());
    }
    // In `grep`, `-E` has no value; in `rg` it names an encoding.
    let has_encoding = program(words) == Some("rg");
    let mut named = Vec::new();
    let mut has_pattern = false;
    let mut words = words.iter().skip(1).map(String::as_str);
    while let Some(word) = words.next() {
        if LONG_WITH_VALUE.contains(&word) {
            has_pattern |= word == "--regexp";
            words.next();
        } else if word.starts_with("--") {
            has_pattern |= word.starts_with("--regexp=") || word.starts_with("--file=");
        } else if let Some(letters) = word.strip_prefix('-').filter(|rest| !rest.is_empty()) {
            has_pattern |= letters.contains(['e', 'f']);
            if letters.ends_with(WITH_VALUE) || has_encoding && letters.ends_with('E') {
                words.next();
            }
        } else if !std::mem::replace(&mut has_pattern, true) {
            // The first one is the pattern.
        } else {
            named.push(word);
        }
    }
    Names::among(named.into_iter())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::*;
    use ethos_registry_core::command::CommandLine;

    fn words(line: &str) -> Vec<String> {
        let asked = CommandLine::read(line).and_then(|line| line.asked());
        asked.and_then(|mut all| all.pop()).unwrap().words
    }

    #[test]
    fn an_extended_pattern_is_no_file() {
        for (line, oak, leaf) in [
            ("grep -nE leaf oak.py elm.py", true, false),
            ("grep -rEn 'leaf|bud' oak.py elm.py", true, false),
            ("rg -n -E latin1 leaf oak.py elm.py", true, false),
        ] {
            let words = words(line);
            let names = names(&words);
            assert_eq!(
                (names.have("oak.py"), names.have("leaf")),
                (oak, leaf),
                "{line}"
            );
        }
    }

    #[test]
    fn a_name_is_no_longer_than_a_path_may_be() {
        let words = words("grep -nC3 leaf *.svg");
        let search = Search::of(&words, |letter| "nC".contains(letter)).unwrap();
        assert!(search.has("oak.svg-3-leaf"));
        assert!(!search.has(&"-3-4".repeat(100_000)));
    }
}
