//! The formats of the package, in one file each.

use std::sync::OnceLock;

use super::{Format, Patterns};

include!(concat!(env!("OUT_DIR"), "/formats.rs"));

/// The formats of the package, and what recognises them.
#[derive(Debug)]
pub(crate) struct BuiltIn {
    pub(crate) formats: Vec<Format>,
    /// All signatures together.
    signatures: Option<Patterns>,
    /// The format of each signature.
    owners: Vec<usize>,
}

impl BuiltIn {
    /// The numbers of the formats with a signature that `line` matches.
    pub(crate) fn signed(&self, line: &str) -> impl Iterator<Item = usize> {
        let found = self
            .signatures
            .iter()
            .flat_map(move |patterns| patterns.all(line));
        found.filter_map(|pattern| self.owners.get(pattern).copied())
    }
}

/// The formats of the package, read at the first use.
pub(crate) fn built_in() -> &'static BuiltIn {
    static ALL: OnceLock<BuiltIn> = OnceLock::new();
    ALL.get_or_init(|| {
        let formats: Vec<Format> = SOURCES
            .iter()
            .filter_map(|(_, text)| Format::read(text).ok())
            .collect();
        let owned = || {
            let numbered = formats.iter().enumerate();
            numbered.flat_map(|(number, format)| {
                format
                    .signature()
                    .iter()
                    .map(move |pattern| (number, pattern))
            })
        };
        BuiltIn {
            signatures: Patterns::new(owned().map(|(_, pattern)| ("signature", pattern.as_str())))
                .ok(),
            owners: owned().map(|(number, _)| number).collect(),
            formats,
        }
    })
}

/// The format files of the package, by name.
pub fn built_in_formats() -> impl Iterator<Item = (&'static str, &'static str)> {
    SOURCES.iter().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_format_of_its_name() {
        for (name, text) in built_in_formats() {
            let format = Format::read(text).map_err(|error| error.to_string());
            let checked = format.and_then(|format| {
                let checked = format.check().map_err(|error| error.to_string());
                checked.map(|()| format.name().to_owned())
            });
            assert_eq!(checked.as_deref(), Ok(name), "{name}");
            assert!(text.lines().count() <= 40, "{name} has over 40 lines");
        }
    }
}
