//! Text below findings, and between them.

use crate::line::beginnings::Beginnings;
use crate::line::indent;
use ethos_registry_core::find_text::FindText as _;

/// Lines below a finding, or between findings, shown only in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Block {
    #[default]
    None,
    /// All that follows `Did you mean:`, up to the next empty line.
    Advice,
    /// Addresses, indented below `For more information:`.
    Addresses,
    /// The changed lines below `help: Remove it` or below a place to be formatted, up to the next empty line.
    Change,
    /// The source around a place below which its message is, up to the next empty line.
    Source,
    /// Lines of source that two files share, up to the rule in brackets.
    Duplicate,
    /// Lines that a formatter would change.
    Diff,
    /// The explanation of a rule, indented below a message.
    Explained,
    /// The lines of source that a finding is in, as `--show-source` prints them, up to a caret.
    Excerpt,
    /// Message, source and advice below a header that a ruler closes, up to the next line without an indent.
    RuledOff,
    /// `info: ` lines below a finding, each perhaps with a place and source of its own.
    Notes,
}

impl Block {
    /// Whether an empty line is part of it.
    pub(super) fn goes_on(self) -> bool {
        matches!(
            self,
            Self::Duplicate | Self::Diff | Self::Explained | Self::Excerpt | Self::RuledOff
        )
    }
}

/// Whether a line shows what a proposed change removes or adds: `  - import os`, `3 + import sys`.
pub(super) fn is_fix(text: &str) -> bool {
    let digit = |sign: char| sign.is_ascii_digit();
    let numbered = text.trim_start().trim_start_matches(digit);
    let gutter = indent(text) > 0 || numbered.len() < text.len();
    gutter && numbered.trim_start().starts_with(['+', '-'])
}

/// Whether a line is drawn next to a source line: `   :    ^^|^`, `   :   `-- declared here`, `   `----`.
pub(super) fn is_drawn(text: &str) -> bool {
    let beside = text.trim_start();
    let bar = beside
        .strip_prefix(':')
        .or_else(|| beside.strip_prefix('·'))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    indent(text) > 1 && (bar || beside.starts_with("`--") || beside.starts_with("╰──"))
}

/// Whether `note`, below a finding, is a list or its introduction, the name of the rule, or a link.
pub(super) fn is_hint(note: &str) -> bool {
    note.starts_with([' ', '└', '├', '│'])
        || note.ends_with([':', '?'])
        || note.ends_with(" here")
        || note.starts_with("rule `")
        || note.has_text("https://")
}

/// Whether a note shows where a template was instantiated; the last of these notes is the user's code.
pub(crate) fn is_asked_for(message: &str) -> bool {
    message.starts_with("note: in instantiation of ") && message.ends_with("here")
}

/// Whether a note is a step on the path that an analyser followed, or another candidate for a call.
pub(super) fn is_path_step(note: &str) -> bool {
    static STEPS: Beginnings<11> = Beginnings::new([
        "  ",
        "candidate ",
        "candidate: ",
        "Assuming ",
        "Taking ",
        "Control jumps to ",
        "Loop condition is ",
        "Entering loop body",
        "Entered call from ",
        "Execution continues on line ",
        "Left side of ",
    ]);
    STEPS.begin(note)
}
