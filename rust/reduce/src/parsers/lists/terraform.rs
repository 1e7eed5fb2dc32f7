//! Plans and runs of terraform and tofu.
//!
//! What happens to each object stays, what changes in it, verdicts and messages; what is only known after
//! the run, what does not change and how far a step is go.

mod state;

use std::sync::LazyLock;

use hashbrown::HashSet;
use memchr::memmem::Finder;

use crate::family::{Family, Marks, Match};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::{indent, is_ruler, shorten};
use crate::output::Output;
use crate::rows::report::squeezed;
use crate::rows::unknown::Unknown;
use ethos_registry_core::find_text::FindText as _;

pub(crate) const FAMILY: Family = Family {
    name: "terraform",
    runs,
    marks: Marks::OneOf(&[
        &[" will perform the following actions:"],
        &["\nPlan: "],
        &["\nresource \""],
        &["\ndata \""],
    ]),
    recognises,
    reduce,
};

const PROGRAMS: [&str; 3] = ["terraform", "tofu", "terragrunt"];
const SUBCOMMANDS: [&str; 7] = [
    "apply", "destroy", "import", "init", "plan", "refresh", "validate",
];
const LINE_CHARS: usize = 240;
/// Of what is created the attributes are shown as long as they are few.
const ATTRIBUTES_SHARE: usize = 20;
const MIN_ATTRIBUTES_BYTES: usize = 200;
/// Attributes that are distinguished.
const REMEMBERED: usize = 4_096;
/// Lines of one message, and of all outputs.
const MESSAGE_LINES: usize = 14;
const OUTPUT_LINES: usize = 60;
/// Steps that are shown one by one.
const STEPS: usize = 100;

/// Beginnings of lines that explain the plan.
static NOISE: Beginnings<17> = Beginnings::new([
    "Terraform used the selected providers",
    "OpenTofu used the selected providers",
    "Terraform will perform the following actions:",
    "OpenTofu will perform the following actions:",
    "plan. Resource actions are indicated",
    "+ create",
    "- destroy",
    "~ update in-place",
    "-/+ destroy and then create",
    "+/- create replacement and then",
    "<= read (data resources)",
    "Note: You didn't use the -out option",
    "guarantee to take exactly these actions",
    "Unless you have made equivalent changes",
    "the following plan may include actions",
    "Acquiring state lock.",
    "Releasing state lock.",
]);
/// Words after an address that say how far a step is.
const UNDER_WAY: [&str; 8] = [
    ": Refreshing state...",
    ": Still ",
    ": Reading...",
    ": Read complete after ",
    ": Creating...",
    ": Modifying...",
    ": Destroying...",
    ": Preparing import...",
];
/// What happens to an object, after its address.
const ACTIONS: [&str; 5] = [
    " will be ",
    " must be replaced",
    " has moved to ",
    " has changed",
    " has been deleted",
];
/// Beginnings of verdicts.
static VERDICTS: Beginnings<6> = Beginnings::new([
    "Plan: ",
    "No changes.",
    "Apply complete! ",
    "Destroy complete! ",
    "Success! ",
    "Import successful!",
]);
static MESSAGES: Beginnings<2> = Beginnings::new(["Error: ", "Warning: "]);
/// What is in a line that describes a step that ended.
static COMPLETE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(" complete after "));
/// What follows an attribute about which nothing is known.
const KNOWN_LATER: &str = "(known after apply)";

fn runs(input: &Input<'_>) -> bool {
    PROGRAMS.contains(&input.program()) && SUBCOMMANDS.contains(&input.subcommand())
}

fn recognises(input: &Input<'_>) -> Match {
    let plans =
        |line: &str| line.ends_with(" will perform the following actions:") || is_plan(line);
    if input.beginning().chain(input.ending()).any(plans) || state::is_in(input) {
        return Match::Certain;
    }
    let told = |line: &str| {
        let text = unboxed(line);
        text.starts_with("Error: ") || text.starts_with("Warning: ") || VERDICTS.begin(text)
    };
    if runs(input) && input.beginning().any(told) {
        Match::Likely
    } else {
        Match::No
    }
}

