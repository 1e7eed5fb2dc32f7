//! Grammars set headings, units, templates, bundles and weights. Each looks for its own lines in every part; later ones
//! refine what earlier ones set. None writes text.

mod diff;
mod document;
mod findings;
mod log;
mod names;
mod outline;
mod records;
mod report;
mod table;
mod traceback;

use crate::source::{Part, Source};

type Grammar = fn(&mut Source<'_>, Part);

const ALL: [Grammar; 10] = [
    records::read,
    outline::read,
    log::read,
    report::read,
    findings::read,
    table::read,
    names::read,
    document::read,
    traceback::read,
    diff::read,
];

/// Applies all grammars to a part.
pub(crate) fn read(source: &mut Source<'_>, part: Part) {
    for grammar in ALL {
        grammar(source, part);
    }
}
