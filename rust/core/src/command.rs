//! Which program a command line really runs.
//!
//! A reader of POSIX shell syntax that is exact about words, quotes and the operators between
//! commands, and gives up (`None`) on what it does not read. It runs nothing and expands nothing.

mod clauses;
mod colours;
mod names;
mod opened;
mod options;
mod order;
mod pipeline;
mod reader;
mod remark;
mod remote;
mod runner;
mod wrapper;

use crate::find_text::FindText as _;
use pipeline::{Pipeline, Role};
use reader::Reader;
pub use remark::{Remark, Said};
use runner::run_by;
use wrapper::unwrapped;

const GIT_OPTIONS_WITH_VALUE: [&str; 7] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--attr-source",
];
/// Stages of a pipeline through which the output of the stage before is still itself.
const PASSING_STAGES: [&str; 7] = ["cat", "head", "less", "more", "tail", "tee", "ts"];
/// Programs that read a line of commands from the word after `-c`.
const SHELLS: [&str; 7] = ["bash", "sh", "zsh", "dash", "ksh", "script", "su"];
/// This many of them are looked through where one runs another.
const MOST_SHELLS: usize = 3;
/// Programs whose subcommands print what each of them alone does.
const MANY_TOOLS: [&str; 14] = [
    "cargo", "docker", "dotnet", "git", "go", "kubectl", "make", "npm", "pip", "pnpm", "podman",
    "poetry", "uv", "yarn",
];
/// With these `sort` still goes by the alphabet.
const SORT_OPTIONS: [&str; 4] = ["-u", "--unique", "-f", "--ignore-case"];
/// How many lines `head` and `tail` give that are not shown.
const LINES_OF_A_STAGE: usize = 10;
/// With these git answers for itself and runs no subcommand.
const GIT_ANSWERS: [&str; 4] = ["--help", "-h", "--version", "-v"];

/// A command, and how many lines of what it prints are asked for by the stages behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// How many lines a last `head` or `tail` lets through.
    pub lines: Option<usize>,
}

/// A line of commands, read once.
///
/// ```
/// use ethos_registry_core::command::CommandLine;
///
/// let line = CommandLine::read("cd app && CI=1 uv run python -m pytest -q 2>&1 | tail -n 50").unwrap();
/// assert_eq!(line.producer().unwrap(), ["pytest", "-q"]);
/// assert_eq!(line.asked_lines(), Some(50));
/// assert!(!line.prints_more());
/// ```
#[derive(Debug, Default)]
pub struct CommandLine {
    /// Its pipelines in their order.
    pipelines: Vec<Pipeline>,
    /// How often each outermost loop is run through, where its words tell.
    rounds: Vec<Option<usize>>,
    /// Whether commands of it run when they are called, not where they are.
    defines: bool,
    /// Whether one that prints runs beside others.
    is_mixed: bool,
}

