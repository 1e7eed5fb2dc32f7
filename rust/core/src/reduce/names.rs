//! Names of files side by side: what differs by a number or is one of many of a kind is told once.

mod kinds;

use std::fmt::Write as _;

use hashbrown::HashMap;

use super::fold::Hasher;
use super::output::Output;

pub(super) use kinds::{Kinds, Known, Told, fitting, rows};

/// A longer row of names that stood there before is told by its count.
const REPEATED_BYTES: usize = 30;
/// So many folders are known by their path at a time: a longer list has its folders in order.
const FOLDERS: usize = 16_384;

/// How much alike names must be to be told by a few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Alike {
    /// Never: every name is shown.
    Never,
    /// They differ by their numbers only.
    Numbers,
    /// They begin with the same word and have the same ending.
    Words,
    /// They have the same ending.
    Endings,
}

/// A way to fold names: how much alike they are, and how many of a kind are shown.
pub(super) type Fold = (Alike, usize);

/// From every name to a few of a kind, for lists that must become ever shorter.
pub(super) const FOLDS: [Fold; 8] = [
    (Alike::Never, 0),
    (Alike::Numbers, 2),
    (Alike::Words, 8),
    (Alike::Words, 4),
    (Alike::Words, 2),
    (Alike::Endings, 8),
    (Alike::Endings, 5),
    (Alike::Endings, 3),
];

/// A folder, the names in it, and whether it stood in the source as a line of its own.
#[derive(Debug)]
struct Folder<'a> {
    depth: usize,
    path: &'a str,
    names: Vec<&'a str>,
    own_line: bool,
}

/// Folders with their names, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Folders<'a> {
    index: HashMap<&'a str, usize>,
    /// The path and number of the folder to which a name was added last.
    last: Option<(&'a str, usize)>,
    all: Vec<Folder<'a>>,
}

impl<'a> Folders<'a> {
    /// Adds `name` to the folder of that path.
    pub(super) fn add(&mut self, path: &'a str, name: &'a str) {
        if let Some((_, at)) = self.last.filter(|(last, _)| *last == path) {
            return self.add_to(at, name);
        }
        if self.index.len() >= FOLDERS {
            self.index.clear();
        }
        let next = self.all.len();
        let at = *self.index.entry(path).or_insert(next);
        if at == next {
            self.all.push(Folder {
                depth: 0,
                path,
                names: Vec::new(),
                own_line: false,
            });
        }
        self.last = Some((path, at));
        self.add_to(at, name);
    }

    /// Adds `name` to the folder of that number.
    pub(super) fn add_to(&mut self, folder: usize, name: &'a str) {
        if let Some(folder) = self.all.get_mut(folder) {
            folder.names.push(name);
        }
    }

    /// A line of the source that names a folder, `depth` levels below the first; gives its number.
    pub(super) fn open(&mut self, depth: usize, path: &'a str) -> usize {
        self.all.push(Folder {
            depth,
            path,
            names: Vec::new(),
            own_line: true,
        });
        self.all.len() - 1
    }

    /// A line of the source that names the folder of that path, to which [`Self::add`] adds.
    pub(super) fn open_as(&mut self, path: &'a str) {
        let at = self.open(0, path);
        if self.index.len() >= FOLDERS {
            self.index.clear();
        }
        self.index.insert(path, at);
        self.last = Some((path, at));
    }

    /// Leaves out the names that are folders with names of their own: their path tells of them.
    pub(super) fn without_folders_as_names(&mut self) {
        let mut path = String::new();
        for folder in &mut self.all {
            folder.names.retain(|name| {
                path.clear();
                if !folder.path.is_empty() {
                    path.push_str(folder.path);
                    path.push('/');
                }
                path.push_str(name);
                !self.index.contains_key(path.as_str())
            });
        }
    }

    /// Writes a row a folder, with the first of `folds` by which all have at most `target_bytes`.
    pub(super) fn write(&self, folds: &[Fold], target_bytes: usize, output: &mut Output) {
        let told = |folder: &&Folder<'_>| folder.own_line || !folder.names.is_empty();
        let folders: Vec<&Folder<'_>> = self.all.iter().filter(told).collect();
        let fold = fitting(&folders, folds, target_bytes);
        rows(&folders, fold, |_, row, shown| output.summary(row, shown));
    }
}

impl Told for &Folder<'_> {
    type Kinds = Kinds;

    fn kinds(&self, alike: Alike) -> Kinds {
        Kinds::of(&self.names, alike)
    }

    fn write(&self, kinds: &Kinds, fold: Fold, known: &mut Known, row: &mut String) -> usize {
        for _ in 0..self.depth {
            row.push(' ');
        }
        row.push_str(self.path);
        if !self.path.is_empty() && !self.names.is_empty() {
            row.push_str(": ");
        }
        let names_from = row.len();
        let mut shown = kinds.write(&self.names, fold.1, row);
        // Many folders of generated files hold the same names.
        let names = row.get(names_from..).unwrap_or_default();
        let long = names.len() > REPEATED_BYTES && fold.0 > Alike::Numbers;
        if long && known.knows(names) {
            row.truncate(names_from);
            // Writing to a `String` cannot fail.
            let _ = write!(row, "… ({})", self.names.len());
            shown = 0;
        }
        shown + usize::from(self.own_line)
    }
}

/// `names` in one row with blanks between, folded; and how many are in it.
pub(super) fn side_by_side(names: &[&str], (alike, show): Fold) -> (String, usize) {
    let mut row = String::new();
    let shown = Kinds::of(names, alike).write(names, show, &mut row);
    (row, shown)
}

/// A number that lines have in common which differ by numbers only.
pub(super) fn key_without_numbers(line: &str) -> u64 {
    let mut hasher = Hasher::default();
    let mut in_number = false;
    for byte in line.bytes() {
        let digit = byte.is_ascii_digit();
        if !(digit && in_number) {
            hasher.push(if digit { b'0' } else { byte });
        }
        in_number = digit;
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_told_by_the_first_and_the_last() {
        let names = ["b9.png", "b10.png", "readme", "b2.png", "b11.png"];
        let (row, shown) = side_by_side(&names, (Alike::Numbers, 2));
        assert_eq!(row, "b2.png … b11.png (4) readme");
        assert_eq!(shown, 3);
    }

    #[test]
    fn a_few_of_a_kind_are_all_shown() {
        let names = ["a_1.txt", "a_2.txt", "a_3.txt"];
        let (row, shown) = side_by_side(&names, (Alike::Words, 2));
        assert_eq!(row, "a_1.txt a_2.txt a_3.txt");
        assert_eq!(shown, 3);
    }

    #[test]
    fn the_odd_name_among_many_of_a_kind_stays() {
        let names = ["x_a.json", "x_b.json", "x_c.json", "x_d.json", "x_e.txt"];
        let (row, _) = side_by_side(&names, (Alike::Words, 2));
        assert_eq!(row, "x_a.json … x_d.json (4) x_e.txt");
    }

    #[test]
    fn folders_keep_their_order_and_their_path() {
        let mut folders = Folders::default();
        folders.add("./b", "one");
        folders.add("./a", "two");
        folders.add("./b", "three");
        let mut output = Output::default();
        folders.write(&FOLDS, 1_000, &mut output);
        assert_eq!(
            output.finish(3, 1_000),
            "./b: one three\n./a: two\n[0 of 3 lines left out]"
        );
    }
}
