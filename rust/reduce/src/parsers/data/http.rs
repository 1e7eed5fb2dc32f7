//! Requests and their answers: status, headers, the beginning and the headings of the body.

mod body;
mod page;

use crate::family::{Family, Marks, Match};
use crate::generic::kind::{Kind, kind};
use crate::input::Input;
use crate::line::beginnings::Beginnings;
use crate::line::exit_code;
use crate::line::{is_bad, shorten};
use crate::output::Output;
use ethos_registry_core::find_text::FindText as _;
use ethos_registry_core::lines::lines;

pub(crate) const FAMILY: Family = Family {
    name: "http",
    runs,
    marks: Marks::OneOf(&[
        &["< HTTP/"],
        &["HTTP/0"],
        &["<!doctype html"],
        &["<!DOCTYPE html"],
        &["<html"],
    ]),
    recognises,
    reduce,
};

const HEADER_CHARS: usize = 200;
/// Bodies of this many answers are shown, and that of the last one.
const BODIES: usize = 20;
/// What curl and wget report about a connection that works.
static CONNECTION_NOISE: Beginnings<5> =
    Beginnings::new(["{ [", "} [", "Resolving ", "Connecting to ", "Saving to: "]);
/// What curl describes the time that a transfer will take while it does not know.
const UNKNOWN_TIME: &str = "--:--:--";
/// What curl describes a certificate.
static CERTIFICATE: Beginnings<5> = Beginnings::new([
    "SSL connection using ",
    "SSL certificate verify ",
    "subject: ",
    "expire date: ",
    "issuer: ",
]);
/// How `wget` describes an answer that is an error.
const WGET_ERROR: &str = " ERROR ";
/// What curl shows once it has the body, or begins with the next one.
static AFTER_BODY: Beginnings<4> =
    Beginnings::new(["* Connection #", "* Closing connection", "{ [", TRANSFERS]);
/// The header of the table in which curl describes a transfer.
const TRANSFERS: &str = "% Total ";

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "curl" | "wget" | "http" | "https" | "xh" | "httpie"
    )
}

fn recognises(input: &Input<'_>) -> Match {
    let mut found = Match::No;
    let mut after_status = false;
    for (number, line) in input.beginning().enumerate() {
        let line = line.trim_start();
        let is_first = number == 0 && is_status(line);
        let is_page = number == 0 && is_html(line);
        if line.starts_with("< HTTP/") || is_first || is_page || after_status && is_header(line) {
            return Match::Certain;
        }
        after_status = is_status(line);
        let likely = line.starts_with("curl: (")
            || line.starts_with("* ")
            || line.starts_with("HTTP request sent")
            || after_status;
        if likely {
            found = Match::Likely;
        }
    }
    found
}

/// Whether `line` is the first of an answer.
fn is_status(line: &str) -> bool {
    line.strip_prefix("HTTP/")
        .and_then(|rest| rest.split_once(' '))
        .is_some_and(|(version, rest)| {
            version.starts_with(|sign: char| sign.is_ascii_digit())
                && rest.starts_with(|sign: char| sign.is_ascii_digit())
        })
}

/// `Content-Type: text/html`.
fn is_header(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    name.len() > 1 && name.bytes().all(is_sign)
}

fn is_html(line: &str) -> bool {
    let start = line.get(..14).unwrap_or(line).to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.starts_with("<html")
}

