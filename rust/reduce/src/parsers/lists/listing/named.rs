//! Folders that the rows of `ls -l` name themselves: `ls -l a/*.c b/*.c`, `find -exec ls -l {} +`.

use memchr::memrchr;

use super::long::Row;
use super::paths::is_in_git;
use super::{Folders, Input, runs};
use ethos_registry_core::find_text::FindText as _;

/// Rows of so few bytes keep their paths as they are.
const FEW_BYTES: usize = 4_096;

/// The folder of the last row, where rows are of files in several.
#[derive(Default)]
pub(super) struct Named<'a> {
    pub(super) path: &'a str,
    /// How many of git's own folders were left out.
    pub(super) in_git: usize,
    is_list: bool,
    /// Whether rows of git's own folders were asked for.
    in_git_too: bool,
}

impl<'a> Named<'a> {
    pub(super) fn of(input: &Input<'_>) -> Self {
        Self {
            // Paths that `find -ls` found are shown as it found them.
            is_list: runs(input)
                && input.text.len() > FEW_BYTES
                && !input.words.iter().any(|word| names_no_folder(word)),
            in_git_too: input.words.iter().any(|word| word.has_text(".git")),
            ..Self::default()
        }
    }

    /// The rows that follow are below a folder of their own.
    pub(super) fn headed(&mut self) {
        self.is_list = false;
        self.path = "";
    }

    /// `row` below the folder that its name shows, which is opened if it is another; nothing of a file of git's
    /// own.
    pub(super) fn below(&mut self, row: Row<'a>, folders: &mut Folders<'a, '_>) -> Option<Row<'a>> {
        if !self.is_list || !row.rights.starts_with(['-', 'l', 'd']) {
            return Some(row);
        }
        // Where a link leads to is not a folder of it.
        let own = match row
            .rights
            .starts_with('l')
            .then(|| row.name.find_text(" -> "))
        {
            Some(Some(end)) => row.name.get(..end).unwrap_or(row.name),
            _ => row.name,
        };
        let (path, name) = match memrchr(b'/', own.trim_end_matches('/').as_bytes()) {
            Some(0) => ("/", row.name.get(1..).unwrap_or_default()),
            Some(at) => (
                own.get(..at).unwrap_or_default(),
                row.name.get(at + 1..).unwrap_or_default(),
            ),
            None if self.path.is_empty() => return Some(row),
            None => (".", row.name),
        };
        let is_other = std::mem::replace(&mut self.path, path) != path;
        if !self.in_git_too && is_in_git(path) {
            self.in_git += usize::from(is_other);
            return None;
        }
        if is_other {
            folders.open(0, path);
        }
        Some(Row { name, ..row })
    }
}

/// Whether with the option `word` no row names a folder that has none of its own above it: `find -ls` shows paths as
/// it found them, and `ls -R` heads its folders.
fn names_no_folder(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    word == "-ls" || word == "--recursive" || !letters.starts_with('-') && letters.contains('R')
}
