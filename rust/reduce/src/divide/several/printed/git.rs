//! The form of lines that git prints: commits, files and their states, branches.

use super::row::{
    graphed, is_blamed, is_branch, is_changed, is_commit, is_of_commit, is_path, is_reference,
    is_renamed, is_state, is_sum_of_changes, names_commit,
};
use super::{Lines, has_letter};
use ethos_registry_core::find_text::FindText as _;

impl<'a> Lines<'a> {
    /// The lines of this subcommand of git; `None` when they can have any form.
    pub(super) fn of_git(subcommand: &str, words: &'a [String]) -> Option<Self> {
        let has = |option: &str| words.iter().any(|word| word == option);
        let letters = |letter: char| has_letter(words, letter);
        let is_patch = letters('p') || letters('u') || has("--patch");
        let begins = |beginning: &str| words.iter().any(|word| word.starts_with(beginning));
        let is_formatted = begins("--pretty") || begins("--format");
        let is_counted = begins("--stat") || has("--shortstat") || has("--numstat");
        let has_files = is_counted || has("--name-status");
        let is_graph = has("--graph");
        let is_one = move |line: &str| {
            let row = if is_graph { graphed(line) } else { line };
            is_commit(row) && !is_reference(row) && !is_blamed(row)
                || row.is_empty() && !line.is_empty()
        };
        let is_file = |line: &str| is_changed(line) || is_renamed(line) || line.is_empty();
        let is_marked = ["--left-right", "--boundary", "--raw", "--dirstat"];
        let is_other = is_patch || letters('L') || is_marked.iter().any(|option| has(option));
        match subcommand {
            "log" | "show" if is_other || has("--name-only") || is_graph && is_counted => None,
            "log" if has("--oneline") || words.iter().any(|word| begins_with_id(word)) => {
                let is_own = move |line: &str| is_one(line) || has_files && is_file(line);
                let most = commits(words).filter(|_| !has_files && !is_graph);
                Some(Self::any(is_own).most(most.unwrap_or(usize::MAX)))
            }
            "log" if is_formatted || is_graph => None,
            "show" if is_formatted || !is_counted => None,
            "log" | "show" => {
                let is_own = move |line: &str| {
                    line.is_empty() || is_of_commit(line) || has_files && is_file(line)
                };
                let most = match subcommand {
                    "show" => shown_commits(words),
                    _ => commits(words),
                };
                let lines = Self::any(is_own).from(names_commit);
                Some(lines.most_of(most.unwrap_or(usize::MAX), names_commit))
            }
            "diff" if is_counted => Some(Self::any(is_changed).up_to(is_sum_of_changes)),
            "diff" if has("--name-status") => Some(Self::any(is_renamed)),
            "diff" if has("--name-only") => Some(Self::any(is_path)),
            "ls-files" => Some(Self::any(is_path)),
            "show-ref" | "ls-remote" | "for-each-ref" if !is_formatted => {
                Some(Self::any(|line| is_commit(line) && is_reference(line)))
            }
            "blame" => Some(Self::any(is_blamed)),
            "reflog" => Some(Self::any(|line| is_commit(line) && line.has_text("@{"))),
            "status" if letters('s') || has("--short") || has("--porcelain") => {
                Some(Self::any(is_state))
            }
            "stash" if has("list") => Some(Self::any(|line| line.starts_with("stash@{"))),
            "branch" => Some(Self::any(is_branch)),
            "rev-parse" => Some(Self::one(|line| {
                line.starts_with('/') || is_commit(line) && !line.contains(' ')
            })),
            "describe" => Some(Self::one(|line| {
                !line.contains([' ', ':']) && line.bytes().any(|byte| byte.is_ascii_digit())
            })),
            _ => None,
        }
    }
}

/// How many commits `git log` prints at most: `-5`, `-n 5`.
fn commits(words: &[String]) -> Option<usize> {
    let count = |(index, word): (usize, &String)| {
        let behind = || words.get(index + 1).map(String::as_str);
        let own = word.strip_prefix("--max-count=");
        let own = own.or_else(|| match word.strip_prefix("-n") {
            Some("") => behind(),
            Some(count) => Some(count),
            None => word.strip_prefix('-'),
        });
        own?.parse().ok()
    };
    words.iter().enumerate().find_map(count)
}

/// How many commits `git show` prints, if each is named separately.
fn shown_commits(words: &[String]) -> Option<usize> {
    let names = words.iter().skip_while(|word| *word != "show").skip(1);
    let names = names.take_while(|word| *word != "--");
    let names: Vec<_> = names.filter(|word| !word.starts_with('-')).collect();
    let is_one = |name: &&String| !name.contains("..") && !name.ends_with("^!");
    names.iter().all(is_one).then_some(names.len().max(1))
}

/// Whether the option `word` makes each line of `git log` begin with the commit id.
fn begins_with_id(word: &str) -> bool {
    let form = word
        .strip_prefix("--pretty=")
        .or_else(|| word.strip_prefix("--format="));
    form.is_some_and(|form| {
        let form = form.trim_start_matches("format:").trim_start_matches('t');
        let form = form.trim_start_matches("format:");
        let is_one_line = !["%n", "%b", "%B", "%+", "%w"]
            .iter()
            .any(|sign| form.contains(sign));
        is_one_line && (form.starts_with("%h") || form.starts_with("%H")) || form == "oneline"
    })
}
