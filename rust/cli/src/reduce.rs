//! `ethos-registry reduce` for one output; what else its options can name is left to Python.

use std::env;
use std::ffi::OsString;
use std::io::{IsTerminal as _, Read as _, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use ethos_registry_hooks::TARGET_CHARS;
use ethos_registry_reduce::{Kind, Level, Policy, Request, reduce};

use crate::{fail, print, python};

/// More is cut by the Python side before it is reduced.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// The options of one output.
#[derive(Debug)]
pub(crate) struct Options<'a> {
    kind: Kind,
    command: Option<&'a str>,
    exit_code: Option<i64>,
    budget_chars: Option<usize>,
    target_chars: Option<usize>,
    level: Option<Level>,
}

impl<'a> Options<'a> {
    /// Reads the words of a command line; `None` for any that the Python side must read.
    pub(crate) fn read(words: &[&'a str]) -> Option<Self> {
        let mut options = Self {
            kind: Kind::Terminal,
            command: None,
            exit_code: None,
            budget_chars: None,
            target_chars: None,
            level: None,
        };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            if word == "-" && words.len() == 0 {
                break;
            }
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name, value),
                None => (word, words.next()?),
            };
            match name {
                "--tool" => options.kind = Kind::from_name(value)?,
                "--command" => options.command = Some(value),
                "--exit-code" => options.exit_code = Some(number(value)?),
                "--budget" => options.budget_chars = Some(positive(value)?),
                "--target-chars" => options.target_chars = Some(positive(value)?),
                "--level" => options.level = Some(Level::from_name(value)?),
                _ => return None,
            }
        }
        (!has_own_formats()).then_some(options)
    }

    fn request(&self) -> Request<'a> {
        let is_default = self.target_chars.is_none() && self.level.is_none();
        let has_policy = !is_default || matches!(self.kind, Kind::Terminal | Kind::Generic);
        let policy = Policy {
            target_chars: self.target_chars.unwrap_or(TARGET_CHARS),
            level: self.level.unwrap_or_default(),
        };
        Request {
            ok: self.kind != Kind::Terminal || self.exit_code == Some(0),
            budget_chars: self.budget_chars.unwrap_or(usize::MAX),
            policy: has_policy.then_some(policy),
            ..Request::of_output(self.command, self.exit_code)
        }
    }
}

pub(crate) fn run(options: &Options<'_>, arguments: &[OsString]) -> ExitCode {
    let mut bytes = Vec::new();
    if let Err(error) = stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        return fail(&format!("<stdin>: cannot be read: {error}"));
    }
    if bytes.len() as u64 > MAX_BYTES {
        return python::run(arguments, Some(&bytes));
    }
    let text = String::from_utf8_lossy(&bytes);
    let reduced = reduce(options.kind, &options.request(), &text);
    let mut text = reduced.unwrap_or_else(|| text.into_owned());
    // Otherwise the shell's prompt would follow on the last line.
    if !text.is_empty() && !text.ends_with('\n') && stdout().is_terminal() {
        text.push('\n');
    }
    print(&text)
}

/// A number as every language writes it; the Python side reads others, and reports what is invalid.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn positive(text: &str) -> Option<usize> {
    usize::try_from(number(text)?)
        .ok()
        .filter(|number| *number > 0)
}

/// Whether there may be formats of the user or of a project, which the Python side loads.
pub(crate) fn has_own_formats() -> bool {
    let configured = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let configured = configured.filter(|path| path.is_absolute());
    let config = configured.or_else(|| Some(env::home_dir()?.join(".config")));
    let user = config.map(|config| config.join("ethos-registry/formats"));
    let here = env::current_dir().unwrap_or_default();
    let projects = here.ancestors().map(|folder| folder.join(".ethos/formats"));
    user.into_iter()
        .chain(projects)
        .any(|folder| folder.exists())
}
