//! Requests and their answers: status, headers, the beginning and the headings of the body.

use memchr::memmem;

use super::beginnings::Beginnings;
use super::family::{Family, Marks, Match};
use super::generic::kind::{Kind, kind};
use super::input::Input;
use super::json;
use super::line::shorten;
use super::output::Output;
use crate::find_text::FindText as _;
use crate::lines::lines;

pub(super) const FAMILY: Family = Family {
    name: "http",
    runs,
    marks: Marks::OneOf(&[&["< HTTP/"], &["HTTP/0"]]),
    recognises,
    reduce,
};

const HEADER_CHARS: usize = 200;
/// Bodies of so many answers are told, and that of the last one.
const BODIES: usize = 20;
/// Bodies of at most this length stay whole.
const BODY_CHARS: usize = 600;
/// Of longer ones this much of the beginning, as it stands.
const BODY_START_CHARS: usize = 300;
/// Of their text, without tags, this share, within a bound.
const TEXT_SHARE: usize = 20;
const MAX_TEXT_BYTES: usize = 2_000;
const MAX_HEADINGS: usize = 20;
const HEADINGS: [(&str, &str); 4] = [
    ("<title", "</title>"),
    ("<h1", "</h1>"),
    ("<h2", "</h2>"),
    ("<h3", "</h3>"),
];
/// What curl and wget tell of a connection that works.
static CONNECTION_NOISE: Beginnings<5> =
    Beginnings::new(["{ [", "} [", "Resolving ", "Connecting to ", "Saving to: "]);
/// What curl tells of the time that a transfer will take while it does not know.
const UNKNOWN_TIME: &str = "--:--:--";
/// How `wget` tells of an answer that is an error.
const WGET_ERROR: &str = " ERROR ";
/// What curl tells once it has the body, or begins with the next one.
static AFTER_BODY: Beginnings<4> =
    Beginnings::new(["* Connection #", "* Closing connection", "{ [", TRANSFERS]);
/// The head of the table in which curl tells of a transfer.
const TRANSFERS: &str = "% Total ";

fn runs(input: &Input<'_>) -> bool {
    matches!(
        input.program(),
        "curl" | "wget" | "http" | "https" | "xh" | "httpie"
    )
}

fn recognises(input: &Input<'_>) -> Match {
    let mut found = Match::No;
    for (number, line) in input.beginning().enumerate() {
        let line = line.trim_start();
        if line.starts_with("< HTTP/") || number == 0 && is_status(line) {
            return Match::Certain;
        }
        let likely = line.starts_with("curl: (")
            || line.starts_with("* ")
            || line.starts_with("HTTP request sent")
            || is_status(line)
            || number == 0 && is_html(line);
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
        if body.start.is_some() && !may_follow_body(text) {
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
        } else if matches!(first, Some(b'H' | b'<'))
            && (is_status(text) || text.starts_with("< HTTP/"))
        {
            // What stands before the first answer is no body.
            if (1..=BODIES).contains(&answers) {
                body.write(input.text, start, output);
            }
            body = Body::default();
            in_headers = true;
            answers += 1;
            output.fact(text);
        } else if in_headers && matches!(text, "" | "<") {
            in_headers = false;
        } else if in_headers && (text.starts_with("< ") || !text.starts_with("* ")) {
            output.fact(&shorten(text, HEADER_CHARS));
        } else if body.start.is_some() && AFTER_BODY.begin(text) {
            body.ends(start);
        } else if let Some(told) = text.strip_prefix("* ") {
            told_by_client(told, text, output);
        } else if let Some(sent) = text.strip_prefix("> ") {
            if sent.contains(" HTTP/") {
                output.fact(text);
            }
        } else if is_of_wget(text) {
            // It says what the last row of dots said.
            dots = dots.filter(|_| !is_saved(text));
            output.fact(text);
        } else if is_row_of_dots(text) {
            dots = Some(line);
        } else if is_noise(text) {
        } else if body.start.is_none() {
            body.start = Some(start);
        }
    }
    body.write(input.text, input.text.len(), output);
    if let Some(dots) = dots {
        output.context(dots);
    }
}

/// Whether the client turns to a server: `* Connected to oak`, `> GET / HTTP/1.1`.
fn begins_request(text: &str) -> bool {
    text.starts_with("* Connected to ") || text.starts_with("> ") && text.has_text(" HTTP/")
}

/// Where the body of the latest answer stands.
#[derive(Default)]
struct Body {
    start: Option<usize>,
    /// Where the client spoke again.
    end: Option<usize>,
}

