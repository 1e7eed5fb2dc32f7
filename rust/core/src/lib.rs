//! The pure core of `ethos-registry`: text in, text out.
//!
//! No Python, no `unsafe`, no I/O, no clock and no panic path.

pub mod address;
pub mod chunk;
pub mod clean;
pub mod command;
pub mod definition;
pub mod entry;
pub mod find_text;
pub mod gate;
pub mod grep;
pub mod index;
pub mod json_stream;
pub mod json_text;
pub mod lines;
pub mod media_type;
pub mod name;
pub mod redact;
pub mod sanitize;
pub mod schema;
pub mod select;
pub mod table;
pub mod text;
pub mod tool_search;
pub mod trim;
pub mod unmatched;
pub mod usage;
