//! Inputs that are made to take long, of any size.

use ethos_registry_core::clean;

use crate::corpus::{Corpus, Recorded};

/// How much of a recorded output shows its format: its first lines, and its last.
const HEAD_BYTES: usize = 2_000;
const TAIL_BYTES: usize = 1_000;
/// How many lines of a family's outputs are repeated, each an input of its own.
const MOST_LINES: usize = 40;
const SAMPLE_BYTES: usize = 20_000;

/// What is at a number.
type Numbered = fn(usize) -> String;

/// What an input repeats.
enum Body {
    /// The same characters again and again.
    Unit(String),
    /// The line of a number.
    Line(Numbered),
    /// An output with other numbers each time.
    Output(String),
    /// `open` as often as `close`, around nothing.
    Nested(&'static str, &'static str),
    /// A list of the same or alike items.
    List(Numbered),
}

/// An input of any size with the command and exit code that come with it.
pub(crate) struct Input {
    pub(crate) family: &'static str,
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) exit_code: Option<i64>,
    /// Whether it repeats one line of a recorded output: there are many of these.
    pub(crate) is_line: bool,
    head: String,
    tail: String,
    body: Body,
}

/// Repeated without end: what opens and is never closed, what readers split at, what terminals obey.
const UNITS: [&str; 62] = [
    "a",
    "[",
    "{",
    "(",
    "<",
    "\"",
    "'",
    "`",
    "\\",
    ":",
    " ",
    "\t",
    "/",
    ".",
    "-",
    "=",
    "_",
    "0",
    "#",
    ",",
    "\u{1b}",
    "\u{1b}[",
    "\u{1b}]",
    "\u{1b}]\n",
    "\u{1b}[A",
    "\u{1b}[A\n",
    "\u{1b}[2K",
    "\r",
    "a\r",
    "a\n",
    "\n",
    " \n",
    "\u{e9}",
    "\u{9b}",
    "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
    "::",
    "a:1: ",
    "a:1:1: error: ",
    "at x (",
    "File \"",
    "FAILED ",
    "error: ",
    "not ok ",
    "| ",
    "+++",
    "@@ ",
    "... ",
    "50%\r",
    "1/2 \r",
    "[\n",
    "{\n",
    "}\n",
    "=====\n",
    "-----\n",
    "not ok 1\n",
    "FAILED \n",
    "error: \n",
    "| \n",
    "+++\n",
    "@@ -1 +1 @@\n",
    "    at x (a.js:1:1)\n",
    "  File \"a\", line 1\n",
];

const LINES: [(&str, Numbered); 7] = [
    ("alternating indents", |number| {
        " ".repeat(number % 2 * 8) + "word\n"
    }),
    ("ever deeper", |number| {
        " ".repeat(number % 4_000) + "word\n"
    }),
    ("distinct words", |number| {
        // Multiplied by an odd number, no two are the same.
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let letters = format!("{mixed:016x}").replace(|c: char| c.is_ascii_digit(), "q");
        format!("{letters} {number:x}g word {letters}\n")
    }),
    ("only a number differs", |number| {
        format!("step {number} is done\n")
    }),
    ("errors with distinct numbers", |number| {
        format!("src/a{number}.c:{number}:7: error: no name x{number}\n")
    }),
    ("frames with distinct numbers", |number| {
        format!("  File \"a{number}.py\", line {number}, in f{number}\n    call()\n")
    }),
    ("failures with distinct numbers", |number| {
        format!("FAILED tests/a{number}.py::test_{number} - assert {number}\n")
    }),
];

const LISTS: [(&str, Numbered); 6] = [
    ("JSON numbers", |number| number.to_string()),
    ("JSON strings", |number| format!("\"text {number}\"")),
    ("JSON records", |number| {
        format!("{{\"name\": \"n{number}\", \"line\": {number}, \"ok\": true}}")
    }),
    ("JSON records with distinct keys", |number| {
        format!("{{\"k{number}\": {number}}}")
    }),
    ("JSON findings", |number| {
        format!(
            "{{\"path\": \"a{number}.py\", \"line\": {number}, \"message\": \"no name x{number}\", \"code\": \"E{number}\"}}"
        )
    }),
    ("JSON lists", |_| "[[], [1, [2]]]".to_owned()),
];