/// `Plan: 1 to add, 0 to change, 2 to destroy.`
fn is_plan(line: &str) -> bool {
    line.starts_with("Plan: ") && line.contains(" to change, ") && line.contains(" to destroy")
}

/// What a line states that is beside the bar of a message.
fn unboxed(line: &str) -> &str {
    let depth = line.bytes().take_while(|byte| *byte == b' ').count();
    let text = line.get(depth..).unwrap_or_default();
    if text.is_empty() || text.starts_with(|sign: char| sign.is_ascii()) {
        return text;
    }
    text.trim_start_matches(['│', '╷', '╵', ' '])
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    if state::is_in(input) {
        return state::reduce(input, output);
    }
    let mut reader = Reader {
        section: Section::Report,
        attributes: HashSet::new(),
        attribute_bytes: 0,
        most_attribute_bytes: (input.text.len() / ATTRIBUTES_SHARE).max(MIN_ATTRIBUTES_BYTES),
        lines: 0,
        steps: 0,
        unknown: Unknown::default(),
        output,
    };
    for line in input.lines() {
        reader.line(line);
    }
    reader.unknown.write(reader.output);
}

/// Where a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Section {
    Report,
    /// After the line that states what happens to an object.
    Object,
    /// Within the attributes of one that is created, read or destroyed.
    Created,
    Destroyed,
    /// Within those of one that is changed, or replaced.
    Changed,
    Replaced,
    /// Within the outputs.
    Outputs,
    /// Within an error or a warning.
    Message,
}

struct Reader<'a, 'o> {
    section: Section,
    /// Attributes of created objects that are shown: many objects have the same.
    attributes: HashSet<&'a str>,
    attribute_bytes: usize,
    most_attribute_bytes: usize,
    /// Lines of the message, or of the outputs, that are shown.
    lines: usize,
    steps: usize,
    unknown: Unknown<'a>,
    output: &'o mut Output,
}

