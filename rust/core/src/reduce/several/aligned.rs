//! Which command of a line gave which part of its output.

use super::super::input::{FILE_SHOWERS, PART_SHOWERS};
use super::parts::{Part, parts};
use super::program::Program;
use super::split::{Ends, split};
use crate::command::{Asked, CommandLine, program, subcommand};

/// A part, and the command that gave it.
pub(super) type Told<'a> = (Part<'a>, Option<Asked>);

/// The parts of `text`, each with the command of `line` that gave it where that is beyond doubt; `None` where it is of
/// none. `found` are the parts that the content alone tells.
///
/// What stands first and last and is of commands that their lines tell is theirs. Of the rest a part of a known program
/// is of the next command that runs it, and what stands between two of these is of the commands between them when there
/// are as many, or when their lines tell them apart.
pub(super) fn aligned<'a>(
    text: &'a str,
    found: Option<&[Part<'a>]>,
    line: &CommandLine,
) -> Option<Vec<Told<'a>>> {
    let commands = joined(line.asked()?);
    let ends = Ends::of(text, &commands);
    let is_divided = !ends.first.is_empty() || !ends.last.is_empty();
    let is_done = ends.rest.trim_ascii().is_empty();
    let part = |text| Part {
        program: None,
        start: 0,
        text,
        may_be_shown: false,
    };
    let told = if is_divided && (is_done || !ends.left.is_empty()) {
        let rest = match ends.left.as_slice() {
            _ if is_done => Vec::new(),
            left => {
                let rest = parts(ends.rest).unwrap_or_else(|| vec![part(ends.rest)]);
                let is_other = |part: &Part<'_>| {
                    let runs = |known| left.iter().any(|one| runs(&one.words, known));
                    !part.program.is_some_and(runs)
                };
                match left {
                    [only] if rest.iter().all(is_other) => {
                        vec![(part(ends.rest), Some(only.clone()))]
                    }
                    _ => {
                        let is_open = Open {
                            above: ends.first.is_empty(),
                            below: ends.last.is_empty(),
                        };
                        told(ends.rest, rest, left, is_open)
                    }
                }
            }
        };
        let of_ends = |(text, command)| (part(text), command);
        let first = ends.first.into_iter().map(of_ends);
        let last = ends.last.into_iter().map(of_ends);
        first.chain(rest).chain(last).collect()
    } else {
        let parts = found.map_or_else(|| vec![part(text)], <[Part<'a>]>::to_vec);
        let is_open = Open {
            above: true,
            below: true,
        };
        told(text, parts, &commands, is_open)
    };
    (told.len() > 1).then_some(told)
}

/// Whether nothing stands above a text, or below it: a line there that no family knows may be of who printed what
/// stands on the other side of it, a row in a form that is not known.
#[derive(Clone, Copy)]
struct Open {
    above: bool,
    below: bool,
}

/// The `parts` of `text` with those of `commands` that gave them.
fn told<'a>(
    text: &'a str,
    parts: Vec<Part<'a>>,
    commands: &[Asked],
    is_open: Open,
) -> Vec<Told<'a>> {
    let mut told: Vec<Told<'a>> = Vec::with_capacity(parts.len());
    let mut between: Vec<Part<'a>> = Vec::new();
    let mut next = 0;
    for part in parts {
        let is_run = |command: &Asked| {
            part.program
                .is_some_and(|known| runs(&command.words, known))
        };
        let behind = commands.get(next..).unwrap_or_default();
        // What one command prints has several forms: cargo builds before it tests.
        if let Some((last, Some(command))) = told.last_mut()
            && let (Some(before), Some(program)) = (last.program, part.program)
            && (goes_on(before, program) || program == before && behind.is_empty())
            && is_run(command)
        {
            last.program = Some(program);
            last.text = text.get(last.start..part.end()).unwrap_or(last.text);
            between.clear();
            continue;
        }
        let Some(at) = behind.iter().position(is_run) else {
            between.push(part);
            continue;
        };
        let (others, own) = behind.split_at(at);
        let own = own.first().cloned();
        next += at + 1;
        // No other command can have printed what stands above.
        let is_alone = is_open.above && others.is_empty() && told.is_empty();
        let above = between
            .first()
            .filter(|_| is_alone)
            .map(|above| above.start);
        if let Some(start) = above {
            between.clear();
            let text = text.get(start..part.end()).unwrap_or(part.text);
            told.push((
                Part {
                    start,
                    text,
                    ..part
                },
                own,
            ));
        } else {
            tell(&mut told, std::mem::take(&mut between), others);
            told.push((part, own));
        }
    }
    let left = commands.get(next..).unwrap_or_default();
    match told.last_mut() {
        // Nor what stands below.
        Some((last, Some(_))) if is_open.below && left.is_empty() && !between.is_empty() => {
            last.text = text.get(last.start..).unwrap_or(last.text);
        }
        _ => tell(&mut told, between, left),
    }
    told
}

