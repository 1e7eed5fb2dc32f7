//! What lines of an unknown text have in common that differ in digits alone: it is asked once.

use super::kind::{self, Kind};
use crate::line::exit_code;
use crate::line::fingerprint::{ends_in_nought, ends_in_number, mixed, noughts};
use crate::line::mask::mask;
use crate::line::status;

/// What lines have in common that differ in digits alone.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    mask: u64,
    kind: Kind,
    /// Whether their digits say how something ended, or how many there are of what matters.
    counts: bool,
    /// Where their digits tell how a request was answered.
    status: Option<usize>,
    /// Whether a number ends them: zero states something else than any other, as of `leaf 7 returned 0`.
    numbered: bool,
    /// The template to which those of them belong that are identified by their mask, and that of those with a zero.
    templates: [Option<u32>; 2],
}

impl Shape {
    pub(super) fn of(line: &str) -> Self {
        let kind = kind::kind(line);
        Self {
            mask: mask(line),
            kind,
            counts: kind == Kind::Verdict || exit_code::is_told(line),
            status: status::place(line),
            numbered: ends_in_number(line),
            templates: [None; 2],
        }
    }

    /// What `line` is, one of those that it was made for.
    pub(super) fn kind(&self, line: &str) -> Kind {
        if self.counts && exit_code::is_bad(line) {
            Kind::Bad
        } else {
            self.kind
        }
    }

    /// With which others `line` is folded.
    pub(super) fn key(&self, line: &str) -> u64 {
        let key = if self.counts {
            mixed(self.mask, noughts(line))
        } else if self.is_nought(line) {
            mixed(self.mask, 1)
        } else {
            self.mask
        };
        match self.refused(line) {
            Some(status) => mixed(key, u64::from(status)),
            None => key,
        }
    }

    /// The template of all lines like `line`, unless their digits distinguishes them.
    pub(super) fn template(&self, line: &str) -> Option<u32> {
        let [other, nought] = self.templates;
        let known = if self.is_nought(line) { nought } else { other };
        known.filter(|_| self.refused(line).is_none())
    }

    /// `template` is that of `line`.
    pub(super) fn remember(&mut self, line: &str, template: usize) {
        if self.counts || self.refused(line).is_some() {
            return;
        }
        let is_nought = self.is_nought(line);
        let [other, nought] = &mut self.templates;
        *(if is_nought { nought } else { other }) = u32::try_from(template).ok();
    }

    /// How the request that `line` describes was refused.
    fn refused(&self, line: &str) -> Option<u16> {
        self.status.and_then(|place| status::refused(line, place))
    }

    fn is_nought(&self, line: &str) -> bool {
        self.numbered && ends_in_nought(line)
    }
}
