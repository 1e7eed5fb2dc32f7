//! What npm states of a package that it packs or publishes.

use crate::generic::kind::is_path;
use ethos_registry_core::find_text::FindText as _;

const NOTICE: &str = "npm notice ";
/// What is shown of the archive except for its sums.
const FIELDS: [&str; 7] = [
    "name:",
    "version:",
    "filename:",
    "package size:",
    "unpacked size:",
    "total files:",
    "Publishing to ",
];

/// What a notice shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told<'a> {
    /// A fact of the archive.
    Fact,
    /// The name of a file in it.
    File(&'a str),
}

/// What `line` reports about an archive.
pub(super) fn told(line: &str) -> Option<Told<'_>> {
    let text = line.strip_prefix(NOTICE)?.trim();
    if FIELDS.iter().any(|field| text.starts_with(field)) || text.starts_with('📦') {
        return Some(Told::Fact);
    }
    let (size, name) = text.split_text(" ")?;
    let number = size.strip_suffix('B')?.trim_end_matches(['k', 'M', 'G']);
    let name = name.trim_start();
    let is_size = !number.is_empty()
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_file = is_path(name) || !name.contains(' ');
    (is_size && is_file).then_some(Told::File(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_facts_of_an_archive_are_no_adverts() {
        assert_eq!(
            told("npm notice 1.1kB LICENSE"),
            Some(Told::File("LICENSE"))
        );
        assert_eq!(
            told("npm notice 698B  lib/oak.js"),
            Some(Told::File("lib/oak.js"))
        );
        assert_eq!(told("npm notice total files:   40"), Some(Told::Fact));
        assert_eq!(told("npm notice 📦  oak@1.0.0"), Some(Told::Fact));
        for line in [
            "npm notice",
            "npm notice New major version of npm available! 9.1.0 -> 10.2.0",
            "npm notice shasum: 1ab2",
            "2B oak",
        ] {
            assert_eq!(told(line), None, "{line}");
        }
    }
}
