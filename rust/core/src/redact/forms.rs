//! Credentials with more structure than a prefix and a run of characters.

use std::ops::Range;

use super::shapes::in_word;
use super::{assignments, pem, vendors};

/// A literal to search for, and the function that decides whether it belongs to a credential.
pub(super) struct Form {
    pub(super) literal: &'static str,
    pub(super) name: &'static str,
    /// The bytes to replace.
    pub(super) secret_range: fn(&str, Range<usize>) -> Option<Range<usize>>,
}

/// What is searched for in the whole text: four bytes at least, and no more than 64 with the names
/// of assignments, so that vector instructions find them with few false starts.
pub(super) static FORMS: &[Form] = &[
    Form {
        literal: "-----BEGIN ",
        name: "private key",
        secret_range: pem::begun,
    },
    Form {
        literal: "-----END ",
        name: "private key",
        secret_range: pem::ended,
    },
    Form {
        literal: "uthorization: Basic ",
        name: "basic credentials",
        secret_range: basic,
    },
    Form {
        literal: "earer ",
        name: "bearer token",
        secret_range: bearer,
    },
    Form {
        literal: "AccountKey=",
        name: "azure key",
        secret_range: account_key,
    },
    Form {
        literal: "aws_secret_access_key",
        name: "aws secret",
        secret_range: aws_secret,
    },
    Form {
        literal: "AWS_SECRET_ACCESS_KEY",
        name: "aws secret",
        secret_range: aws_secret,
    },
    Form {
        literal: "SecretAccessKey",
        name: "aws secret",
        secret_range: aws_secret,
    },
    Form {
        literal: "hooks.slack.com/services/",
        name: "slack webhook",
        secret_range: webhook,
    },
    Form {
        literal: "hooks.slack.com/workflows/",
        name: "slack webhook",
        secret_range: webhook,
    },
    Form {
        literal: "hooks.slack.com/triggers/",
        name: "slack webhook",
        secret_range: webhook,
    },
    Form {
        literal: "/api/webhooks/",
        name: "discord webhook",
        secret_range: numbered_webhook,
    },
    Form {
        literal: "SharedAccessKey=",
        name: "azure key",
        secret_range: account_key,
    },
    Form {
        literal: "sig=",
        name: "azure signature",
        secret_range: vendors::azure_signature,
    },
    Form {
        literal: "SSWS ",
        name: "okta token",
        secret_range: vendors::okta,
    },
    Form {
        literal: "Bot ",
        name: "discord token",
        secret_range: vendors::discord_bot,
    },
    Form {
        literal: " -u ",
        name: "password",
        secret_range: vendors::curl_user,
    },
    Form {
        literal: "--user ",
        name: "password",
        secret_range: vendors::curl_user,
    },
];

/// What is searched for alone, because it is shorter.
pub(super) const IN_URL: Form = Form {
    literal: "://",
    name: "password",
    secret_range: password_in_url,
};

/// What is searched for in long runs of token characters, to which all of the credential belongs.
pub(super) static FORMS_IN_RUNS: &[Form] = &[
    Form {
        literal: "eyJ",
        name: "json web token",
        secret_range: json_web_token,
    },
    Form {
        literal: ":AA",
        name: "telegram token",
        secret_range: telegram,
    },
    Form {
        literal: "Q~",
        name: "azure secret",
        secret_range: vendors::azure_secret,
    },
    Form {
        literal: "AZDO",
        name: "azure devops token",
        secret_range: vendors::azure_devops,
    },
    Form {
        literal: "-us",
        name: "mailchimp key",
        secret_range: vendors::mailchimp,
    },
    Form {
        literal: ".atlasv1.",
        name: "terraform token",
        secret_range: vendors::terraform,
    },
    Form {
        literal: "1/",
        name: "asana token",
        secret_range: vendors::asana,
    },
    Form {
        literal: "2/",
        name: "asana token",
        secret_range: vendors::asana,
    },
];

/// The name of a value that is a secret because of what it is assigned to.
pub(super) const ASSIGNED: Form = Form {
    literal: "",
    name: "secret",
    secret_range: assignments::value,
};

pub(super) fn run(text: &str, from: usize, has: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| has(**byte))
        .count()
}

pub(super) fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

pub(super) fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Claims that are this long and have no end were cut.
const CUT_CLAIMS_BYTES: usize = 2048;

