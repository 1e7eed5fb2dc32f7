//! The kinds of JSON values.

/// The kinds of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Text,
    Number,
    Truth,
    Null,
}

pub(super) const KINDS: [Kind; 6] = [
    Kind::Object,
    Kind::Array,
    Kind::Text,
    Kind::Number,
    Kind::Truth,
    Kind::Null,
];

/// The kind of a value that is not an object and no list.
pub(super) fn kind_of(value: &str) -> Kind {
    match value.as_bytes().first() {
        Some(b'0'..=b'9' | b'-' | b'+') => Kind::Number,
        Some(b't' | b'f' | b'T' | b'F') if matches!(value, "true" | "false" | "True" | "False") => {
            Kind::Truth
        }
        Some(b'n' | b'N') if matches!(value, "null" | "None" | "NaT") => Kind::Null,
        Some(b'i' | b'n' | b'D') if is_other_number(value) => Kind::Number,
        // In quotes, or something else that Python prints.
        _ => Kind::Text,
    }
}

/// Whether `value`, which begins with a letter, is a number as Python or numpy prints it.
fn is_other_number(value: &str) -> bool {
    matches!(value, "inf" | "nan")
        || ["np.float", "np.int", "np.uint", "Decimal("]
            .iter()
            .any(|start| value.starts_with(start))
}

/// `key` or a value without its quotes.
pub(super) fn unquoted(key: &str) -> &str {
    key.trim_matches(['"', '\''])
}

/// Whether the values of `key`, given in quotes, describe an error.
pub(super) fn is_message(key: &str) -> bool {
    matches!(
        unquoted(key),
        "message"
            | "error"
            | "error_message"
            | "errorMessage"
            | "failureMessage"
            | "failureMessages"
            | "reason"
            | "detail"
            | "details"
            | "msg"
    )
}

/// Whether the list of `key`, in its quotes, holds what failed.
pub(super) fn is_failures(key: &str) -> bool {
    matches!(
        unquoted(key),
        "failures" | "failed" | "errors" | "failedTests" | "problems" | "details" | "violations"
    )
}

/// What a member states of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// Its number or sign.
    Tag,
    /// Its name.
    Label,
}

/// Whether the values of `key`, given in quotes, distinguish records.
pub(super) fn naming(key: &str) -> Option<Naming> {
    match unquoted(key) {
        "id" | "ID" | "Id" | "iid" | "number" | "code" | "key" => Some(Naming::Tag),
        "name" | "Name" | "Names" | "title" | "path" | "file" | "filename" | "subject"
        | "summary" | "slug" => Some(Naming::Label),
        _ => None,
    }
}
