//! Places lines by value and length until the target is full. A line counts less the more of its words are shown.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};

use ethos_registry_core::find_text::FindText as _;
use hashbrown::HashSet;

use crate::cells::Cells;
use crate::folds::{Degree, Folds, folds};
use crate::row::{Width, row};
use crate::source::{Kind, Part, Source, real};
use crate::template::hashed;

/// How much the length of a line counts against it.
const DENSITY: f64 = 0.4;
/// What a gap mark takes.
const GAP_CHARS: usize = 20;
/// The least worth of a line that is folded into another.
const FOLDED: f64 = 1.2;
/// What is left of the value of a line whose words are all shown.
const KNOWN: f64 = 0.3;
/// A line is looked at so often at most.
const MOST_TRIES: u8 = 4;
/// Headings above a line that come with it.
const MOST_HEADINGS: usize = 3;

/// The lines that are shown, with those that are folded into them.
pub(crate) type Rows = BTreeMap<usize, Vec<usize>>;

/// What does not depend on the room that is left.
pub(crate) struct Plan<'s, 'a> {
    source: &'s Source<'a>,
    pub(crate) folds: Folds,
    live: Vec<usize>,
    /// The place of each line in `live`.
    places: Cells<usize>,
    chars: Cells<usize>,
}

/// A line that waits to be placed.
struct Candidate {
    reserved: u8,
    worth: f64,
    line: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let worth = self.worth.total_cmp(&other.worth);
        let reserved = self.reserved.cmp(&other.reserved);
        reserved.then(worth).then(other.line.cmp(&self.line))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

impl<'s, 'a> Plan<'s, 'a> {
    pub(crate) fn new(
        source: &'s Source<'a>,
        parts: &[Part],
        target_chars: usize,
        degree: Degree,
    ) -> Self {
        let width = Width::of(source, target_chars);
        let count = source.lines.len();
        let folds = folds(source, parts, target_chars, degree);
        let live = source.live(0, count);
        let mut places = Cells::new(count);
        let mut chars = Cells::new(count);
        for (place, number) in live.iter().enumerate() {
            places[*number] = place + 1;
            chars[*number] = match folds.get(number) {
                Some((_, key, _)) => key.chars(source) + 1,
                None => row(source, &source.lines[*number], width).text.char_count() + 1,
            };
        }
        Self {
            source,
            folds,
            live,
            places,
            chars,
        }
    }

    /// The rows that fit into a number of characters.
    pub(crate) fn fit(&self, room: usize, accepts: impl Fn(Kind) -> bool) -> Rows {
        let mut fit = Fit {
            plan: self,
            rows: Rows::new(),
            is_shown: Cells::new(self.source.lines.len()),
            words: HashSet::new(),
        };
        let waits = |number: &&usize| {
            let line = &self.source.lines[**number];
            line.value > 0.0 && accepts(line.kind)
        };
        let mut queue: BinaryHeap<Candidate> = self
            .live
            .iter()
            .filter(waits)
            .map(|number| Candidate {
                reserved: self.source.lines[*number].reserved,
                worth: self.best(*number),
                line: *number,
            })
            .collect();
        let mut used = 0;
        let mut tried: HashSet<usize> = HashSet::new();
        let mut tries: Cells<u8> = Cells::new(self.source.lines.len());
        while let Some(Candidate {
            mut reserved,
            worth,
            mut line,
        }) = queue.pop()
        {
            if fit.is_shown[line] {
                continue;
            }
            let mut is_forced = reserved > 0;
            if let Some((first, _, _)) = self.folds.get(&line)
                && !fit.is_shown[*first]
            {
                if !tried.insert(*first) {
                    continue; // it did not fit
                }
                queue.push(Candidate {
                    reserved: 0,
                    worth,
                    line,
                });
                (line, reserved, is_forced) = (*first, 0, true);
            }
            // A detail of a folded finding would be under another one.
            if self.source.lines[line]
                .unit
                .is_some_and(|unit| self.folds.contains_key(&unit))
            {
                continue;
            }
            let now = fit.worth(line);
            let is_behind = queue
                .peek()
                .is_some_and(|next| next.reserved > 0 || now < next.worth);
            if !is_forced && is_behind && tries[line] < MOST_TRIES {
                tries[line] += 1;
                queue.push(Candidate {
                    reserved,
                    worth: now,
                    line,
                });
                continue;
            }
            let wanted = fit.with_others(line);
            let is_reserved = self.source.lines[line].reserved > 0;
            for group in [wanted.as_slice(), &[line]]
                .into_iter()
                .take(1 + usize::from(is_reserved))
            {
                let charge: isize = group.iter().map(|number| fit.cost(*number)).sum();
                let total = used + charge;
                if usize::try_from(total).is_ok_and(|total| total <= room) {
                    for number in group {
                        fit.show(*number);
                    }
                    used = total;
                    break;
                }
            }
        }
        for folded in fit.rows.values_mut() {
            folded.sort_unstable();
        }
        fit.rows
    }

    /// The worth of a line without a shown word.
    fn best(&self, number: usize) -> f64 {
        let value = self.source.lines[number].value;
        let value = if self.folds.contains_key(&number) {
            value.max(FOLDED + 0.5 * value)
        } else {
            value
        };
        value / (real(self.chars[number]) + 12.0).powf(DENSITY)
    }
}

struct Fit<'p, 's, 'a> {
    plan: &'p Plan<'s, 'a>,
    rows: Rows,
    is_shown: Cells<bool>,
    /// Hashes of the words that are shown.
    words: HashSet<u64>,
}