fn reduce(input: &Input<'_>, output: &mut Output) {
    let mut body = Body::default();
    let (mut in_headers, mut answers) = (false, 0);
    let mut dots = None;
    let mut rest = input.lines();
    loop {
        let start = input.text.len() - rest.unread_bytes();
        let Some(line) = rest.next() else { break };
        // `< ` closes the headers where carriage returns were taken away.
        let line = line.trim_ascii_end();
        let text = line.trim_ascii_start();
        if body.is_over(start) && !text.is_empty() && !is_of_client(text) {
            // What was sent is all there: others printed this.
            if (1..=BODIES).contains(&answers) {
                body.write(input.text, start, output);
            }
            body = Body {
                behind: Some(start),
                ..Body::default()
            };
        }
        let is_of_others = body.behind.is_some() && !begins_answer(text);
        if is_of_others || body.is_open() && !may_follow_body(text) {
            if !text.is_empty() {
                body.resumes(start);
            }
            continue;
        }
        if (1..=BODIES).contains(&answers) && begins_request(text) {
            // The body is of the answer above, not of one below.
            body.write(input.text, start, output);
        }
        let first = text.as_bytes().first();
        if first == Some(&b'c') && text.starts_with("curl: (") {
            body.ends(start);
            if (1..=BODIES).contains(&answers) {
                body.write(input.text, start, output);
            }
            output.fact(line);
            output.failed();
        } else if ends_in_digit(text) && exit_code::is_told(text) {
            body.write(input.text, start, output);
            output.fact(line);
        } else if matches!(first, Some(b'H' | b'<'))
            && (is_status(text) || text.starts_with("< HTTP/"))
        {
            if (1..=BODIES).contains(&answers) {
                body.write(input.text, start, output);
            } else if let Some(behind) = body.behind {
                let other = input.text.get(behind..start).unwrap_or_default();
                lines(other)
                    .filter(|line| is_bad(line))
                    .for_each(|line| output.fact(&shorten(line, HEADER_CHARS)));
            } else if answers == 0 {
                // What precedes the first answer is not a body.
                if let Some(other) = body.start.and_then(|other| input.text.get(other..start)) {
                    body::write_other(other, output);
                }
            }
            body = Body::default();
            in_headers = true;
            answers += 1;
            output.fact(text);
        } else if in_headers && matches!(text, "" | "<") {
            in_headers = false;
        } else if in_headers && (text.starts_with("< ") || !text.starts_with("* ")) {
            body.length = body.length.or_else(|| length(text));
            output.fact(&shorten(text, HEADER_CHARS));
        } else if body.start.is_some() && (AFTER_BODY.begin(text) || is_transfer(text)) {
            body.ends(start);
        } else if let Some(told) = text.strip_prefix("* ") {
            told_by_client(told, text, output);
        } else if let Some(sent) = text.strip_prefix("> ") {
            if sent.contains(" HTTP/") {
                output.fact(text);
            }
        } else if is_of_wget(text) {
            // The last row of dots is repeated in this line.
            dots = dots.filter(|_| !is_saved(text));
            output.fact(text);
        } else if is_row_of_dots(text) {
            dots = Some(line);
        } else if is_noise(text) {
        } else if answers == 0 && is_advice(text) {
            output.fact(text);
        } else if body.is_open() {
            body.resumes(start);
        } else {
            body.start = Some(start);
        }
    }
    body.write(input.text, input.text.len(), output);
    if let Some(dots) = dots {
        output.context(dots);
    }
}

/// Whether curl states, before any answer, what it thinks of its options.
fn is_advice(text: &str) -> bool {
    text.starts_with("Note: ") || text.starts_with("Warning: ")
}

/// Whether the client turns to a server: `* Connected to oak`, `> GET / HTTP/1.1`.
fn begins_request(text: &str) -> bool {
    text.starts_with("* Connected to ") || text.starts_with("> ") && text.has_text(" HTTP/")
}

/// Where the body of the latest answer is.
#[derive(Default)]
struct Body {
    start: Option<usize>,
    /// Where the client spoke again.
    end: Option<usize>,
    /// Where the rest of the body continues after a message of the client inside it.
    rest: Option<usize>,
    /// The length in bytes from the headers.
    length: Option<usize>,
    /// Where others wrote after it.
    behind: Option<usize>,
}

impl Body {
    /// Whether the next line is of the body or of what is after it, unless it is one of the client.
    fn is_open(&self) -> bool {
        self.start.is_some() || self.behind.is_some()
    }

    /// Whether all of it precedes `at`.
    fn is_over(&self, at: usize) -> bool {
        let Some((start, length)) = self.start.zip(self.length) else {
            return false;
        };
        let (start, length) = match (self.rest, self.missing()) {
            (Some(rest), Some(missing)) => (rest, missing),
            _ => (start, length),
        };
        start.saturating_add(length) <= at
    }

    /// How many bytes of it were not there yet when the client spoke.
    fn missing(&self) -> Option<usize> {
        // The line feed before the client's words is not one of it.
        let had = self.end?.checked_sub(self.start? + 1)?;
        self.length?.checked_sub(had).filter(|missing| *missing > 0)
    }

    /// The line at `at` may go on with it, or others printed it.
    fn resumes(&mut self, at: usize) {
        if self.end.is_some() {
            self.rest.get_or_insert(at);
        }
    }

    /// What the client states at `at` is after it.
    fn ends(&mut self, at: usize) {
        if self.start.is_some() {
            self.end.get_or_insert(at);
        }
    }

