//! Calls counted by caller, owner, tool, outcome, day and duration.

use std::hash::Hash;

use hashbrown::HashMap;

/// The bucket of calls that never reached an implementation.
pub const NOT_REACHED: i16 = -1;

/// The bucket of everything longer than the others hold.
pub const LAST_BUCKET: i16 = 255;

/// How much wider each bucket is than the one before.
pub const BUCKET_GROWTH: f64 = 1.12;

/// Names that no tool has are counted under this one when there are too many of them.
pub const OTHER_NAMES: &str = "(other unknown names)";

const FIRST_SECONDS: f64 = 1e-6;
const SECONDS_PER_DAY: f64 = 86_400.0;
const MICROSECONDS: f64 = 1e6;
const NANO_USD: f64 = 1e9;
/// One call is counted with at most ten years and a million dollars: sums must fit into 64 bits.
const MOST_SECONDS: f64 = 10.0 * 365.0 * SECONDS_PER_DAY;
const MOST_NANO_USD: f64 = 1e15;
const MOST_CHARS: i64 = 1 << 48;
const MAX_NAME_CHARS: usize = 200;

/// The bucket of a duration: each is 12 % wider than the one before, the first ends at one
/// microsecond.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a float saturates"
)]
pub fn bucket_of(seconds: f64) -> i16 {
    // NaN is no longer than anything.
    if seconds.is_nan() || seconds <= FIRST_SECONDS {
        return 0;
    }
    let steps = (seconds / FIRST_SECONDS).ln() / BUCKET_GROWTH.ln();
    (steps.ceil() as i16).min(LAST_BUCKET)
}

/// The name as databases take it: without NUL, and cut after 200 characters.
#[must_use]
pub fn stored_name(name: &str) -> String {
    let mut shortened = String::with_capacity(name.len().min(MAX_NAME_CHARS));
    for (place, character) in name.chars().enumerate() {
        if place == MAX_NAME_CHARS {
            shortened.push_str("...");
            break;
        }
        shortened.push(if character == '\0' {
            '\u{fffd}'
        } else {
            character
        });
    }
    shortened
}

/// A name by its number in [`UsageCounts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NameId(u32);

/// Calls that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    day: i32,
    agent: NameId,
    owner: NameId,
    tool: NameId,
    outcome: NameId,
    bucket: i16,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Who called.
    pub agent: NameId,
    /// Who had registered the tool.
    pub owner: NameId,
    /// What was called.
    pub tool: NameId,
    /// How it ended.
    pub outcome: NameId,
    /// Unix time.
    pub started_at_seconds: f64,
    /// How long it ran; `None` for a call that never reached the implementation.
    pub duration_seconds: Option<f64>,
    /// Characters as the tool returned them, after the reducer, and as sent.
    pub chars: [i64; 3],
    /// In US dollars.
    pub cost_usd: f64,
    /// Whether its arguments were repaired.
    pub is_repaired: bool,
}

/// Sums over calls: their number, characters (raw, reduced, sent), nano-dollars, microseconds,
/// and how many had repaired arguments.
pub type Sums = [i64; 7];

/// The calls of one cell, with its names in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Days since 1970-01-01, UTC.
    pub day: i32,
    /// Who called.
    pub agent: String,
    /// Who had registered the tool.
    pub owner: String,
    /// What was called.
    pub tool: String,
    /// How it ended.
    pub outcome: String,
    /// Of the duration, or [`NOT_REACHED`].
    pub bucket: i16,
    /// What the calls add up to.
    pub sums: Sums,
}

/// Sums by caller, owner, tool, outcome, day and duration, in bounded memory.
#[derive(Debug, Default)]
pub struct UsageCounts {
    cells: HashMap<Key, Sums>,
    names: Vec<Box<str>>,
    ids: HashMap<Box<str>, NameId>,
    unknown_names: HashMap<Box<str>, ()>,
    max_cells: usize,
    max_unknown_names: usize,
    calls: u64,
    lost_calls: u64,
}

impl UsageCounts {
    /// Counts that hold at most this many cells, and this many names that no tool has.
    #[must_use]
    pub fn new(max_cells: usize, max_unknown_names: usize) -> Self {
        Self {
            max_cells,
            max_unknown_names,
            ..Self::default()
        }
    }