impl<'a> Reader<'a, '_> {
    fn line(&mut self, line: &'a str) {
        let text = unboxed(line).trim_end();
        let may_be_drawn = match text.as_bytes() {
            [one, other, ..] => one == other || !one.is_ascii(),
            _ => text.is_empty(),
        };
        if may_be_drawn && (text.is_empty() || is_ruler(text) || text.starts_with('├')) {
            return;
        }
        if let Some(message) = MESSAGES.of(text) {
            self.fact(text);
            self.section = Section::Message;
            self.lines = 0;
            if message == "Error: " {
                self.output.failed();
            }
        } else if let Some(action) = text.strip_prefix("# ") {
            self.action(text, action);
        } else if VERDICTS.begin(text) {
            self.fact(text);
            self.section = Section::Report;
        } else if matches!(text, "Changes to Outputs:" | "Outputs:") {
            self.fact(text);
            self.section = Section::Outputs;
            self.lines = 0;
        } else {
            self.inside(line, text);
        }
    }

    fn inside(&mut self, line: &'a str, text: &'a str) {
        if let Some(section) = opened(text).filter(|_| self.section != Section::Message) {
            self.section = section;
            return;
        }
        let step = is_complete(text) || is_under_way(text);
        match self.section {
            _ if step => self.report(line, text),
            Section::Message => self.message(text),
            Section::Object | Section::Report => self.report(line, text),
            Section::Outputs => self.output_value(line, text),
            _ if text == "}" && indent(line) <= 4 => self.section = Section::Report,
            Section::Destroyed => {}
            Section::Created => self.attribute(text),
            Section::Changed | Section::Replaced => self.change(text),
        }
    }

    /// `# address will be created`, or a comment below it.
    fn action(&mut self, text: &'a str, action: &str) {
        if ACTIONS.iter().any(|words| action.contains(words)) {
            self.fact(text);
            self.section = Section::Object;
        } else if !action.contains(" unchanged ") {
            self.context(text);
        }
    }

    fn report(&mut self, line: &'a str, text: &'a str) {
        if NOISE.begin(text) || is_under_way(text) {
            return;
        }
        if is_complete(text) {
            self.steps += 1;
            if self.steps <= STEPS {
                self.fact(text);
            }
            return;
        }
        self.unknown.push(line);
    }

    /// An attribute of an object that is created: the same of another one is not news.
    fn attribute(&mut self, text: &'a str) {
        let told = !text.ends_with(['{', '[', '('])
            && is_assigned(text)
            && text.find_text(KNOWN_LATER).is_none();
        if !told || self.attributes.contains(text) {
            return;
        }
        self.attribute_bytes += text.len() + 1;
        if self.attribute_bytes <= self.most_attribute_bytes {
            if self.attributes.len() < REMEMBERED {
                self.attributes.insert(text);
            }
            self.context(&squeezed(text));
        }
    }

    fn change(&mut self, text: &str) {
        let forces = text.find_text("# forces replacement").is_some();
        let signed = ["~ ", "+ ", "- ", "-/+ ", "+/- "]
            .iter()
            .any(|sign| text.starts_with(sign));
        let unknown = self.section == Section::Replaced && text.ends_with(KNOWN_LATER);
        if forces || signed && !unknown {
            self.fact(&squeezed(text));
        }
    }

    /// An output, or a line of its value.
    fn output_value(&mut self, line: &'a str, text: &'a str) {
        if text.starts_with("Note: ") {
            self.section = Section::Report;
            self.report(line, text);
            return;
        }
        let nested = indent(line) > 4;
        let form = text.chars().all(|sign| "{}[](),".contains(sign));
        if form || nested && text.find_text(KNOWN_LATER).is_some() {
            return;
        }
        self.lines += 1;
        if self.lines <= OUTPUT_LINES {
            self.fact(&squeezed(text));
        }
    }

    /// A line of a message: not the source that it points into.
    fn message(&mut self, text: &str) {
        let source = text.split_once(": ").is_some_and(|(number, _)| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !source && self.lines < MESSAGE_LINES {
            self.lines += 1;
            self.fact(text);
        }
    }

    fn fact(&mut self, text: &str) {
        self.unknown.write(self.output);
        self.output.fact(&shorten(text, LINE_CHARS));
    }

    fn context(&mut self, text: &str) {
        self.unknown.write(self.output);
        self.output.context(&shorten(text, LINE_CHARS));
    }
}

/// Whether a line names a value: `name = value`.
fn is_assigned(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_blank = |at: Option<usize>| at.and_then(|at| bytes.get(at)) == Some(&b' ');
    memchr::memchr_iter(b'=', bytes).any(|at| is_blank(at.checked_sub(1)) && is_blank(Some(at + 1)))
}

fn is_complete(text: &str) -> bool {
    COMPLETE.find(text.as_bytes()).is_some()
}

fn is_under_way(text: &str) -> bool {
    // They all begin with a colon.
    memchr::memchr_iter(b':', text.as_bytes()).any(|at| {
        let rest = text.get(at..).unwrap_or_default();
        UNDER_WAY.iter().any(|words| rest.starts_with(words))
    })
}

/// What is shown of the object that `text` opens: `-/+ resource "type" "name" {`.
fn opened(text: &str) -> Option<Section> {
    if !text.ends_with('{') {
        return None;
    }
    let (sign, rest) = text.split_once(' ')?;
    let opens = rest.starts_with("resource \"") || rest.starts_with("data \"");
    if !opens {
        return None;
    }
    match sign {
        "+" | "<=" => Some(Section::Created),
        "-" => Some(Section::Destroyed),
        "~" => Some(Section::Changed),
        "-/+" | "+/-" => Some(Section::Replaced),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
