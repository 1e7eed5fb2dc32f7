//! Finds the tools that match a question: BM25 over weighted fields of their definitions.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use self::definition::{FIELDS, definition_words};
use self::stem::{is_one_edit, is_stop_word, stem};
use self::words::plain_words;
pub use words::words;

mod definition;
mod stem;
mod words;

/// How fast further occurrences of a word stop counting.
const SATURATION: f64 = 1.4;
/// How much a word counts in each field: name, server, description, names of parameters, their
/// descriptions, their choices.
const WEIGHTS: [f64; FIELDS] = [4.0, 1.6, 1.5, 1.0, 0.48, 0.4];
/// How much the length of each field discounts its words.
const LENGTH_WEIGHTS: [f64; FIELDS] = [0.85, 0.2, 0.95, 0.625, 0.36, 0.5];
/// How much a word counts that was taken for a misspelt one.
const TYPO_WEIGHT: f64 = 0.6;
/// Shorter words are not corrected: too many others differ in one letter.
const TYPO_MIN_CHARS: usize = 5;
/// How much the best step of a question counts beside the whole question.
const STEP_WEIGHT: f64 = 0.2;
const MAX_STEPS: usize = 12;
/// Words of a question beyond these are ignored.
const MAX_QUERY_WORDS: usize = 64;
/// Words that begin another step of a question.
const CONJUNCTIONS: [&str; 6] = ["and", "then", "also", "next", "finally", "plus"];

/// How much a definition holds of one word.
#[derive(Clone, Copy, Debug)]
struct Posting {
    tool: usize,
    weight: f64,
}

/// The words of many definitions; never changes.
#[derive(Debug, Default)]
pub struct ToolSearch {
    postings: HashMap<String, Vec<Posting>>,
    by_first_letter: BTreeMap<char, Vec<String>>,
    tools: usize,
}

/// A tool by its position among the definitions, and how well it matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The position of the definition.
    pub position: usize,
    /// The score, above zero.
    pub score: f64,
}

impl ToolSearch {
    /// Index definitions, each `{name, description, parameters}` as JSON text.
    ///
    /// Invalid JSON is indexed as plain text.
    pub fn new<'a>(definitions: impl IntoIterator<Item = &'a str>) -> Self {
        let found: Vec<_> = definitions.into_iter().map(definition_words).collect();
        let mut totals = [0.0_f64; FIELDS];
        for each in &found {
            for (total, length) in totals.iter_mut().zip(each.lengths) {
                *total += f64::from(length);
            }
        }
        let averages = totals.map(|total| (total / count(found.len().max(1))).max(0.1));
        let mut search = Self {
            tools: found.len(),
            ..Self::default()
        };
        for (tool, each) in found.into_iter().enumerate() {
            let mut factors = [0.0_f64; FIELDS];
            let lengths = each.lengths.into_iter().zip(averages);
            for ((factor, weights), (length, average)) in factors
                .iter_mut()
                .zip(WEIGHTS.into_iter().zip(LENGTH_WEIGHTS))
                .zip(lengths)
            {
                let (weight, discount) = weights;
                *factor = weight / (1.0 - discount + discount * f64::from(length) / average);
            }
            for (word, counts) in each.counts {
                let weight = counts
                    .into_iter()
                    .zip(factors)
                    .map(|(count, factor)| f64::from(count) * factor)
                    .sum();
                let posting = Posting { tool, weight };
                search.postings.entry(word).or_default().push(posting);
            }
        }
        for word in search.postings.keys() {
            if let Some(first) = word.chars().next() {
                let words = search.by_first_letter.entry(first).or_default();
                words.push(word.clone());
            }
        }
        search
    }

    /// How many definitions are indexed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools
    }

    /// Whether nothing is indexed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools == 0
    }

    /// The best matches, at most `limit`, the best first; equal ones in the order of the definitions.
    ///
    /// A question of several steps is searched as a whole and by each of them. A word that no
    /// definition holds counts as one that differs from it in one letter.
    #[must_use]
    pub fn find(&self, query: &str, limit: usize) -> Vec<Found> {
        let mut scores = self.scores(&self.query_words(&plain_words(query)));
        let best_score = highest(&scores);
        let steps: Vec<Vec<f64>> = steps(query)
            .iter()
            .map(|step| self.query_words(step))
            .filter(|step| step.iter().filter(|(_, weight)| *weight >= 1.0).count() >= 2)
            .take(MAX_STEPS)
            .map(|step| self.scores(&step))
            .collect();
        let best_step = steps.iter().map(|step| highest(step)).fold(0.0, f64::max);
        if steps.len() >= 2 && best_step > 0.0 {
            for (position, score) in scores.iter_mut().enumerate() {
                let step = steps
                    .iter()
                    .filter_map(|step| step.get(position))
                    .copied()
                    .fold(0.0, f64::max);
                let share = step / best_step * best_score;
                *score = (1.0 - STEP_WEIGHT) * *score + STEP_WEIGHT * share;
            }
        }
        best(&scores, limit)
    }

    /// The words of a question that some definition holds, each once, with how much each counts.
    ///
    /// Stop words and numbers, count if there are no others.
    fn query_words(&self, words: &[String]) -> Vec<(&str, f64)> {
        let is_telling =
            |word: &&String| !is_stop_word(word) && !word.chars().all(char::is_numeric);
        let mut found = self.known_words(words.iter().filter(is_telling));
        if found.is_empty() {
            found = self.known_words(words.iter());
        }
        found.into_iter().collect()
    }

    fn known_words<'a>(&self, words: impl Iterator<Item = &'a String>) -> BTreeMap<&str, f64> {
        let mut found: BTreeMap<&str, f64> = BTreeMap::new();
        for word in words {
            let word = stem(word.clone());
            let known = match self.postings.get_key_value(word.as_str()) {
                Some((known, _)) => Some((known.as_str(), 1.0)),
                None => self.corrected(&word).map(|known| (known, TYPO_WEIGHT)),
            };
            if let Some((known, weight)) = known {
                let before = found.entry(known).or_default();
                *before = before.max(weight);
                if found.len() >= MAX_QUERY_WORDS {
                    break;
                }
            }
        }
        found
    }

    /// The most frequent word that differs in one letter, not the first.
    fn corrected(&self, word: &str) -> Option<&str> {
        if word.chars().count() < TYPO_MIN_CHARS {
            return None;
        }
        let near = self.by_first_letter.get(&word.chars().next()?)?;
        near.iter()
            .filter(|each| each.len().abs_diff(word.len()) <= 4 && is_one_edit(word, each))
            .max_by(|one, other| {
                let frequency = |each: &str| self.postings.get(each).map_or(0, Vec::len);
                frequency(one)
                    .cmp(&frequency(other))
                    .then_with(|| other.cmp(one))
            })
            .map(String::as_str)
    }

    fn scores(&self, words: &[(&str, f64)]) -> Vec<f64> {
        let mut scores = vec![0.0_f64; self.tools];
        for (word, factor) in words {
            let Some(postings) = self.postings.get(*word) else {
                continue;
            };
            let rarity = rarity(postings.len(), self.tools) * factor;
            for posting in postings {
                if let Some(score) = scores.get_mut(posting.tool) {
                    *score += rarity * posting.weight * (SATURATION + 1.0)
                        / (posting.weight + SATURATION);
                }
            }
        }
        scores
    }
}

