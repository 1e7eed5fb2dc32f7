//! Codes of rules, and the end of a message.

/// Whether a word is the code of a rule: some letters, then at least two digits.
pub(crate) fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
    let rest = word.get(letters..).unwrap_or_default();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (1..=6).contains(&letters) && digits >= 2
}

/// `text` without trailing blanks, which most lines do not have.
pub(crate) fn trimmed_end(text: &str) -> &str {
    match text.as_bytes().last() {
        Some(last) if last.is_ascii_graphic() => text,
        // A rule of the width of a terminal may end a header.
        _ => text.trim_end_matches(|sign: char| sign == '━' || sign.is_whitespace()),
    }
}
