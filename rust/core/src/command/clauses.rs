//! What the words of a shell say of the commands around them: which run in a loop, which only perhaps.

use super::CommandLine;
use super::pipeline::{Link, Pipeline, Role};
use super::wrapper::unwrapped;

/// Words that only say how the commands behind them are run.
const LEADING: [&str; 9] = [
    "do", "then", "else", "elif", "if", "while", "until", "{", "!",
];
/// Of these, those that begin a loop, beside `for`.
const LOOPS: [&str; 2] = ["while", "until"];
/// Of these, those behind which another status can be than that of the command: that of what hangs on it.
const CONDITIONS: [&str; 5] = ["if", "elif", "while", "until", "!"];
/// Commands that print nothing: what precedes them decides.
const SILENT: [&str; 11] = [
    "true", ":", "}", "exit", "return", "done", "fi", "esac", "for", "select", "case",
];
/// Of these, those that run and end well.
const WELL: [&str; 2] = ["true", ":"];
/// Commands that prepare what others do and mostly print nothing.
const PREPARING: [&str; 24] = [
    "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "mkdir", "rm", "cp",
    "mv", "ln", "touch", "chmod", "sleep", "wait", "read", "trap", "[", "[[", "test", "local",
];
/// Commands that say a few words beside what the command before them printed: `make; echo "exit: $?"`.
const REMARKING: [&str; 2] = ["echo", "printf"];

/// The commands of a line, as far as they were read.
#[derive(Default)]
pub(super) struct Clauses {
    line: CommandLine,
    in_pipeline: bool,
    /// How the next pipeline hangs on the one before it.
    link: Link,
    /// How many loops are open, and whether each `if` and `case` that is open is behind its condition.
    open_loops: usize,
    branches: Vec<bool>,
    /// Whether one that may print was read, and whether what the last one printed goes to a file.
    prints: bool,
    is_away: bool,
}

impl Clauses {
    /// All that was read.
    pub(super) fn end(self) -> CommandLine {
        self.line
    }

    /// A command; what it prints goes to a file if it `is_away`.
    pub(super) fn push(&mut self, mut words: Vec<String>, is_away: bool) {
        let leading = words
            .iter()
            .take_while(|word| LEADING.contains(&word.as_str()));
        let leading: Vec<String> = words.drain(..leading.count()).collect();
        self.branch(&leading);
        let begins_loop = leading.iter().any(|word| LOOPS.contains(&word.as_str()));
        let Some(first) = words.first().map(String::as_str) else {
            return;
        };
        match first {
            "for" | "select" => self.open_loop(rounds(&words)),
            _ if begins_loop => self.open_loop(None),
            "done" => self.open_loops = self.open_loops.saturating_sub(1),
            "case" => self.branches.push(true),
            "fi" | "esac" => drop(self.branches.pop()),
            "function" => self.defines(),
            _ => (),
        }
        if SILENT.contains(&first) {
            if let Some(last) = self.line.pipelines.last_mut() {
                last.hides_end |= WELL.contains(&first);
            }
            self.is_away |= is_away;
            return;
        }
        if self.in_pipeline
            && let Some(pipeline) = self.line.pipelines.last_mut()
        {
            pipeline.stages.push(words);
            self.is_away = is_away;
            return;
        }
        self.is_away = is_away;
        let says = REMARKING.contains(&first);
        // What writes a file states nothing beside it.
        let writes = is_away && (says || first == "cat");
        let role = if writes {
            Role::Prepares
        } else if says && self.prints && is_remark(&words) {
            Role::Remarks
        } else if PREPARING.contains(&first) || edits(&words) || unwrapped(&words).is_empty() {
            Role::Prepares
        } else {
            Role::Prints
        };
        self.prints |= role == Role::Prints;
        self.line.pipelines.push(Pipeline {
            role,
            stages: vec![words],
            is_piped: self.in_pipeline,
            link: std::mem::take(&mut self.link),
            perhaps: self.branches.contains(&true),
            hides_end: leading
                .iter()
                .any(|word| CONDITIONS.contains(&word.as_str())),
            in_loop: (self.open_loops > 0).then_some(self.line.rounds.len()),
        });
    }

    /// The next pipeline hangs so on the last one.
    pub(super) fn end_list(&mut self, link: Link) {
        self.in_pipeline = false;
        self.link = link;
    }

    /// The last command does not end before the next one begins.
    pub(super) fn go_on_beside(&mut self) {
        let last = self.line.pipelines.last();
        let prints = last.is_some_and(|last| last.role == Role::Prints);
        self.line.is_mixed |= prints && !self.is_away;
        self.end_list(Link::Always);
    }

    /// The next command gets what the last one prints.
    pub(super) fn pipe(&mut self) {
        self.in_pipeline = true;
        if let Some(pipeline) = self.line.pipelines.last_mut() {
            pipeline.is_piped = true;
            if pipeline.role == Role::Remarks {
                // What it states goes to another command.
                pipeline.role = Role::Prints;
                self.prints = true;
            }
        }
    }

    /// Commands that follow run when they are called.
    pub(super) fn defines(&mut self) {
        self.line.defines = true;
    }

    /// Whether a pattern of `case` can be here.
    pub(super) fn may_choose(&self) -> bool {
        self.branches.last() == Some(&true)
    }

    fn open_loop(&mut self, rounds: Option<usize>) {
        if self.open_loops == 0 {
            self.line.rounds.push(rounds);
        } else if let Some(of_outermost) = self.line.rounds.last_mut() {
            *of_outermost = None;
        }
        self.open_loops += 1;
    }

    fn branch(&mut self, leading: &[String]) {
        for word in leading {
            match word.as_str() {
                "if" => self.branches.push(false),
                "then" | "else" | "elif" => {
                    if let Some(last) = self.branches.last_mut() {
                        *last = true;
                    }
                }
                _ => (),
            }
        }
    }
}

/// How often a loop is run through, where its words tell: `for tree in oak elm`.
fn rounds(words: &[String]) -> Option<usize> {
    let values = words.get(2..)?.strip_prefix(&["in".to_owned()])?;
    let is_plain = |word: &String| !word.contains(['$', '`', '*', '?', '[', '{', '~']);
    (words.first()? == "for" && values.iter().all(is_plain)).then_some(values.len())
}

/// Whether `words` change files where they are: `sed -i s/oak/elm/ trees.txt`.
fn edits(words: &[String]) -> bool {
    let is_in_place = |word: &String| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        let mut letters = letters.chars().take_while(char::is_ascii_alphabetic);
        word.starts_with("--in-place") || letters.any(|letter| letter == 'i')
    };
    let first = words.first().map(String::as_str);
    matches!(first, Some("sed" | "perl")) && words.iter().any(is_in_place)
}

/// Whether `words` print no more than they are: what a substitution gives may be long.
fn is_remark(words: &[String]) -> bool {
    let substitutes = |word: &String| {
        let mut expansions = word.split('$').skip(1);
        expansions.any(|rest| {
            !rest.starts_with(['?', '{', '_', '#', '!'])
                && !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        }) || word.contains('`')
    };
    !words.iter().any(substitutes)
}
