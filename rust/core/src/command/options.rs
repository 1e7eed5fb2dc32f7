//! The options of a program.

/// `words` from the first one on that is not an option and no value of one that takes the next word; two dashes
/// end the options.
pub(super) fn after_options(words: &[String], takes_value: impl Fn(&str) -> bool) -> &[String] {
    let mut rest = words;
    while let Some((option, after)) = rest.split_first() {
        if !option.starts_with('-') {
            break;
        }
        rest = after;
        if option == "--" {
            break;
        }
        if takes_value(option) {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    rest
}
