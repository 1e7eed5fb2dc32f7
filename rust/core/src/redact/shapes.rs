//! Credentials with a vendor's prefix: a table.

use std::ops::Range;

use super::Found;

/// The characters that may follow a prefix.
#[derive(Clone, Copy, Debug)]
enum Alphabet {
    /// `A-Z0-9`
    Upper,
    /// `0-9a-f`, either case
    Hex,
    /// `A-Za-z0-9`
    Alphanumeric,
    /// `A-Za-z0-9_-`
    UrlSafe,
    /// `A-Za-z0-9_.=-`
    Dotted,
}

impl Alphabet {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::UrlSafe => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=')
            }
        }
    }
}

/// A prefix and what follows it.
struct Shape {
    prefix: &'static str,
    name: &'static str,
    alphabet: Alphabet,
    /// Characters after the prefix, at least and at most.
    length: (usize, usize),
    /// Whether a digit is required: random characters of this length have one, words do not.
    needs_digit: bool,
}

const ANY: usize = 400;

const fn shape(
    prefix: &'static str,
    name: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
) -> Shape {
    Shape {
        prefix,
        name,
        alphabet,
        length: (least, most),
        needs_digit: true,
    }
}

use Alphabet::{Alphanumeric, Dotted, Hex, Upper, UrlSafe};

/// Prefixes that vendors publish so that scanners find their tokens.
static SHAPES: &[Shape] = &[
    shape("AKIA", "aws access key", Upper, 16, 16),
    shape("ASIA", "aws access key", Upper, 16, 16),
    shape("ghp_", "github token", Alphanumeric, 36, ANY),
    shape("gho_", "github token", Alphanumeric, 36, ANY),
    shape("ghu_", "github token", Alphanumeric, 36, ANY),
    shape("ghs_", "github token", Alphanumeric, 36, ANY),
    shape("ghr_", "github token", Alphanumeric, 36, ANY),
    shape("github_pat_", "github token", UrlSafe, 22, ANY),
    shape("glpat-", "gitlab token", Dotted, 20, ANY),
    shape("glrt-", "gitlab token", Dotted, 20, ANY),
    shape("gldt-", "gitlab token", Dotted, 20, ANY),
    shape("glptt-", "gitlab token", Dotted, 20, ANY),
    shape("glcbt-", "gitlab token", Dotted, 20, ANY),
    shape("glsoat-", "gitlab token", Dotted, 20, ANY),
    shape("xoxb-", "slack token", UrlSafe, 20, ANY),
    shape("xoxp-", "slack token", UrlSafe, 20, ANY),
    shape("xoxa-", "slack token", UrlSafe, 20, ANY),
    shape("xoxc-", "slack token", UrlSafe, 20, ANY),
    shape("xoxe-", "slack token", UrlSafe, 20, ANY),
    shape("xoxe.", "slack token", Dotted, 20, ANY),
    shape("xoxr-", "slack token", UrlSafe, 20, ANY),
    shape("xoxs-", "slack token", UrlSafe, 20, ANY),
    shape("xapp-", "slack token", UrlSafe, 20, ANY),
    shape("sk-ant-", "anthropic key", UrlSafe, 24, ANY),
    shape("sk-or-v1-", "openrouter key", Hex, 64, 64),
    shape("sk-proj-", "openai key", UrlSafe, 24, ANY),
    shape("sk-svcacct-", "openai key", UrlSafe, 24, ANY),
    shape("sk-admin-", "openai key", UrlSafe, 24, ANY),
    shape("sk-", "api key", Alphanumeric, 32, ANY),
    shape("sk_live_", "stripe key", Alphanumeric, 16, ANY),
    shape("sk_test_", "stripe key", Alphanumeric, 16, ANY),
    shape("sk_org_live_", "stripe key", Alphanumeric, 16, ANY),
    shape("sk_org_test_", "stripe key", Alphanumeric, 16, ANY),
    shape("sk_", "api key", Hex, 48, 48),
    shape("rk_live_", "stripe key", Alphanumeric, 16, ANY),
    shape("rk_test_", "stripe key", Alphanumeric, 16, ANY),
    shape("whsec_", "stripe secret", Alphanumeric, 32, ANY),
    shape("AIza", "google key", UrlSafe, 35, 35),
    shape("ya29.", "google token", Dotted, 30, ANY),
    shape("GOCSPX-", "google secret", UrlSafe, 28, 28),
    shape("npm_", "npm token", Alphanumeric, 36, 36),
    shape("pypi-AgEIcHlwaS5vcmc", "pypi token", UrlSafe, 50, ANY),
    shape(
        "pypi-AgENdGVzdC5weXBpLm9yZw",
        "pypi token",
        UrlSafe,
        50,
        ANY,
    ),
    shape("hf_", "hugging face token", Alphanumeric, 30, 60),
    shape("SG.", "sendgrid key", Dotted, 60, 80),
    shape("dop_v1_", "digitalocean token", Hex, 64, 64),
    shape("doo_v1_", "digitalocean token", Hex, 64, 64),
    shape("dapi", "databricks token", Hex, 32, 32),
    shape("shpat_", "shopify token", Hex, 32, 32),
    shape("shpss_", "shopify token", Hex, 32, 32),
    shape("shpca_", "shopify token", Hex, 32, 32),
    shape("shppa_", "shopify token", Hex, 32, 32),
    shape("lin_oauth_", "linear key", Alphanumeric, 40, ANY),
    shape("lin_api_", "linear key", Alphanumeric, 40, 40),
    shape("ntn_", "notion token", Alphanumeric, 40, 60),
    shape("hvs.", "vault token", UrlSafe, 24, ANY),
    shape("gsk_", "groq key", Alphanumeric, 52, 52),
    shape("xai-", "xai key", Alphanumeric, 80, 80),
    shape("glsa_", "grafana token", UrlSafe, 32, ANY),
    shape("glc_", "grafana token", Dotted, 32, ANY),
    shape("dckr_pat_", "docker token", UrlSafe, 20, ANY),
    shape("dckr_oat_", "docker token", UrlSafe, 20, ANY),
    shape("tskey-", "tailscale key", UrlSafe, 20, ANY),
    shape("PMAK-", "postman key", UrlSafe, 50, ANY),
    shape("rubygems_", "rubygems key", Hex, 48, 48),
    shape("AGE-SECRET-KEY-1", "age key", Upper, 58, 58),
];