impl Body {
    /// What the client says at `at` is behind it.
    fn ends(&mut self, at: usize) {
        if self.start.is_some() {
            self.end.get_or_insert(at);
        }
    }

    /// Writes it, if there is one, and waits for the next; it ends `here` if it did not before.
    fn write(&mut self, text: &str, here: usize, output: &mut Output) {
        let Self { start, end } = std::mem::take(self);
        if let Some(body) = start.and_then(|start| text.get(start..end.unwrap_or(here))) {
            write_body(body, output);
        }
    }
}

/// Whether `text`, a line behind the beginning of a body, may be one of the client and not of the body.
fn may_follow_body(text: &str) -> bool {
    let starts = match text.as_bytes() {
        [b'*' | b'<' | b'>', next, ..] => *next == b' ',
        [b'-', next, ..] => *next == b'-',
        [first, ..] => b"cwHL{*<>%".contains(first),
        [] => false,
    };
    starts || text.ends_with(']') || text.has_text(WGET_ERROR)
}

/// A note of the client about the connection: only what is bad is of use, and whom it reached.
fn told_by_client(told: &str, line: &str, output: &mut Output) {
    if kind(told) == Kind::Bad {
        output.failed();
        output.fact(&shorten(line, HEADER_CHARS));
    } else if told.starts_with("Connected to ") {
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

/// Whether wget tells where it saved an answer.
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

/// The shape of JSON; of anything else the beginning, and of HTML the headings and the text.
fn write_body(body: &str, output: &mut Output) {
    let body = body.trim();
    if body.len() <= BODY_CHARS {
        lines(body).for_each(|line| output.context(line));
        return;
    }
    if body.starts_with(['{', '[']) && json::write(body, output) {
        return;
    }
    let start = body
        .char_indices()
        .nth(BODY_START_CHARS)
        .map_or(body.len(), |(at, _)| at);
    body.get(..start)
        .unwrap_or_default()
        .lines()
        .for_each(|line| output.context(line));
    let rest = body.get(start..).unwrap_or_default();
    let markup = body.starts_with('<');
    if markup {
        headings(rest, output);
    }
    let bytes = (body.len() / TEXT_SHARE).min(MAX_TEXT_BYTES);
    let text = if markup {
        let in_tag = body
            .get(..start)
            .is_some_and(|head| head.rfind('<') > head.rfind('>'));
        without_tags(rest, in_tag, bytes)
    } else {
        rest.chars().take(bytes).collect()
    };
    // Half of a word or of a number would say another thing.
    let is_cut = text.len() >= bytes;
    let end = text.rfind(char::is_whitespace).filter(|_| is_cut);
    lines(text.get(..end.unwrap_or(text.len())).unwrap_or_default())
        .filter(|line| !line.trim().is_empty())
        .for_each(|line| output.summary(line, 0));
}

/// The headings of `html` as they stand.
fn headings(html: &str, output: &mut Output) {
    let find = |from: usize, text: &str| {
        let rest = html.as_bytes().get(from..)?;
        Some(from + memmem::find(rest, text.as_bytes())?)
    };
    let next = |(open, close): (&str, &str), from| {
        let start = find(from, open)?;
        Some((start, find(start, close)? + close.len()))
    };
    // What was found stays the next one of its kind until it is passed: nothing is read twice.
    let mut all = HEADINGS.map(|kind| (kind, next(kind, 0)));
    for _ in 0..MAX_HEADINGS {
        let found = all.iter().filter_map(|(_, found)| *found).min();
        let Some((start, end)) = found else { return };
        let heading = html.get(start..end).unwrap_or_default();
        if heading.len() <= HEADER_CHARS && !heading.contains('\n') {
            output.summary(heading, 0);
        }
        for (kind, found) in &mut all {
            if found.is_some_and(|(start, _)| start < end) {
                *found = next(*kind, end);
            }
        }
    }
}

/// At most `max_bytes` of the text of `html`, blanks folded.
fn without_tags(html: &str, begins_in_tag: bool, max_bytes: usize) -> String {
    let mut text = String::new();
    let mut in_tag = begins_in_tag;
    for sign in html.chars() {
        match sign {
            '<' => in_tag = true,
            '>' if in_tag => {
                in_tag = false;
                if !text.ends_with([' ', '\n']) {
                    text.push(' ');
                }
            }
            _ if in_tag => {}
            ' ' | '\t' | '\n' => {
                if !text.ends_with([' ', '\n']) {
                    text.push(if sign == '\n' { '\n' } else { ' ' });
                }
            }
            _ => text.push(sign),
        }
        if text.len() >= max_bytes {
            break;
        }
    }
    text
}

#[cfg(test)]
mod tests;
