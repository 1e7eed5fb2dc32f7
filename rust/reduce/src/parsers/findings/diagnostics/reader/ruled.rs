//! Heads that a ruler closes, with the message below them: `a.js:1:2 lint/no-fog ━━━━`, `  ! Fog is denied.`

use super::super::block::Block;
use super::Reader;
use crate::line::indent;

impl<'a> Reader<'a> {
    /// `text`, a header that ends in a ruler, begins a block: its message is below it.
    pub(super) fn rule_off(&mut self, text: &str, found: bool) {
        let closed = text.ends_with('━') && indent(text) == 0;
        // Below other heads stand lists and counts.
        let formats = || text.trim_end_matches(['━', ' ']).ends_with(" format");
        if closed && (found || formats()) {
            self.end_finding();
            self.block = Block::RuledOff;
            self.ruled_off = Some(found);
        }
    }

    /// Whether a line belongs to the header that a ruler closes; the first message there is the header's.
    pub(super) fn is_below_rule(&mut self, text: &'a str) -> bool {
        if indent(text) == 0 {
            self.ruled_off = None;
            return false;
        }
        let body = text.trim();
        let marked = body.starts_with(['×', '!', 'i', '✖', '⚠'])
            && body.find(' ').is_some_and(|blank| blank <= 3);
        match self.ruled_off.take_if(|_| marked) {
            Some(true) => self.findings.continue_last(body),
            Some(false) => self.others.push(text),
            None => {}
        }
        true
    }
}
