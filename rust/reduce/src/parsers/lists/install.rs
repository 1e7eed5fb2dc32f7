//! Output of package managers: what they installed, or why they could not.

mod grammar;
mod listed;
mod lock;
mod rows;
mod tarball;

use crate::family::{Family, Marks, Match};
use crate::generic::kind::{Kind, is_library_frame, kind};
use crate::input::Input;
use crate::line::indent;
use crate::nested;
use crate::output::Output;
use crate::parsers::data::json::document::Document;
use ethos_registry_core::find_text::FindText as _;
use grammar::Line;
use listed::Names;
use lock::Lock;
use rows::{Rows, What};

pub(crate) const FAMILY: Family = Family {
    name: "install",
    runs,
    marks: Marks::Any,
    recognises,
    reduce,
};

/// Subcommands of package managers that ask or run something and change nothing.
const OTHER_SUBCOMMANDS: [&str; 22] = [
    "audit",
    "config",
    "exec",
    "freeze",
    "help",
    "info",
    "list",
    "ls",
    "outdated",
    "run",
    "run-script",
    "search",
    "show",
    "start",
    "t",
    "test",
    "tree",
    "version",
    "view",
    "why",
    "x",
    "check",
];

fn runs(input: &Input<'_>) -> bool {
    let subcommand = input.subcommand();
    let mut asked = input.words.iter().skip(1).take(2);
    if asked.any(|word| OTHER_SUBCOMMANDS.contains(&word.as_str())) {
        return false;
    }
    match input.program() {
        "dpkg" => !input.has("-l") && !input.has("-L") && !input.has("--list"),
        "cargo" => matches!(
            subcommand,
            "install" | "add" | "remove" | "fetch" | "update"
        ),
        program => {
            matches!(
                program,
                "pip"
                    | "pip3"
                    | "uv"
                    | "poetry"
                    | "pdm"
                    | "pipenv"
                    | "pipx"
                    | "conda"
                    | "mamba"
                    | "npm"
                    | "pnpm"
                    | "yarn"
                    | "bun"
                    | "apt"
                    | "apt-get"
                    | "brew"
                    | "bundle"
                    | "gem"
                    | "composer"
                    | "apk"
                    | "dnf"
                    | "yum"
            )
        }
    }
}

/// Likely with one line of the grammar, certain when most lines are of it.
fn recognises(input: &Input<'_>) -> Match {
    let mut known = 0_usize;
    let mut all = 0_usize;
    for line in input.beginning().filter(|line| !line.trim().is_empty()) {
        all += 1;
        known += usize::from(of_grammar(line));
    }
    match known {
        0 => Match::No,
        // What was fetched for it is above what was asked for.
        _ if !runs(input) && Document::find(input.text).is_some() => Match::No,
        _ if known >= 4 && known * 5 >= all * 4 => Match::Certain,
        _ => Match::Likely,
    }
}

fn of_grammar(line: &str) -> bool {
    grammar::known(line).is_some() || grammar::counted(line).is_some()
}

/// Whether `line` is from any package manager.
fn is_told(line: &str) -> bool {
    of_grammar(line)
        || grammar::installed(line).is_some()
        || grammar::planned(line).is_some()
        || grammar::is_asked(line)
        || grammar::is_built_archive(line)
        || grammar::is_told_of_package(line)
        || grammar::is_conflict(line)
        || grammar::is_error(line)
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let [before, own, behind] = nested::around(input, is_told);
    let Some(own) = own else { return };
    let mut installed = output.of_part();
    reduce_own(&own, &mut installed);
    if installed.is_empty() {
        return;
    }
    if installed.saw_failure() {
        output.failed();
    }
    nested::other(before, &FAMILY, output);
    output.append(installed);
    nested::other(behind, &FAMILY, output);
}

fn reduce_own(input: &Input<'_>, output: &mut Output) {
    let mut reader = Reader::new(input);
    for (number, line) in input.lines().enumerate() {
        if !reader.skips(number, line) {
            reader.line(number, line);
        }
        if reader.rows.is_too_long() {
            *output = output.emptied();
            return;
        }
    }
    if reader.failed {
        output.failed();
    }
    for names in [
        reader.satisfied,
        reader.installed,
        reader.deprecated,
        reader.simulated,
        reader.packed,
    ]
    .iter()
    .chain(&reader.planned)
    {
        names.write(output);
    }
    reader.rows.write(!reader.done, output);
    reader.lock.write(output);
    // What an earlier command installed may be what was removed.
    reader.removed.write(output);
}

/// What was read so far.
struct Reader<'a> {
    input: &'a Input<'a>,
    rows: Rows<'a>,
    satisfied: Names,
    /// What was installed, with its version.
    installed: Names,
    deprecated: Names,
    removed: Names,
    /// What a simulated run would install.
    simulated: Names,
    /// What it would add, change and remove.
    planned: [Names; 3],
    lock: Lock,
    /// The files of an archive that was packed.
    packed: Names,
    /// The list of packages that is read at present.
    list: Option<Line>,
    /// The indent of the quoted command that is read at present.
    quoted: Option<usize>,
    /// The indent of the frame of a library in the line above.
    frame: Option<usize>,
    /// Whether npm explains the options of the command that was wrong.
    usage: bool,
    failed: bool,
    done: bool,
}

impl<'a> Reader<'a> {
    fn new(input: &'a Input<'a>) -> Self {
        Self {
            input,
            rows: Rows::default(),
            satisfied: Names::new("Requirement already satisfied:"),
            installed: Names::new("+"),
            deprecated: Names::new("deprecated"),
            removed: Names::new("Removing"),
            simulated: Names::new("Inst"),
            planned: ["add", "change", "remove"].map(Names::new),
            lock: Lock::default(),
            packed: Names::new("Tarball Contents:"),
            list: None,
            quoted: None,
            frame: None,
            usage: false,
            failed: false,
            done: false,
        }
    }

