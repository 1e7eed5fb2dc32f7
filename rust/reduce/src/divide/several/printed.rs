//! The form of lines that a command prints: rows of `ls -l`, commits of `git log --oneline`.

mod git;
mod hit;
mod names;
mod row;
mod shown;

use std::ops::Range;

use crate::line::is_number;
use ethos_registry_core::command::{git_subcommand, program, searches, subcommand};
use ethos_registry_core::find_text::FindText as _;
use hit::Search;
use names::Names;
use row::{
    is_counted, is_date, is_file_system, is_found, is_head_of_packages, is_head_of_processes,
    is_listed, is_outline_sum, is_outlined, is_package, is_package_root, is_path, is_process,
    is_refusal, is_set, is_sized, is_version,
};
use shown::{is_of_json, is_of_toml};

/// Whether a line has the form.
type IsLine<'a> = Box<dyn Fn(&str) -> bool + 'a>;

/// The form of the lines that a command prints.
pub(super) struct Lines<'a> {
    program: &'a str,
    is_own: IsLine<'a>,
    /// Recognises the first line, if it has a known form.
    is_first: Option<fn(&str) -> bool>,
    /// Recognises the last line.
    is_last: Option<fn(&str) -> bool>,
    /// The command prints at most this many counted lines.
    most: usize,
    /// Which lines are counted; all if it is `None`.
    counts: Option<fn(&str) -> bool>,
}

impl<'a> Lines<'a> {
    /// The form of the lines that `words` print; `None` when they can have any form.
    pub(super) fn of(words: &'a [String]) -> Option<Self> {
        let program = program(words)?;
        let has = |option: &str| words.iter().any(|word| word == option);
        let letters = |letter: char| has_letter(words, letter);
        let lines = match program {
            "pwd" => Some(Self::one(|line| line.starts_with('/'))),
            "which" | "realpath" => {
                let lines = Self::any(|line| line.starts_with('/'));
                Names::of(words).count().map(|most| lines.most(most))
            }
            "nproc" => Some(Self::one(is_number)),
            "date" => Some(Self::one(is_date)),
            "uname" => Some(Self::one(|line| {
                line.starts_with("Linux") || line.starts_with("Darwin")
            })),
            _ if matches!(words.get(1).map(String::as_str), Some("--version" | "-V")) => {
                Some(Self::one(|line| is_version(line, program)))
            }
            "cat" | "bat" | "batcat" => Self::of_file(words),
            "ls" if letters('l') => Some(Self::any(is_listed)),
            "tree" => {
                let is_root = |line: &str| {
                    let line = line.trim_end_matches('/');
                    let mut words = words.iter().skip(1);
                    words.any(|word| word.trim_end_matches('/') == line)
                };
                Some(
                    Self::any(move |line| is_outlined(line) || is_root(line)).up_to(is_outline_sum),
                )
            }
            "npm" | "pnpm" | "cargo"
                if matches!(subcommand(words), Some("ls" | "list" | "tree")) =>
            {
                Some(Self::any(|line| is_outlined(line) || is_package_root(line)))
            }
            "find" => Self::of_find(words),
            "wc" => Some(Self::of_count(words)),
            "du" => {
                // The value of the depth option may be the next word: `-d 1`.
                let names = words.iter().skip(1).map(String::as_str);
                let names = names.filter(|word| !word.starts_with('-') && !is_number(word));
                let names = Names::among(names);
                Some(Self::any(move |line| is_sized(line, &names)))
            }
            "df" => Some(Self::any(is_file_system).from(|line| line.starts_with("Filesystem "))),
            "ps" => Some(Self::any(is_process).from(is_head_of_processes)),
            "env" | "printenv" => Some(Self::any(is_set)),
            "pip" | "pip3" if has("freeze") => Some(Self::any(|line| line.has_text("=="))),
            "pip" | "pip3" if has("list") && !words.iter().any(|word| word.starts_with("--f")) => {
                Some(Self::any(is_package).from(is_head_of_packages))
            }
            "xargs" if has("grep") => Self::of_search(words),
            _ if searches(program) => Self::of_search(words),
            _ => match git_subcommand(words)? {
                "grep" => Self::of_search(words),
                subcommand => Self::of_git(subcommand, words),
            },
        };
        lines.map(|lines| Self { program, ..lines })
    }

    /// The lines of a single file whose format shows where it ends.
    fn of_file(words: &'a [String]) -> Option<Self> {
        let mut files = words.iter().skip(1).filter(|word| !word.starts_with('-'));
        let (file, others) = (files.next()?, files.next());
        let (_, form) = file.rsplit_text(".").filter(|_| others.is_none())?;
        match form {
            "json" => Some(Self::any(is_of_json).up_to(|line| line == "}" || line == "]")),
            "toml" | "lock" => Some(Self::any(is_of_toml)),
            _ => None,
        }
    }

    fn of_find(words: &'a [String]) -> Option<Self> {
        const OTHER_FORMS: [&str; 9] = [
            "-exec", "-execdir", "-fls", "-fprint", "-ls", "-ok", "-okdir", "-print0", "-printf",
        ];
        if words
            .iter()
            .any(|word| OTHER_FORMS.contains(&word.as_str()))
        {
            return None;
        }
        let words = words.iter().skip(1).map(String::as_str);
        let words = words.skip_while(|word| ["-L", "-H", "-P"].contains(word));
        let roots = words.take_while(|word| !word.starts_with(['-', '(', '!']));
        let roots = Names::among(roots);
        Some(Self::any(move |line| is_found(line, &roots)))
    }

