//! More findings than can be shown with every location: the first ones of each message, all rules and
//! files, all severe ones.

mod told;

use hashbrown::HashTable;

use super::Finding;
use super::message::{exact, exact_after, is_severe, masked, rule};
use super::rows::names;
use crate::line::fingerprint::fingerprint;

/// How many messages are distinguished.
const MAX_GROUPS: usize = 2_048;
const MAX_FILES: usize = 4_096;
/// Of two to the power of this many messages the groups are remembered.
const SLOT_BITS: u32 = 12;
const MAX_RULES: usize = 2_048;
/// The first findings keep their places, however many there are.
const FIRST_FINDINGS: usize = 30;
/// Places of a message beside its first one.
const PLACES: usize = 4;
/// Of how many different messages of one rule each is shown; the others are counted.
const RULE_GROUPS: u32 = 8;

/// Findings with one message.
#[derive(Debug)]
struct Group<'a> {
    key: u64,
    first: Finding<'a>,
    /// Lines that go on with the message.
    more: Vec<&'a str>,
    count: usize,
    rule: u32,
    /// How many messages of its rule came before.
    rank: u32,
    file: u32,
    /// Shown whatever the plan is: severe, or among the first findings.
    always: bool,
    severe: bool,
    /// How many of its places are among the first ones.
    early: usize,
    /// Places of the others.
    places: Vec<Other<'a>>,
}

/// Where the message of a group occurs again, perhaps with other names.
#[derive(Clone, Copy, Debug)]
struct Other<'a> {
    file: u32,
    place: &'a str,
    message: &'a str,
}

impl<'a> Group<'a> {
    /// Puts `other`, if it states something that none of its places states, into the place of one that repeats another.
    fn vary(&mut self, other: Other<'a>) {
        let first = self.first.message;
        let known = |places: &[Other<'_>], message: &str| {
            message == first || places.iter().any(|place| place.message == message)
        };
        if known(&self.places, other.message) {
            return;
        }
        let repeats = (self.early..self.places.len()).rev().find(|at| {
            let (before, rest) = self.places.split_at(*at);
            rest.first()
                .is_some_and(|place| known(before, place.message))
        });
        if let Some(place) = repeats.and_then(|at| self.places.get_mut(at)) {
            *place = other;
        }
    }
}

#[derive(Debug)]
struct Rule<'a> {
    name: &'a str,
    groups: u32,
    /// Findings whose messages are not distinguished.
    rest: usize,
}

#[derive(Debug)]
struct File<'a> {
    path: &'a str,
    key: u64,
    findings: usize,
}

