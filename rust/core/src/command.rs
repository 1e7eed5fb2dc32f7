//! Which program a command line really runs.
//!
//! A reader of POSIX shell syntax that is exact about words, quotes and the operators between
//! commands, and gives up (`None`) on what it does not read. It runs nothing and expands nothing.

mod reader;
mod runner;

use crate::find_text::FindText as _;
use reader::Reader;
use runner::run_by;

/// Words that may stand before a command without being one.
const PREFIX_WORDS: [&str; 3] = ["!", "{", "time"];

/// A program that runs the command which its own arguments spell out.
struct Wrapper {
    name: &'static str,
    /// Its options that take the next word.
    options_with_value: &'static [&'static str],
    /// How many words of its own follow its options.
    own_words: usize,
}

const WRAPPERS: [Wrapper; 10] = [
    Wrapper {
        name: "sudo",
        options_with_value: &[
            "-u", "-g", "-h", "-p", "-C", "-D", "-R", "-T", "--user", "--group",
        ],
        own_words: 0,
    },
    Wrapper {
        name: "doas",
        options_with_value: &["-u", "-C"],
        own_words: 0,
    },
    Wrapper {
        name: "timeout",
        options_with_value: &["-s", "--signal", "-k", "--kill-after"],
        own_words: 1,
    },
    Wrapper {
        name: "env",
        options_with_value: &["-u", "--unset", "-C", "--chdir"],
        own_words: 0,
    },
    Wrapper {
        name: "nice",
        options_with_value: &["-n", "--adjustment"],
        own_words: 0,
    },
    Wrapper {
        name: "ionice",
        options_with_value: &["-c", "-n"],
        own_words: 0,
    },
    Wrapper {
        name: "stdbuf",
        options_with_value: &["-i", "-o", "-e"],
        own_words: 0,
    },
    Wrapper {
        name: "nohup",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "command",
        options_with_value: &[],
        own_words: 0,
    },
    Wrapper {
        name: "exec",
        options_with_value: &["-a"],
        own_words: 0,
    },
];

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
const PASSING_STAGES: [&str; 8] = [
    "cat", "head", "less", "more", "tail", "tee", "ts", "unbuffer",
];
/// How many lines `head` and `tail` give that are not told.
const LINES_OF_A_STAGE: usize = 10;
/// With these git answers for itself and runs no subcommand.
const GIT_ANSWERS: [&str; 4] = ["--help", "-h", "--version", "-v"];

/// The words of the last simple command of `line`, quotes removed, without assignments and
/// programs that only run another one (`sudo`, `timeout 5`, `env A=b`).
///
/// `None` when there is none, when it is part of a pipeline (what it prints is not what comes out),
/// or when the line holds what is not read here: here-documents, process substitution, an open quote.
#[must_use]
pub fn last_command(line: &str) -> Option<Vec<String>> {
    let words = Reader::new(line).last_command()?;
    let words = unwrapped(&words);
    (!words.is_empty()).then(|| words.to_vec())
}

/// The words of the command whose output comes out of `line`, as [`last_command`] gives them, but also
/// through stages of a pipeline that only cut or copy (`| tail -50`, `| tee log`), and without
/// programs that only find the one to run (`npx`, `uv run`, `python -m`).
///
/// ```
/// use ethos_registry_core::command::producer;
///
/// let words = producer("cd app && CI=1 uv run python -m pytest -q 2>&1 | tail -n 50").unwrap();
/// assert_eq!(words, ["pytest", "-q"]);
/// assert_eq!(producer("pytest | grep FAILED").unwrap(), ["grep", "FAILED"]);
/// ```
#[must_use]
pub fn producer(line: &str) -> Option<Vec<String>> {
    let mut stages = Reader::new(line).last_pipeline()?;
    while stages.len() > 1 && stages.last().is_some_and(|words| passes_through(words)) {
        stages.pop();
    }
    let words = stages.pop()?;
    let words = run_by(unwrapped(&words));
    (!words.is_empty()).then(|| words.to_vec())
}

/// Whether commands before the last one of `line` print too, whose end the exit code does not tell.
///
/// ```
/// use ethos_registry_core::command::prints_more;
///
/// assert!(prints_more("ss -tlnp; ip addr; ping -c1 db"));
/// assert!(!prints_more("cd app && export CI=1 && make test | tail -20"));
/// ```
#[must_use]
pub fn prints_more(line: &str) -> bool {
    Reader::new(line)
        .printing()
        .is_some_and(|printing| printing > 1)
}

/// How many lines at most the last stages of the pipeline ask for, `| head -n 40` or `| tail -40`;
/// `None` when the line ends in no such stage.
///
/// ```
/// use ethos_registry_core::command::asked_lines;
///
/// assert_eq!(asked_lines("du -a | sort -n | tail -n 40"), Some(40));
/// assert_eq!(asked_lines("git log | head"), Some(10));
/// assert_eq!(asked_lines("head -n 40 notes.txt"), None);
/// ```
#[must_use]
pub fn asked_lines(line: &str) -> Option<usize> {
    let stages = Reader::new(line).last_pipeline()?;
    let stages = stages.iter().skip(1).rev().map(|words| unwrapped(words));
    let passing = stages.take_while(|words| {
        program(words).is_some_and(|program| PASSING_STAGES.contains(&program))
    });
    passing.filter_map(lines_of_stage).min()
}

