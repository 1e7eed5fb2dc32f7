//! What may be wrong with a column.

use std::fmt;

/// Why a column cannot be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The struct was released or moved away before.
    Consumed,
    /// The column holds something else than inputs; its format.
    NoTexts(String),
    /// The column holds something else than integers; its format.
    NoIntegers(String),
    /// What the structs say cannot be so.
    Malformed(&'static str),
    /// A row whose place in its buffers cannot be so.
    MalformedRow(usize),
    /// A row that is not UTF-8.
    NoUtf8(usize),
    /// The producer of a stream failed; what it states.
    Stream(String),
    /// There is no memory for the result.
    NoMemory,
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Consumed => {
                formatter.write_str("it was read before: a stream gives its rows once")
            }
            Self::NoTexts(format) => {
                let found = described(format);
                write!(
                    formatter,
                    "wanted are texts (utf8, large_utf8, string_view, a dictionary of these, null), got {found}"
                )
            }
            Self::NoIntegers(format) => {
                let found = described(format);
                let floating = matches!(format.as_str(), "e" | "f" | "g");
                let way_out = if floating { ": cast it to int64" } else { "" };
                write!(formatter, "wanted are integers, got {found}{way_out}")
            }
            Self::Malformed(what) => write!(formatter, "malformed Arrow data: {what}"),
            Self::MalformedRow(row) => {
                write!(
                    formatter,
                    "malformed Arrow data: row {row} lies outside its buffers"
                )
            }
            Self::NoUtf8(row) => write!(formatter, "row {row} is no UTF-8"),
            Self::Stream(message) => write!(formatter, "the stream failed: {message}"),
            Self::NoMemory => formatter.write_str("no memory for the result"),
        }
    }
}

impl std::error::Error for Error {}

/// What a format string represents, in the words of those who make such columns.
fn described(format: &str) -> String {
    let name = match format {
        "" => "no type",
        "u" => "utf8",
        "U" => "large_utf8",
        "vu" => "string_view",
        "z" | "Z" | "vz" => "binary: cast it to a string type",
        "e" | "f" | "g" => "floating point",
        "b" => "booleans",
        "n" => "null",
        "+s" => "a table: give one column of it",
        "+r" => "run-end encoding: decode it",
        "+m" => "maps",
        _ if ["+l", "+L", "+w", "+v"]
            .iter()
            .any(|list| format.starts_with(list)) =>
        {
            "lists"
        }
        _ if format.starts_with('t') => "times",
        _ if format.len() == 1 => "numbers",
        _ => return format!("the format {format:?}"),
    };
    name.to_owned()
}
