//! Numbers that are the same in nearly all lines of a template: the few lines that have another one there say
//! something, as one `-> 503` among hundreds of `-> 200` does.

use super::Numbered;
use super::numbers::{NUMBERS, Numbers, values};

/// Ways to differ from the usual line that are told apart at a time.
const MAX_HELD: usize = 4;
/// A number that differs in so many ways is no state but a measure or a count.
const WAYS_OF_A_MEASURE: usize = 3;
/// After so many lines in a row that differ alike, they are the usual ones.
const NEW_USUAL: usize = 16;
/// Lines that differ alike are odd up to one in so many; a single one among so many.
const ODD_SHARE: usize = 20;
const ODD_ONE_OF: usize = 8;

/// Lines of a template that differ alike from its usual ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held<'a> {
    numbers: Numbers,
    pub(super) first: Numbered<'a>,
    last: Numbered<'a>,
    pub(super) count: usize,
}

/// Lines that turned out to be usual.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual<'a> {
    pub(super) count: usize,
    pub(super) last: Option<Numbered<'a>>,
}

impl<'a> Usual<'a> {
    /// With so many lines more, of which that is the last.
    fn with(self, count: usize, last: Numbered<'a>) -> Self {
        Self {
            count: self.count + count,
            last: self.last.max(Some(last)),
        }
    }
}

/// How a usual line begins and ends, with the numbers that are fixed and the signs beside them: told without
/// reading the numbers between.
#[derive(Clone, Copy, Debug)]
struct Ends<'a> {
    head: &'a str,
    tail: &'a str,
}

impl<'a> Ends<'a> {
    fn of(line: &'a str, head: usize, tail: usize) -> Option<Self> {
        Some(Self {
            head: line.get(..head)?,
            tail: line.get(tail..)?,
        })
    }

    fn are_of(&self, line: &str) -> bool {
        line.len() >= self.head.len() + self.tail.len()
            && line.starts_with(self.head)
            && line.ends_with(self.tail)
    }
}

/// What is usual in the lines of a template, and those that differ.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    usual: Numbers,
    /// A bit for each number that is the same in the usual lines.
    fixed: u32,
    ends: Option<Ends<'a>>,
    last_usual: usize,
    held: Vec<Held<'a>>,
    /// How many lines in a row differ alike up to the last, and with which numbers.
    row: (usize, Numbers),
    /// A bit for each number of which the usual value was another once.
    changed: u32,
}