/// How many lines a `head` or a `tail` gives: none that says so in another way.
fn lines_of_stage(words: &[String]) -> Option<usize> {
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

/// Whether a stage of a pipeline gives lines that it gets, and no others.
fn passes_through(words: &[String]) -> bool {
    let words = unwrapped(words);
    PASSING_STAGES.contains(&program(words).unwrap_or_default())
}

/// The first word after the program that is no option.
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

/// Whether `program` searches texts for a pattern.
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

fn unwrapped(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        let own = words
            .iter()
            .take_while(|word| PREFIX_WORDS.contains(&word.as_str()) || is_assignment(word))
            .count();
        words = words.get(own..).unwrap_or_default();
        let wrapper = WRAPPERS
            .iter()
            .find(|wrapper| program(words) == Some(wrapper.name));
        let Some(wrapper) = wrapper else {
            return words;
        };
        words = wrapped(wrapper, words.get(1..).unwrap_or_default());
    }
}

/// What `arguments` of a wrapper make it run.
fn wrapped<'a>(wrapper: &Wrapper, arguments: &'a [String]) -> &'a [String] {
    let mut rest = arguments;
    while let Some((option, after)) = rest.split_first() {
        if !option.starts_with('-') {
            break;
        }
        rest = after;
        if option == "--" {
            break;
        }
        if wrapper.options_with_value.contains(&option.as_str()) {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    rest.get(wrapper.own_words..).unwrap_or_default()
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(line: &str) -> String {
        last_command(line).map_or_else(|| "-".to_owned(), |words| words.join("|"))
    }

    #[test]
    fn the_last_command_is_found() {
        for (line, words) in [
            ("git status", "git|status"),
            (
                "cd x && A=b C='d e' /usr/bin/git  -C \"my dir\" status",
                "/usr/bin/git|-C|my dir|status",
            ),
            (
                "sudo -u bob timeout -k 3 5 env -i A=1 nice -n 5 git status",
                "git|status",
            ),
            ("git log | head; git status 2>&1 # now", "git|status"),
            ("git status || true", "git|status"),
            ("{ git status; }", "git|status"),
            ("(cd x\ngit status)", "git|status"),
            (
                "cd \"$(git rev-parse --show-toplevel)\" && git status &>log.txt",
                "git|status",
            ),
            ("git st\\\natus > 'a b' -s", "git|status|-s"),
            (
                "echo \"git status; git status\"",
                "echo|git status; git status",
            ),
            ("cat git status", "cat|git|status"),
        ] {
            assert_eq!(last(line), words, "{line}");
        }
    }

    #[test]
    fn lines_that_a_last_stage_asks_for_are_counted() {
        for (line, lines) in [
            ("cd x && du -ah . | sort -h | tail -n 80", Some(80)),
            ("find . -name '*.c' | head -60 2>/dev/null", Some(60)),
            ("ls -R | tail --lines=30 | tee list", Some(30)),
            ("ls | head -n50 | sudo tail -20", Some(20)),
            ("ls | head -n -5", None),
            ("ls | tail -n +5", None),
            ("ls | head -c 500", None),
            ("ls | head -40 | sort", None),
            ("tail -n 40 notes.txt", None),
            ("ls", None),
        ] {
            assert_eq!(asked_lines(line), lines, "{line}");
        }
    }

    #[test]
    fn what_is_not_read_gives_nothing() {
        for line in [
            "",
            "  # git status",
            "git status | head",
            "git status |& tee log",
            "(a; git status) | head",
            "git status | true",
            "cat <<EOF\ngit status\nEOF",
            "diff <(git status) b",
            "echo 'git status",
            "echo $(git status",
            "sudo",
            "timeout 5",
        ] {
            assert_eq!(last(line), "-", "{line}");
        }
    }

    #[test]
    fn a_version_is_no_part_of_the_name_of_a_program() {
        for (word, name) in [
            ("/usr/bin/clang++-14", "clang++"),
            ("g++-12.2", "g++"),
            ("clang-tidy-14", "clang-tidy"),
            ("x-14y", "x-14y"),
            ("-14", "-14"),
            ("sha1sum", "sha1sum"),
        ] {
            assert_eq!(program(&[word.to_owned()]), Some(name), "{word}");
        }
    }

    #[test]
    fn git_options_are_stepped_over() {
        let subcommand = |line: &str| {
            last_command(line).and_then(|words| git_subcommand(&words).map(str::to_owned))
        };
        assert_eq!(
            subcommand("git -C d -c a.b=c --git-dir=x --no-pager status -s"),
            Some("status".to_owned())
        );
        assert_eq!(subcommand("git --help status"), None);
        assert_eq!(subcommand("git"), None);
        assert_eq!(subcommand("digit status"), None);
    }
}
