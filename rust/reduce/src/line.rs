//! Properties of single lines: the words, locations and forms that all parsers share.

pub(crate) mod annotation;
pub(crate) mod beginnings;
pub(crate) mod exit_code;
pub(crate) mod fingerprint;
pub(crate) mod frame;
pub(crate) mod latest;
pub(crate) mod library;
pub(crate) mod long_line;
pub(crate) mod mask;
pub(crate) mod source;
pub(crate) mod status;
pub(crate) mod template_key;
mod text;

pub(crate) use text::{
    Place, heading_level, indent, is_bad, is_number, is_play, is_refusal, is_ruler, place,
    place_at, shorten, shorten_bad,
};
