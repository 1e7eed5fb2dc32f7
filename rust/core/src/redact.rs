//! Redaction of credentials in text.
//!
//! Two sources: values that are known to be secret, found literally, and credentials that identify
//! themselves by their shape (a vendor's prefix, a PEM block, a JSON Web Token, a password in a
//! URL). There is no entropy rule: hashes, ids and base64 are ordinary output. One pass over the
//! text finds the literal part of each shape; the characters around it decide. The time is linear
//! in the length of the text.

mod assignments;
mod display;
mod forms;
mod known;
mod literals;
mod pem;
mod runs;
mod shapes;
mod vendors;

use std::collections::TryReserveError;
use std::ops::Range;

use display::Displayed;
pub use known::{KNOWN_MIN_BYTES, Known};
use literals::LITERALS;

/// A credential in an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) at: Range<usize>,
    pub(crate) name: &'static str,
}

/// `text` with `[redacted: github token]` and the like for each credential that identifies itself,
/// and `[redacted: secret]` for each known value; `None` if it has none.
///
/// Both are found as they are written and as they are displayed: escape sequences, backspaces and
/// invisible characters between their characters do not hide them.
///
/// # Errors
/// There is not enough memory for the changed text.
pub fn redact(text: &str, known: Option<&Known>) -> Result<Option<String>, TryReserveError> {
    let mut found = Vec::new();
    search(text, known, &mut found);
    if let Some(view) = Displayed::of(text, known.is_some())? {
        let mut displayed = Vec::new();
        search(&view.text, known, &mut displayed);
        found.extend(displayed.into_iter().map(|each| Found {
            at: view.written(&each.at),
            name: each.name,
        }));
    }
    // Known values were found first: of two names for one place theirs is used.
    found.sort_by_key(|each| each.at.start);
    let mut out = String::new();
    let mut copied = 0;
    let mut found = found.into_iter().peekable();
    while let Some(mut each) = found.next() {
        while let Some(next) = found.next_if(|next| next.at.start < each.at.end) {
            each.at.end = each.at.end.max(next.at.end);
        }
        replace(&mut out, text, copied, &each)?;
        copied = each.at.end;
    }
    finish(out, text, copied)
}

/// Adds the credentials of `text` as it is written.
fn search(text: &str, known: Option<&Known>, found: &mut Vec<Found>) {
    if let Some(known) = known {
        found.extend(known.find(text));
    }
    if let Some(literals) = LITERALS.as_ref() {
        literals.search(text, found);
    }
}

fn replace(
    out: &mut String,
    text: &str,
    copied: usize,
    found: &Found,
) -> Result<(), TryReserveError> {
    let before = text.get(copied..found.at.start).unwrap_or_default();
    out.try_reserve(before.len() + found.name.len() + "[redacted: ]".len())?;
    out.push_str(before);
    out.push_str("[redacted: ");
    out.push_str(found.name);
    out.push(']');
    Ok(())
}

