//! One folder of a list, or a part of it.

use super::kinds::{Kinds, KindsOfFolder, NONE};
use super::{Alike, Fold};

/// The estimated length of the count of names.
const COUNT_BYTES: usize = 8;

/// A folder, or further names of the previous folder that have another label.
#[derive(Debug)]
pub(super) struct Folder<'a> {
    pub(super) path: &'a str,
    pub(super) label: &'a str,
    pub(super) depth: usize,
    /// Whether the folder was a separate line of the source.
    pub(super) own_line: bool,
    /// Whether the names belong to the previous folder.
    pub(super) continues: bool,
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) count: u32,
    pub(super) kinds: KindsOfFolder,
}

impl<'a> Folder<'a> {
    /// A folder without names.
    pub(super) fn new(path: &'a str, depth: usize, own_line: bool) -> Self {
        Self {
            path,
            label: "",
            depth,
            own_line,
            continues: false,
            first: NONE,
            last: NONE,
            count: 0,
            kinds: (0, 0),
        }
    }

    /// Whether the names are files that an interpreter generated next to the sources.
    pub(super) fn is_only_counted(&self, fold: Fold) -> bool {
        self.path.ends_with("__pycache__") && fold.alike > Alike::Never
    }

    /// The estimated length of the row in bytes.
    pub(super) fn bytes(&self, kinds: &Kinds, fold: Fold) -> usize {
        let names = if self.is_only_counted(fold) {
            COUNT_BYTES
        } else {
            kinds.bytes(self.kinds, fold.show)
        };
        self.path.len() + names
    }
}
