//! The lines below a finding that belong to it: the reason, and what was expected.

use super::super::block::is_asked_for;
use super::super::block::{Block, is_hint};
use super::Reader;
use crate::line::indent;
use crate::parsers::findings::finding::Finding;
use ethos_registry_core::find_text::FindText as _;

/// How many distinct notes are kept.
const MAX_NOTES: usize = 20;

impl<'a> Reader<'a> {
    /// Whether `text` is advice of a linter for scripts, or a link.
    pub(super) fn advises(&mut self, text: &str) -> bool {
        match text {
            "Did you mean:" => self.block = Block::Advice,
            "For more information:" => {
                self.end_finding();
                self.block = Block::Addresses;
            }
            // The runner may print a line without an empty line between.
            _ if self.block == Block::Addresses && indent(text) == 0 => {
                self.block = Block::None;
                self.shell_place = None;
            }
            _ => {}
        }
        matches!(self.block, Block::Advice | Block::Addresses)
    }

    /// Reads `info: ` below a finding; the first one belongs to its message. Returns whether it was such a line.
    pub(super) fn noted(&mut self, text: &'a str) -> bool {
        let is_below = self.told.is_some() || self.block == Block::Notes;
        let Some(note) = text.strip_prefix("info: ").filter(|_| is_below) else {
            return false;
        };
        let is_told = self.told.take().is_some();
        self.block = Block::Notes;
        if is_hint(note) {
            return true;
        }
        if is_told {
            self.findings.continue_last(note);
        } else {
            self.note(note, text);
        }
        true
    }

    /// Reads a note about where the template of the last finding was instantiated; returns whether it was one.
    ///
    /// The last of these notes is the user's code.
    pub(super) fn asked_for(&mut self, found: &Finding<'a>) -> bool {
        let asks = is_asked_for(found.message);
        if asks {
            // Without the names of templates, which are long.
            let said = found.whole.split(" '").next();
            self.asked = said.filter(|_| self.path != found.path);
        }
        asks
    }

    /// Adds where the template of the last finding was instantiated, before `found` is read.
    pub(super) fn end_asked(&mut self, found: &Finding<'a>) {
        if !found.message.starts_with("note: ") {
            self.path = found.path;
            self.tell_asked();
        }
    }

    /// Adds where the template of the last finding was instantiated.
    pub(in super::super) fn tell_asked(&mut self) {
        if let Some(asked) = self.asked.take() {
            self.findings.continue_last(asked);
        }
    }

    /// Reads a line that points into the source above: the expected value belongs to the message.
    pub(super) fn labelled(&mut self, text: &'a str) {
        if self.told.is_none() {
            return;
        }
        let below = text.trim().strip_prefix('|');
        let Some((marks, label)) = below.and_then(|below| below.rsplit_once('^')) else {
            return;
        };
        let points = marks.bytes().all(|byte| matches!(byte, b'^' | b'-' | b' '));
        let label = label.trim();
        if points && label.has_text("xpected ") {
            self.findings.continue_last(label);
        }
    }

    /// Adds the note in `line`, unless it was shown.
    pub(super) fn note(&mut self, note: &'a str, line: &'a str) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
            self.others.push(line);
        }
    }
}