/// Groups of findings, of bounded size: only places of severe findings are as many as there are.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    /// Messages that differ in numbers and names only are one.
    folds: bool,
    /// What is called an error is severe: most findings are none.
    errors_are_severe: bool,
    total: usize,
    groups: Vec<Group<'a>>,
    by_key: HashTable<u32>,
    /// The groups of the latest messages, by the message.
    latest: Vec<(u64, u32)>,
    rules: Vec<Rule<'a>>,
    by_rule: HashTable<u32>,
    /// Each with its fingerprint, which is not taken again when the table grows.
    files: Vec<File<'a>>,
    by_file: HashTable<u32>,
    last_file: u32,
    /// Findings of no group, because there are too many.
    beyond: usize,
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl<'a> Sample<'a> {
    pub(super) fn new(folds: bool, errors_are_severe: bool) -> Self {
        Self {
            folds,
            errors_are_severe,
            total: 0,
            groups: Vec::new(),
            by_key: HashTable::new(),
            latest: vec![(0, u32::MAX); 1 << SLOT_BITS],
            rules: Vec::new(),
            by_rule: HashTable::new(),
            files: Vec::new(),
            by_file: HashTable::new(),
            last_file: u32::MAX,
            beyond: 0,
        }
    }

    /// Takes a finding and the lines that go on with its message.
    pub(super) fn push(&mut self, finding: Finding<'a>, more: &[&'a str]) {
        self.total += 1;
        let folds = self.folds;
        let file = self.file(finding.path);
        let at = match more {
            [] => self.remembered(&finding, file),
            _ => self.group(&finding, more, file, None),
        };
        let Some(group) = at.and_then(|at| self.groups.get_mut(index(at))) else {
            return;
        };
        group.count += 1;
        let early = self.total <= FIRST_FINDINGS;
        let other = Other {
            file,
            place: finding.place,
            message: finding.message,
        };
        let first = Other {
            file: group.file,
            place: group.first.place,
            message: group.first.message,
        };
        let last = *group.places.last().unwrap_or(&first);
        let is_told = (last.place, last.file) == (other.place, file)
            && (last.message == other.message || names(last.message) == names(other.message));
        if group.count == 1 || is_told {
            // It is shown.
        } else if group.severe || early || group.places.len() < PLACES {
            group.places.push(other);
            group.early += usize::from(early);
        } else if folds {
            group.vary(other);
        }
    }

    /// The group of a finding, found at once if its message is one of the last ones.
    fn remembered(&mut self, finding: &Finding<'a>, file: u32) -> Option<u32> {
        let text = fingerprint(finding.message);
        // The high bits of a product are the well mixed ones.
        let slot = usize::try_from(text >> (u64::BITS - SLOT_BITS)).unwrap_or_default();
        if let Some((known, group)) = self.latest.get(slot)
            && (*known, *group != u32::MAX) == (text, true)
        {
            return Some(*group);
        }
        let group = self.group(finding, &[], file, Some(text))?;
        if let Some(slot) = self.latest.get_mut(slot) {
            *slot = (text, group);
        }
        Some(group)
    }

    /// The file of a finding, counted.
    fn file(&mut self, path: &'a str) -> u32 {
        let last = self.files.get_mut(index(self.last_file));
        if let Some(last) = last.filter(|last| last.path == path) {
            last.findings += 1;
            return self.last_file;
        }
        let key = fingerprint(path);
        let files = &mut self.files;
        let key_of = |at: &u32| files.get(index(*at)).map_or(0, |file| file.key);
        let same = |at: &u32| {
            files
                .get(index(*at))
                .is_some_and(|known| known.key == key && known.path == path)
        };
        let at = match self.by_file.find(key, same) {
            Some(at) => *at,
            None if files.len() < MAX_FILES => {
                let at = number(files.len());
                self.by_file.insert_unique(key, at, key_of);
                files.push(File {
                    path,
                    key,
                    findings: 0,
                });
                at
            }
            None => u32::MAX,
        };
        if let Some(file) = files.get_mut(index(at)) {
            file.findings += 1;
        }
        self.last_file = at;
        at
    }

    /// The group of a finding; none when it only counts for its rule. Of a message in one line the fingerprint
    /// may be known.
    fn group(
        &mut self,
        finding: &Finding<'a>,
        more: &[&'a str],
        file: u32,
        whole: Option<u64>,
    ) -> Option<u32> {
        let error = self.errors_are_severe && finding.message.starts_with("error: ");
        let severe = error || is_severe(finding.message);
        let folds = self.folds && !severe;
        let key = match whole {
            _ if folds => masked(finding.message),
            Some(whole) => exact_after(finding.message, whole),
            None => exact(finding.message, more.iter().copied()),
        };
        let groups = &self.groups;
        let same = |at: &u32| groups.get(index(*at)).is_some_and(|group| group.key == key);
        if let Some(at) = self.by_key.find(key, same) {
            return Some(*at);
        }
        let (rule, rank) = self.rule(rule(finding.message));
        let always = severe || self.total <= FIRST_FINDINGS;
        if self.groups.len() >= MAX_GROUPS || folds && !always && rank >= RULE_GROUPS {
            match self.rules.get_mut(index(rule)) {
                Some(rule) => rule.rest += 1,
                None => self.beyond += 1,
            }
            return None;
        }
        if let Some(rule) = self.rules.get_mut(index(rule)) {
            rule.groups += 1;
        }
        let at = number(self.groups.len());
        self.groups.push(Group {
            key,
            first: *finding,
            more: more.to_vec(),
            count: 0,
            rule,
            rank,
            file,
            always: always || !self.folds,
            severe,
            early: 0,
            places: Vec::new(),
        });
        let groups = &self.groups;
        self.by_key.insert_unique(key, at, |at| {
            groups.get(index(*at)).map_or(0, |group| group.key)
        });
        Some(at)
    }

    /// A rule, and how many messages of it are distinguished.
    fn rule(&mut self, name: &'a str) -> (u32, u32) {
        let key = fingerprint(name);
        let rules = &mut self.rules;
        let same = |at: &u32| rules.get(index(*at)).is_some_and(|rule| rule.name == name);
        if let Some(at) = self.by_rule.find(key, same) {
            return (*at, rules.get(index(*at)).map_or(0, |rule| rule.groups));
        }
        if rules.len() >= MAX_RULES {
            return (u32::MAX, 0);
        }
        let at = number(rules.len());
        rules.push(Rule {
            name,
            groups: 0,
            rest: 0,
        });
        self.by_rule.insert_unique(key, at, |at| {
            rules
                .get(index(*at))
                .map_or(0, |rule| fingerprint(rule.name))
        });
        (at, 0)
    }
}