fn finish(mut out: String, text: &str, copied: usize) -> Result<Option<String>, TryReserveError> {
    if copied == 0 {
        return Ok(None);
    }
    let rest = text.get(copied..).unwrap_or_default();
    out.try_reserve(rest.len())?;
    out.push_str(rest);
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests may panic")]

    use super::{Known, redact};

    /// Invented, with the right form; joined so that no scanner reports this file as a leak.
    fn credentials() -> Vec<(String, &'static str)> {
        let alnum = |length: usize| {
            "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0z"
                .chars()
                .cycle()
                .take(length)
        };
        let token = |prefix: &str, length: usize| -> String {
            prefix.chars().chain(alnum(length)).collect()
        };
        let hex = |prefix: &str, length: usize| -> String {
            prefix
                .chars()
                .chain("0a1b2c3d4e5f6978".chars().cycle().take(length))
                .collect()
        };
        let upper = |prefix: &str, length: usize| -> String {
            prefix
                .chars()
                .chain("ABC2DEF3GHI4JKL5".chars().cycle().take(length))
                .collect()
        };
        vec![
            (upper("AKIA", 16), "aws access key"),
            (upper("ASIA", 16), "aws access key"),
            (token("ghp_", 36), "github token"),
            (token("gho_", 36), "github token"),
            (token("ghs_", 36), "github token"),
            (token("github_pat_", 82), "github token"),
            (token("glpat-", 20), "gitlab token"),
            (token("xoxb-1234-", 24), "slack token"),
            (token("sk-ant-api03-", 93), "anthropic key"),
            (token("sk-proj-", 48), "openai key"),
            (token("sk-", 48), "api key"),
            (hex("sk-or-v1-", 64), "openrouter key"),
            (token("sk_live_", 24), "stripe key"),
            (token("rk_test_", 24), "stripe key"),
            (token("whsec_", 32), "stripe secret"),
            (token("AIza", 35), "google key"),
            (token("GOCSPX-", 28), "google secret"),
            (token("npm_", 36), "npm token"),
            (token("pypi-AgEIcHlwaS5vcmc", 80), "pypi token"),
            (token("hf_", 34), "hugging face token"),
            (hex("dop_v1_", 64), "digitalocean token"),
            (hex("dapi", 32), "databricks token"),
            (hex("shpat_", 32), "shopify token"),
            (token("lin_api_", 40), "linear key"),
            (token("hvs.", 24), "vault token"),
            (token("gsk_", 52), "groq key"),
            (token("glsa_", 32), "grafana token"),
            (token("dckr_pat_", 27), "docker token"),
            (
                format!("SG.{}.{}", token("", 22), token("", 43)),
                "sendgrid key",
            ),
            (format!("123456789:{}", token("AA", 33)), "telegram token"),
            (
                format!(
                    "eyJ{}.eyJ{}.{}",
                    token("", 20),
                    token("", 30),
                    token("", 43)
                ),
                "json web token",
            ),
        ]
    }

    #[test]
    fn every_credential_is_replaced_by_its_name_and_nothing_else_is_changed() {
        for (credential, name) in credentials() {
            for (before, after) in [("", ""), ("key=", "\n"), ("\"", "\","), ("é ", " é")] {
                let text = format!("{before}{credential}{after}");
                let expected = format!("{before}[redacted: {name}]{after}");
                assert_eq!(
                    redact(&text, None).unwrap().as_deref(),
                    Some(expected.as_str()),
                    "{text}"
                );
            }
        }
    }

    #[test]
    fn a_private_key_block_goes_as_one() {
        let block = "a\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNz\nAAAA\n-----END OPENSSH PRIVATE KEY-----\nz";
        assert_eq!(
            redact(block, None).unwrap().unwrap(),
            "a\n[redacted: private key]\nz"
        );
        let cut = "-----BEGIN PRIVATE KEY-----\nMIIEvQ==\nMIIE";
        assert_eq!(
            redact(cut, None).unwrap().unwrap(),
            "[redacted: private key]"
        );
        assert_eq!(
            redact("-----BEGIN CERTIFICATE-----\nMIIE\n", None).unwrap(),
            None
        );
    }

    #[test]
    fn a_password_in_a_url_goes_and_the_rest_of_the_url_stays() {
        let text = "postgres://app:hunter22@db.example.com:5432/app";
        assert_eq!(
            redact(text, None).unwrap().unwrap(),
            "postgres://app:[redacted: password]@db.example.com:5432/app"
        );
        for plain in [
            "http://localhost:8080/a@b",
            "see https://a.example:443/x",
            "://:@",
        ] {
            assert_eq!(redact(plain, None).unwrap(), None, "{plain}");
        }
    }

    #[test]
    fn a_bearer_token_goes_and_the_word_stays() {
        let text = "Authorization: Bearer abcDEF0123456789.tokentoken\n";
        assert_eq!(
            redact(text, None).unwrap().unwrap(),
            "Authorization: Bearer [redacted: bearer token]\n"
        );
        assert_eq!(
            redact("the Bearer of good news is here", None).unwrap(),
            None
        );
    }

    #[test]
    fn a_prefix_within_a_word_or_too_short_is_left() {
        for text in [
            "task-abcdefghijklmnopqrstuvwxyz0123456789",
            "ghp_short",
            "AKIAXYZ",
            "sk-learn-contrib-package",
        ] {
            assert_eq!(redact(text, None).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn known_values_are_found_literally_the_longest_first() {
        let known = Known::new(["correct horse", "correct horse battery", "short"]).unwrap();
        assert_eq!(
            known
                .redact("a correct horse battery, a correct horse, a short")
                .unwrap()
                .unwrap(),
            "a [redacted: secret], a [redacted: secret], a short"
        );
        assert_eq!(known.redact("nothing").unwrap(), None);
        assert!(Known::new(["short"]).is_none());
    }

    #[test]
    fn a_stream_gives_what_the_whole_gives_wherever_it_is_split() {
        let known = Known::new(["correct horse", "correct horse battery", "horse é 9"]).unwrap();
        for whole in [
            "a correct horse battery, a correct horse bat, correct horse é 9.",
            "correct correct horse batter",
            "é horse é 9 é",
            "nothing",
        ] {
            let expected = known.redact(whole).unwrap();
            let expected = expected.as_deref().unwrap_or(whole);
            for split in (0..=whole.len()).filter(|&at| whole.is_char_boundary(at)) {
                let (mut out, mut waiting) = (String::new(), String::new());
                for piece in [whole.get(..split), whole.get(split..)] {
                    waiting.push_str(piece.unwrap());
                    let text = std::mem::take(&mut waiting);
                    match known.redact_start(&text).unwrap() {
                        None => out.push_str(&text),
                        Some((ready, rest)) => {
                            assert!(rest.len() < 3 * known.longest_bytes());
                            out.push_str(&ready);
                            waiting.push_str(rest);
                        }
                    }
                }
                let rest = known.redact(&waiting).unwrap().unwrap_or(waiting);
                assert_eq!(format!("{out}{rest}"), expected, "{whole} at {split}");
            }
        }
    }
}