impl CommandLine {
    /// Reads `line`; `None` when it holds what is not read here: an open quote, a here-document without an end.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        Reader::new(line).read()
    }

    /// The words of the last simple command, quotes removed, without assignments and programs that only
    /// run another one (`sudo`, `timeout 5`, `env A=b`); `None` when there is none, or when it is part of a
    /// pipeline: what it prints is not what comes out.
    #[must_use]
    pub fn last_command(&self) -> Option<&[String]> {
        self.last()?.only()
    }

    /// The words of the command whose output comes out, as [`Self::last_command`] gives them, but also
    /// through stages of a pipeline that only cut, copy or order (`| tail -50`, `| tee log`, `| sort`), and
    /// without programs that only find the one to run (`npx`, `uv run`, `python -m`, `bash -c`).
    #[must_use]
    pub fn producer(&self) -> Option<Vec<String>> {
        let mut words = self.last()?.producing()?;
        // One that is run on what another command gives: `find . | xargs sh -c 'wc -l'`.
        for _ in 0..MOST_SHELLS {
            let line = shell_line(&words).and_then(Self::read);
            let Some(inner) = line.and_then(|line| line.last()?.producing()) else {
                break;
            };
            words = inner;
        }
        Some(words)
    }

    /// How many lines at most the last stages of the pipeline ask for, `| head -n 40` or `| tail -40`;
    /// `None` when it ends in no such stage.
    #[must_use]
    pub fn asked_lines(&self) -> Option<usize> {
        self.last()?.asked_lines()
    }

    /// Whether commands before the last one print too, whose end the exit code does not tell.
    #[must_use]
    pub fn prints_more(&self) -> bool {
        let repeats = |pipeline: &Pipeline| pipeline.in_loop.is_some();
        self.printing().count() > 1 || self.printing().any(repeats)
    }

    /// Whether more than one tool prints: `git diff; git status`, but not `flake8 src; flake8 tests`.
    #[must_use]
    pub fn runs_several(&self) -> bool {
        let mut tools = self.printing().filter_map(|pipeline| {
            let words = pipeline.stages.first()?;
            Some(tool(words))
        });
        let first = tools.next();
        tools.any(|other| Some(other) != first)
    }

    /// Whether what the last of them printed went to another program.
    #[must_use]
    pub fn is_piped(&self) -> bool {
        self.last().is_some_and(|last| last.is_piped)
    }

    /// The words of each command that prints, as [`Self::producer`] gives them; `None` where one may run many times or
    /// is not known.
    #[must_use]
    pub fn producers(&self) -> Option<Vec<Vec<String>>> {
        let all = self.pipelines.iter().filter(|one| one.role == Role::Prints);
        all.map(|one| one.producing().filter(|_| one.in_loop.is_none()))
            .collect()
    }

    /// The words of each command that prints, in a loop or not; none where they are not known.
    pub fn printers(&self) -> impl Iterator<Item = Vec<String>> {
        let all = self.pipelines.iter().filter(|one| one.role == Role::Prints);
        all.map(|one| one.producing().unwrap_or_default())
    }

    /// Whether the shell prints each command before it runs it: `set -x`, `bash -x build.sh`.
    #[must_use]
    pub fn is_traced(&self) -> bool {
        let is_option = |word: &String| {
            let letters = word.strip_prefix('-');
            word == "xtrace"
                || letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains('x'))
        };
        self.pipelines
            .iter()
            .flat_map(|one| &one.stages)
            .any(|words| {
                let name = program(words).unwrap_or_default();
                (name == "set" || SHELLS.contains(&name)) && words.iter().any(is_option)
            })
    }

    /// How many commands it has, those that a pipe joins taken for one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pipelines.len()
    }

    /// Whether it has no command.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// The last pipeline that does more than remark.
    fn last(&self) -> Option<&Pipeline> {
        let mut pipelines = self.pipelines.iter();
        pipelines.rfind(|pipeline| pipeline.role != Role::Remarks)
    }

    /// The pipelines that may print.
    fn printing(&self) -> impl Iterator<Item = &Pipeline> {
        let pipelines = self.pipelines.iter();
        pipelines.filter(|pipeline| pipeline.role != Role::Prepares)
    }
}

/// What distinguishes one tool from another: a program, and for one that is many tools which of them.
pub type Tool<'a> = (Option<&'a str>, Option<&'a str>);

/// The tool that `words` run.
#[must_use]
pub fn tool(words: &[String]) -> Tool<'_> {
    let words = run_by(unwrapped(words));
    let name = program(words);
    let is_many = name.is_some_and(|name| MANY_TOOLS.contains(&name));
    (name, is_many.then(|| subcommand(words)).flatten())
}

/// What [`CommandLine::producer`] states of `line`.
///
/// ```
/// use ethos_registry_core::command::producer;
///
/// assert_eq!(producer("pytest | grep FAILED").unwrap(), ["grep", "FAILED"]);
/// ```
#[must_use]
pub fn producer(line: &str) -> Option<Vec<String>> {
    CommandLine::read(line)?.producer()
}

