//! Names by kind; each kind is shown by a few of its names.

use hashbrown::HashTable;

use super::{Alike, Fold};
use crate::line::fingerprint::{fingerprint_after, without_numbers};

/// The end of a linked list of names.
pub(super) const NONE: u32 = u32::MAX;
/// How many kinds by extension are distinguished in one folder.
const ENDINGS: usize = 1_024;
/// The length of what replaces the names between the first and the last, without their count.
const GAP_BYTES: usize = " … ( )".len();

/// A name and what is shown of it, linked to the next name of its folder and of its kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    pub(super) name: &'a str,
    /// Text after the name: a size, counts, or `/`.
    pub(super) note: &'a str,
    pub(super) next: u32,
    alike: u32,
}

impl<'a> Entry<'a> {
    pub(super) fn new(name: &'a str, note: &'a str) -> Self {
        Self {
            name,
            note,
            next: NONE,
            alike: NONE,
        }
    }

    /// The length of the name and its note with a blank after it.
    pub(super) fn bytes(&self, notes: bool) -> usize {
        let note = if notes && !self.note.is_empty() {
            self.note.len() + 1
        } else {
            0
        };
        self.name.len() + note + 1
    }
}

/// Names of one kind: a linked list of their numbers.
#[derive(Clone, Copy, Debug)]
struct Kind {
    key: u64,
    first: u32,
    last: u32,
    count: u32,
    bytes: u32,
}

/// The range of the kinds of a folder.
pub(super) type KindsOfFolder = (u32, u32);

/// The names of many folders by kind, with the kinds in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    index: HashTable<u32>,
}

impl Kinds {
    pub(super) fn clear(&mut self) {
        self.kinds.clear();
        self.index.clear();
    }

    /// Classifies the names linked from `first`, those of the folder with that number.
    pub(super) fn read(
        &mut self,
        entries: &mut [Entry<'_>],
        first: u32,
        folder: usize,
        fold: Fold,
    ) -> KindsOfFolder {
        let from = number(self.kinds.len());
        let salt = (folder as u64).wrapping_mul(SPREAD);
        let mut at = first;
        // Most names of a folder have the same kind as the previous name.
        let mut before = (None, 0);
        while let Some(entry) = entries.get_mut(at as usize) {
            entry.alike = NONE;
            let bytes = number(entry.bytes(fold.notes));
            let next = entry.next;
            let count = self.kinds.len();
            let key = kind(entry, salt, count - from as usize, fold.alike);
            let place = match before {
                (Some(known), place) if Some(known) == key => place,
                _ => self.place(key),
            };
            before = (key, place);
            if let Some(kind) = self.kinds.get_mut(place) {
                let last = std::mem::replace(&mut kind.last, at);
                kind.count += 1;
                kind.bytes += bytes;
                if let Some(last) = entries.get_mut(last as usize) {
                    last.alike = at;
                }
            } else {
                self.kinds.push(Kind {
                    key: key.unwrap_or_default(),
                    first: at,
                    last: at,
                    count: 1,
                    bytes,
                });
            }
            at = next;
        }
        (from, number(self.kinds.len()))
    }

    /// The number of the kind with that key; a new number if it is new or the name is a kind of its own.
    fn place(&mut self, key: Option<u64>) -> usize {
        let next = self.kinds.len();
        let Some(key) = key else { return next };
        let kinds = &self.kinds;
        let key_of = |place: &u32| kinds.get(*place as usize).map_or(0, |kind| kind.key);
        let entry = self.index.entry(key, |place| key_of(place) == key, key_of);
        *entry.or_insert(number(next)).get() as usize
    }

    fn of(&self, (from, to): KindsOfFolder) -> &[Kind] {
        self.kinds
            .get(from as usize..to as usize)
            .unwrap_or_default()
    }

    /// The estimated length of the output of [`Self::write`].
    pub(super) fn bytes(&self, kinds: KindsOfFolder, show: usize) -> usize {
        let of_kind = |kind: &Kind| {
            let (count, bytes) = (kind.count as usize, kind.bytes as usize);
            if count <= show + 1 {
                bytes
            } else {
                bytes / count * show + GAP_BYTES + 3
            }
        };
        self.of(kinds).iter().map(of_kind).sum()
    }

    /// Appends the names of a folder separated by blanks; of kinds with more than a few names only the first and the
    /// last. Returns how many names the text contains.
    pub(super) fn write(
        &self,
        entries: &[Entry<'_>],
        kinds: KindsOfFolder,
        fold: Fold,
        row: &mut String,
    ) -> usize {
        let from = row.len();
        let mut shown = 0;
        for kind in self.of(kinds) {
            let count = kind.count as usize;
            if count <= fold.show + 1 {
                for entry in chain(entries, kind.first) {
                    push(row, from, entry, fold.notes);
                }
                shown += count;
                continue;
            }
            let most = fold.show.saturating_sub(1);
            let last = if most > AHEAD {
                // Larger numbers of names are easier to find in their order.
                for entry in chain(entries, kind.first).take(most) {
                    push(row, from, entry, fold.notes);
                }
                chain(entries, kind.first).last()
            } else {
                let (ahead, last) = ends(entries, kind.first, most);
                for entry in ahead.iter().take(most).flatten() {
                    push(row, from, entry, fold.notes);
                }
                last
            };
            if row.len() > from {
                row.push(' ');
            }
            row.push('…');
            if let Some(last) = last {
                push(row, from, last, fold.notes);
            }
            row.push_str(" (");
            row.push_str(itoa::Buffer::new().format(count));
            row.push(')');
            shown += most + 1;
        }
        shown
    }
}

/// The key of the kind of a name, in a folder with that salt and number of kinds; `None` if the name is a kind of its
/// own.
fn kind(entry: &Entry<'_>, salt: u64, kinds: usize, alike: Alike) -> Option<u64> {
    let key = match alike {
        Alike::Never => return None,
        Alike::Numbers => key_of_numbers(entry.name)?,
        Alike::Words => key_of_word(entry.name),
        Alike::Endings if kinds >= ENDINGS => 0,
        Alike::Endings => without_numbers(ending(entry.name)),
    };
    // A note after a name makes it a different kind. The last step spreads the key.
    let key = (key ^ salt ^ u64::from(!entry.note.is_empty())).wrapping_mul(SPREAD);
    Some(key ^ key >> 32)
}

/// Converts a number of names or kinds, limited to the range of the type.
pub(super) fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}

fn chain<'e, 'a>(entries: &'e [Entry<'a>], first: u32) -> impl Iterator<Item = &'e Entry<'a>> {
    std::iter::successors(entries.get(first as usize), |entry| {
        entries.get(entry.alike as usize)
    })
}

