//! Finds numbers that are many times larger than in all other lines of their template: 48211 ms where others took 40.

use super::Numbered;
use super::numbers::Numbers;

/// From this many lines on, it is known which numbers are usual.
const ENOUGH_LINES: usize = 64;
/// Such a number makes its line longer by this many bytes, and is this many times larger.
const LONGER: usize = 2;
const TIMES: u32 = 20;
/// Smaller numbers are never reported.
const LEAST: u32 = 100;
/// The most such lines that are shown for a template; with more, large numbers are not exceptions.
const MOST: usize = 2;

/// The longest usual line of a template, with which longer lines are compared: most lines only cost a comparison of
/// lengths.
#[derive(Debug)]
pub(super) struct Large<'a> {
    longest: Numbered<'a>,
    found: Vec<Numbered<'a>>,
}

impl<'a> Large<'a> {
    pub(super) fn of(first: Numbered<'a>) -> Self {
        Self {
            longest: first,
            found: Vec::new(),
        }
    }

    /// Adds a line, after `before` others.
    #[inline]
    pub(super) fn line(&mut self, here: Numbered<'a>, lines: usize) {
        if here.line.len() > self.longest.line.len() {
            self.longer(here, lines);
        }
    }

    fn longer(&mut self, here: Numbered<'a>, lines: usize) {
        let is_much = here.line.len() >= self.longest.line.len() + LONGER;
        if lines < ENOUGH_LINES || !is_much || !is_greater(here.line, self.longest.line) {
            self.longest = here;
        } else if self.found.len() <= MOST {
            self.found.push(here);
        }
    }

    /// The lines with such a number.
    pub(super) fn found(&self) -> &[Numbered<'a>] {
        if self.found.len() > MOST {
            &[]
        } else {
            &self.found
        }
    }
}

/// Whether a number in `line` is many times larger than in `usual`.
fn is_greater(line: &str, usual: &str) -> bool {
    let (here, usual) = (Numbers::of(line), Numbers::of(usual));
    let mut pairs = here.values.iter().zip(&usual.values).take(here.count);
    here.count == usual.count
        && pairs.any(|(here, usual)| *here >= LEAST && *here / TIMES >= (*usual).max(1))
}

#[cfg(test)]
mod tests {
    use super::super::Templates;

    fn odd(lines: &[String]) -> Vec<&str> {
        let mut templates = Templates::watching();
        for (number, line) in lines.iter().enumerate() {
            templates.add(number, line);
        }
        let odd = templates.odd();
        odd.into_iter().map(|odd| odd.first.line).collect()
    }

    #[test]
    fn a_number_that_is_many_times_the_usual_stands_out() {
        let mut lines: Vec<String> = (0..400)
            .map(|leaf| format!("leaf {leaf:03} took {} ms", leaf * 7 % 53))
            .collect();
        assert!(odd(&lines).is_empty());
        if let Some(line) = lines.get_mut(300) {
            *line = "leaf 300 took 48211 ms".to_owned();
        }
        assert_eq!(odd(&lines), ["leaf 300 took 48211 ms"]);
    }

    #[test]
    fn numbers_that_grow_or_often_are_great_do_not() {
        let grown: Vec<String> = (0..4_000).map(|leaf| format!("leaf {leaf}")).collect();
        assert!(odd(&grown).is_empty());
        let often: Vec<String> = (0..400)
            .map(|leaf| {
                let time = if leaf % 90 == 89 {
                    100_000 + leaf
                } else {
                    leaf % 50
                };
                format!("leaf {leaf:03} took {time} ms")
            })
            .collect();
        assert!(odd(&often).is_empty());
    }
}
