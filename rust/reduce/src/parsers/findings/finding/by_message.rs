//! Findings grouped by message: each message once, with its files and locations.

use hashbrown::HashMap;

use super::message::without_names;
use super::rows::{NAMES_CHARS, names};
use super::{ALL_ERRORS, Finding};
use crate::line::fingerprint::{fingerprint, mixed};
use crate::line::shorten;
use crate::output::Output;
use crate::rows::report::squeezed;

const MESSAGE_CHARS: usize = 240;

/// Whether there are too many findings to show all locations.
pub(crate) fn are_too_many(findings: usize) -> bool {
    findings > ALL_ERRORS
}

/// Findings with one message.
struct Group<'a> {
    message: &'a str,
    places: Vec<(&'a str, &'a str)>,
    /// The groups whose messages differ only in names.
    others: Vec<usize>,
    /// Whether it is one of those.
    is_other: bool,
}

/// One row per message: `error message: src/a.js 1:2 3:4 b.js 5:6`.
///
/// A file is shown in full at first, then by the shortest end of its path that no other file has.
/// Messages that differ only in quoted names may share a row, with each name before
/// its files: `error No "x": a.py 1:2; "y" b.py 3:4`.
pub(crate) fn write(found: &[(&str, Finding<'_>)], by_names: bool, output: &mut Output) {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut kinds: HashMap<u64, usize> = HashMap::new();
    for (file, finding) in found {
        let index = *known
            .entry(without_padding(finding.message))
            .or_insert(groups.len());
        if index == groups.len() {
            let kind = by_names.then(|| without_names(finding.message));
            let first = kind.map_or(index, |kind| *kinds.entry(kind).or_insert(index));
            if let Some(first) = groups.get_mut(first) {
                first.others.push(index);
            }
            groups.push(Group {
                message: finding.message,
                places: Vec::new(),
                others: Vec::new(),
                is_other: first < index,
            });
        }
        if let Some(group) = groups.get_mut(index) {
            group.places.push((file, finding.place));
        }
    }
    let mut short = Names::of(found.iter().map(|(file, _)| *file));
    for group in groups.iter().filter(|group| !group.is_other) {
        let mut row = shorten(&squeezed(group.message), MESSAGE_CHARS).into_owned();
        row.push(':');
        push_places(&mut row, group, &mut short);
        let mut count = group.places.len();
        for other in group.others.iter().filter_map(|at| groups.get(*at)) {
            row.push_str("; ");
            row.push_str(&shorten(&names(other.message), NAMES_CHARS));
            push_places(&mut row, other, &mut short);
            count += other.places.len();
        }
        output.summary(&row, count);
    }
}

/// A hash that is equal for messages that differ only in alignment blanks.
pub(crate) fn without_padding(message: &str) -> u64 {
    let words = message.split_ascii_whitespace();
    words.fold(1, |hash, word| mixed(hash, fingerprint(word)))
}

/// Appends the locations of a message, each file before its own.
fn push_places<'a>(row: &mut String, group: &Group<'a>, names: &mut Names<'a>) {
    let mut last = "";
    for (file, place) in &group.places {
        if place.starts_with(file) {
            // The location contains its file.
            row.push(' ');
            row.push_str(place);
            continue;
        }
        if *file != last {
            row.push(' ');
            row.push_str(names.next(file));
            last = file;
        }
        row.push(' ');
        row.push_str(&squeezed(place));
    }
}

/// Short file names.
struct Names<'a> {
    /// Each file with its short name; before its first use also with its full name.
    short: HashMap<&'a str, (&'a str, bool)>,
}

