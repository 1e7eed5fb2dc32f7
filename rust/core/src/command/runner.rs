//! Programs that only find the program to run.

use super::options::after_options;
use super::program;
use super::remote::run_remotely;
use super::wrapper::unwrapped;

/// Runs what its first word after its options names.
const PLAIN: [&str; 5] = ["npx", "bunx", "pnpx", "pipx", "uvx"];
/// Runs what is after this word of its own: `uv run`, `bundle exec`.
const WITH_WORD: [(&str, &[&str]); 11] = [
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("rye", &["run"]),
    ("hatch", &["run"]),
    ("conda", &["run"]),
    ("bundle", &["exec"]),
    ("pnpm", &["exec", "dlx"]),
    ("yarn", &["exec", "dlx"]),
    ("npm", &["exec", "x"]),
];
/// Options of these programs that take the next word.
const OPTIONS_WITH_VALUE: [&str; 14] = [
    "-p",
    "--package",
    "--with",
    "--python",
    "--group",
    "--extra",
    "-n",
    "--name",
    "-W",
    "-X",
    "--source",
    "--rcfile",
    "--include",
    "--omit",
];

/// The command that `words` run in the end.
pub(super) fn run_by(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        let inner = step(words).or_else(|| run_remotely(words)).map(unwrapped);
        match inner {
            Some(inner) if !inner.is_empty() && inner.len() < words.len() => words = inner,
            _ => return words,
        }
    }
}

fn step(words: &[String]) -> Option<&[String]> {
    let name = program(words)?;
    let rest = words.get(1..)?;
    if name.starts_with("python") || name == "pypy3" || name == "py" {
        return module(rest);
    }
    if name == "coverage" {
        return module(after_own_options(rest).strip_prefix(&["run".to_owned()])?);
    }
    if PLAIN.contains(&name) {
        let rest = after_own_options(rest);
        return Some(rest.strip_prefix(&["run".to_owned()]).unwrap_or(rest));
    }
    let (_, own_words) = WITH_WORD.iter().find(|(runner, _)| *runner == name)?;
    let rest = after_own_options(rest);
    let own = own_words.contains(&rest.first()?.as_str());
    own.then(|| after_own_options(rest.get(1..).unwrap_or_default()))
}

/// The module that is run with `-m`, where only options stand before that, and its words.
fn module(words: &[String]) -> Option<&[String]> {
    let at = words.iter().position(|word| word == "-m")?;
    let before = after_own_options(words.get(..at)?);
    before.is_empty().then(|| words.get(at + 1..))?
}

fn after_own_options(words: &[String]) -> &[String] {
    after_options(words, |option| OPTIONS_WITH_VALUE.contains(&option))
}

#[cfg(test)]
mod tests {
    use super::super::producer;

    #[test]
    fn the_program_that_is_found_is_the_command() {
        for (line, words) in [
            ("npx --yes vitest run", "vitest|run"),
            ("uv run --with x pytest -q", "pytest|-q"),
            ("poetry run python3.12 -m pytest", "pytest"),
            ("python -W error -m unittest -v", "unittest|-v"),
            (
                "coverage run --branch --source src -m pytest -q",
                "pytest|-q",
            ),
            ("coverage report -m", "coverage|report|-m"),
            ("/usr/bin/time -v cross-env CI=1 npx jest", "jest"),
            ("time -p make all", "make|all"),
            ("unbuffer pytest -q | tail -40", "pytest|-q"),
            ("script -qec 'npm test' /dev/null", "npm|test"),
            ("python bars.py -m x", "python|bars.py|-m|x"),
            ("bundle exec rspec", "rspec"),
            ("npm exec -- jest --ci", "jest|--ci"),
            ("npm test", "npm|test"),
            ("uv pip install x", "uv|pip|install|x"),
            ("cargo test 2>&1 | tee log | tail -5", "cargo|test"),
            ("git log | grep x", "grep|x"),
            ("rg -l x src | sort -u | head", "rg|-l|x|src"),
            ("du -a | sort -rn", "sort|-rn"),
            ("sort names", "sort|names"),
            (
                "bash -lc 'cd app && CI=1 npx jest --ci 2>&1 | tail -40'",
                "jest|--ci",
            ),
            (
                "su postgres -c \"psql shop -c 'select 1'\"",
                "psql|shop|-c|select 1",
            ),
            ("sudo sh -ec 'bash -c \"ls -l\"'", "ls|-l"),
            ("bash -o pipefail -c 'ls | cat'", "ls"),
            ("bash build.sh -c all", "bash|build.sh|-c|all"),
            ("npx", "npx"),
        ] {
            let found = producer(line).map(|words| words.join("|"));
            assert_eq!(found.as_deref(), Some(words), "{line}");
        }
    }
}
