//! Failures with the same message, written once with their tests.

use hashbrown::HashMap;

use super::entry::{Entry, is_of};
use super::failure::{Wanted, read};
use super::report::Block;
use crate::line::shorten;
use crate::output::{Output, Weight};

const MESSAGE_CHARS: usize = 250;
const FURTHER_CHARS: usize = 160;
/// How many different messages are distinguished.
const KINDS: usize = 4_096;
/// How many entries of the summary are searched for the one of a failure.
const WINDOW: usize = 64;

/// Failures with the same messages.
struct Group<'a> {
    messages: Vec<&'a str>,
    /// Whether the messages are not marked as such.
    is_bare: bool,
    members: Vec<Member<'a>>,
}

/// One failure of a group.
struct Member<'a> {
    block: Block<'a>,
    /// The index of its entry in the summary.
    entry: Option<usize>,
    places: Vec<&'a str>,
    captured: Vec<&'a str>,
}

/// Failures in groups, ordered by the first failure of each.
#[derive(Default)]
pub(super) struct Groups<'a> {
    list: Vec<Group<'a>>,
    /// The groups by their first message.
    kinds: HashMap<&'a str, usize>,
    next_entry: usize,
}

impl<'a> Groups<'a> {
    /// Adds `block`, whose node id is in one of `entries`.
    pub(super) fn add(&mut self, block: Block<'a>, wanted: Wanted, entries: &[Entry<'a>]) {
        let failure = read(block.body, wanted);
        let member = Member {
            block,
            entry: self.entry_of(block, entries),
            places: failure.places,
            captured: failure.captured,
        };
        let key = failure.messages.first().copied().unwrap_or_default();
        let known = self.kinds.get(key).and_then(|at| self.list.get_mut(*at));
        match known {
            Some(group) if group.messages == failure.messages => group.members.push(member),
            _ => {
                if self.kinds.len() < KINDS {
                    self.kinds.insert(key, self.list.len());
                }
                self.list.push(Group {
                    messages: failure.messages,
                    is_bare: failure.is_bare,
                    members: vec![member],
                });
            }
        }
    }

    /// Failures and entries have the same order, so the next entry is the likeliest.
    fn entry_of(&mut self, block: Block<'a>, entries: &[Entry<'a>]) -> Option<usize> {
        let fits = |at: usize| {
            entries.get(at).is_some_and(|entry| {
                entry.line.contains("ERROR ") == block.errors && is_of(block.name, entry.node)
            })
        };
        let mut near = self.next_entry..self.next_entry + WINDOW;
        let found = near
            .find(|at| fits(*at))
            .or_else(|| (0..WINDOW).find(|at| fits(*at)))?;
        self.next_entry = found + 1;
        Some(found)
    }

    /// Writes every group; returns which of `entries` were written.
    pub(super) fn write(&self, entries: &[Entry<'a>], output: &mut Output) -> Vec<bool> {
        let mut written = vec![false; entries.len()];
        let mut places: &[&str] = &[];
        let mut captured: &[&str] = &[];
        let mut test = "";
        for group in &self.list {
            let mut first = true;
            // Python's own traceback has its frames before the message.
            let is_said = |message: &&str| !message.starts_with("File \"");
            let said = group.messages.iter().position(is_said).unwrap_or(0);
            for (number, message) in group.messages.iter().enumerate() {
                let chars = if number <= said {
                    MESSAGE_CHARS
                } else {
                    FURTHER_CHARS
                };
                let whole = message.trim_end();
                let sign = if group.is_bare { "" } else { "E " };
                let row = format!("{sign}{}", shorten(whole, chars));
                if number == 0 {
                    output.summary(&row, group.members.len());
                } else if let [_] = group.members.as_slice() {
                    output.compared(&format!("{sign}{whole}"), chars, Weight::Context);
                } else {
                    output.context_of(&row, group.members.len());
                }
            }
            for member in &group.members {
                let mut row = member.entry.and_then(|at| entries.get(at)).map_or_else(
                    || member.header(),
                    |entry| entry.unless_said(&group.messages).to_owned(),
                );
                if let Some(written) = member.entry.and_then(|at| written.get_mut(at)) {
                    *written = true;
                }
                // Further failures of one test in one group have the same location.
                let name = row.split('[').next().unwrap_or_default();
                let same = places == member.places.as_slice() && (!first || name == test);
                test = member.test(entries);
                let told = if first {
                    0
                } else {
                    same_end(places, &member.places)
                };
                first = false;
                if !same {
                    let news = member.places.len() - told;
                    for place in member.places.iter().take(news) {
                        row.push(' ');
                        row.push_str(place);
                    }
                    if told > 0 {
                        row.push_str(" …");
                    }
                }
                places = &member.places;
                output.summary(&row, 1 + member.places.len());
                if captured != member.captured.as_slice() {
                    for line in &member.captured {
                        output.context(&shorten(line, FURTHER_CHARS));
                    }
                }
                captured = &member.captured;
            }
        }
        written
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// How many of the last locations of two failures of a group are the same, unless it is one.
fn same_end(known: &[&str], places: &[&str]) -> usize {
    let pairs = known.iter().rev().zip(places.iter().rev());
    let same = pairs.take_while(|(known, place)| known == place).count();
    if same > 1 { same } else { 0 }
}

impl<'a> Member<'a> {
    /// The test without its parameters: the beginning of its row.
    fn test(&self, entries: &[Entry<'a>]) -> &'a str {
        let entry = self.entry.and_then(|at| entries.get(at));
        entry.map_or("", |entry| entry.head.split('[').next().unwrap_or_default())
    }

    /// The header of a failure whose node id is in no entry.
    fn header(&self) -> String {
        if self.block.errors {
            self.block.name.to_owned()
        } else {
            format!("_ {} _", self.block.name)
        }
    }
}
