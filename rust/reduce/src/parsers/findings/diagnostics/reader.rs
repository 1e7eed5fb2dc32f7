//! Reads a list of findings line by line.

mod notes;
mod ruled;

use super::block::{Block, is_drawn, is_fix, is_path_step};
use super::forms::{
    arrow, bare_place, finding, in_line, is_caret, is_coded, is_excerpt, is_headed, is_rule,
    is_scope, is_severe, is_step, pointed,
};
use crate::line::{self, indent, is_ruler};
use crate::parsers::findings::finding::ends::Ends;
use crate::parsers::findings::finding::{Finding, Findings};

/// How many lines of other kinds are shown, the first and the last.
const OTHERS: usize = 20;
/// A line is not repeated if an equal one is at most this many lines above.
const REPEATED_OTHERS: usize = 6;

/// Reads a list of findings line by line.
pub(super) struct Reader<'a> {
    pub(super) findings: Findings<'a>,
    /// Verdicts and other lines between findings.
    pub(super) others: Ends<'a>,
    notes: Vec<&'a str>,
    /// Whether the last of `others` introduces the fields of a value, which follow.
    opened: bool,
    /// A header `CODE message` whose location is on the next line (`--> path:1:2`).
    head: Option<&'a str>,
    /// A header `>> Issue: message` whose location follows some lines below.
    issue: Option<&'a str>,
    /// The indented line after a finding that may continue its message.
    held: Option<&'a str>,
    after_finding: bool,
    /// The header of the finding whose source is shown.
    told: Option<&'a str>,
    /// The location on the line above, if that contained nothing else.
    announced: Option<line::Place<'a>>,
    /// The file of the last finding, and where its template was instantiated.
    path: &'a str,
    asked: Option<&'a str>,
    /// Whether the message of the last finding lacks the code in brackets that ends such messages.
    open_message: bool,
    block: Block,
    /// The kind of block below each finding.
    below_finding: Block,
    /// Set while a header that ends in a ruler lacks its message; the value is whether it is a finding.
    ruled_off: Option<bool>,
    /// The location of messages that point into a source line.
    shell_place: Option<(&'a str, &'a str)>,
}

impl<'a> Reader<'a> {
    /// With `exact`, each finding counts, as for a compiler.
    pub(super) fn new(exact: bool, excerpts: bool) -> Self {
        Self {
            findings: if exact {
                Findings::exact()
            } else {
                Findings::default()
            },
            others: Ends::new(OTHERS, OTHERS),
            notes: Vec::new(),
            opened: false,
            head: None,
            issue: None,
            held: None,
            after_finding: false,
            told: None,
            announced: None,
            path: "",
            asked: None,
            open_message: false,
            block: Block::None,
            below_finding: if excerpts {
                Block::Excerpt
            } else {
                Block::None
            },
            ruled_off: None,
            shell_place: None,
        }
    }

    pub(super) fn line(&mut self, text: &'a str) {
        let depth = indent(text);
        let Some(&first) = text.as_bytes().get(depth) else {
            self.empty();
            return;
        };
        // A line that begins like most findings, or like prose, is not a drawing.
        let spelled = first.is_ascii_alphabetic()
            || matches!(
                first,
                b'/' | b'.' | b'"' | b'\'' | b'_' | b'$' | b'<' | b'(' | b'{'
            )
            || text.starts_with("::");
        let outside = self.issue.is_none() || depth == 0;
        let between = self.block == Block::None && self.announced.is_none();
        let headed = matches!(first, b'h' | b'L') && is_headed(text);
        let plain = spelled && between && outside && !headed;
        if plain && let Some(found) = finding(text) {
            self.told_finding(found);
            self.rule_off(text, true);
            return;
        }
        if !first.is_ascii_graphic() && text.trim().is_empty() {
            self.empty();
            return;
        }
        if first == b'i' && self.noted(text) {
            return;
        }
        if let Some(place) = self.announced.take()
            && is_severe(text)
        {
            self.severe(place, text);
            return;
        }
        if self.is_source(text) || first == b'*' && text.starts_with("************* Module ") {
            return;
        }
        if !plain && let Some(place) = arrow(text) {
            self.placed(place);
            return;
        }
        self.announced = bare_place(text);
        if let Some(place) = self.announced.take_if(|_| self.head.is_some()) {
            self.placed(place);
            return;
        }
        if !plain && self.drawn(text) {
            return;
        }
        if is_step(text) {
            self.end_finding();
            return;
        }
        if first == b'h' && text.starts_with("help: ") {
            self.block = Block::Change;
        }
        if let Some(issue) = text.strip_prefix(">> Issue: ") {
            self.end_finding();
            self.issue = Some(issue);
        } else if outside {
            let found = if plain { None } else { finding(text) };
            if let Some(found) = found {
                self.told_finding(found);
                self.rule_off(text, true);
            } else {
                self.told_line(text);
                self.rule_off(text, false);
            }
        }
    }

