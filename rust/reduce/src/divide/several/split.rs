//! Finds where the output of one command ends and that of the next begins, by the form of their lines: `git log
//! --oneline; wc -l src/*; cat notes.txt`.

use super::printed::Lines;
use ethos_registry_core::command::Asked;

/// Output, and the command that printed it.
type Text<'a> = (&'a str, Option<Asked>);

/// The outputs at both ends of an input that the form of their lines assigns to commands.
pub(super) struct Ends<'a> {
    pub(super) first: Vec<Text<'a>>,
    pub(super) rest: &'a str,
    /// The commands that printed the rest.
    pub(super) left: Vec<Asked>,
    pub(super) last: Vec<Text<'a>>,
}

impl<'a> Ends<'a> {
    /// The ends of `text`, the output of `commands` in this order.
    pub(super) fn of(text: &'a str, commands: &[Asked]) -> Self {
        let lines: Vec<_> = commands.iter().map(|one| Lines::of(&one.words)).collect();
        let mut rest = text;
        let mut first = Vec::new();
        let mut from = 0;
        for (index, lines) in lines.iter().enumerate() {
            let Some(lines) = lines else {
                break;
            };
            let (own, behind) = rest
                .split_at_checked(lines.first_of(rest))
                .unwrap_or((rest, ""));
            // If a command printed no such line, its error message may be in the text that follows.
            if !own.trim_ascii().is_empty() {
                first.push((own, commands.get(index).cloned()));
                (rest, from) = (behind, index + 1);
            }
        }
        let mut last = Vec::new();
        let mut to = commands.len();
        for (index, lines) in lines.iter().enumerate().skip(from).rev() {
            let Some(lines) = lines else {
                break;
            };
            let (above, own) = rest
                .split_at_checked(lines.last_of(rest))
                .unwrap_or((rest, ""));
            if !own.trim_ascii().is_empty() {
                last.push((own, commands.get(index).cloned()));
                (rest, to) = (above, index);
            }
        }
        last.reverse();
        let left = commands.get(from..to).unwrap_or_default().to_vec();
        Self {
            first,
            rest,
            left,
            last,
        }
    }
}

/// The outputs of `commands`, which printed `text` in this order, each with its command. `None` if the form of their
/// lines does not distinguish them. The outputs of consecutive commands whose lines can have any form are joined,
/// without a command.
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
    let printed = texts.iter().zip(&known);
    let mut printed = printed.filter(|(text, _)| !text.trim_ascii().is_empty());
    // Lines of a form that only one command prints belong to it, too.
    let is_told = printed
        .next()
        .is_some_and(|(_, lines)| lines.is_some() || printed.next().is_some());
    let is_divided = is_told && rest.trim_ascii().is_empty();
    is_divided.then(|| texts.into_iter().zip(told).collect())
}

#[cfg(test)]
mod tests {
    use super::super::aligned::joined;
    use super::*;
    use ethos_registry_core::command::CommandLine;

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
                "1 x\n2 y\nelms:\n1 x\n2 y\n3 total\nan elm\n",
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