    /// The number of a name, good until the next [`UsageCounts::take`].
    pub fn id(&mut self, name: &str) -> NameId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = NameId(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The same for a name that no tool has: models make them up without end.
    pub fn unknown_id(&mut self, name: &str) -> NameId {
        let name = stored_name(name);
        if !self.unknown_names.contains_key(&*name) {
            if self.unknown_names.len() >= self.max_unknown_names {
                return self.id(OTHER_NAMES);
            }
            self.unknown_names.insert((&*name).into(), ());
        }
        self.id(&name)
    }

    /// Count one call.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the values are clamped, and a cast saturates"
    )]
    pub fn add(&mut self, call: &Call) {
        let bucket = call.duration_seconds.map_or(NOT_REACHED, bucket_of);
        let key = Key {
            day: (call.started_at_seconds / SECONDS_PER_DAY).floor() as i32,
            agent: call.agent,
            owner: call.owner,
            tool: call.tool,
            outcome: call.outcome,
            bucket,
        };
        let is_full = self.cells.len() >= self.max_cells;
        let sums = match self.cells.get_mut(&key) {
            Some(sums) => sums,
            None if is_full => {
                self.lost_calls = self.lost_calls.saturating_add(1);
                return;
            }
            None => self.cells.entry(key).or_default(),
        };
        self.calls = self.calls.saturating_add(1);
        let [raw, reduced, sent] = call.chars;
        let seconds = call
            .duration_seconds
            .unwrap_or(0.0)
            .clamp(0.0, MOST_SECONDS);
        let nano_usd = (call.cost_usd * NANO_USD).clamp(-MOST_NANO_USD, MOST_NANO_USD);
        let added = [
            1,
            raw.clamp(0, MOST_CHARS),
            reduced.clamp(0, MOST_CHARS),
            sent.clamp(0, MOST_CHARS),
            nano_usd.round() as i64,
            (seconds * MICROSECONDS).round() as i64,
            i64::from(call.is_repaired),
        ];
        for (sum, part) in sums.iter_mut().zip(added) {
            *sum = sum.saturating_add(part);
        }
    }

    /// Calls since the last [`UsageCounts::take`].
    #[must_use]
    pub const fn calls(&self) -> u64 {
        self.calls
    }

    /// Calls that found no room, ever.
    #[must_use]
    pub const fn lost_calls(&self) -> u64 {
        self.lost_calls
    }

    /// What was counted since the last time.
    pub fn take(&mut self) -> Vec<Cell> {
        let cells = self.cells();
        self.cells = HashMap::new();
        self.names = Vec::new();
        self.ids = HashMap::new();
        self.calls = 0;
        cells
    }

    /// The same, and it stays.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let name = |id: NameId| {
            let index = usize::try_from(id.0).unwrap_or(usize::MAX);
            self.names
                .get(index)
                .map_or_else(String::new, |name| stored_name(name))
        };
        self.cells
            .iter()
            .map(|(key, sums)| Cell {
                day: key.day,
                agent: name(key.agent),
                owner: name(key.owner),
                tool: name(key.tool),
                outcome: name(key.outcome),
                bucket: key.bucket,
                sums: *sums,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(counts: &mut UsageCounts, tool: &str, seconds: Option<f64>) -> Call {
        Call {
            agent: counts.id("clerk"),
            owner: counts.id("boss"),
            tool: counts.id(tool),
            outcome: counts.id("ok"),
            started_at_seconds: 86_400.5,
            duration_seconds: seconds,
            chars: [10, 5, 3],
            cost_usd: 0.001,
            is_repaired: seconds.is_none(),
        }
    }

    #[test]
    fn buckets_grow_by_twelve_percent_and_end() {
        assert_eq!([0.0, 1e-6, -1.0, f64::NAN].map(bucket_of), [0; 4]);
        assert_eq!(
            [1e12, f64::MAX, f64::INFINITY].map(bucket_of),
            [LAST_BUCKET; 3]
        );
        assert_eq!(bucket_of(0.1), 102);
    }

    #[test]
    fn equal_calls_are_one_cell() {
        let mut counts = UsageCounts::new(10, 10);
        for seconds in [Some(0.1), Some(0.1), None] {
            let call = call(&mut counts, "search", seconds);
            counts.add(&call);
        }
        assert_eq!(counts.calls(), 3);
        let mut cells = counts.take();
        cells.sort_by_key(|cell| cell.bucket);
        let sums: Vec<Sums> = cells.iter().map(|cell| cell.sums).collect();
        assert_eq!(
            sums,
            [
                [1, 10, 5, 3, 1_000_000, 0, 1],
                [2, 20, 10, 6, 2_000_000, 200_000, 0]
            ]
        );
        assert_eq!(counts.calls(), 0);
        assert_eq!(counts.take(), []);
    }

    #[test]
    fn what_finds_no_room_is_counted_as_lost() {
        let mut counts = UsageCounts::new(2, 10);
        for tool in ["a", "b", "c", "a"] {
            let call = call(&mut counts, tool, Some(0.1));
            counts.add(&call);
        }
        assert_eq!((counts.calls(), counts.lost_calls()), (3, 1));
    }

    #[test]
    fn names_that_are_made_up_share_one_after_the_first() {
        let mut counts = UsageCounts::new(10, 1);
        let first = counts.unknown_id("first");
        assert_eq!(counts.unknown_id("first"), first);
        let other = counts.unknown_id("second");
        assert_eq!(
            (counts.unknown_id("third"), counts.id(OTHER_NAMES)),
            (other, other)
        );
        assert_eq!(stored_name(&"é\0".repeat(150)).chars().count(), 203);
    }
}