    fn empty(&mut self) {
        self.end_finding();
        if !self.block.goes_on() {
            self.block = Block::None;
        }
        self.told = None;
    }

    /// Whether a line points into source or shows it.
    fn drawn(&mut self, text: &'a str) -> bool {
        if let Some(message) = pointed(text) {
            self.pointed(message);
            return true;
        }
        let drawn =
            is_excerpt(text) || is_drawn(text) || self.block == Block::Change && is_fix(text);
        if drawn && self.block == Block::None && text.trim_ascii() == "|" {
            // A suggested change can follow without an announcement.
            self.block = Block::Change;
        }
        if drawn {
            self.held = None;
            self.labelled(text);
            if is_caret(text) {
                // The line above is the source that it points into.
                self.head = None;
            }
        }
        drawn
    }

    fn told_finding(&mut self, found: Finding<'a>) {
        if let Some(head) = self.head.take_if(|head| is_rule(head)) {
            self.ruled(head, found);
            return;
        }
        // A file name above findings is not needed if they repeat it.
        self.head.take_if(|head| *head == found.path);
        self.end_finding();
        self.found(found);
        if self.block == Block::None {
            self.block = self.below_finding;
        }
    }

    /// Reads a line that is not a finding, a location, source or advice.
    fn told_line(&mut self, text: &'a str) {
        if self.after_finding && indent(text) > 0 && self.findings.takes_message(text.trim()) {
            self.block = Block::Explained;
            return;
        }
        if self.after_finding && indent(text) > 0 {
            // A wrapped message continues here; a source line is recognised by the caret below it.
            if let Some(held) = self.held.replace(text) {
                self.findings.continue_last(held);
            }
            return;
        }
        if is_scope(text) {
            self.end_finding();
            return;
        }
        if self.goes_on(text) {
            self.findings.continue_last(text);
            self.open_message = !text.ends_with(']');
            return;
        }
        if self.block == Block::Source {
            return;
        }
        if self.advises(text) {
            return;
        }
        if let Some(place) = in_line(text) {
            self.end_finding();
            self.shell_place = Some(place);
            return;
        }
        if self.shell_place.is_some() {
            return;
        }
        self.end_finding();
        self.other(text);
    }

    /// Whether a line is in a block of source; what ends the block is not a part of it.
    fn is_source(&mut self, text: &'a str) -> bool {
        let inside = match self.block {
            Block::Duplicate => finding(text).is_none() && !is_ruler(text),
            Block::Diff => text.starts_with([' ', '+', '-']),
            Block::Explained => indent(text) > 0,
            Block::RuledOff => self.is_below_rule(text),
            Block::Excerpt => finding(text).is_none(),
            _ => return false,
        };
        if inside && text.starts_with("==") {
            self.findings.continue_last(text);
        }
        let pointed = self.block == Block::Excerpt && is_caret(text);
        if !inside || pointed || text.ends_with("(duplicate-code)") {
            self.block = Block::None;
        }
        inside
    }

    /// Whether a line continues a message that was wrapped at the width of a terminal: such a message lacks the code in
    /// brackets.
    fn goes_on(&self, text: &str) -> bool {
        self.open_message && self.after_finding && indent(text) == 0 && !text.starts_with("Found ")
    }

