//! The folder that `make` works in, if its output shows a single one.

use ethos_registry_core::find_text::FindText as _;

/// The folders that were entered and not left, the innermost last: `make[1]` and the line about it.
#[derive(Debug, Default)]
pub(super) struct Folders<'a> {
    open: Vec<(&'a str, &'a str)>,
    /// The last line that was shown.
    told: &'a str,
    /// Whether several jobs run: a message may be from any of them.
    is_mixed: bool,
}

impl<'a> Folders<'a> {
    /// Reads a line that may report that a folder is entered or left.
    pub(super) fn line(&mut self, text: &'a str) {
        if let Some((program, _)) = text.split_text(": Entering directory ") {
            self.is_mixed |= self.open.last().is_some_and(|(last, _)| *last == program);
            self.open.push((program, text));
        } else if let Some((program, folder)) = text.split_text(": Leaving directory ") {
            let is_it =
                |(opened, line): &(&str, &str)| *opened == program && line.ends_with(folder);
            self.open.retain(|open| !is_it(open));
            self.is_mixed &= !self.open.is_empty();
        }
    }

    /// The line that shows the folder of `path`, if it was not shown.
    pub(super) fn untold(&mut self, path: &str) -> Option<&'a str> {
        let (_, line) = self.open.last().filter(|_| !self.is_mixed)?;
        if path.starts_with('/') || self.told == *line {
            return None;
        }
        self.told = line;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_folder_is_told_once_and_only_of_paths_below_it() {
        let mut folders = Folders::default();
        folders.line("make: Entering directory '/srv'");
        folders.line("make[1]: Entering directory '/srv/oak'");
        assert_eq!(folders.untold("/usr/include/a.h"), None);
        assert_eq!(
            folders.untold("a.c"),
            Some("make[1]: Entering directory '/srv/oak'")
        );
        assert_eq!(folders.untold("b.c"), None);
        folders.line("make[1]: Leaving directory '/srv/oak'");
        assert_eq!(
            folders.untold("b.c"),
            Some("make: Entering directory '/srv'")
        );
    }

    #[test]
    fn of_several_jobs_none_is_told() {
        let mut folders = Folders::default();
        folders.line("make[1]: Entering directory '/srv/oak'");
        folders.line("make[1]: Entering directory '/srv/elm'");
        folders.line("make[1]: Leaving directory '/srv/oak'");
        assert_eq!(folders.untold("a.c"), None);
        folders.line("make[1]: Leaving directory '/srv/elm'");
        folders.line("make[1]: Entering directory '/srv/ash'");
        assert_eq!(
            folders.untold("a.c"),
            Some("make[1]: Entering directory '/srv/ash'")
        );
    }
}
