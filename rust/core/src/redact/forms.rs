//! Credentials with more structure than a prefix and a run of characters.

use std::ops::Range;

use super::shapes::in_word;
use super::{assignments, pem};

/// A literal to search for, and the function that decides whether it belongs to a credential.
pub(super) struct Form {
    pub(super) literal: &'static str,
    pub(super) name: &'static str,
    /// The bytes to replace.
    pub(super) judge: fn(&str, Range<usize>) -> Option<Range<usize>>,
}

pub(super) static FORMS: &[Form] = &[
    Form {
        literal: "-----BEGIN ",
        name: "private key",
        judge: pem::begun,
    },
    Form {
        literal: "-----END ",
        name: "private key",
        judge: pem::ended,
    },
    Form {
        literal: "eyJ",
        name: "json web token",
        judge: json_web_token,
    },
    Form {
        literal: "://",
        name: "password",
        judge: password_in_url,
    },
    Form {
        literal: "uthorization: Basic ",
        name: "basic credentials",
        judge: basic,
    },
    Form {
        literal: "earer ",
        name: "bearer token",
        judge: bearer,
    },
    Form {
        literal: ":AA",
        name: "telegram token",
        judge: telegram,
    },
    Form {
        literal: "AccountKey=",
        name: "azure key",
        judge: account_key,
    },
    Form {
        literal: "aws_secret_access_key",
        name: "aws secret",
        judge: aws_secret,
    },
    Form {
        literal: "AWS_SECRET_ACCESS_KEY",
        name: "aws secret",
        judge: aws_secret,
    },
    Form {
        literal: "SecretAccessKey",
        name: "aws secret",
        judge: aws_secret,
    },
    Form {
        literal: "hooks.slack.com/services/",
        name: "slack webhook",
        judge: webhook,
    },
    Form {
        literal: "hooks.slack.com/workflows/",
        name: "slack webhook",
        judge: webhook,
    },
    Form {
        literal: "hooks.slack.com/triggers/",
        name: "slack webhook",
        judge: webhook,
    },
    Form {
        literal: "/api/webhooks/",
        name: "discord webhook",
        judge: numbered_webhook,
    },
    Form {
        literal: "SharedAccessKey=",
        name: "azure key",
        judge: account_key,
    },
    Form {
        literal: "sig=",
        name: "azure signature",
        judge: azure_signature,
    },
    Form {
        literal: "Q~",
        name: "azure secret",
        judge: azure_secret,
    },
    Form {
        literal: "AZDO",
        name: "azure devops token",
        judge: azure_devops,
    },
    Form {
        literal: "-us",
        name: "mailchimp key",
        judge: mailchimp,
    },
    Form {
        literal: ".atlasv1.",
        name: "terraform token",
        judge: terraform,
    },
    Form {
        literal: "1/",
        name: "asana token",
        judge: asana,
    },
    Form {
        literal: "2/",
        name: "asana token",
        judge: asana,
    },
    Form {
        literal: "SSWS ",
        name: "okta token",
        judge: okta,
    },
    Form {
        literal: "Bot ",
        name: "discord token",
        judge: discord_bot,
    },
    Form {
        literal: " -u ",
        name: "password",
        judge: curl_user,
    },
    Form {
        literal: "--user ",
        name: "password",
        judge: curl_user,
    },
];

/// The name of a value that is a secret because of what it is assigned to.
pub(super) const ASSIGNED: Form = Form {
    literal: "",
    name: "secret",
    judge: assignments::value,
};

pub(super) fn run(text: &str, from: usize, has: impl Fn(u8) -> bool) -> usize {
    text.as_bytes()
        .get(from..)
        .unwrap_or_default()
        .iter()
        .take_while(|byte| has(**byte))
        .count()
}