    /// Writes it, if there is one, and waits for the next; it ends `here` if it did not before.
    fn write(&mut self, text: &str, here: usize, output: &mut Output) {
        let missing = self.missing();
        let Self {
            start,
            end,
            rest,
            behind,
            ..
        } = std::mem::take(self);
        let body = start.and_then(|start| text.get(start..end.unwrap_or(here)));
        let rest = rest.and_then(|rest| text.get(rest..behind.unwrap_or(here)));
        // Carriage returns that were taken away are counted by the server.
        let is_rest =
            |rest: &&str| missing.is_some_and(|missing| missing <= rest.len() + rest.len() / 20);
        match (body, rest) {
            (Some(body), Some(rest)) if is_rest(&rest) => {
                let begun = body.strip_suffix('\n').unwrap_or(body);
                body::write(&format!("{begun}{rest}"), output);
            }
            (body, rest) => {
                if let Some(body) = body {
                    body::write(body, output);
                }
                if let Some(rest) = rest {
                    body::write_other(rest, output);
                }
            }
        }
        if let Some(behind) = behind.and_then(|behind| text.get(behind..here)) {
            body::write_other(behind, output);
        }
    }
}

/// The length of the body that the header `text` shows.
fn length(text: &str) -> Option<usize> {
    const NAME: &str = "content-length:";
    let text = text.strip_prefix("< ").unwrap_or(text);
    let name = text.get(..NAME.len())?;
    let told = || text.get(NAME.len()..)?.trim().parse().ok();
    name.eq_ignore_ascii_case(NAME).then(told)?
}

/// Whether `text` may be of the client: what is after a body may not.
fn is_of_client(text: &str) -> bool {
    begins_answer(text)
        || text.starts_with("* ")
        || text.starts_with("< ")
        || AFTER_BODY.begin(text)
        || is_noise(text)
}

/// Whether the client turns to a server, or shows what that answered.
fn begins_answer(text: &str) -> bool {
    match text.as_bytes().first() {
        Some(b'H') => is_status(text),
        Some(b'<') => text.starts_with("< HTTP/"),
        Some(b'c') => text.starts_with("curl: ("),
        Some(b'*' | b'>') => begins_request(text),
        _ => false,
    }
}

fn ends_in_digit(text: &str) -> bool {
    text.as_bytes().last().is_some_and(u8::is_ascii_digit)
}

/// Whether `text`, a line after the beginning of a body, may be one of the client and not of the body.
fn may_follow_body(text: &str) -> bool {
    let starts = match text.as_bytes() {
        [b'*' | b'<' | b'>', next, ..] => *next == b' ',
        [b'-', next, ..] => *next == b'-',
        [first, ..] => b"cwHL{*<>%".contains(first),
        [] => false,
    };
    starts
        || is_transfer(text)
        || text.ends_with(']')
        || text.has_text(WGET_ERROR)
        || ends_in_digit(text) && exit_code::is_told(text)
}

/// Whether curl shows with `text` how much of a transfer is done.
fn is_transfer(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit()) && text.has_text(UNKNOWN_TIME)
}

/// A note of the client about the connection: only problems are useful, the server it connected to, and how the server
/// was authenticated.
fn told_by_client(told: &str, line: &str, output: &mut Output) {
    if kind(told) == Kind::Bad {
        output.failed();
        output.fact(&shorten(line, HEADER_CHARS));
    } else if told.starts_with("Connected to ") || CERTIFICATE.begin(told.trim_start()) {
        output.context(line);
    }
}

fn is_noise(text: &str) -> bool {
    matches!(text, "" | ">" | "<")
        || CONNECTION_NOISE.begin(text)
        || text.has_text(UNKNOWN_TIME)
        || text.starts_with(TRANSFERS)
        || text.starts_with("Dload ")
        || kind(text) == Kind::Progress
}

fn is_of_wget(text: &str) -> bool {
    text.starts_with("--2")
        || text.starts_with("HTTP request sent")
        || text.starts_with("Length: ")
        || text.starts_with("Location: ")
        || is_saved(text)
        || text.starts_with("wget: ")
        || text.has_text(WGET_ERROR)
}

/// Whether wget shows where it saved an answer.
fn is_saved(text: &str) -> bool {
    text.ends_with(']') && text.has_text(" saved [")
}

/// Whether wget draws with `text` how far it is: `50K .......... ..........  1%  453M 0s`.
fn is_row_of_dots(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let dots = rest.strip_prefix(['K', 'M', 'G']);
    rest.len() < text.len()
        && dots.is_some_and(|dots| dots.starts_with([' ', ',']) && dots.has_text(".."))
}

#[cfg(test)]
mod tests;