impl<'a> Watch<'a> {
    /// What the first lines of a template have in common: a number that is another in each is a count or a measure.
    pub(super) fn of(lines: [Numbered<'a>; 3]) -> Self {
        let [first, second, third] = lines.map(|line| Numbers::of(line.line));
        let mut fixed = (1 << first.count.min(NUMBERS)) - 1;
        let mut usual = first;
        if second.count == first.count && third.count == first.count {
            fixed &=
                !(first.differing(&second) & second.differing(&third) & third.differing(&first));
            let others = second.values.iter().zip(third.values);
            for (value, (second, third)) in usual.values.iter_mut().zip(others) {
                if *second == third {
                    *value = third;
                }
            }
        }
        let [_, _, last] = lines;
        Self {
            usual,
            fixed,
            ends: None,
            last_usual: last.number,
            held: Vec::new(),
            row: (0, usual),
            changed: 0,
        }
    }

    /// One more line; the lines that are known to be usual now.
    pub(super) fn line(&mut self, here: Numbered<'a>) -> Usual<'a> {
        if self.fixed == 0 {
            return Usual::default().with(1, here);
        }
        if self.is_usual(here.line) {
            self.last_usual = here.number;
            self.row.0 = 0;
            return Usual::default().with(1, here);
        }
        let numbers = Numbers::of(here.line);
        if numbers.count != self.usual.count {
            // Nobody can say which of them stands for which.
            return Usual::default().with(1, here);
        }
        let mut usual = Usual::default();
        if self.held.len() == MAX_HELD && self.alike(&numbers).is_none() {
            usual = self.release_measures(&numbers);
            if self.differing(&numbers, &self.usual) == 0 {
                self.last_usual = here.number;
                return usual.with(1, here);
            }
        }
        let in_row = self.row.0 > 0 && self.differing(&numbers, &self.row.1) == 0;
        self.row = (if in_row { self.row.0 + 1 } else { 1 }, numbers);
        match self.alike(&numbers).and_then(|at| self.held.get_mut(at)) {
            Some(held) => {
                held.count += 1;
                held.last = here;
            }
            None => self.held.push(Held {
                numbers,
                first: here,
                last: here,
                count: 1,
            }),
        }
        if self.row.0 < NEW_USUAL {
            return usual;
        }
        let changed = self.differing(&numbers, &self.usual);
        // What changes for good again and again is a slow count, as that of the minutes.
        self.fixed &= !(changed & self.changed);
        self.changed |= changed;
        self.usual = numbers;
        self.ends = None;
        self.last_usual = here.number;
        self.row.0 = 0;
        self.release(usual)
    }

    /// At the end of a template of which `count` lines are usual: those that are usual too. The others stay
    /// and are odd.
    pub(super) fn end(&mut self, count: usize) -> Usual<'a> {
        let last_usual = self.last_usual;
        let mut usual = Usual::default();
        self.held.retain(|held| {
            let is_odd = if held.count == 1 {
                count >= ODD_ONE_OF
            } else {
                held.count * ODD_SHARE <= count
            };
            // What never was as before any more is a new state, which the last line tells.
            let stays = is_odd && held.first.number < last_usual;
            if !stays {
                usual = usual.with(held.count, held.last);
            }
            stays
        });
        usual
    }

    /// The lines that are odd.
    pub(super) fn odd(&self) -> &[Held<'a>] {
        &self.held
    }

    /// Whether `line` has the numbers of the usual lines.
    fn is_usual(&mut self, line: &'a str) -> bool {
        if self.ends.is_some_and(|ends| ends.are_of(line)) {
            return true;
        }
        let last = u32::BITS - self.fixed.leading_zeros();
        let ending = if last as usize == self.usual.count {
            (self.fixed << (u32::BITS - last)).leading_ones()
        } else {
            0
        };
        let heading = self.fixed.trailing_ones().min(last - ending);
        let (mut head, mut tail) = (0, line.len());
        for ((place, (value, range)), usual) in (0..last).zip(values(line)).zip(self.usual.values) {
            if self.fixed >> place & 1 == 1 && value != usual {
                return false;
            }
            if place + 1 == heading {
                head = range.end + 1;
            }
            if place + ending == last {
                tail = range.start.saturating_sub(1);
            }
        }
        if heading + ending == self.fixed.count_ones() {
            self.ends = Ends::of(line, head, tail);
        }
        true
    }

    /// The numbers that are the same in the usual lines and not in these two.
    fn differing(&self, one: &Numbers, other: &Numbers) -> u32 {
        self.fixed & one.differing(other)
    }

    fn alike(&self, numbers: &Numbers) -> Option<usize> {
        let differs = |held: &Held<'_>| self.differing(&held.numbers, numbers);
        self.held.iter().position(|held| differs(held) == 0)
    }

    /// Numbers that differ in many ways are watched no longer, nor the lines that differ by them alone.
    fn release_measures(&mut self, numbers: &Numbers) -> Usual<'a> {
        let mut measures = 0;
        for place in 0..NUMBERS {
            let at = |numbers: &Numbers| numbers.values.get(place).copied();
            let mut ways: Vec<_> = self.held.iter().map(|held| at(&held.numbers)).collect();
            ways.extend([at(numbers), at(&self.usual)]);
            ways.sort_unstable();
            ways.dedup();
            measures |= u32::from(ways.len() > WAYS_OF_A_MEASURE) << place;
        }
        self.fixed &= !measures;
        let usual = self.release(Usual::default());
        if self.held.len() < MAX_HELD {
            return usual;
        }
        self.fixed = 0;
        self.release(usual)
    }