/// How many lines a `head` or a `tail` gives: none that states it in another way.
pub fn lines_of_stage(words: &[String]) -> Option<usize> {
    if !matches!(program(words)?, "head" | "tail") {
        return None;
    }
    let mut words = words.iter().skip(1).map(String::as_str);
    let Some(word) = words.next() else {
        return Some(LINES_OF_A_STAGE);
    };
    let number = match word {
        "-n" | "--lines" => words.next()?,
        _ => word
            .strip_prefix("--lines=")
            .or_else(|| word.strip_prefix("-n"))
            .or_else(|| word.strip_prefix('-'))?,
    };
    // `+5` and `-5` count from the other end.
    let counts = number.starts_with(|first: char| first.is_ascii_digit());
    number.parse().ok().filter(|_| counts)
}

/// The line that `words` give to a shell: `bash -lc 'cd app && make'`, `su dev -c make`, or a single word with
/// blanks, which went to the shell of another machine.
fn shell_line(words: &[String]) -> Option<&str> {
    if let [line] = words
        && line.contains(' ')
    {
        return Some(line);
    }
    if !SHELLS.contains(&program(words)?) {
        return None;
    }
    let is_command = |word: &String| {
        let letters = word.strip_prefix('-');
        letters.is_some_and(|letters| letters.ends_with('c') && !letters.starts_with('-'))
    };
    let at = words.iter().position(is_command)?;
    // What follows the path of a script is for the script.
    let is_path = |word: &String| word.contains(['.', '/']);
    let of_script = words.get(1..at)?.iter().any(is_path);
    words.get(at + 1).map(String::as_str).filter(|_| !of_script)
}

/// Whether a stage of a pipeline gives lines that it gets, and no others.
fn passes_through(words: &[String]) -> bool {
    let words = unwrapped(words);
    match program(words).unwrap_or_default() {
        // An order other than the alphabet was asked for; it matters as much as the lines themselves.
        "sort" => words
            .iter()
            .skip(1)
            .all(|word| SORT_OPTIONS.contains(&word.as_str())),
        program => PASSING_STAGES.contains(&program),
    }
}

/// The first word after the program that is not an option.
#[must_use]
pub fn subcommand(words: &[String]) -> Option<&str> {
    if program(words).is_some_and(|program| program.starts_with("git")) {
        return git_subcommand(words);
    }
    let mut arguments = words.iter().skip(1).map(String::as_str);
    arguments.find(|argument| !argument.starts_with(['-', '+']))
}

/// The name of the program that `words` run, without the path to it.
#[must_use]
pub fn program(words: &[String]) -> Option<&str> {
    let word = words.first()?;
    let name = word
        .rsplit_text("/")
        .map_or(word.as_str(), |(_, name)| name);
    Some(unversioned(name))
}

/// `name` without the version that a distribution adds to it: `clang` of `clang-14`.
fn unversioned(name: &str) -> &str {
    let bare = name.trim_end_matches(|sign: char| sign.is_ascii_digit() || sign == '.');
    match bare.strip_suffix('-') {
        Some(bare) if bare.len() + 1 < name.len() && !bare.is_empty() => bare,
        _ => name,
    }
}

/// Whether `program` searches inputs for a pattern.
#[must_use]
pub fn searches(program: &str) -> bool {
    matches!(
        program,
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack"
    )
}

/// The subcommand of `words` when they run git.
#[must_use]
pub fn git_subcommand(words: &[String]) -> Option<&str> {
    if !matches!(program(words)?, "git" | "git.exe") {
        return None;
    }
    let mut arguments = words.iter().skip(1).map(String::as_str);
    while let Some(argument) = arguments.next() {
        if GIT_ANSWERS.contains(&argument) {
            return None;
        }
        if !argument.starts_with('-') {
            return Some(argument);
        }
        if GIT_OPTIONS_WITH_VALUE.contains(&argument) {
            arguments.next();
        }
    }
    None
}

#[cfg(test)]
mod tests;
