//! File names in a row: names that differ in a number, or that belong to a large group of one kind, are shown by a few
//! of them.

mod folder;
mod folders;
mod kinds;

use kinds::{Entry, Kinds, NONE, number};

pub(crate) use folders::Folders;

/// How similar names must be to be shown by a few of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Alike {
    /// Every name is shown.
    Never,
    /// They differ only in numbers.
    Numbers,
    /// They begin with the same word and have the same extension.
    Words,
    /// They have the same extension.
    Endings,
}

/// A way to fold names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// How similar the names of one kind are.
    pub(crate) alike: Alike,
    /// How many names of a kind are shown.
    pub(crate) show: usize,
    /// Whether notes are shown after names.
    pub(crate) notes: bool,
}

impl Fold {
    pub(crate) const fn new(alike: Alike, show: usize) -> Self {
        Self {
            alike,
            show,
            notes: true,
        }
    }

    const fn without_notes(alike: Alike, show: usize) -> Self {
        Self {
            alike,
            show,
            notes: false,
        }
    }
}

/// From showing every name to a few of each kind, for lists that must become shorter and shorter.
pub(crate) const FOLDS: [Fold; 18] = [
    Fold::new(Alike::Never, 0),
    Fold::new(Alike::Numbers, 2),
    Fold::without_notes(Alike::Never, 0),
    Fold::without_notes(Alike::Numbers, 2),
    Fold::new(Alike::Words, 8),
    Fold::new(Alike::Words, 4),
    Fold::new(Alike::Words, 2),
    Fold::without_notes(Alike::Words, 8),
    Fold::without_notes(Alike::Words, 4),
    Fold::without_notes(Alike::Words, 2),
    Fold::new(Alike::Endings, 240),
    Fold::new(Alike::Endings, 160),
    Fold::new(Alike::Endings, 100),
    Fold::new(Alike::Endings, 50),
    Fold::new(Alike::Endings, 20),
    Fold::new(Alike::Endings, 8),
    Fold::new(Alike::Endings, 5),
    Fold::new(Alike::Endings, 3),
];

/// `names` in one row separated by blanks, folded, and how many names the row contains.
pub(crate) fn side_by_side(names: &[&str], fold: Fold) -> (String, usize) {
    let mut entries: Vec<Entry<'_>> = names.iter().map(|name| Entry::new(name, "")).collect();
    for (entry, next) in entries.iter_mut().zip(1..NONE) {
        entry.next = next;
    }
    let mut kinds = Kinds::default();
    let all = kinds.read(&mut entries, number(0), 0, fold);
    let mut row = String::new();
    let shown = kinds.write(&entries, all, fold, &mut row);
    (row, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_told_by_the_first_and_the_last() {
        let names = ["b9.png", "b10.png", "readme", "b2.png", "b11.png"];
        let (row, shown) = side_by_side(&names, Fold::new(Alike::Numbers, 2));
        assert_eq!(row, "b2.png … b11.png (4) readme");
        assert_eq!(shown, 3);
    }

    #[test]
    fn a_few_of_a_kind_are_all_shown() {
        let names = ["a_1.txt", "a_2.txt", "a_3.txt"];
        let (row, shown) = side_by_side(&names, Fold::new(Alike::Words, 2));
        assert_eq!(row, "a_1.txt a_2.txt a_3.txt");
        assert_eq!(shown, 3);
    }

    #[test]
    fn the_odd_name_among_many_of_a_kind_stays() {
        let names = ["x_a.json", "x_b.json", "x_c.json", "x_d.json", "x_e.txt"];
        let (row, _) = side_by_side(&names, Fold::new(Alike::Words, 2));
        assert_eq!(row, "x_a.json … x_d.json (4) x_e.txt");
    }

    #[test]
    fn the_shortest_names_of_a_kind_stand_first() {
        let names = ["f55.c", "f4.c", "f333.c", "f22.c", "f6.c", "f7777.c"];
        let (row, shown) = side_by_side(&names, Fold::new(Alike::Endings, 4));
        assert_eq!(row, "f4.c f6.c f22.c … f7777.c (6)");
        assert_eq!(shown, 4);
    }
}