impl<'a> Names<'a> {
    fn of(files: impl Iterator<Item = &'a str>) -> Self {
        let mut all: Vec<&str> = Vec::new();
        let mut short: HashMap<&'a str, (&'a str, bool)> = HashMap::new();
        for file in files {
            if short.insert(file, (file, false)).is_none() {
                all.push(file);
            }
        }
        let mut ends: HashMap<&str, usize> = HashMap::new();
        for end in all.iter().flat_map(|file| tails(file)) {
            *ends.entry(end).or_default() += 1;
        }
        for file in all {
            let own = tails(file).find(|end| ends.get(end) == Some(&1));
            if let (Some(own), Some(name)) = (own, short.get_mut(file)) {
                name.0 = own;
            }
        }
        Self { short }
    }

    /// `file` in full for the first time, then its short name.
    fn next(&mut self, file: &'a str) -> &'a str {
        match self.short.get_mut(file) {
            Some((short, true)) => short,
            Some((_, named)) => {
                *named = true;
                file
            }
            None => file,
        }
    }
}

/// The suffixes of `path`, from the file name to the whole path.
fn tails(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/')
        .filter_map(move |(at, _)| path.get(at + 1..))
        .chain(std::iter::once(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(found: &[(&'static str, &'static str, &'static str)]) -> String {
        written_by(found, false)
    }

    fn written_by(found: &[(&'static str, &'static str, &'static str)], by_names: bool) -> String {
        let found: Vec<_> = found
            .iter()
            .map(|(file, place, message)| {
                let finding = Finding {
                    place,
                    path: "",
                    message,
                    whole: "",
                };
                (*file, finding)
            })
            .collect();
        let mut output = Output::default();
        write(&found, by_names, &mut output);
        output.finish(found.len(), usize::MAX)
    }

    #[test]
    fn a_message_has_its_files_and_places_once_in_full() {
        assert_eq!(
            written(&[
                ("/srv/a/oak.js", "1:2", "error  odd   no-odd"),
                ("/srv/a/oak.js", "3:4", "error  odd   no-odd"),
                ("/srv/a/elm.js", "5:6", "error  odd   no-odd"),
                ("/srv/a/elm.js", "7:8", "error  even  no-even"),
                ("/srv/b/ash.js", "7:8", "error  even  no-even"),
            ]),
            "error odd no-odd: /srv/a/oak.js 1:2 3:4 /srv/a/elm.js 5:6\n\
             error even no-even: elm.js 7:8 /srv/b/ash.js 7:8\n[0 of 5 lines left out]"
        );
    }

    #[test]
    fn messages_that_are_aligned_otherwise_are_the_same() {
        assert_eq!(
            written(&[
                ("a/oak.css", "1:2", "✖  dry leaf  no-dry"),
                ("a/elm.css", "3:4", "✖  dry leaf       no-dry"),
            ]),
            "✖ dry leaf no-dry: a/oak.css 1:2 a/elm.css 3:4\n[0 of 2 lines left out]"
        );
    }

    #[test]
    fn a_short_name_is_that_of_one_file() {
        assert_eq!(
            written(&[
                ("a/main.yml", "1:1", "error odd"),
                ("b/main.yml", "1:1", "error odd"),
                ("main.yml", "1:1", "error odd"),
                ("a/main.yml", "2:2", "error even"),
                ("main.yml", "3:3", "error even"),
            ]),
            "error odd: a/main.yml 1:1 b/main.yml 1:1 main.yml 1:1\nerror even: a/main.yml 2:2 main.yml 3:3\n\
             [0 of 5 lines left out]"
        );
    }

    #[test]
    fn messages_that_differ_in_names_may_be_told_together() {
        let found = [
            ("src/oak.py", "1:2", "error call No `x` here"),
            ("src/elm.py", "3:4", "error call No `y` here"),
            ("src/oak.py", "5:6", "error call No `x` here"),
            ("src/elm.py", "7:8", "error name No `x` here"),
            ("src/oak.py", "9:1", "error call No `y` here"),
        ];
        assert_eq!(
            written_by(&found, true),
            "error call No `x` here: src/oak.py 1:2 5:6; `y` src/elm.py 3:4 oak.py 9:1\n\
             error name No `x` here: elm.py 7:8\n[0 of 5 lines left out]"
        );
        assert_eq!(written(&found).lines().count(), 4);
    }
}
