//! Command lines that run another one through `ethos-registry run --shell`.

use std::borrow::Cow;

use ethos_registry_core::command::{CommandLine, program};

/// The name of the program without its path.
const NAME: &str = "ethos-registry";
/// Commands that change the shell in which they run, which a child cannot do.
const CHANGE_THE_SHELL: [&str; 17] = [
    "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "unalias", "shopt",
    "umask", "ulimit", "exec", "trap", "declare", "eval",
];

/// `line` run by `program`, which shows its output reduced and exits as it does; `None` where that may differ.
pub(crate) fn rewritten(program: &str, line: &str) -> Option<String> {
    let changes = |word: &str| CHANGE_THE_SHELL.contains(&word);
    let words = || line.split(|sign: char| sign.is_whitespace() || ";&|(){}".contains(sign));
    let assigns = line
        .split_whitespace()
        .next()
        .is_some_and(|word| word.contains('='));
    if cfg!(windows)
        || line.trim().is_empty()
        || line.trim_end().ends_with('&')
        || line.contains('\0')
        || assigns
        || words().any(changes)
        || is_ours(line)
        || CommandLine::read(line).is_none()
    {
        return None;
    }
    Some(format!(
        "{} run --shell '{}'",
        quoted(program),
        line.replace('\'', "'\\''")
    ))
}

/// Whether `line` runs this program, whose output is reduced already or asked for.
pub(crate) fn is_ours(line: &str) -> bool {
    line.contains(NAME)
        && CommandLine::read(line).is_none_or(|line| {
            line.printers().any(|words| {
                program(&words).is_some_and(|name| {
                    let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
                    name.strip_suffix(".exe").unwrap_or(name) == NAME
                })
            })
        })
}

/// A path as one word of a shell.
pub(crate) fn quoted(path: &str) -> Cow<'_, str> {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "/._-+:\\".contains(sign);
    if path.chars().all(is_plain) {
        Cow::Borrowed(path)
    } else if cfg!(windows) {
        Cow::Owned(format!("\"{path}\""))
    } else {
        Cow::Owned(format!("'{}'", path.replace('\'', "'\\''")))
    }
}