    fn of_count(words: &'a [String]) -> Self {
        let counts = ['l', 'w', 'c', 'm', 'L'];
        let counts = counts
            .into_iter()
            .filter(|letter| has_letter(words, *letter));
        let long = ["--lines", "--words", "--bytes", "--chars"];
        let long = long
            .iter()
            .filter(|option| words.iter().any(|word| word == *option));
        let counts = match counts.count() + long.count() {
            0 => 3,
            some => some,
        };
        let names = Names::of(words);
        // The totals follow the counts of the files.
        let most = names.count().filter(|count| *count > 0);
        Self::any(move |line| is_counted(line, counts, &names))
            .up_to(|line| line.ends_with(" total"))
            .most(most.map_or(usize::MAX, |count| count + 1))
    }

    fn of_search(words: &'a [String]) -> Option<Self> {
        let letters = |letter: char| has_letter(words, letter);
        if letters('l') {
            let names = hit::names(words);
            return (!names.is_empty())
                .then(|| Self::any(move |line| is_path(line) && names.have(line)));
        }
        let search = Search::of(words, letters)?;
        if letters('c') {
            let is_of_files = !letters('r') && !letters('R') && program(words) != Some("rg");
            let is_one = is_of_files && search.names().count() == Some(1);
            let most = if is_one { 1 } else { usize::MAX };
            return Some(Self::any(move |line| search.tallies(line)).most(most));
        }
        let is_numbered = letters('n') || words.iter().any(|word| word == "--line-number");
        is_numbered.then(|| Self::any(move |line| search.has(line)))
    }

    fn any(is_own: impl Fn(&str) -> bool + 'a) -> Self {
        Self {
            program: "",
            is_own: Box::new(is_own),
            is_first: None,
            is_last: None,
            most: usize::MAX,
            counts: None,
        }
    }

    fn one(is_own: impl Fn(&str) -> bool + 'a) -> Self {
        Self::any(is_own).most(1)
    }

    /// The same with at most this many lines.
    fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The same with at most this many lines that `counts` accepts.
    fn most_of(self, most: usize, counts: fn(&str) -> bool) -> Self {
        Self {
            most,
            counts: Some(counts),
            ..self
        }
    }

    /// The same with a header line.
    fn from(self, is_first: fn(&str) -> bool) -> Self {
        Self {
            is_first: Some(is_first),
            ..self
        }
    }

    /// The same with a final line of totals.
    fn up_to(self, is_last: fn(&str) -> bool) -> Self {
        Self {
            is_last: Some(is_last),
            ..self
        }
    }

    /// The end offset of the lines at the start of `text` that have the form.
    pub(super) fn first_of(&self, text: &str) -> usize {
        let mut length = 0;
        let mut is_headed = self.is_first.is_none();
        let mut rows = 0;
        for line in text.split_inclusive('\n') {
            let bare = bare(line);
            let is_head = self.is_first.is_some_and(|is_first| is_first(bare));
            is_headed |= is_head;
            let is_row = is_head || is_headed && (self.is_own)(bare);
            rows += usize::from(is_row && self.counts(bare));
            if !is_row && !is_refusal(bare, self.program) || rows > self.most {
                break;
            }
            length += line.len();
            if self.is_last.is_some_and(|is_last| is_last(bare)) {
                break;
            }
        }
        length
    }

    /// The start offset of the lines at the end of `text` that have the form.
    pub(super) fn last_of(&self, text: &str) -> usize {
        let mut start = text.len();
        let mut at = text.len();
        let mut rows = 0;
        for (index, line) in text.split_inclusive('\n').rev().enumerate() {
            let bare = bare(line);
            let is_head = self.is_first.is_some_and(|is_first| is_first(bare));
            let ended = index > 0 && self.is_last.is_some_and(|is_last| is_last(bare));
            let is_row = is_head || (self.is_own)(bare);
            let is_refusal = !is_row && is_refusal(bare, self.program);
            rows += usize::from(is_row && self.counts(bare));
            if !is_row && !is_refusal || ended || rows > self.most {
                break;
            }
            let is_headed = start == at;
            at -= line.len();
            // Without a header nothing is known to be a row.
            if is_head || is_refusal && is_headed || self.is_first.is_none() {
                start = at;
            }
        }
        start
    }

    /// The range of more than one consecutive line of the form, if there is exactly one such range.
    pub(super) fn only_run(&self, text: &str) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        let (mut start, mut at, mut lines) = (0, 0, 0);
        for line in text.split_inclusive('\n').chain([""]) {
            if !line.is_empty() && self.is_line(bare(line)) {
                lines += 1;
            } else {
                if lines > 1 && found.replace(start..at).is_some() {
                    return None;
                }
                lines = 0;
                start = at + line.len();
            }
            at += line.len();
        }
        found
    }

    fn counts(&self, line: &str) -> bool {
        self.counts.is_none_or(|counts| counts(line))
    }

    fn is_line(&self, line: &str) -> bool {
        (self.is_own)(line) || self.is_first.is_some_and(|is_first| is_first(line))
    }
}

/// `line` without its line end.
fn bare(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

/// Whether `words` contain the short option `letter`, alone or combined with others.
fn has_letter(words: &[String], letter: char) -> bool {
    let options = words
        .iter()
        .skip(1)
        .filter_map(|word| word.strip_prefix('-'));
    options
        .filter(|letters| !letters.starts_with('-'))
        .any(|letters| letters.contains(letter))
}

#[cfg(test)]
mod tests;
