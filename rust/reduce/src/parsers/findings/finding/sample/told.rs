//! How a sample of findings is shown: as fully as fits.

use std::fmt::Write as _;

use super::{File, Group, Other, PLACES, RULE_GROUPS, Sample, index};
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::findings::finding::rows::{NAMES_CHARS, names};
use crate::parsers::findings::finding::{Finding, MESSAGE_CHARS};
use crate::rows::report::squeezed;

/// About how many characters a file takes beside its name.
const COUNT_CHARS: usize = 5;
/// Represents the place that was shown last.
const THERE: &str = " (there)";
/// The approximate length of a count of equal findings.
const COUNTS_CHARS: usize = 12;

/// The ways to show findings, the most detailed first.
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

impl<'a> Sample<'a> {
    /// Writes the findings in about this many characters, if that is possible without losing a rule, a file
    /// or a severe finding.
    pub(in crate::parsers::findings::finding) fn write(
        &self,
        target_chars: usize,
        output: &mut Output,
    ) {
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

    /// Whether it can be shown in this many characters.
    pub(in crate::parsers::findings::finding) fn fits(&self, chars: usize) -> bool {
        self.size(Plan::LEANEST) <= chars
    }

    /// About how many characters a plan takes.
    fn size(&self, plan: Plan) -> usize {
        let told = self.groups.iter().filter(|group| group.is_told(plan));
        let rows: usize = told.map(|group| group.size(plan)).sum();
        let files = self.untold_files(plan);
        let row: usize = files.map(|file| file.path.len() + COUNT_CHARS).sum();
        rows + row
    }

    /// The files with their counts, or those that no shown place names.
    fn file_row(&self, plan: Plan) -> String {
        let mut row = String::new();
        for file in self.untold_files(plan) {
            if !row.is_empty() {
                row.push(' ');
            }
            row.push_str(file.path);
            row.push_str(" (");
            row.push_str(itoa::Buffer::new().format(file.findings));
            row.push(')');
        }
        row
    }

    fn untold_files(&self, plan: Plan) -> impl Iterator<Item = &File<'a>> {
        let mut named = vec![false; self.files.len()];
        if !plan.counts {
            for group in self.groups.iter().filter(|group| group.is_told(plan)) {
                let places = group.told(plan).map(|other| other.file);
                for file in std::iter::once(group.file).chain(places) {
                    if let Some(named) = named.get_mut(index(file)) {
                        *named = true;
                    }
                }
            }
        }
        let files = self.files.iter().zip(named);
        files.filter(|(_, named)| !named).map(|(file, _)| file)
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
        let mut said = message;
        let mut here = (group.file, place);
        for Other {
            file,
            place,
            message,
        } in group.told(plan)
        {
            row.push_str(if told == 1 { "; also" } else { "" });
            told += 1;
            if *message != said {
                let (named, before) = (names(message), names(said));
                if named != before {
                    row.push(' ');
                    row.push_str(&shorten(&named, NAMES_CHARS));
                }
                said = message;
            }
            // Several names at one location are shown with the location once.
            if (*file, *place) == here && !place.is_empty() {
                row.push_str(THERE);
                continue;
            }
            here = (*file, place);
            let path = self.files.get(index(*file)).map_or("", |file| file.path);
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
            (1, count) => write!(row, " (+{} similar)", count - 1),
            (told, count) if told < count => write!(row, " (+{} similar)", count - told),
            _ => Ok(()),
        };
        row
    }
}

impl<'a> Group<'a> {
    fn is_told(&self, plan: Plan) -> bool {
        self.always || self.rank < plan.of_rule
    }

    /// The locations that are shown in addition to the first one.
    fn told(&self, plan: Plan) -> impl Iterator<Item = &Other<'a>> {
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
        let places: usize = self.told(plan).map(|other| other.place.len() + 1).sum();
        named + said + places + if self.count > 1 { COUNTS_CHARS } else { 0 }
    }
}