/// All inputs: those of no known command, then those of each family.
pub(crate) fn all(corpus: &Corpus) -> Vec<Input> {
    let mut inputs: Vec<Input> = bodies()
        .map(|(name, body)| Input {
            family: "no command",
            name,
            command: String::new(),
            exit_code: Some(1),
            is_line: false,
            head: String::new(),
            tail: String::new(),
            body,
        })
        .collect();
    for group in corpus.groups() {
        let shortest = group
            .outputs()
            .iter()
            .filter(|output| output.bytes.len() > 1_100);
        let Some(recorded) = shortest.min_by_key(|output| output.bytes.len()) else {
            continue;
        };
        inputs.extend(bodies().map(|(name, body)| of(group.family, recorded, name, body)));
        let mut masks = Vec::new();
        for recorded in group.outputs() {
            let text = String::from_utf8_lossy(&recorded.bytes);
            let sample: String = whole_lines(&text, SAMPLE_BYTES).to_owned();
            for line in clean::terminal(&sample).lines() {
                let mask: String = line.chars().filter(|c| !c.is_ascii_digit()).collect();
                // Most lines of a list begin alike.
                let mask: String = mask.chars().take(24).collect();
                if masks.len() < MOST_LINES && !line.is_empty() && !masks.contains(&mask) {
                    masks.push(mask);
                    let line = format!("{line}\n");
                    let bodies = [
                        (format!("line {line:.60?}"), Body::Unit(line.clone())),
                        (format!("numbered line {line:.60?}"), Body::Output(line)),
                    ];
                    inputs.extend(bodies.map(|(name, body)| Input {
                        is_line: true,
                        ..of(group.family, recorded, name, body)
                    }));
                }
            }
            inputs.push(Input {
                head: String::new(),
                tail: String::new(),
                ..of(
                    group.family,
                    recorded,
                    format!("numbered {}", recorded.file),
                    Body::Output(sample),
                )
            });
        }
    }
    inputs
}

fn bodies() -> impl Iterator<Item = (String, Body)> {
    let units = UNITS.iter();
    let units = units.map(|unit| (format!("{unit:?}"), Body::Unit((*unit).to_owned())));
    let lines = LINES
        .iter()
        .map(|(name, line)| ((*name).to_owned(), Body::Line(*line)));
    let lists = LISTS
        .iter()
        .map(|(name, item)| ((*name).to_owned(), Body::List(*item)));
    let nested = [("[", "]"), ("{\"a\": ", "}"), ("[\n", "\n]")];
    let nested =
        nested.map(|(open, close)| (format!("nested {open:?}"), Body::Nested(open, close)));
    units.chain(lines).chain(lists).chain(nested)
}

fn of(family: &'static str, recorded: &Recorded, name: String, body: Body) -> Input {
    let text = String::from_utf8_lossy(&recorded.bytes);
    let is_json = matches!(body, Body::List(_) | Body::Nested(..));
    let head = if is_json {
        ""
    } else {
        whole_lines(&text, HEAD_BYTES)
    };
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = rest.lines().rev().scan(0, |bytes, line| {
        *bytes += line.len();
        (*bytes < TAIL_BYTES).then_some(line)
    });
    let mut tail: Vec<&str> = if is_json { Vec::new() } else { tail.collect() };
    tail.reverse();
    Input {
        family,
        name,
        command: recorded.command.clone(),
        exit_code: recorded.exit_code,
        is_line: false,
        head: head.to_owned(),
        tail: tail.join("\n"),
        body,
    }
}

/// The first lines of `text`, about this many bytes.
pub(crate) fn whole_lines(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let part = text.get(..end).unwrap_or_default();
    if end == text.len() {
        return part;
    }
    let newline = part.rfind('\n').map_or(end, |newline| newline + 1);
    part.get(..newline).unwrap_or_default()
}

impl Input {
    /// The text, of about this many bytes.
    pub(crate) fn text(&self, bytes: usize) -> String {
        let mut text = String::with_capacity(bytes + 8_192);
        text.push_str(&self.head);
        let mut number = 0;
        match &self.body {
            Body::Unit(unit) => text += &unit.repeat(bytes / unit.len().max(1)),
            Body::Nested(open, close) => {
                let times = bytes / (open.len() + close.len());
                text += &open.repeat(times);
                text += &close.repeat(times);
            }
            Body::Line(line) => {
                while text.len() < bytes {
                    text += &line(number);
                    number += 1;
                }
            }
            Body::List(item) => {
                text.push('[');
                while text.len() < bytes {
                    text += &item(number);
                    text += ",\n";
                    number += 1;
                }
                text.truncate(text.len().saturating_sub(2));
                text.push(']');
            }
            Body::Output(output) => {
                while text.len() < bytes {
                    renumber(output, number, &mut text);
                    number += 1;
                }
            }
        }
        text.push_str(&self.tail);
        text
    }
}

/// Adds `output` to `text` with `number` added to each number in it; where it has none, at its end.
fn renumber(output: &str, number: usize, text: &mut String) {
    let mut rest = output;
    let mut found = false;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, after) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let end = after
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(after.len());
        let (digits, after) = after.split_at_checked(end).unwrap_or((after, ""));
        text.push_str(before);
        match digits.parse::<usize>() {
            Ok(value) => text.push_str(&value.saturating_add(number).to_string()),
            Err(_) => text.push_str(digits),
        }
        found = true;
        rest = after;
    }
    let (line, end) = rest
        .split_at_checked(rest.len().saturating_sub(1))
        .unwrap_or((rest, ""));
    text.push_str(line);
    if !found {
        text.push_str(&number.to_string());
    }
    text.push_str(end);
}