/// The words of the command that gave an output of `line`; of several that show files those of one that shows all.
pub(in crate::reduce) fn words(line: &CommandLine) -> Vec<String> {
    let shown = line.asked().map(joined);
    let only = shown.and_then(|mut shown| shown.pop().filter(|_| shown.is_empty()));
    let only = only.map(|only| only.words);
    only.or_else(|| line.producer()).unwrap_or_default()
}

/// `commands` with those in a row that show files taken for one: where one file ends and the next begins, nothing
/// says. It shows whole files when one of them does.
pub(super) fn joined(commands: Vec<Asked>) -> Vec<Asked> {
    let shows_parts =
        |words: &[String]| program(words).is_some_and(|name| PART_SHOWERS.contains(&name));
    let mut joined: Vec<Asked> = Vec::with_capacity(commands.len());
    for mut command in commands {
        match joined.last_mut() {
            Some(last) if shows_files(&last.words) && shows_files(&command.words) => {
                if shows_parts(&last.words) && !shows_parts(&command.words) {
                    std::mem::swap(last, &mut command);
                }
                // Of a part the numbers and scripts that say which part are no files.
                let is_file = |word: &String| word.contains(['.', '/']);
                command.words.remove(0);
                command.words.retain(is_file);
                last.words.append(&mut command.words);
                last.lines = None;
            }
            _ => joined.push(command),
        }
    }
    joined
}

/// Whether `words` show files as they are.
pub(super) fn shows_files(words: &[String]) -> bool {
    program(words).is_some_and(|name| FILE_SHOWERS.contains(&name))
}

/// `parts` are of `commands`, in what way ever.
fn tell<'a>(told: &mut Vec<Told<'a>>, parts: Vec<Part<'a>>, commands: &[Asked]) {
    let is_shown = commands.iter().any(|command| shows_files(&command.words));
    if let [part] = parts.as_slice()
        && part.program.is_none()
        && let Some(texts) = split(part.text, commands)
    {
        let texts = texts.into_iter();
        let texts = texts.filter(|(text, _)| !text.trim_ascii().is_empty());
        told.extend(texts.map(|(text, command)| {
            let may_be_shown = command.is_none() && is_shown;
            let part = Part {
                text,
                may_be_shown,
                ..*part
            };
            (part, command)
        }));
        return;
    }
    let as_many = parts.len() == commands.len();
    for (index, mut part) in parts.into_iter().enumerate() {
        part.may_be_shown = is_shown && !as_many && part.program.is_none();
        // What a runner ran is known by what it printed: `npm test`.
        let command = commands
            .get(index)
            .filter(|_| as_many && part.program.is_none());
        told.push((part, command.cloned()));
    }
}

/// Whether `words` run `known`.
fn runs(words: &[String], known: Program) -> bool {
    let guessed = known.words();
    let own = guessed.get(1).filter(|own| !own.starts_with('-'));
    let is_own = |own: &&str| {
        let asked = subcommand(words);
        asked == Some(*own) || asked.is_some_and(|asked| others(known).contains(&asked))
    };
    // Without it what runs is another program: `node oak.js`, not `node --test`.
    let needed = guessed.get(1).filter(|own| own.starts_with('-'));
    let is_asked = |needed: &&str| words.iter().any(|word| word == needed);
    program(words) == guessed.first().copied()
        && own.is_none_or(is_own)
        && needed.is_none_or(is_asked)
}

/// Other subcommands of the program than those of its words that give an output of `known`.
fn others(known: Program) -> &'static [&'static str] {
    match known {
        // Whatever cargo is asked for, it builds that first.
        Program::Cargo => &[
            "bench", "check", "clippy", "doc", "install", "run", "rustc", "test",
        ],
        Program::GitLog => &["show", "whatchanged"],
        Program::Diff => &["show", "stash"],
        Program::Npm => &["add", "ci", "i", "uninstall", "update"],
        Program::Uv => &["add", "lock", "remove", "sync"],
        _ => &[],
    }
}