impl Fit<'_, '_, '_> {
    fn worth(&self, number: usize) -> f64 {
        let source = self.plan.source;
        let line = &source.lines[number];
        let text = source.at(number);
        let (mut total, mut new) = (0, 0);
        each_word(text, line.kind == Kind::Change, |word, weight| {
            total += weight;
            if !self.words.contains(&word) {
                new += weight;
            }
        });
        let mut share = if total > 0 {
            real(new) / real(total)
        } else if text.bytes().any(|byte| byte.is_ascii_alphanumeric()) {
            0.6
        } else {
            0.0
        };
        if line.kind == Kind::Change || line.kind == Kind::Failure && line.detail > 0 {
            share = share.max(0.6); // the message of a failure, although its words occur in others
        }
        let has_place = matches!(
            line.kind,
            Kind::Location | Kind::Frame | Kind::Failure | Kind::Warning | Kind::Title
        );
        if has_place && !line.place.is_empty() {
            let place = hashed(source.slice(line.place).as_bytes());
            let is_new = !self.words.contains(&place);
            share = (share + if is_new { 2.0 } else { 0.0 }) / 3.0;
        }
        self.plan.best(number) * (KNOWN + (1.0 - KNOWN) * share)
    }

    /// A line with its bundle and the headings above it.
    fn with_others(&self, number: usize) -> Vec<usize> {
        let source = self.plan.source;
        let line = &source.lines[number];
        let mut wanted = vec![number];
        if self.plan.folds.contains_key(&number) {
            return wanted;
        }
        let is_free =
            |number: usize| !self.is_shown[number] && !self.plan.folds.contains_key(&number);
        if let Some(bundle) = line.bundle {
            let others = source.bundles[bundle].iter().copied();
            wanted.extend(others.filter(|other| {
                *other != number && is_free(*other) && source.lines[*other].value > 0.0
            }));
        }
        let most = wanted.len() + MOST_HEADINGS;
        let mut above = line.heading;
        while let Some(heading) = above.filter(|heading| is_free(*heading) && wanted.len() < most) {
            if !wanted.contains(&heading) {
                wanted.push(heading);
            }
            above = source.lines[heading].heading.filter(|next| *next < heading);
        }
        wanted
    }

    /// The characters that a line takes, with the gap marks that it adds or closes.
    fn cost(&self, number: usize) -> isize {
        let chars = isize::try_from(self.plan.chars[number]).unwrap_or(isize::MAX / 4);
        let place = self.plan.places[number];
        if self.plan.folds.contains_key(&number) || place == 0 {
            return chars;
        }
        let is_shown = |place: usize| {
            place == 0
                || self
                    .plan
                    .live
                    .get(place - 1)
                    .is_some_and(|near| self.is_row(*near))
        };
        let near = usize::from(is_shown(place - 1)) + usize::from(is_shown(place + 1));
        let gap = isize::try_from(GAP_CHARS).unwrap_or_default();
        match near {
            0 => chars + gap,
            1 => chars,
            _ => chars - gap,
        }
    }

    fn is_row(&self, number: usize) -> bool {
        self.is_shown[number] && !self.plan.folds.contains_key(&number)
    }

    fn show(&mut self, number: usize) {
        let source = self.plan.source;
        self.is_shown[number] = true;
        match self.plan.folds.get(&number) {
            Some((first, _, _)) => self.rows.entry(*first).or_default().push(number),
            None => {
                self.rows.entry(number).or_default();
            }
        }
        let line = &source.lines[number];
        each_word(source.at(number), line.kind == Kind::Change, |word, _| {
            self.words.insert(word);
        });
        if !line.place.is_empty() {
            self.words
                .insert(hashed(source.slice(line.place).as_bytes()));
        }
    }
}

/// Calls `read` with the hash and the weight of each word: names, numbers of two digits and more, paths. Of a changed
/// line all words count.
fn each_word(text: &str, is_change: bool, mut read: impl FnMut(u64, usize)) {
    let bytes = text.as_bytes();
    let byte = |at: usize| bytes.get(at).copied().unwrap_or_default();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let is_joined = |byte: u8| is_word(byte) || matches!(byte, b'.' | b'-' | b'@' | b'/');
    let mut at = 0;
    while at < bytes.len() {
        if !is_joined(byte(at)) {
            at += 1;
            continue;
        }
        let start = at;
        let mut is_path = false;
        while is_joined(byte(at))
            || byte(at) == b':'
                && (byte(at + 1).is_ascii_digit() && is_path
                    || byte(at + 1) == b':'
                    || (at > start && byte(at - 1) == b':' && is_word(byte(at + 1))))
        {
            is_path |= byte(at) == b'/' || byte(at) == b':';
            at += 1;
        }
        let token = bytes.get(start..at).unwrap_or_default();
        if is_path {
            read(hashed(token), 3);
            continue;
        }
        if is_change {
            for word in token
                .split(|byte| !is_word(*byte))
                .filter(|word| !word.is_empty())
            {
                read(hashed(word), 1);
            }
            continue;
        }
        let first = token
            .iter()
            .take_while(|byte| matches!(byte, b'.' | b'-' | b'@' | b'_'))
            .count();
        let word = token.get(first..).unwrap_or_default();
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let name = word.get(digits..).unwrap_or_default();
        if digits >= 2 {
            read(hashed(word.get(..digits).unwrap_or_default()), 1);
        }
        if name.len() >= 3 {
            read(hashed(name), 1);
        }
    }
}
