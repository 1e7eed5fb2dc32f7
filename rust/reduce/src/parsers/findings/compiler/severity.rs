//! The words that begin messages of compilers.

/// The severity of a compiler message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Severity {
    Error,
    Warning,
    Note,
}

pub(super) fn severity(message: &str) -> Option<Severity> {
    let beginnings = [
        ("error: ", Severity::Error),
        ("fatal error: ", Severity::Error),
        ("internal compiler error: ", Severity::Error),
        ("Error: ", Severity::Error),
        ("ERROR: ", Severity::Error),
        ("CRITICAL: ", Severity::Error),
        ("warning: ", Severity::Warning),
        ("Warning: ", Severity::Warning),
        ("WARNING: ", Severity::Warning),
        ("note: ", Severity::Note),
        ("remark: ", Severity::Note),
    ];
    beginnings
        .iter()
        .find(|(beginning, _)| message.starts_with(beginning))
        .map(|(_, severity)| *severity)
}