/// Whether one command may have printed `before` and then `known`.
fn goes_on(before: Program, known: Program) -> bool {
    (before, known) == (Program::Cargo, Program::CargoTest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each part, with the command that is known to have given it.
    fn told(line: &str, text: &str) -> Vec<(String, String)> {
        let line = CommandLine::read(line).unwrap_or_default();
        let found = parts(text);
        let told = aligned(text, found.as_deref(), &line).unwrap_or_default();
        let of = |(part, command): Told<'_>| {
            let words = command.map(|command| command.words.join(" "));
            (part.text.to_owned(), words.unwrap_or_default())
        };
        told.into_iter().map(of).collect()
    }

    fn expected(parts: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |(text, words): &(&str, &str)| ((*text).to_owned(), (*words).to_owned());
        parts.iter().map(owned).collect()
    }

    #[test]
    fn what_stands_first_and_last_is_of_the_commands_that_print_such_lines() {
        let run = "building oak\nbuilding elm\n";
        let text = format!(" M oak.rs\n{run}4ce410c Rings are counted\n");
        assert_eq!(
            told("git status -s; ./build; git log --oneline -1", &text),
            expected(&[
                (" M oak.rs\n", "git status -s"),
                (run, "./build"),
                ("4ce410c Rings are counted\n", "git log --oneline -1"),
            ])
        );
    }

    #[test]
    fn a_command_that_printed_nothing_of_its_kind_leaves_the_text_to_the_others() {
        let failure = "fatal: not a git repository\n";
        let text = format!("{failure}./oak.rs\n./elm.rs\n");
        assert_eq!(
            told("git status -s; find . -name '*.rs'", &text),
            expected(&[
                (failure, "git status -s"),
                ("./oak.rs\n./elm.rs\n", "find . -name *.rs"),
            ])
        );
    }

    #[test]
    fn what_cargo_builds_and_what_it_tests_is_of_one_command() {
        let tests = "   Compiling oak v0.1.0\n    Finished `test` profile in 0.1s\n     Running unittests src/lib.rs\n\nrunning 1 test\ntest leaf ... ok\n\ntest result: ok. 1 passed\n";
        let text = format!("the oak has leaves\n{tests}");
        assert_eq!(
            told("cat oak.txt; cargo test", &text),
            expected(&[
                ("the oak has leaves\n", "cat oak.txt"),
                (tests, "cargo test")
            ])
        );
    }

    #[test]
    fn a_commit_that_another_command_prints_is_not_of_the_log_before_it() {
        let commit = format!("commit {:040x}\nAuthor: Ann\n\n    Prune\n", 7);
        let found = format!("Bisecting: 3 left\n{commit}is the first bad one\n");
        assert_eq!(
            told("git log -1; ./bisect.sh", &format!("{commit}{found}")),
            expected(&[(&commit, "git log -1"), (&found, "./bisect.sh")])
        );
    }

    #[test]
    fn a_row_in_another_form_is_not_of_the_tests_beside_it() {
        let tests = "F.                                      [100%]\n=========================== short test summary info ============================\nFAILED t.py::oak\n1 failed, 1 passed in 0.10s\n";
        let rows = "src/oak.rs\nthe elm\nsrc/fir.rs\n";
        let of_first = told("git ls-files; pytest -q", &format!("{rows}{tests}"));
        assert_eq!(
            of_first,
            expected(&[
                ("src/oak.rs\n", "git ls-files"),
                ("the elm\nsrc/fir.rs\n", ""),
                (tests, "pytest -q"),
            ])
        );
        let of_last = told("pytest -q; git ls-files", &format!("{tests}{rows}"));
        assert_eq!(
            of_last,
            expected(&[
                (tests, "pytest -q"),
                ("src/oak.rs\nthe elm\n", ""),
                ("src/fir.rs\n", "git ls-files"),
            ])
        );
    }

    #[test]
    fn a_script_of_node_is_no_run_of_tests() {
        let tests = "TAP version 13\n# Subtest: oak\nnot ok 1 - oak\n1..1\n# tests 1\n# pass 0\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 4.2\n";
        let told = told("npm test; node oak.js", &format!("{tests}3 leaves\n"));
        assert!(
            !told
                .iter()
                .any(|(text, words)| words == "node oak.js" && text.contains("not ok")),
            "{told:?}"
        );
    }

    #[test]
    fn a_verdict_that_begins_with_a_number_is_no_count_of_a_file() {
        let verdict = "3 failed, 9 passed in 0.1s\n2 oaks\n";
        let counts = "  3 src/oak.rs\n 12 Makefile\n 15 total\n";
        assert_eq!(
            told(
                "./check; wc -l src/oak.rs Makefile",
                &format!("{verdict}{counts}")
            ),
            expected(&[(verdict, "./check"), (counts, "wc -l src/oak.rs Makefile")])
        );
    }

    #[test]
    fn a_file_whose_form_tells_its_end_is_of_the_command_that_shows_it() {
        let rest = "growing oaks\n[INFO] 3 oaks\n";
        for (file, text) in [
            (
                "oak.json",
                "{\n  \"oaks\": [\n    3,\n    \"old\"\n  ]\n}\n",
            ),
            (
                "Oak.toml",
                "# oaks\n[oak]\nname = \"oak\"\nleaves = [\n  \"green\",\n]\n\n",
            ),
        ] {
            let (command, both) = (format!("cat {file}"), format!("{text}{rest}"));
            assert_eq!(
                told(&format!("{command} && ./grow"), &both),
                expected(&[(text, &command), (rest, "./grow")])
            );
        }
    }

    #[test]
    fn a_table_without_its_head_is_of_no_command() {
        let text = "12 oaks stand here, 3 are old\n14 elms stand there, 4 are old\n";
        assert_eq!(told("./count; ps", text), expected(&[]));
    }
}
