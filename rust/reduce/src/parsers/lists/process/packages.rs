//! Lists of packages: their names, with versions if names alone are not informative.

use crate::input::Input;
use crate::line;
use crate::nested;
use crate::output::Output;
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;

/// A row of names has at least this many bytes.
const ROW_BYTES: usize = 160;
/// Names of packages that are not installed may have this many bytes.
const NAMED_BYTES: usize = 600;
/// Lines that are not rows of the list and are shown.
const OTHER_LINES: usize = 20;

/// How `dpkg` begins what it states of a name that it does not find.
const SAID_BY_DPKG: &str = "dpkg-query: ";

/// The parts of a line that is not a package.
const NO_PACKAGE: [&str; 6] = [""; 6];

/// How packages are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `ii  name  version  architecture  description`.
    Dpkg,
    /// `name/suite,now version architecture [installed]`.
    Apt,
    /// `name==version`.
    Pinned,
    /// A heading that begins with `Package` or `# Name`, then columns.
    Columns,
}

impl Form {
    /// Whether no other program writes so.
    pub(super) fn is_certain(self) -> bool {
        matches!(self, Self::Dpkg)
    }
}

/// Whether the text begins with rows of `dpkg -l` whose heading a search removed.
pub(crate) fn is_found(input: &Input<'_>) -> bool {
    let mut head = input.beginning().take(3).peekable();
    head.peek().is_some() && head.all(|line| line.starts_with("ii  "))
}

pub(super) fn form(input: &Input<'_>) -> Option<Form> {
    let head = || input.beginning().take(12);
    let is_columns = |line: &str| {
        line.starts_with("Package ") && line.contains("Version") || line.starts_with("# Name")
    };
    let is_dpkg = |line: &str| line.starts_with("ii  ") && line.split("  ").count() > 3;
    if head().any(|line| line.starts_with("Desired=Unknown/Install/"))
        || head().filter(|line| is_dpkg(line)).count() >= 3
    {
        Some(Form::Dpkg)
    } else if input.program() == "apt" && input.beginning().any(|line| apt(line).is_some()) {
        Some(Form::Apt)
    } else if super::lists_packages(input) && head().any(is_columns) {
        Some(Form::Columns)
    } else if super::lists_packages(input) && head().any(|line| line.contains("==")) {
        Some(Form::Pinned)
    } else {
        None
    }
}

fn apt(line: &str) -> Option<&str> {
    let (name, rest) = line.split_once('/')?;
    (!name.contains(' ') && rest.contains(" [")).then_some(name)
}

pub(super) fn reduce(input: &Input<'_>, form: Form, output: &mut Output) {
    if form != Form::Apt {
        return reduce_own(input, form, output);
    }
    // What other commands report about packages is above the list.
    let [before, own, behind] = nested::around(input, |line| apt(line).is_some());
    nested::other(before, &super::FAMILY, output);
    if let Some(own) = own {
        reduce_own(&own, form, output);
    }
    nested::other(behind, &super::FAMILY, output);
}

fn reduce_own(input: &Input<'_>, form: Form, output: &mut Output) {
    let mut others = 0;
    let mut unknown = Unknown::default();
    let mut row = String::new();
    let mut packages = 0;
    let is_asked = asks_for_some(input);
    let mut named = String::new();
    let (mut named_packages, mut more_named) = (0, 0_usize);
    for source in input.lines() {
        // The message about a name that is not found can follow a part of a row.
        let said = (form == Form::Dpkg).then(|| source.find_text(SAID_BY_DPKG));
        if let Some(said) = said.flatten().and_then(|at| source.get(at..)) {
            output.fact(&line::shorten(said, ROW_BYTES));
            if said.len() == source.len() {
                continue;
            }
        }
        let mut words = source.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let second = words.next().unwrap_or_default();
        if !row.is_empty() && row.len() >= ROW_BYTES {
            output.summary(row.trim_start(), std::mem::take(&mut packages));
            row.clear();
        }
        let parts: [&str; 6] = match form {
            Form::Dpkg if is_ruler_of_dpkg(source) => continue,
            Form::Dpkg if first == "ii" => {
                let name = second.split(':').next().unwrap_or(second);
                let version = words.next().filter(|_| is_asked);
                match version {
                    // Packages of one source have one version: `alpha,alpha-doc 1.2`.
                    Some(version)
                        if row
                            .strip_suffix(version)
                            .is_some_and(|row| row.ends_with(' ')) =>
                    {
                        row.truncate(row.len() - version.len() - 1);
                        [",", name, " ", version, "", ""]
                    }
                    Some(version) => [" ", name, " ", version, "", ""],
                    None => [" ", name, "", "", "", ""],
                }
            }
            Form::Apt => match apt(source) {
                Some(name) => [" ", name, "", "", "", ""],
                None => NO_PACKAGE,
            },
            Form::Columns if is_ruler_of_columns(source) => continue,
            Form::Columns if second.starts_with(|sign: char| sign.is_ascii_digit()) => {
                let latest = words
                    .next()
                    .filter(|word| word.starts_with(|sign: char| sign.is_ascii_digit()));
                let arrow = if latest.is_some() { " -> " } else { "" };
                [" ", first, "==", second, arrow, latest.unwrap_or_default()]
            }
            Form::Pinned if source.contains("==") => [" ", source, "", "", "", ""],
            Form::Dpkg | Form::Columns | Form::Pinned => NO_PACKAGE,
        };
        if parts != NO_PACKAGE {
            for part in parts {
                row.push_str(part);
            }
            packages += 1;
        } else if form == Form::Dpkg && first == "un" {
            // Packages that only others name are many.
            if named.len() < NAMED_BYTES {
                named.push(' ');
                named.push_str(second);
                named_packages += 1;
            } else {
                more_named += 1;
            }
        } else if !first.is_empty() && (others < OTHER_LINES || line::is_bad(source)) {
            others += 1;
            let words: Vec<&str> = source.split_ascii_whitespace().collect();
            output.fact(&line::shorten(&words.join(" "), ROW_BYTES));
        } else {
            unknown.push(source);
        }
    }
    if !row.is_empty() {
        output.summary(row.trim_start(), packages);
    }
    if !named.is_empty() {
        let more = match more_named {
            0 => String::new(),
            _ => format!(" … (+{more_named})"),
        };
        output.summary(&format!("un{named}{more}"), named_packages);
    }
    unknown.write(output);
}

/// Whether packages were searched for or named: who does that wants to know more of what was found.
fn asks_for_some(input: &Input<'_>) -> bool {
    input.program() != "dpkg"
        || input
            .words
            .iter()
            .skip(1)
            .any(|word| !word.starts_with('-'))
}

fn is_ruler_of_dpkg(line: &str) -> bool {
    ["Desired=", "| Status=", "|/ Err?=", "||/ Name", "+++-"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

fn is_ruler_of_columns(line: &str) -> bool {
    line.starts_with("Package ") || line.starts_with("# ") || line.starts_with("---")
}