    /// Lets go what does not differ from the usual lines, and takes together what differs alike.
    fn release(&mut self, mut usual: Usual<'a>) -> Usual<'a> {
        for held in std::mem::take(&mut self.held) {
            if self.differing(&held.numbers, &self.usual) == 0 {
                usual = usual.with(held.count, held.last);
                continue;
            }
            match self
                .alike(&held.numbers)
                .and_then(|at| self.held.get_mut(at))
            {
                Some(other) => {
                    other.count += held.count;
                    other.last = other.last.max(held.last);
                }
                None => self.held.push(held),
            }
        }
        usual
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::super::super::input::Exit;
    use super::super::super::terminal;
    use super::super::Templates;

    /// The lines that are odd, each with how many differ alike, and how many lines the others are.
    fn odd(lines: &[String]) -> (Vec<(&str, usize)>, usize) {
        let mut templates = Templates::watching();
        for (number, line) in lines.iter().enumerate() {
            templates.add(number, line);
        }
        let odd = templates.odd();
        let told = odd.iter().map(|odd| (odd.first.line, odd.count));
        let usual = templates.iter().map(|template| template.count).sum();
        (told.collect(), usual)
    }

    fn leaves(count: usize, line: impl Fn(usize) -> String) -> Vec<String> {
        (0..count).map(line).collect()
    }

    #[test]
    fn a_number_that_is_another_in_few_lines_is_odd_wherever_it_stands() {
        let forms: [fn(usize, u8) -> String; 5] = [
            |leaf, state| format!("GET /leaf/{leaf} -> 20{state}"),
            |leaf, state| format!("oak-{leaf}-x {state}/1 Running {}d", leaf * 7 % 40),
            |leaf, state| format!("{state} knots in leaf {leaf}, {} ms", leaf * 13 % 101),
            |leaf, state| format!("{:064x} leaf up={state} load=0.{leaf}", leaf * 77_777),
            |leaf, state| format!("leaf {leaf} of oak{leaf} ({state})"),
        ];
        for form in forms {
            for at in [4, 57, 118] {
                let lines = leaves(120, |leaf| form(leaf, u8::from(leaf != at)));
                let expected = vec![(form(at, 0), 1)];
                let (told, usual) = odd(&lines);
                let told: Vec<_> = told
                    .iter()
                    .map(|(line, n)| ((*line).to_owned(), *n))
                    .collect();
                assert_eq!((told, usual), (expected, 119));
            }
        }
    }

    #[test]
    fn lines_that_differ_alike_are_counted() {
        let status = |leaf| match leaf % 100 {
            7 => 503,
            9 => 404,
            _ => 200,
        };
        let lines = leaves(1_000, |leaf| {
            format!("GET /leaf/{leaf} {} {} ms", status(leaf), leaf % 83)
        });
        let (told, usual) = odd(&lines);
        let expected = [("GET /leaf/7 503 7 ms", 10), ("GET /leaf/9 404 9 ms", 10)];
        assert_eq!((told, usual), (expected.to_vec(), 980));
    }

    #[test]
    fn a_log_tells_records_with_a_number_that_is_another_than_usual() {
        let line = |second: usize, attempts| {
            let time = format!("2026-01-02 10:{:02}:{:02}", second / 60, second % 60);
            format!(
                "{time} INFO oak {} sent, attempts={attempts}, {second} ms\n",
                second * 7
            )
        };
        let text: String = (0..600)
            .map(|second| line(second, 1 + u8::from(second == 57)))
            .collect();
        let (told, _) = terminal::reduce(&text, None, Exit::Success, usize::MAX).unwrap();
        assert!(told.contains(&line(57, 2)), "{told}");
        assert!(told.contains("oak 0 sent, attempts=1, 0 ms ×599"), "{told}");
    }

    #[test]
    fn counts_measures_and_states_that_many_lines_have_are_usual() {
        let forms: [fn(usize) -> String; 5] = [
            |leaf| format!("leaf {leaf}"),
            |leaf| format!("leaf {} of {}", leaf * 7_919 % 1_000, leaf % 3),
            |leaf| format!("2026-01-{:02} {:02}:00:00 leaf", 1 + leaf / 24, leaf % 24),
            |leaf| format!("leaf {}", leaf / 50),
            // A new state that stays is told by the last line.
            |leaf| format!("leaf {leaf} in round {}", leaf / 395),
        ];
        for form in forms {
            let lines = leaves(400, form);
            assert_eq!(odd(&lines), (Vec::new(), 400), "{}", form(17));
        }
    }

    #[test]
    fn the_usual_number_may_change_for_good() {
        let lines = leaves(400, |leaf| {
            let state = if leaf == 300 { 3 } else { 1 + leaf / 200 };
            format!("leaf {leaf} in round {state}")
        });
        assert_eq!(odd(&lines), (vec![("leaf 300 in round 3", 1)], 399));
    }

    #[test]
    fn lines_with_other_numbers_of_numbers_are_not_compared() {
        let lines = leaves(400, |leaf| {
            format!("oak {} leaf 1", if leaf == 7 { "12:30" } else { "a1b2" })
        });
        let mut templates = Templates::watching();
        for (number, line) in lines.iter().enumerate() {
            templates.add_told_apart(1, 1, number, line);
        }
        assert!(templates.odd().is_empty());
    }
}
