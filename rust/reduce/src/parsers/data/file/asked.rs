//! Which file the command line asks for, and how much of it.

use super::kind::Kind;
use crate::input::{Input, PART_SHOWERS};

/// The kind of the first known file that is shown; `None` where one that is not known is shown whole.
pub(super) fn kind(input: &Input<'_>) -> Option<Kind> {
    let of_commit = shows_file_of_commit(input);
    let shows_whole = of_commit || matches!(input.program(), "cat" | "bat" | "batcat" | "nl");
    if !shows_whole && !is_part(input) {
        return None;
    }
    let words = input.words.iter().skip(1);
    let kinds = words
        .filter(|word| !word.starts_with('-') && (!of_commit || is_file_of_commit(word)))
        .map(|word| match word.split_once(':') {
            Some((_, path)) if of_commit => Kind::of(path),
            _ => Kind::of(word),
        });
    let is_data = |kind: Option<Kind>| kind.is_none_or(|kind| kind == Kind::Rows);
    if shows_whole && kinds.clone().any(is_data) {
        return None;
    }
    kinds.flatten().next()
}

/// Whether files are shown as they were in a commit, and nothing else: `git show main:src/oak.py`.
fn shows_file_of_commit(input: &Input<'_>) -> bool {
    if !input.git_is(&["show"]) {
        return false;
    }
    let words = input.words.iter().skip_while(|word| *word != "show");
    let mut objects = words
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .peekable();
    objects.peek().is_some() && objects.all(|word| is_file_of_commit(word))
}

fn is_file_of_commit(word: &str) -> bool {
    word.split_once(':')
        .is_some_and(|(_, path)| !path.starts_with('/'))
}

/// Whether only a part of the file was asked for.
pub(super) fn is_part(input: &Input<'_>) -> bool {
    PART_SHOWERS.contains(&input.program())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Exit;

    fn asked(command: &str) -> Option<Kind> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        kind(&Input {
            text: "",
            words: &words,
            exit: Exit::Success,
        })
    }

    #[test]
    fn a_file_of_a_commit_is_shown_as_one_of_a_folder_is() {
        assert!(asked("cat src/oak.py").is_some());
        assert_eq!(asked("git show main:Cargo.lock"), Some(Kind::Lock));
        for command in [
            "git show main:src/oak.py",
            "git -C forest show origin/main:oak.py",
            "git show --no-color :oak.py",
        ] {
            assert_eq!(asked(command), asked("cat src/oak.py"), "{command}");
        }
        for command in [
            "git show main",
            "git show :/leaf.py",
            "git show main:src main",
            "git show main:src",
            "git log main:oak.py",
        ] {
            assert_eq!(asked(command), None, "{command}");
        }
    }
}
