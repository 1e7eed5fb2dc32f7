//! English words without their endings, and the stop words of questions.

/// Endings with what replaces them, and the fewest letters that must remain before them.
const ENDINGS: [(&str, &str, usize); 17] = [
    ("ization", "ize", 4),
    ("isation", "ize", 4),
    ("ational", "ate", 4),
    ("ation", "ate", 4),
    ("ition", "it", 4),
    ("sion", "s", 4),
    ("tion", "t", 4),
    ("ment", "", 5),
    ("ness", "", 4),
    ("ally", "al", 4),
    ("ly", "", 4),
    ("ing", "", 3),
    ("ed", "", 3),
    ("er", "", 4),
    ("or", "", 4),
    ("al", "", 5),
    ("e", "", 3),
];

/// Words of questions that are left out of them, sorted.
const STOP_WORDS: [&str; 132] = [
    "a",
    "also",
    "am",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "being",
    "but",
    "by",
    "can",
    "could",
    "d",
    "did",
    "do",
    "does",
    "doing",
    "don",
    "for",
    "from",
    "give",
    "had",
    "has",
    "have",
    "having",
    "he",
    "help",
    "her",
    "here",
    "hers",
    "him",
    "his",
    "how",
    "i",
    "if",
    "in",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "know",
    "let",
    "like",
    "ll",
    "m",
    "make",
    "me",
    "might",
    "my",
    "myself",
    "need",
    "needs",
    "of",
    "off",
    "on",
    "or",
    "our",
    "out",
    "over",
    "please",
    "re",
    "s",
    "shall",
    "she",
    "should",
    "show",
    "so",
    "some",
    "such",
    "sure",
    "t",
    "tell",
    "than",
    "thank",
    "thanks",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "these",
    "they",
    "this",
    "those",
    "to",
    "too",
    "under",
    "until",
    "up",
    "us",
    "use",
    "using",
    "ve",
    "very",
    "via",
    "want",
    "wants",
    "was",
    "we",
    "were",
    "what",
    "when",
    "where",
    "which",
    "while",
    "who",
    "whom",
    "why",
    "will",
    "with",
    "would",
    "you",
    "your",
    "yours",
    "hello",
    "hey",
    "hi",
    "assist",
    "interested",
    "looking",
    "wonder",
    "wondering",
    "something",
    "someone",
    "really",
];

/// Whether a word in lower case is a stop word.
#[must_use]
pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.contains(&word)
}

/// A word in lower case without its ending, nearly: both sides of a comparison are treated alike.
#[must_use]
pub(super) fn stem(mut word: String) -> String {
    if !word.is_ascii() || word.len() <= 3 {
        return word;
    }
    remove_plural(&mut word);
    for (ending, with, fewest) in ENDINGS {
        let Some(start) = word.strip_suffix(ending) else {
            continue;
        };
        if start.len() < fewest || !start.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            continue;
        }
        let length = start.len();
        word.truncate(length);
        word.push_str(with);
        if matches!(ending, "ing" | "ed" | "er") {
            remove_double(&mut word);
        }
        break;
    }
    if word.len() > 3 && word.ends_with('e') {
        word.pop();
    }
    word
}

fn remove_plural(word: &mut String) {
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if ["sses", "shes", "ches", "xes", "zes"]
        .iter()
        .any(|ending| word.ends_with(ending))
    {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.pop();
    }
}

/// `running` and `run`, `stopped` and `stop`.
fn remove_double(word: &mut String) {
    let mut ends = word.bytes().rev();
    if let (Some(last), Some(before)) = (ends.next(), ends.next())
        && word.len() > 3
        && last == before
        && !matches!(last, b'l' | b's' | b'z')
    {
        word.pop();
    }
}

/// Whether one inserted, missing, wrong or swapped letter makes one word of the other.
#[must_use]
pub(super) fn is_one_edit(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() {
        (one, other)
    } else {
        (other, one)
    };
    let (short, long): (Vec<char>, Vec<char>) = (short.chars().collect(), long.chars().collect());
    let same = short
        .iter()
        .zip(&long)
        .take_while(|(left, right)| left == right)
        .count();
    let (left, right) = (
        short.get(same..).unwrap_or_default(),
        long.get(same..).unwrap_or_default(),
    );
    match (left, right) {
        ([first, second, rest @ ..], [second_there, first_there, rest_there @ ..])
            if first == first_there && second == second_there && rest == rest_there =>
        {
            true
        }
        ([_, rest @ ..], [_, rest_there @ ..]) if left.len() == right.len() => rest == rest_there,
        (rest, [_, rest_there @ ..]) => rest == rest_there,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_one_edit, is_stop_word, stem};

    fn stems(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| stem((*word).to_owned())).collect()
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for forms in [
            ["create", "creating", "created"],
            ["repository", "repositories", "repository"],
            ["stop", "stopped", "stopping"],
            ["convert", "converter", "converts"],
            ["search", "searches", "searching"],
        ] {
            let found = stems(&forms);
            assert!(
                found.iter().all(|each| Some(each) == found.first()),
                "{found:?}"
            );
        }
    }

    #[test]
    fn short_and_foreign_words_stay() {
        assert_eq!(
            stems(&["is", "über", "ing", "red"]),
            ["is", "über", "ing", "red"]
        );
        assert!(is_stop_word("please"));
        assert!(!is_stop_word("mail"));
    }

    #[test]
    fn one_edit_is_one_letter() {
        for (one, other) in [
            ("weather", "wether"),
            ("mail", "mial"),
            ("mail", "maim"),
            ("a", "ab"),
        ] {
            assert!(
                is_one_edit(one, other) && is_one_edit(other, one),
                "{one} {other}"
            );
        }
        for (one, other) in [("mail", "mail"), ("mail", "mealy"), ("abc", "cba")] {
            assert!(!is_one_edit(one, other), "{one} {other}");
        }
    }
}