/// How many names of a kind are shown at most before its last one.
const AHEAD: usize = 8;

/// The first names of a kind, at most `most`, sorted by length and then alphabetically, and the last one.
fn ends<'e, 'a>(
    entries: &'e [Entry<'a>],
    first: u32,
    most: usize,
) -> ([Option<&'e Entry<'a>>; AHEAD], Option<&'e Entry<'a>>) {
    let order = |entry: &Entry<'a>| (entry.name.len(), entry.name);
    let mut ahead: [Option<&Entry<'_>>; AHEAD] = [None; AHEAD];
    let mut last: Option<&Entry<'_>> = None;
    for entry in chain(entries, first) {
        if last.is_none_or(|last| order(entry) > order(last)) {
            last = Some(entry);
        }
        let end = most.checked_sub(1).and_then(|end| ahead.get(end).copied());
        let is_behind = end.is_none_or(|end| end.is_some_and(|end| order(end) <= order(entry)));
        if is_behind {
            continue;
        }
        let mut carried = entry;
        for place in ahead.iter_mut().take(most) {
            match place {
                Some(known) if order(known) <= order(carried) => {}
                Some(known) => std::mem::swap(known, &mut carried),
                None => {
                    *place = Some(carried);
                    break;
                }
            }
        }
    }
    (ahead, last)
}

fn push(row: &mut String, from: usize, entry: &Entry<'_>, notes: bool) {
    if row.len() > from {
        row.push(' ');
    }
    row.push_str(entry.name);
    if entry.note == "/" {
        row.push('/');
    } else if notes {
        for note in entry.note.split_ascii_whitespace() {
            row.push(' ');
            row.push_str(note);
        }
    }
}

/// An odd number with well distributed bits.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;

/// The key that names share if they differ only in numbers; `None` if there is no number.
fn key_of_numbers(name: &str) -> Option<u64> {
    let has_number = name.bytes().any(|byte| byte.is_ascii_digit());
    has_number.then(|| without_numbers(name))
}

/// The key that names share if they begin with the same word and have the same end.
fn key_of_word(name: &str) -> u64 {
    // All letters beyond ASCII belong to words.
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let bytes = name.as_bytes();
    let start = bytes.iter().take_while(|byte| !letter(byte)).count();
    let word = bytes.get(start..).unwrap_or_default();
    let length = word.iter().take_while(|byte| letter(byte)).count();
    let word = word.get(..length).unwrap_or_default();
    fingerprint_after(without_numbers(ending(name)), word)
}

/// The extension of `name`, from its first dot on.
fn ending(name: &str) -> &str {
    // Names are short, so a simple loop is faster than setting up a search.
    let bytes = name.as_bytes();
    let base = bytes.iter().position(|byte| *byte != b'.');
    let base = base.unwrap_or(bytes.len());
    let dot = bytes.iter().skip(base).position(|byte| *byte == b'.');
    dot.and_then(|dot| name.get(base + dot..))
        .unwrap_or_default()
}
