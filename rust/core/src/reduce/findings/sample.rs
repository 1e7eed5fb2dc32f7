//! More findings than those of which every place is told: the first ones of each message, all rules and
//! files, all severe ones.

use std::fmt::Write as _;

use hashbrown::HashTable;

use super::super::line::shorten;
use super::super::output::Output;
use super::super::report::squeezed;
use super::message::{exact, fingerprint, is_severe, masked, rule};
use super::{Finding, MESSAGE_CHARS};

/// Messages that are told apart, and exact texts of which the message is remembered.
const MAX_GROUPS: usize = 4_096;
const MAX_FILES: usize = 8_192;
const MAX_RULES: usize = 4_096;
/// The first findings keep their places, however many there are.
const FIRST_FINDINGS: usize = 8;
/// Places of a message beside its first one.
const PLACES: usize = 4;
/// Of how many different messages of one rule each is told; the others are counted.
const RULE_GROUPS: u32 = 8;

/// The ways to tell the findings, the fullest first.
const PLANS: [Plan; 7] = [
    Plan::new(PLACES, RULE_GROUPS, true),
    Plan::new(PLACES, 4, true),
    Plan::new(2, 4, true),
    Plan::new(2, 2, true),
    Plan::new(1, 2, false),
    Plan::new(1, 1, false),
    Plan::LEANEST,
];

#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Places of a message beside its first one.
    places: usize,
    /// Messages of a rule.
    of_rule: u32,
    /// Whether the findings of each file are counted, or only those files are named that no place names.
    counts: bool,
}

impl Plan {
    const LEANEST: Self = Self::new(0, 1, false);

    const fn new(places: usize, of_rule: u32, counts: bool) -> Self {
        Self {
            places,
            of_rule,
            counts,
        }
    }
}

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
    /// Told whatever the plan is: severe, or among the first findings.
    always: bool,
    severe: bool,
    /// How many of its places are among the first ones.
    early: usize,
    /// Places of the others, each with its file.
    places: Vec<(u32, &'a str)>,
}

#[derive(Debug)]
struct Rule<'a> {
    name: &'a str,
    groups: u32,
    /// Findings whose messages are not told apart.
    rest: usize,
}

