//! Finds the tools that match a query: BM25 over names, descriptions and parameters.

use hashbrown::HashMap;

pub use words::words;

mod definition;
mod words;

/// How fast further occurrences of a word stop counting.
const SATURATION: f64 = 1.2;
/// How much a long definition is discounted.
const LENGTH_WEIGHT: f64 = 0.75;
/// Words of a query beyond these are ignored.
const MAX_QUERY_WORDS: usize = 64;

/// What a definition holds of one word.
#[derive(Clone, Copy, Debug)]
struct Posting {
    tool: usize,
    weight: u32,
}

/// The words of many definitions; never changes.
#[derive(Debug, Default)]
pub struct ToolSearch {
    postings: HashMap<String, Vec<Posting>>,
    lengths: Vec<u32>,
    average_length: f64,
}

/// A tool by its position among the definitions, and how well it matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The position of the definition.
    pub position: usize,
    /// The BM25 score, above zero.
    pub score: f64,
}

impl ToolSearch {
    /// Index definitions, each `{name, description, parameters}` as JSON text.
    ///
    /// Invalid JSON is indexed as plain text.
    pub fn new<'a>(definitions: impl IntoIterator<Item = &'a str>) -> Self {
        let mut search = Self::default();
        for (tool, definition) in definitions.into_iter().enumerate() {
            let weights = definition::weighted_words(definition);
            let mut length = 0_u32;
            for (word, weight) in weights {
                length = length.saturating_add(weight);
                search
                    .postings
                    .entry(word)
                    .or_default()
                    .push(Posting { tool, weight });
            }
            search.lengths.push(length);
        }
        let total: f64 = search.lengths.iter().copied().map(f64::from).sum();
        search.average_length = total / count(search.lengths.len().max(1));
        search
    }

    /// How many definitions are indexed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether nothing is indexed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The best matches, at most `limit`, the best first; equal ones in the order of the definitions.
    #[must_use]
    pub fn find(&self, query: &str, limit: usize) -> Vec<Found> {
        let mut asked = words(query);
        asked.sort_unstable();
        asked.dedup();
        asked.truncate(MAX_QUERY_WORDS);
        let mut scores = vec![0.0_f64; self.lengths.len()];
        for word in asked {
            let Some(postings) = self.postings.get(&word) else {
                continue;
            };
            let rarity = rarity(postings.len(), self.lengths.len());
            for posting in postings {
                let Some(length) = self.lengths.get(posting.tool) else {
                    continue;
                };
                let weight = f64::from(posting.weight);
                let relative = f64::from(*length) / self.average_length;
                let discount = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * relative);
                if let Some(score) = scores.get_mut(posting.tool) {
                    *score += rarity * (weight * (SATURATION + 1.0)) / (weight + discount);
                }
            }
        }
        best(&scores, limit)
    }
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
    fn equal_matches_keep_their_order() {
        let one = r#"{"name":"same","description":"","parameters":{}}"#;
        let search = ToolSearch::new([one; 50]);
        assert_eq!(positions(&search, "same", 3), [0, 1, 2]);
    }
}
