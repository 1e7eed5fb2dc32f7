//! The files and folders in a command, and whether a path is one of them.

/// Symbols that a shell or program replaces by any text.
const ANY_TEXT: [char; 3] = ['*', '?', '['];
/// Words with these symbols name files that are not known here.
const UNKNOWN: [char; 4] = ['$', '`', '{', '~'];

/// The names in the words of a command.
pub(super) struct Names<'a>(Vec<&'a str>);

impl<'a> Names<'a> {
    /// The words after the program that are not options.
    pub(super) fn of(words: &'a [String]) -> Self {
        let words = words.iter().skip(1).map(String::as_str);
        Self::among(words.filter(|word| !word.starts_with('-')))
    }

    pub(super) fn among(words: impl Iterator<Item = &'a str>) -> Self {
        Self(words.collect())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are, if each of them names one file.
    pub(super) fn count(&self) -> Option<usize> {
        let is_one = |name: &&str| !name.contains(ANY_TEXT) && !name.contains(UNKNOWN);
        self.0.iter().all(is_one).then_some(self.0.len())
    }

    /// Whether `path` is one of them or below one; always if there are none.
    pub(super) fn have(&self, path: &str) -> bool {
        self.is_empty() || self.0.iter().any(|name| is_of(path, name))
    }
}

fn is_of(path: &str, name: &str) -> bool {
    if name.contains(UNKNOWN) {
        return true;
    }
    let Some((before, rest)) = name.split_once(ANY_TEXT) else {
        let name = name.trim_end_matches('/');
        let behind = path.strip_prefix(name);
        return behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('/'));
    };
    // The text after the last wildcard, or after a set of characters.
    let last = rest.rsplit(['*', '?', ']']).next().unwrap_or(rest);
    path.strip_prefix(before)
        .is_some_and(|path| path.contains(last.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_of_what_was_named_or_below_it() {
        for (name, path, is_named) in [
            ("src", "src", true),
            ("src/", "src/oak.rs", true),
            ("src", "srcs/oak.rs", false),
            (".", "./oak.rs", true),
            (".", "oak.rs", false),
            ("*.log", "oak.log", true),
            ("*.log", "2026-01-02T10", false),
            ("src/*/*.rs", "src/trees/oak.rs", true),
            ("src/[ab].rs", "src/a.rs", true),
            ("src/*", "tests/oak.rs", false),
            ("$tree", "oak.rs", true),
        ] {
            let names = Names::among([name].into_iter());
            assert_eq!(names.have(path), is_named, "{name} {path}");
        }
    }
}