fn url_safe(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn base64(byte: u8) -> bool {
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
const PLACEHOLDERS: &[&str] = &["pass", "password", "passwd", "pwd", "PASSWORD", "secret"];

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

/// The characters of one kind that precede `at`.
fn run_before(text: &str, at: usize, has: impl Fn(u8) -> bool) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    before
        .iter()
        .rev()
        .take(128)
        .take_while(|byte| has(**byte))
        .count()
}

/// How far back the program of a command is looked for.
const LINE_BYTES: usize = 512;

fn is_hex(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// `sig=`: base64 of 32 bytes in a URL, with its `=` escaped.
fn azure_signature(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, |byte| url_safe(byte) || byte == b'%');
    let value = text.get(literal.end..literal.end + length)?;
    let is_signature = (43..=90).contains(&length) && value.to_ascii_lowercase().ends_with("%3d");
    (is_signature && !in_word(text.as_bytes(), literal.start))
        .then(|| literal.end..literal.end + length)
}

/// Three characters, a digit, `Q~` and 31 to 34 more.
fn azure_secret(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let has = |byte: u8| url_safe(byte) || matches!(byte, b'.' | b'~');
    let before = run_before(text, literal.start, has);
    let length = run(text, literal.end, has);
    let digit = literal.start.checked_sub(1)?;
    let is_digit = text.as_bytes().get(digit)?.is_ascii_digit();
    (before == 4 && is_digit && (31..=34).contains(&length))
        .then(|| literal.start - before..literal.end + length)
}

/// 76 characters, `AZDO` and four more.
fn azure_devops(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let alphanumeric = |byte: u8| byte.is_ascii_alphanumeric();
    let before = run_before(text, literal.start, alphanumeric);
    let length = run(text, literal.end, alphanumeric);
    (before == 76 && length == 4).then(|| literal.start - before..literal.end + length)
}

/// 32 hexadecimal digits, `-us` and the number of a data centre.
fn mailchimp(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = run_before(text, literal.start, is_hex);
    let length = run(text, literal.end, |byte| byte.is_ascii_digit());
    let start = literal.start - before;
    let is_key = before == 32 && (1..=2).contains(&length) && !in_word(text.as_bytes(), start);
    is_key.then(|| start..literal.end + length)
}

fn terraform(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = run_before(text, literal.start, |byte| byte.is_ascii_alphanumeric());
    let length = run(text, literal.end, url_safe);
    (before == 14 && length >= 60).then(|| literal.start - before..literal.end + length)
}

/// `1/` or `2/`, numbers, a colon and 32 characters.
fn asana(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let numbers = run(text, literal.end, |byte| {
        byte.is_ascii_digit() || byte == b'/'
    });
    let colon = literal.end + numbers;
    if numbers < 12
        || text.as_bytes().get(colon) != Some(&b':')
        || in_word(text.as_bytes(), literal.start)
    {
        return None;
    }
    let length = run(text, colon + 1, |byte| byte.is_ascii_alphanumeric());
    (length == 32).then(|| literal.start..colon + 1 + length)
}

fn okta(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, url_safe);
    (length >= 40).then(|| literal.end..literal.end + length)
}

/// `Bot` in a header, and three runs joined by dots.
fn discord_bot(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let length = run(text, literal.end, |byte| url_safe(byte) || byte == b'.');
    let value = text.get(literal.end..literal.end + length)?;
    let is_token = length >= 50 && value.bytes().filter(|byte| *byte == b'.').count() == 2;
    is_token.then(|| literal.end..literal.end + length)
}

/// `curl -u user:password`: the password.
fn curl_user(text: &str, literal: Range<usize>) -> Option<Range<usize>> {
    let before = text.as_bytes().get(..literal.start)?;
    let near = before.get(before.len().saturating_sub(LINE_BYTES)..)?;
    let line = near.rsplit(|byte| *byte == b'\n').next()?;
    memchr::memmem::find(line, b"curl")?;
    let quote = text
        .as_bytes()
        .get(literal.end)
        .copied()
        .filter(|byte| matches!(byte, b'"' | b'\''));
    let start = literal.end + usize::from(quote.is_some());
    let user = run(text, start, |byte| byte > b' ' && byte != b':');
    if text.as_bytes().get(start + user) != Some(&b':') {
        return None;
    }
    let start = start + user + 1;
    let length = run(text, start, |byte| {
        byte > b' ' && !matches!(byte, b'"' | b'\'' | b'`')
    });
    let value = text.get(start..start + length)?;
    let is_password = length >= 4 && !PLACEHOLDERS.contains(&value) && !is_reference(value);
    is_password.then_some(start..start + length)
}
