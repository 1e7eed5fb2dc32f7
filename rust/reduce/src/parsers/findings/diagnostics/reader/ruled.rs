//! Headers that end in a ruler, with the message below them: `a.js:1:2 lint/no-fog ━━━━`, `  ! Fog is denied.`

use super::super::block::Block;
use super::Reader;
use crate::line::indent;

impl<'a> Reader<'a> {
    /// Begins a block at `text`, a header that ends in a ruler: its message is below it.
    pub(super) fn rule_off(&mut self, text: &str, found: bool) {
        let closed = text.ends_with('━') && indent(text) == 0;
        // Lists and counts follow other headers.
        let formats = || text.trim_end_matches(['━', ' ']).ends_with(" format");
        if closed && (found || formats()) {
            self.end_finding();
            self.block = Block::RuledOff;
            self.ruled_off = Some(found);
        }
    }

    /// Whether a line belongs to the block below a ruler; its first message belongs to the header.
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