/// Three runs joined by dots; the first two are JSON objects in base64.
fn json_web_token(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    if in_word(text.as_bytes(), literal.start) {
        return None;
    }
    let header = literal.start + run(text, literal.start, url_safe);
    let claims = header + 1;
    if !text.get(header..)?.starts_with(".eyJ") || header - literal.start < 12 {
        return None;
    }
    let claims_end = claims + run(text, claims, url_safe);
    if claims_end == text.len() && claims_end - claims >= CUT_CLAIMS_BYTES {
        return Some(literal.start..claims_end);
    }
    if text.as_bytes().get(claims_end) != Some(&b'.') {
        return None;
    }
    let signature = run(text, claims_end + 1, url_safe);
    (signature >= 10).then(|| literal.start..claims_end + 1 + signature)
}

/// `scheme://user:password@host`: the password.
fn password_in_url(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..literal.start)?.last()?;
    if !before.is_ascii_alphanumeric() {
        return None;
    }
    let user = |byte: u8| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'+' | b'%' | b'~')
    };
    let user_end = literal.end + run(text, literal.end, user);
    if text.as_bytes().get(user_end) != Some(&b':') {
        return None;
    }
    let start = user_end + 1;
    let password =
        |byte: u8| byte > b' ' && !matches!(byte, b'/' | b'@' | b'"' | b'\'' | b'<' | b'>' | b'`');
    let end = start + run(text, start, password);
    let value = text.get(start..end)?;
    let is_password = value.len() >= 3
        && text.as_bytes().get(end) == Some(&b'@')
        && !PLACEHOLDERS.contains(&value)
        && !value.starts_with("[redacted")
        && !is_reference(value)
        && !value
            .bytes()
            .all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'));
    is_password.then_some(start..end)
}

/// Placeholders for passwords in documentation and tests.
pub(super) const PLACEHOLDERS: &[&str] =
    &["pass", "password", "passwd", "pwd", "PASSWORD", "secret"];

/// Whether a value is a variable or a field of a template: `$NAME`, `${NAME}`, `{{ name }}`, `%(name)s`.
pub(super) fn is_reference(value: &str) -> bool {
    let name = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
    };
    let within = |start: &str, end: &str| {
        let inner = value.strip_prefix(start)?.strip_suffix(end)?;
        Some(name(inner))
    };
    within("${", "}")
        .or_else(|| within("{{", "}}"))
        .or_else(|| within("{", "}"))
        .or_else(|| within("%(", ")s"))
        .unwrap_or_else(|| {
            value.strip_prefix('$').is_some_and(|text| {
                !text.is_empty()
                    && text.bytes().all(|byte| {
                        byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_'
                    })
            })
        })
}

/// The user and password of a header of HTTP.
fn basic(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, base64);
    (length >= 8).then(|| literal.end..literal.end + length)
}

fn bearer(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let initial = literal.start.checked_sub(1)?;
    if !matches!(text.as_bytes().get(initial), Some(b'B' | b'b')) {
        return None;
    }
    let token = |byte: u8| url_safe(byte) || base64(byte) || matches!(byte, b'.' | b'~');
    let length = run(text, literal.end, token);
    let value = text.get(literal.end..literal.end + length)?;
    let is_token = length >= 16 && value.bytes().any(|byte| byte.is_ascii_digit());
    (is_token && !in_word(text.as_bytes(), initial)).then(|| literal.end..literal.end + length)
}

/// `123456789:AA…`: a number, a colon and 35 characters.
fn telegram(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..literal.start)?;
    let digits = before
        .iter()
        .rev()
        .take(12)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let length = run(text, literal.start + 1, url_safe);
    let start = literal.start - digits;
    let is_token = (8..=10).contains(&digits) && length == 35 && !in_word(before, start);
    is_token.then(|| start..literal.start + 1 + length)
}

fn account_key(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, base64);
    (length >= 40).then(|| literal.end..literal.end + length)
}

/// `aws_secret_access_key = …` and the spellings of environments and of AWS responses.
fn aws_secret(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let between = run(text, literal.end, |byte| {
        matches!(byte, b' ' | b'=' | b':' | b'"' | b'\'' | b'>')
    });
    let start = literal.end + between;
    let length = run(text, start, base64);
    (between > 0 && length == 40).then(|| start..start + length)
}

fn webhook(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, |byte| url_safe(byte) || byte == b'/');
    (length >= 40).then(|| literal.end..literal.end + length)
}

/// A webhook whose first part is a number.
fn numbered_webhook(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let digits = run(text, literal.end, |byte| byte.is_ascii_digit());
    let is_numbered = digits > 0 && text.as_bytes().get(literal.end + digits) == Some(&b'/');
    is_numbered.then(|| webhook(text, literal))?
}