/// Shapes whose prefixes start alike.
pub(super) struct Group {
    /// What all their prefixes start with.
    pub(super) literal: &'static str,
    shapes: Vec<&'static Shape>,
}

/// How many bytes at the start two prefixes must share to be searched for as one.
const SHARED_BYTES: usize = 3;

/// The shapes in groups: a vectorised search takes few literals, and one each would be too many.
pub(super) fn groups() -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for shape in SHAPES {
        let start = shape.prefix.get(..SHARED_BYTES).unwrap_or(shape.prefix);
        match groups
            .iter_mut()
            .find(|group| group.literal.starts_with(start))
        {
            Some(group) => {
                let shared = shared_bytes(group.literal, shape.prefix);
                group.literal = group.literal.get(..shared).unwrap_or(start);
                group.shapes.push(shape);
            }
            None => groups.push(Group {
                literal: shape.prefix,
                shapes: vec![shape],
            }),
        }
    }
    for group in &mut groups {
        group
            .shapes
            .sort_by_key(|shape| std::cmp::Reverse(shape.prefix.len()));
    }
    groups
}

fn shared_bytes(one: &str, other: &str) -> usize {
    one.bytes()
        .zip(other.bytes())
        .take_while(|(one, other)| one == other)
        .count()
}

impl Group {
    /// The credential that begins at `at`, by the longest prefix that fits.
    pub(super) fn judge(&self, text: &str, at: usize) -> Option<Found> {
        if in_word(text.as_bytes(), at) {
            return None;
        }
        let rest = text.get(at..)?;
        self.shapes
            .iter()
            .filter(|shape| rest.starts_with(shape.prefix))
            .find_map(|shape| shape.judge(text, at..at + shape.prefix.len()))
    }
}

impl Shape {
    /// The credential that begins with this prefix, if its form is right.
    fn judge(&self, text: &str, prefix: Range<usize>) -> Option<Found> {
        let rest = text.as_bytes().get(prefix.end..)?;
        let (least, most) = self.length;
        let mut length = rest
            .iter()
            .take(most + 1)
            .take_while(|byte| self.alphabet.has(**byte))
            .count();
        if length > most && most != ANY {
            return None;
        }
        // A full stop or an equals sign after a token belongs to the text around it.
        while length > 0
            && rest
                .get(length - 1)
                .is_some_and(|byte| matches!(byte, b'.' | b'='))
        {
            length -= 1;
        }
        if length < least {
            return None;
        }
        let token = rest.get(..length)?;
        if self.needs_digit && !token.iter().any(u8::is_ascii_digit) {
            return None;
        }
        // A token longer than any real one is replaced as a whole: a part of it could still be valid.
        let length = if length > most {
            rest.iter()
                .take_while(|byte| self.alphabet.has(**byte))
                .count()
        } else {
            length
        };
        Some(Found {
            at: prefix.start..prefix.end + length,
            name: self.name,
        })
    }
}

/// Whether the character before `at` is part of a word, so that it does not start a token.
pub(super) fn in_word(bytes: &[u8], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| bytes.get(before))
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}