/// Groups of findings, of bounded size: only places of severe findings are as many as there are.
#[derive(Debug)]
pub(super) struct Sample<'a> {
    /// Messages that differ in numbers and names only are one.
    folds: bool,
    total: usize,
    groups: Vec<Group<'a>>,
    by_key: HashTable<u32>,
    by_text: HashTable<(u64, u32)>,
    rules: Vec<Rule<'a>>,
    by_rule: HashTable<u32>,
    files: Vec<(&'a str, usize)>,
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
    pub(super) fn new(folds: bool) -> Self {
        Self {
            folds,
            total: 0,
            groups: Vec::new(),
            by_key: HashTable::new(),
            by_text: HashTable::new(),
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
        let file = self.file(finding.path);
        let text = fingerprint(finding.message);
        let plain = self.folds || more.is_empty();
        let same = |known: &(u64, u32)| known.0 == text;
        let known = self.by_text.find(text, same).copied().filter(|_| plain);
        let at = match known {
            Some((_, group)) => Some(group),
            None => self.group(&finding, more, file),
        };
        let Some(group) = at.and_then(|at| self.groups.get_mut(index(at))) else {
            return;
        };
        if let (None, Some(at), true) = (known, at, plain && self.by_text.len() < MAX_GROUPS) {
            self.by_text
                .insert_unique(text, (text, at), |known| known.0);
        }
        group.count += 1;
        let early = self.total <= FIRST_FINDINGS;
        let told = group.count > 1 && (group.severe || early || group.places.len() < PLACES);
        let last = group
            .places
            .last()
            .map_or(group.first.place, |(_, last)| last);
        if told && !(last == finding.place && group.file == file) {
            group.places.push((file, finding.place));
            group.early += usize::from(early);
        }
    }

    /// The file of a finding, counted.
    fn file(&mut self, path: &'a str) -> u32 {
        let last = self.files.get_mut(index(self.last_file));
        if let Some((_, count)) = last.filter(|(last, _)| *last == path) {
            *count += 1;
            return self.last_file;
        }
        let key = fingerprint(path);
        let files = &mut self.files;
        let same = |at: &u32| {
            files
                .get(index(*at))
                .is_some_and(|(known, _)| *known == path)
        };
        let at = match self.by_file.find(key, same) {
            Some(at) => *at,
            None if files.len() < MAX_FILES => {
                let at = number(files.len());
                files.push((path, 0));
                self.by_file.insert_unique(key, at, |at| {
                    files
                        .get(index(*at))
                        .map_or(0, |(path, _)| fingerprint(path))
                });
                at
            }
            None => u32::MAX,
        };
        if let Some((_, count)) = files.get_mut(index(at)) {
            *count += 1;
        }
        self.last_file = at;
        at
    }

    /// The group of a finding; none when it only counts for its rule.
    fn group(&mut self, finding: &Finding<'a>, more: &[&'a str], file: u32) -> Option<u32> {
        let severe = is_severe(finding.message);
        let folds = self.folds && !severe;
        let key = if folds {
            masked(finding.message)
        } else {
            exact(finding.message, more.iter().copied())
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

    /// A rule, and how many messages of it are told apart.
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

    /// Writes the findings in about so many characters, if that is possible without losing a rule, a file
    /// or a severe finding.
    pub(super) fn write(&self, target_chars: usize, output: &mut Output) {
        let fits = |plan: &&Plan| self.size(**plan) <= target_chars;
        let plan = *PLANS.iter().find(fits).unwrap_or(&Plan::LEANEST);
        let mut rest: Vec<usize> = self.rules.iter().map(|rule| rule.rest).collect();
        let mut last_told = vec![usize::MAX; self.rules.len()];
        for (at, group) in self.groups.iter().enumerate() {
            let rule = index(group.rule);
            if group.is_told(plan) {
                if let Some(last) = last_told.get_mut(rule) {
                    *last = at;
                }
            } else if let Some(rest) = rest.get_mut(rule) {
                *rest += group.count;
            }
        }
        let told = self.groups.iter().enumerate();
        for (at, group) in told.filter(|(_, group)| group.is_told(plan)) {
            let mut row = self.row(group, plan);
            let rule = index(group.rule);
            let mut lines = group.count;
            if let (true, Some(rest @ 1..), Some(rule)) = (
                last_told.get(rule) == Some(&at),
                rest.get(rule),
                self.rules.get(rule),
            ) {
                lines += rest;
                // Writing to a `String` cannot fail.
                let _ = write!(row, "; others of {} +{rest}", rule.name);
            }
            output.summary(&row, lines);
        }
        let files = self.file_row(plan);
        if !files.is_empty() {
            output.summary(&files, 0);
        }
        output.gap(self.beyond);
    }

    /// About how many characters a plan takes.
    fn size(&self, plan: Plan) -> usize {
        let told = self.groups.iter().filter(|group| group.is_told(plan));
        let rows: usize = told.map(|group| group.size(plan)).sum();
        rows + self.file_row(plan).len()
    }

    /// The files with their counts, or those that no told place names.
    fn file_row(&self, plan: Plan) -> String {
        let mut named = vec![plan.counts; self.files.len()];
        if !plan.counts {
            for group in self.groups.iter().filter(|group| group.is_told(plan)) {
                let places = group.told(plan).map(|(file, _)| *file);
                for file in std::iter::once(group.file).chain(places) {
                    if let Some(named) = named.get_mut(index(file)) {
                        *named = true;
                    }
                }
            }
        }
        let mut row = String::new();
        for ((path, count), named) in self.files.iter().zip(named) {
            if named && !plan.counts {
                continue;
            }
            if !row.is_empty() {
                row.push(' ');
            }
            // Writing to a `String` cannot fail.
            let _ = write!(row, "{path} ({count})");
        }
        row
    }

    fn row(&self, group: &Group<'a>, plan: Plan) -> String {
        let Finding {
            place,
            path,
            message,
            whole,
        } = group.first;
        let below = !place.starts_with(path);
        let mut text = match (whole.is_empty(), place.is_empty()) {
            (false, _) => whole.to_owned(),
            (true, true) => message.to_owned(),
            (true, false) if below => format!("{path} {} {}", squeezed(place), squeezed(message)),
            (true, false) => format!("{place}: {message}"),
        };
        for line in &group.more {
            text.push(' ');
            text.push_str(line);
        }
        let named = place.len() + if below { path.len() } else { 0 };
        let mut row = shorten(&text, MESSAGE_CHARS + named).into_owned();
        let mut told = 1;
        let mut last = path;
        for (file, place) in group.told(plan) {
            row.push_str(if told == 1 { "; also" } else { "" });
            told += 1;
            let path = self.files.get(index(*file)).map_or("", |(path, _)| *path);
            if !place.starts_with(path) && path != last {
                row.push(' ');
                row.push_str(path);
                last = path;
            }
            row.push(' ');
            row.push_str(&squeezed(place));
        }
        // Writing to a `String` cannot fail.
        let _ = match (told, group.count) {
            (_, 1) => Ok(()),
            (1, count) => write!(row, " (×{count})"),
            (told, count) if told < count => write!(row, " +{}", count - told),
            _ => Ok(()),
        };
        row
    }
}

impl<'a> Group<'a> {
    fn is_told(&self, plan: Plan) -> bool {
        self.always || self.rank < plan.of_rule
    }

    /// The places beside the first one that are told.
    fn told(&self, plan: Plan) -> impl Iterator<Item = &(u32, &'a str)> {
        let all = self.severe;
        let early = plan.places.max(self.early);
        self.places
            .iter()
            .take(if all { usize::MAX } else { early })
    }

    /// About how long its row is.
    fn size(&self, plan: Plan) -> usize {
        let first = &self.first;
        let named = first.place.len() + first.path.len();
        let more: usize = self.more.iter().map(|line| line.len() + 1).sum();
        let said = (first.message.len() + more).min(MESSAGE_CHARS);
        let places: usize = self.told(plan).map(|(_, place)| place.len() + 1).sum();
        named + said + places
    }
}
