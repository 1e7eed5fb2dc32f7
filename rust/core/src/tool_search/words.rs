//! Splits queries and definitions into words that can be compared.

use super::stem::stem;

/// The stems of the words in lower case, in their order.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    plain_words(text).into_iter().map(stem).collect()
}

/// The words in lower case, in their order.
///
/// A word is a run of letters and digits; it also ends inside `getWeather` and `HTTPServer`. Every
/// character of a script that is written without spaces is a word.
#[must_use]
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    let mut before: Option<char> = None;
    while let Some(character) = characters.next() {
        if !character.is_alphanumeric() {
            finish(&mut word, &mut found);
            before = None;
            continue;
        }
        if is_unspaced(character) {
            finish(&mut word, &mut found);
            found.push(character.to_string());
            before = None;
            continue;
        }
        if before.is_some_and(|before| is_seam(before, character, characters.peek())) {
            finish(&mut word, &mut found);
        }
        word.push(character);
        before = Some(character);
    }
    finish(&mut word, &mut found);
    found
}

fn finish(word: &mut String, found: &mut Vec<String>) {
    if !word.is_empty() {
        found.push(word.chars().flat_map(char::to_lowercase).collect());
        word.clear();
    }
}

/// Whether a new word begins at `character`: `getWeather`, `HTTPServer`.
fn is_seam(before: char, character: char, after: Option<&char>) -> bool {
    if !character.is_uppercase() {
        return false;
    }
    before.is_lowercase()
        || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase()))
}

/// Whether a character is of a script that is written without spaces between words.
fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn names_and_sentences_give_the_same_words() {
        assert_eq!(words("getHTTPMails_v2"), ["get", "http", "mail", "v2"]);
        assert_eq!(
            words("Lists all repositories."),
            ["list", "all", "repository"]
        );
        assert_eq!(words("status class is"), ["status", "class", "is"]);
        assert_eq!(words("天気 ÜBER"), ["天", "気", "über"]);
        assert!(words(" -- ").is_empty());
    }
}
