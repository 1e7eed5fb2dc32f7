//! What tests of families share.

use super::family::{Family, Match};
use super::input::{Exit, Input};
use super::output::Output;

/// What `family` makes of `text`, which `command` printed; it has to recognise it.
pub(super) fn reduced(family: &Family, text: &str, command: &str, exit: Exit) -> String {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let input = Input {
        text,
        words: &words,
        exit,
    };
    assert_ne!((family.recognises)(&input), Match::No, "{text}");
    let mut output = Output::default();
    family.write(&input, &mut output);
    output.finish(text.lines().count(), usize::MAX)
}