    fn found(&mut self, found: Finding<'a>) {
        self.end_asked(&found);
        // Messages that need more context begin with one of these letters.
        let first = found.message.as_bytes().first();
        if !matches!(first, Some(b'n' | b'[' | b'R' | b'D')) {
            self.findings.push(found);
            self.after_finding = true;
            self.open_message = first == Some(&b'e') && is_open(&found);
            return;
        }
        let note = found.message.strip_prefix("note: ");
        if let Some(note) = note.filter(|note| !is_coded(note)) {
            if !self.asked_for(&found) && !note.starts_with("See https://") && !is_path_step(note) {
                self.note(note, found.message);
            }
            return;
        }
        let duplicate = found.message.trim_start_matches('[').starts_with("R0801");
        if duplicate && !found.message.ends_with("(duplicate-code)") {
            self.block = Block::Duplicate;
        } else if found.message == "Diff in" {
            self.block = Block::Diff;
        }
        self.findings.push(found);
        self.after_finding = true;
        self.open_message = false;
    }

    /// Reads `Error: message` below a separate location; the source follows.
    fn severe(&mut self, place: line::Place<'a>, message: &'a str) {
        self.end_finding();
        self.findings.push(Finding::at(place, message));
        self.others.take_back(place.text);
        self.block = Block::Source;
    }

    /// Reads `rule[name]: message`, whose location is on the next line.
    fn ruled(&mut self, message: &'a str, found: Finding<'a>) {
        self.end_finding();
        self.findings.push(Finding {
            message,
            whole: "",
            ..found
        });
        let known = ["Task/Handler: ", "Use `"];
        if !known.iter().any(|words| found.message.starts_with(words)) {
            self.findings.continue_last(found.message);
        }
    }

    /// Reads `--> path:1:2`, the location of the header before it.
    fn placed(&mut self, place: line::Place<'a>) {
        self.held = None;
        let head = self.issue.take().or_else(|| self.head.take());
        // A finding may have several locations, each with its source.
        if let Some(message) = head.or(self.told) {
            self.told = Some(message);
            let message = message
                .trim_start()
                .trim_start_matches(['!', '×', '⚠', ' ']);
            if message.starts_with("unformatted: ") {
                self.block = Block::Change;
            }
            self.findings.push(Finding::at(place, message));
        } else if self.findings.is_empty() {
            // The header was cut off.
            self.findings.push(Finding::at(place, "-->"));
        }
    }

    /// Reads `^-- SC2086 (info): message` below `In a.sh line 3:` and a source line.
    fn pointed(&mut self, message: &'a str) {
        self.held = None;
        if let Some((place, path)) = self.shell_place {
            self.findings.push(Finding {
                place,
                path,
                message,
                whole: "",
            });
        }
    }

    fn other(&mut self, text: &'a str) {
        let text = text.trim_end_matches(['━', ' ']);
        if let Some(head) = self.head.replace(text) {
            self.keep(head);
        }
    }

    fn keep(&mut self, text: &'a str) {
        let body = text.trim_start();
        let advice = ["help: ", "= help: ", "= note: "];
        let advice = advice.iter().any(|word| body.starts_with(word)) || text.starts_with("note: ");
        let told = self
            .others
            .last_ones(REPEATED_OTHERS)
            .any(|other| other == text);
        if is_ruler(text) || advice || told {
            return;
        }
        let closes = matches!(text, "}" | ")" | "]");
        if !(self.opened && (indent(text) > 0 || closes)) {
            self.opened = text.ends_with(['{', '(', '[']);
            self.others.push(text);
        }
    }

    pub(super) fn end_finding(&mut self) {
        if let Some(held) = self.held.take() {
            self.findings.continue_last(held);
        }
        self.after_finding = false;
        if let Some(head) = self.head.take() {
            self.keep(head);
        }
    }
}

/// Whether the message of an error may continue on the next line: it lacks the code that ends such messages.
fn is_open(found: &Finding<'_>) -> bool {
    // Tools that print `path:1:2 - error: message` do not wrap messages.
    let dashed = || {
        let rest = found.whole.get(found.place.len()..);
        rest.is_some_and(|rest| rest.starts_with(" - "))
    };
    found.message.starts_with("error: ") && !found.message.ends_with(']') && !dashed()
}