fn highest(scores: &[f64]) -> f64 {
    scores.iter().copied().fold(0.0, f64::max)
}

/// The parts of a question, by punctuation that white space follows and by conjunctions.
fn steps(query: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    for piece in query.split_whitespace() {
        let end = piece.ends_with(['.', ',', ';', ':', '!', '?']);
        for word in plain_words(piece) {
            if CONJUNCTIONS.contains(&word.as_str()) {
                found.push(Vec::new());
            } else if let Some(last) = found.last_mut() {
                last.push(word);
            }
        }
        if end {
            found.push(Vec::new());
        }
    }
    found
}

/// The inverse document frequency, above zero for words of every definition too.
fn rarity(with_word: usize, all: usize) -> f64 {
    let with_word = count(with_word);
    ((count(all) - with_word + 0.5) / (with_word + 0.5)).ln_1p()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "there are fewer than 2^52 tools"
)]
fn count(number: usize) -> f64 {
    number as f64
}

fn best(scores: &[f64], limit: usize) -> Vec<Found> {
    let mut found: Vec<Found> = scores
        .iter()
        .enumerate()
        .filter(|(_, score)| **score > 0.0)
        .map(|(position, score)| Found {
            position,
            score: *score,
        })
        .collect();
    let order = |one: &Found, other: &Found| {
        other
            .score
            .total_cmp(&one.score)
            .then(one.position.cmp(&other.position))
    };
    if limit < found.len() {
        found.select_nth_unstable_by(limit, order);
        found.truncate(limit);
    }
    found.sort_unstable_by(order);
    found
}

#[cfg(test)]
mod tests {
    use super::ToolSearch;

    fn positions(search: &ToolSearch, query: &str, limit: usize) -> Vec<usize> {
        search
            .find(query, limit)
            .into_iter()
            .map(|found| found.position)
            .collect()
    }

    #[test]
    fn names_count_more_than_descriptions_and_parameters() {
        let search = ToolSearch::new([
            r#"{"name":"list_files","description":"Shows weather files.","parameters":{}}"#,
            r#"{"name":"get_weather","description":"Today.","parameters":{}}"#,
            r#"{"name":"x","description":"","parameters":{"properties":{"weather":{}}}}"#,
        ]);
        assert_eq!(positions(&search, "todays wether", 9).first(), Some(&1));
        assert_eq!(positions(&search, "Weather!", 9).first(), Some(&1));
        assert_eq!(positions(&search, "weather", 9).len(), 3);
        assert_eq!(positions(&search, "weather", 2).len(), 2);
    }

    #[test]
    fn what_nothing_holds_finds_nothing() {
        let search = ToolSearch::new([r#"{"name":"a","description":"b","parameters":{}}"#]);
        for query in ["", "  ", "zebra", "_-_"] {
            assert!(search.find(query, 5).is_empty());
        }
        assert!(ToolSearch::new([]).find("a", 5).is_empty());
        assert!(search.find("a", 0).is_empty());
    }

    #[test]
    fn each_step_of_a_question_finds_its_tool() {
        let search = ToolSearch::new([
            r#"{"name":"create_invoice","description":"Bill a customer.","parameters":{}}"#,
            r#"{"name":"send_mail","description":"Send a letter.","parameters":{}}"#,
            r#"{"name":"book_room","description":"Reserve a room.","parameters":{}}"#,
        ]);
        let found = positions(&search, "Create an invoice, then send a mail.", 2);
        assert!(found.contains(&0) && found.contains(&1), "{found:?}");
    }

    #[test]
    fn equal_matches_keep_their_order() {
        let one = r#"{"name":"same","description":"","parameters":{}}"#;
        let search = ToolSearch::new([one; 50]);
        assert_eq!(positions(&search, "same", 3), [0, 1, 2]);
    }
}
