//! Properties that lines of an unknown text share if they differ only in digits; computed once for all of them.

use super::kind::{self, Kind};
use crate::line::exit_code;
use crate::line::fingerprint::{ends_in_nought, ends_in_number, mixed, noughts};
use crate::line::mask::mask;
use crate::line::status;

/// Properties that lines share if they differ only in digits.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    mask: u64,
    kind: Kind,
    /// Whether their digits are an exit status, or a count of something important.
    counts: bool,
    /// The offset of the digits of an HTTP status.
    status: Option<usize>,
    /// Whether they end with a number: zero means something else than any other number, as in `leaf 7 returned 0`.
    numbered: bool,
    /// The template of those lines that are identified by their mask, and the template of those with a zero.
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

    /// The kind of `line`, which must have this shape.
    pub(super) fn kind(&self, line: &str) -> Kind {
        if self.counts && exit_code::is_bad(line) {
            Kind::Bad
        } else {
            self.kind
        }
    }

    /// The key of the lines that `line` is folded with.
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

    /// The template of all lines like `line`, unless their digits distinguish them.
    pub(super) fn template(&self, line: &str) -> Option<u32> {
        let [other, nought] = self.templates;
        let known = if self.is_nought(line) { nought } else { other };
        known.filter(|_| self.refused(line).is_none())
    }

    /// Records that `template` is that of `line`.
    pub(super) fn remember(&mut self, line: &str, template: usize) {
        if self.counts || self.refused(line).is_some() {
            return;
        }
        let is_nought = self.is_nought(line);
        let [other, nought] = &mut self.templates;
        *(if is_nought { nought } else { other }) = u32::try_from(template).ok();
    }

    /// The status of the failed request that `line` describes.
    fn refused(&self, line: &str) -> Option<u16> {
        self.status.and_then(|place| status::refused(line, place))
    }

    fn is_nought(&self, line: &str) -> bool {
        self.numbered && ends_in_nought(line)
    }
}