    /// Whether `line` belongs to a block that is left out: the options of a command, a quoted command, a list
    /// that is repeated by what was done, a frame of a library.
    fn skips(&mut self, number: usize, line: &'a str) -> bool {
        if self.usage {
            self.usage = grammar::is_npm_error(line) && !line.contains(" A complete log of ");
            return true;
        }
        if line.ends_with(" Usage:") && grammar::is_npm_error(line) {
            self.usage = true;
            return true;
        }
        if let Some(from) = self.quoted {
            if indent(line) == from && line.trim_start().starts_with("cwd: ") {
                self.quoted = None;
            }
            return true;
        }
        if let Some(head) = self.list {
            if line.starts_with("  ") {
                self.list_row(head, number, line);
                return true;
            }
            self.list = None;
        }
        if self.frame.take().is_some_and(|from| indent(line) > from) {
            return true;
        }
        if is_library_frame(line.trim_start()) {
            self.frame = Some(indent(line));
            return true;
        }
        false
    }

    /// Reads `line` if it shows what it is by more than its first word.
    fn takes(&mut self, number: usize, line: &'a str) -> bool {
        if let Some(package) = grammar::installed(line) {
            self.installed.add(package);
        } else if grammar::is_asked(line)
            || grammar::is_built_archive(line)
            || grammar::is_told_of_package(line)
        {
            self.rows.add(What::Known, number, line);
        } else if let Some((step, name)) = grammar::planned(line) {
            self.planned(number, line, step, name);
        } else if let Some(told) = lock::told(line) {
            match told {
                lock::Told::Asked => self.rows.add(What::Known, number, line),
                lock::Told::Locked(verb, package) => self.lock.add(verb, package),
            }
        } else if let Some(told) = tarball::told(line) {
            match told {
                tarball::Told::Fact => self.rows.add(What::Known, number, line),
                tarball::Told::File(name) => self.packed.add(name),
            }
        } else if grammar::is_conflict(line) {
            self.rows.add(What::Bad, number, line);
        } else {
            return false;
        }
        true
    }

    fn line(&mut self, number: usize, line: &'a str) {
        let line = grammar::without_link(line);
        if self.takes(number, line) {
            return;
        }
        let found = grammar::known(line);
        let name = || found.map_or(line, |(_, rest)| first_word(rest));
        match found
            .map(|(what, _)| what)
            .or_else(|| grammar::counted(line))
        {
            Some(Line::Noise) => {}
            Some(Line::Quoted) => self.quoted = Some(indent(line)),
            Some(head @ (Line::List | Line::Hints)) => {
                self.list = Some(head);
                self.list_row(head, number, line);
            }
            Some(Line::Satisfied) => self.satisfied.add(requirement(line)),
            Some(Line::Deprecated) => self.deprecated.add(name()),
            Some(Line::Simulated) => {
                self.done = true;
                if names(self.input, name()) {
                    self.rows.add(What::Known, number, line);
                } else {
                    self.simulated.add(name());
                }
            }
            Some(Line::Removed) => {
                self.done = true;
                if names(self.input, name()) {
                    self.rows.add(What::Known, number, head_of(line, name()));
                } else {
                    self.removed.add(bare(name()));
                }
            }
            Some(Line::Result) => {
                self.done |= found.is_some();
                self.rows.add(What::Known, number, line);
            }
            Some(Line::Bad) => {
                self.failed = true;
                if !matches!(line.trim(), "npm error" | "npm ERR!") {
                    self.rows.add(What::Bad, number, line);
                }
            }
            None if grammar::is_boilerplate(line) => {}
            None => match kind(line) {
                Kind::Noise | Kind::Progress => {}
                Kind::Bad | Kind::Place => {
                    self.failed |= grammar::is_error(line);
                    self.rows.add(What::Bad, number, line);
                }
                _ => self.rows.add(What::Other, number, line),
            },
        }
    }

    /// A step of a run that only shows what it would do.
    fn planned(&mut self, number: usize, line: &'a str, step: grammar::Step, name: &str) {
        if names(self.input, name) {
            self.rows.add(What::Known, number, line);
        } else if let Some(names) = self.planned.get_mut(step as usize) {
            names.add(name);
        }
    }

    fn list_row(&mut self, head: Line, number: usize, line: &'a str) {
        if head == Line::List {
            self.rows.add_listed(number, line);
        }
    }
}

fn first_word(text: &str) -> &str {
    let word = text.split([' ', '\t']).next().unwrap_or_default();
    word.trim_end_matches(':')
}

/// The name in `Requirement already satisfied: name>=1 in folder (2.0)`.
fn requirement(line: &str) -> &str {
    let rest = line.split_text(": ").map_or(line, |(_, rest)| rest);
    let end = rest
        .find([' ', '<', '>', '=', '!', '~', '[', ';'])
        .unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// The name of a package without the machine it is for.
fn bare(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// Whether the command names the package `name`.
fn names(input: &Input<'_>, name: &str) -> bool {
    let is_asked = |word: &String| {
        let asked = word.rsplit_once('@').map_or("", |(asked, _)| asked);
        word == bare(name) || asked == name && !name.is_empty()
    };
    input.words.iter().skip(1).any(is_asked)
}

/// `line` up to the end of `name` in it.
fn head_of<'a>(line: &'a str, name: &str) -> &'a str {
    let end = line.find(name).map_or(line.len(), |at| at + name.len());
    line.get(..end).unwrap_or(line)
}

#[cfg(test)]
mod tests;
