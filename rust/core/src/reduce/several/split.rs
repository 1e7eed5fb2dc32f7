//! Where the output of one command ends and that of the next begins, by what their words ask for:
//! `git log --oneline; wc -l src/*; cat notes.txt`.

use std::ops::Range;

use super::super::line::is_number;
use crate::command::{Asked, git_subcommand, program, searches};
use crate::find_text::FindText as _;

/// What the lines of a command look like that was asked for something.
struct Lines<'a> {
    is_own: fn(&str, &[String]) -> bool,
    words: &'a [String],
    /// It prints no more of them.
    most: usize,
}

/// What was printed, and the command that did.
type Text<'a> = (&'a str, Option<Asked>);

/// The texts of `commands`, which printed `text` one after the other, each with its command; `None` where
/// their lines do not tell them apart. What commands whose lines may look like anything printed in a row is one text
/// of no command.
pub(super) fn split<'a>(text: &'a str, commands: &[Asked]) -> Option<Vec<Text<'a>>> {
    let mut known: Vec<Option<Lines<'_>>> = Vec::with_capacity(commands.len());
    let mut told = Vec::with_capacity(commands.len());
    for command in commands {
        let lines = Lines::of(&command.words);
        if let (Some(None), None, Some(told)) = (known.last(), &lines, told.last_mut()) {
            *told = None;
        } else {
            known.push(lines);
            told.push(Some(command.clone()));
        }
    }
    let mut rest = text;
    let mut texts = Vec::with_capacity(commands.len());
    while let Some(next) = known.get(texts.len()) {
        let behind = known.get(texts.len() + 1..).unwrap_or_default();
        if let Some(lines) = next {
            let own = lines.first_of(rest);
            texts.push(rest.get(..own)?);
            rest = rest.get(own..)?;
        } else if behind.iter().all(Option::is_some) {
            let mut last = Vec::with_capacity(behind.len());
            for lines in behind.iter().flatten().rev() {
                let other = lines.last_of(rest);
                last.push(rest.get(other..)?);
                rest = rest.get(..other)?;
            }
            texts.push(std::mem::take(&mut rest));
            texts.extend(last.into_iter().rev());
        } else {
            let own = behind.first()?.as_ref()?.only_run(rest)?;
            texts.push(rest.get(..own.start)?);
            texts.push(rest.get(own.clone())?);
            rest = rest.get(own.end..)?;
        }
    }
    let printed = texts.iter().filter(|text| !text.trim_ascii().is_empty());
    let is_divided = printed.count() > 1 && rest.trim_ascii().is_empty();
    is_divided.then(|| texts.into_iter().zip(told).collect())
}

impl<'a> Lines<'a> {
    fn of(words: &'a [String]) -> Option<Self> {
        let program = program(words)?;
        let has = |option: &str| words.iter().any(|word| word == option);
        let letters = |letter: char| {
            let options = words
                .iter()
                .skip(1)
                .filter_map(|word| word.strip_prefix('-'));
            options
                .filter(|letters| !letters.starts_with('-'))
                .any(|letters| letters.contains(letter))
        };
        let any = |is_own| {
            Some(Self {
                is_own,
                words,
                most: usize::MAX,
            })
        };
        let one = |is_own| {
            Some(Self {
                is_own,
                words,
                most: 1,
            })
        };
        match program {
            "pwd" | "which" | "realpath" => one(|line, _| line.starts_with('/')),
            "whoami" | "hostname" | "nproc" | "date" | "uname" => one(|_, _| true),
            _ if matches!(words.get(1).map(String::as_str), Some("--version" | "-V")) => {
                one(|line, _| line.bytes().any(|byte| byte.is_ascii_digit()))
            }
            "ls" if letters('l') => any(|line, _| is_listed(line)),
            "find" => any(is_found),
            "wc" => any(|line, _| is_counted(line)),
            "du" => any(|line, _| is_sized(line)),
            "env" | "printenv" => any(|line, _| is_set(line)),
            "pip" | "pip3" if has("freeze") => any(|line, _| line.has_text("==")),
            _ if searches(program) && letters('c') => any(|line, _| is_tallied(line)),
            _ if searches(program) && (letters('n') || has("--line-number")) => any(is_match),
            _ => match git_subcommand(words)? {
                "log" if has("--oneline") && !has("--stat") && !letters('p') => {
                    any(|line, _| is_commit(line))
                }
                "diff" if has("--stat") => any(|line, _| is_changed(line)),
                "diff" if has("--name-status") => any(|line, _| is_renamed(line)),
                "show-ref" | "ls-remote" | "blame" => any(|line, _| is_commit(line)),
                "reflog" => any(|line, _| is_commit(line) && line.has_text("@{")),
                "status" if letters('s') || has("--short") || has("--porcelain") => {
                    any(|line, _| is_state(line))
                }
                "stash" if has("list") => any(|line, _| line.starts_with("stash@{")),
                "branch" => any(|line, _| {
                    line.starts_with("* ") || line.starts_with("  ") || line.starts_with("+ ")
                }),
                "rev-parse" | "describe" => one(|line, _| !line.contains(' ')),
                _ => None,
            },
        }
    }

