//! Decides what happens to each line of an output.

use hashbrown::HashSet;

use super::rules::{Rest, Rule, Rules};
use crate::input::{Exit, Input};
use crate::line::fingerprint::fingerprint;
use crate::line::mask::mask;

/// How many lines with `once` are remembered.
const MOST_ONCE: usize = 65_536;

/// What happens to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is removed.
    Goes,
    /// It is always kept.
    Fact,
    /// It is kept if there is space.
    Stays,
    /// It is counted with other lines of its shape.
    Counted(u64),
    /// No pattern matches it.
    Unknown,
}

/// The decision for each line, whether a line reports a failure, and whether any pattern matched.
pub(super) struct Fates {
    pub(super) all: Vec<Fate>,
    pub(super) failed: bool,
    pub(super) known: bool,
}

impl Fates {
    pub(super) fn of(lines: &[&str], rules: &Rules, input: &Input<'_>) -> Self {
        let mut reader = Reader {
            rules,
            exit: input.exit,
            section: None,
            frames: 0,
            failed: false,
            known: false,
            shown: HashSet::new(),
        };
        let mut all: Vec<Fate> = lines.iter().map(|line| reader.line(line)).collect();
        around_facts(&mut all, rules);
        shorten_rest(&mut all, rules.rest_shown);
        let texts = all.iter_mut().zip(lines).rev();
        let texts = texts.filter(|(_, line)| !line.trim_ascii().is_empty());
        for (fate, _) in texts.take(rules.verdict_lines) {
            *fate = Fate::Fact;
        }
        Self {
            all,
            failed: reader.failed,
            known: reader.known || rules.rest != Rest::Keep || rules.rest_shown != usize::MAX,
        }
    }
}

/// Keeps the first and the last of the lines that no pattern matches, `shown` in total.
fn shorten_rest(all: &mut [Fate], shown: usize) {
    let unknown = || all.iter().filter(|fate| **fate == Fate::Unknown).count();
    if shown == usize::MAX || unknown() <= shown {
        return;
    }
    let last_from = unknown().saturating_sub(shown / 2);
    let unknown = all.iter_mut().filter(|fate| **fate == Fate::Unknown);
    for (number, fate) in unknown.enumerate() {
        if number >= shown.div_ceil(2) && number < last_from {
            *fate = Fate::Goes;
        }
    }
}

/// Keeps lines around facts, unless they are known to be useless.
fn around_facts(all: &mut [Fate], rules: &Rules) {
    if rules.before == 0 && rules.after == 0 {
        return;
    }
    let facts: Vec<usize> = (0..)
        .zip(all.iter())
        .filter(|(_, fate)| **fate == Fate::Fact)
        .map(|(number, _)| number)
        .collect();
    for number in facts {
        let first = number.saturating_sub(rules.before);
        for fate in all
            .iter_mut()
            .skip(first)
            .take(number - first + rules.after + 1)
        {
            if matches!(fate, Fate::Unknown | Fate::Counted(_)) {
                *fate = Fate::Stays;
            }
        }
    }
}

struct Reader<'r> {
    rules: &'r Rules,
    exit: Exit,
    /// The number of the current section, and how many of its lines are shown.
    section: Option<(usize, usize)>,
    /// The number of consecutive frames.
    frames: usize,
    failed: bool,
    known: bool,
    /// Lines with `once` that were already shown.
    shown: HashSet<u64>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Fate {
        let section = |number: usize| self.rules.sections.get(number);
        if line.trim_ascii().is_empty() {
            let is_open =
                |&(open, _): &(usize, usize)| section(open).is_some_and(|open| open.has_end);
            self.section = self.section.filter(is_open);
            return Fate::Goes;
        }
        let (mut stays, mut begins, mut goes) = (None, None, None);
        let mut once = None;
        let mut is_counted = false;
        let (mut is_frame, mut is_failure) = (false, false);
        let mut ends = false;
        for rule in self.rules.of(line, self.exit) {
            match rule {
                Rule::First => {}
                Rule::Failure => {
                    self.failed = true;
                    is_failure = true;
                    stays = Some(Fate::Fact);
                }
                Rule::Fact => stays = Some(Fate::Fact),
                Rule::Keep => stays = stays.or(Some(Fate::Stays)),
                Rule::Begin(number) => begins = begins.or(Some(number)),
                Rule::End(number) => ends |= self.section.is_some_and(|(open, _)| open == number),
                Rule::Drop => goes = Some(Fate::Goes),
                Rule::Once(number) => once = once.or(Some(number)),
                Rule::Count => is_counted = true,
                Rule::Frame => is_frame = true,
            }
        }
        // A failure is reported wherever it is.
        let is_repeated = goes.is_none()
            && once.is_some_and(|number| self.is_repeated(number, line))
            && !is_failure;
        let goes = goes
            .or_else(|| is_repeated.then_some(Fate::Goes))
            .or_else(|| once.map(|_| Fate::Stays))
            .or_else(|| is_counted.then(|| Fate::Counted(mask(line))));
        let stays = stays.filter(|_| !is_repeated);
        self.known |= stays.is_some() || begins.is_some() || goes.is_some() || is_frame;
        self.frames = if is_frame { self.frames + 1 } else { 0 };
        if ends {
            self.section = None;
        }
        if let Some(begin) = begins {
            self.section = Some((begin, 0));
            return Fate::Fact;
        }
        if let Some(stays) = stays {
            return stays;
        }
        if let Some((number, shown)) = &mut self.section {
            *shown = shown.saturating_add(1);
            let most = self.rules.sections.get(*number);
            return match goes {
                Some(Fate::Goes) => Fate::Goes,
                _ if most.is_some_and(|section| *shown <= section.shown) => Fate::Stays,
                _ => Fate::Goes,
            };
        }
        match goes {
            Some(fate) => fate,
            None if is_frame && self.frames <= self.rules.frames => Fate::Stays,
            None if is_frame => Fate::Goes,
            None => Fate::Unknown,
        }
    }

    /// Whether a line with `once` was seen before; when too many are remembered, later ones count as new.
    fn is_repeated(&mut self, number: usize, line: &str) -> bool {
        let group = self.rules.group(number, line);
        let key = group.unwrap_or_else(|| fingerprint(line.trim_ascii()));
        self.shown.len() < MOST_ONCE && !self.shown.insert(key)
    }
}