    /// Up to where the lines at the beginning of `text` are its own.
    fn first_of(&self, text: &str) -> usize {
        let lines = text.split_inclusive('\n').take(self.most);
        let own = lines.take_while(|line| self.is_line(line));
        own.map(str::len).sum()
    }

    /// From where on the lines at the end of `text` are.
    fn last_of(&self, text: &str) -> usize {
        let lines = text.split_inclusive('\n').rev().take(self.most);
        let own = lines.take_while(|line| self.is_line(line));
        text.len() - own.map(str::len).sum::<usize>()
    }

    /// Where more than one of its lines stand in a row, if that is at one place alone.
    fn only_run(&self, text: &str) -> Option<Range<usize>> {
        let mut found: Option<Range<usize>> = None;
        let (mut start, mut at, mut lines) = (0, 0, 0);
        for line in text.split_inclusive('\n').chain([""]) {
            if !line.is_empty() && self.is_line(line) {
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

    fn is_line(&self, line: &str) -> bool {
        (self.is_own)(line.trim_end_matches(['\n', '\r']), self.words)
    }
}

/// A row of `ls -l`, or the name of a folder above its rows.
fn is_listed(line: &str) -> bool {
    let mode = line.as_bytes().get(..10).unwrap_or_default();
    let is_row = mode.split_first().is_some_and(|(kind, rights)| {
        b"-dlbcps".contains(kind) && rights.iter().all(|right| b"-rwxsStT".contains(right))
    });
    is_row
        || line.is_empty()
        || line
            .strip_prefix("total ")
            .is_some_and(|size| size.starts_with(|sign: char| sign.is_ascii_digit()))
        || line.starts_with("ls: ")
        || line.ends_with(':') && !line.contains(' ')
}

/// A path below one of the folders that `find` looks through.
fn is_found(line: &str, words: &[String]) -> bool {
    let mut roots = words
        .iter()
        .skip(1)
        .take_while(|word| !word.starts_with('-'))
        .peekable();
    line.starts_with("find: ")
        || if roots.peek().is_some() {
            roots.any(|root| line.starts_with(root.as_str()))
        } else {
            line.starts_with("./") || line == "."
        }
}

/// Counts before a name, as `wc` gives them.
fn is_counted(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next().is_some_and(is_number) || line.starts_with("wc: ")
}

/// A size before a path, as `du` gives them.
fn is_sized(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(size, _)| {
        let digits = size.trim_end_matches(['K', 'M', 'G', 'T', 'P']);
        !digits.is_empty()
            && digits
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// `PATH=/usr/bin`.
fn is_set(line: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(is_name))
}

/// How many matches a file holds: `src/oak.rs:12`.
fn is_tallied(line: &str) -> bool {
    is_number(line.rsplit_text(":").map_or(line, |(_, count)| count))
}

/// A match with its number, with or without the name of a file, or what stands between groups of them.
fn is_match(line: &str, _: &[String]) -> bool {
    let is_numbered = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits > 0 && matches!(rest.as_bytes().get(digits), Some(b':' | b'-'))
    };
    line == "--"
        || is_numbered(line)
        || memchr::memchr2_iter(b':', b'-', line.as_bytes())
            .any(|at| line.get(at + 1..).is_some_and(is_numbered))
}

/// `4ce410c Rings are counted`, with or without the lines of a graph.
fn is_commit(line: &str) -> bool {
    let row = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '-', '.', '^']);
    let (id, _) = row.split_once([' ', '\t']).unwrap_or((row, ""));
    row.is_empty() && !line.is_empty()
        || (7..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// ` src/oak.rs | 12 ++--`, and their sum.
fn is_changed(line: &str) -> bool {
    line.starts_with(' ') && (line.has_text(" | ") || line.has_text(" changed"))
}

/// `R100\tsrc/oak.rs\tsrc/elm.rs`.
fn is_renamed(line: &str) -> bool {
    line.split_once('\t').is_some_and(|(state, _)| {
        state.starts_with(['M', 'A', 'D', 'R', 'C', 'T', 'U', 'X', 'B'])
            && state.bytes().skip(1).all(|byte| byte.is_ascii_digit())
    })
}

/// ` M src/oak.rs`, `## main...origin/main`.
fn is_state(line: &str) -> bool {
    let (state, rest) = line.as_bytes().split_at_checked(2).unwrap_or_default();
    line.starts_with("## ")
        || rest.first() == Some(&b' ') && state.iter().all(|sign| b" MTADRCU?!".contains(sign))
}

#[cfg(test)]
mod tests {
    use super::super::aligned::joined;
    use super::*;
    use crate::command::CommandLine;

    fn parts(line: &str, text: &str) -> Option<Vec<String>> {
        let commands = joined(CommandLine::read(line)?.asked()?);
        let parts = split(text, &commands)?;
        Some(parts.into_iter().map(|(text, _)| text.to_owned()).collect())
    }

    #[test]
    fn lines_tell_the_commands_that_were_asked_for_them() {
        for (line, texts) in [
            (
                "git status -s; git diff --stat; git log --oneline -2",
                &[
                    " M oak.rs\n?? elm.rs\n",
                    " oak.rs | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
                    "4ce410c Rings are counted\n862e7e7 Leaves fall\n",
                ][..],
            ),
            (
                "pwd; ls -la; cat oak.txt",
                &[
                    "/srv/oak\n",
                    "total 4\n-rw-r--r-- 1 me me 3 Jan  2 10:01 oak.txt\n",
                    "an oak\n-rw is a mode\n",
                ],
            ),
            ("cat oak.txt; wc -l oak.txt", &["an oak\n", "1 oak.txt\n"]),
            (
                "grep -rn leaf src; find tests -name '*.rs'",
                &["src/a.rs:3:leaf\nsrc/b.rs:7:leaf\n", "tests/c.rs\n"],
            ),
            (
                "./oak; git diff --stat; ./elm; git log --oneline",
                &[
                    "an oak\n",
                    " oak.rs | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
                    "an elm\n",
                    "4ce410c Rings are counted\n",
                ],
            ),
            (
                "git status -s; ./oak; ./elm; wc -l oak",
                &[" M oak.rs\n", "an oak\nan elm\n", "1 oak\n"],
            ),
            (
                "find . -name x; ./oak; du -sh .",
                &["./x\n", "an oak\n", "4.0K\t.\n"],
            ),
        ] {
            let found = parts(line, &texts.concat());
            assert_eq!(
                found.as_deref(),
                Some(
                    &texts
                        .iter()
                        .map(|text| (*text).to_owned())
                        .collect::<Vec<_>>()[..]
                ),
                "{line}"
            );
        }
    }

    #[test]
    fn what_may_be_of_either_is_not_divided() {
        for (line, text) in [
            ("cat oak.txt; ./elm", "an oak\nan elm\n"),
            ("./oak; ls -la; ./elm", "an oak\ntotal 4\nan elm\n"),
            ("./oak; ./elm; ./fir", "an oak\nan elm\na fir\n"),
            (
                "./oak; wc -l x y; ./elm",
                "1 oak\n2 oaks\nelms:\n1 x\n2 y\n3 total\nan elm\n",
            ),
            ("git log --oneline; wc -l oak", "no repository\n1 oak\n"),
            (
                "for f in a b; do wc -l $f; done; ls -l",
                "1 a\n1 b\ntotal 0\n",
            ),
        ] {
            assert_eq!(parts(line, text), None, "{line}");
        }
    }
}
