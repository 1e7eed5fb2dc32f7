//! What a command line itself states between the outputs of its commands: `echo "== tests"`, `echo "exit: $?"`.

use super::colours::without_colours;
use super::names::{Names, Value};

/// A line that `echo` or `printf` prints, as far as the command line shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    parts: Vec<Part>,
    /// Whether blanks stand before it.
    is_indented: bool,
    /// Whether it may go on in further lines.
    is_open: bool,
    /// Whether the status in it is that of the command before it.
    tells: bool,
    /// The name for which the shell puts the only thing in that is not a status.
    name: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// How the last command ended: `$?`.
    Status,
    /// What the shell puts in: `$name`, `$(date)`.
    Any,
}

/// What a remark states.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Said<'a> {
    /// The exit code of the command before it.
    pub status: Option<i64>,
    /// Where in the line the value of its name is.
    pub value: Option<&'a str>,
}

/// This many signs that are not blanks tell a remark from what programs print.
const MIN_CHARACTERS: usize = 3;
/// A status has at most this many digits.
const STATUS_DIGITS: usize = 3;

impl Remark {
    /// What `words` print, if it is one line that can be distinguished from others, and what `names` hold.
    pub(super) fn of(words: &[String], names: &Names) -> Option<Self> {
        let (name, rest) = words.split_first()?;
        let said = match name.as_str() {
            "echo" => {
                let options = rest.iter().take_while(|word| is_option(word)).count();
                if rest.iter().take(options).any(|word| word.contains('n')) {
                    return None;
                }
                rest.get(options..)?.join(" ")
            }
            "printf" => formatted(rest)?,
            _ => return None,
        };
        let said = without_colours(&said.replace("\\n", "\n").replace("\\t", "\t"));
        let mut lines = said.lines().filter(|line| !line.trim().is_empty());
        let line = lines.next().filter(|_| lines.next().is_none())?;
        let parts = parts(line.trim(), names);
        let remark = Self {
            is_indented: line.starts_with([' ', '\t']),
            name: names.only_of(line).map(str::to_owned),
            is_open: parts.last() == Some(&Part::Any) && names.end_openly(line),
            tells: parts.iter().filter(|part| **part == Part::Status).count() == 1,
            parts,
        };
        remark.is_recognisable().then_some(remark)
    }

    /// What `line` states, if it may be what is printed.
    pub fn read<'a>(&self, line: &'a str) -> Option<Said<'a>> {
        let mut rest = line.trim().trim_start_matches("\\n").trim_start();
        let mut status = None;
        let mut value = None;
        // Behind what the shell puts in, the next text is looked for.
        let mut open = false;
        for part in &self.parts {
            match part {
                Part::Text(text) if open => {
                    let at = memchr::memmem::find(rest.as_bytes(), text.as_bytes())?;
                    value = rest.get(..at);
                    rest = rest.get(at + text.len()..)?;
                    open = false;
                }
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Status => {
                    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
                    status = rest
                        .get(..digits)
                        .filter(|_| digits <= STATUS_DIGITS)?
                        .parse()
                        .ok();
                    status?;
                    rest = rest.get(digits..)?;
                }
                Part::Any => open = true,
            }
        }
        let whole = rest.is_empty() || open || self.ends_with(line);
        // The first place of the last text may not have been the last.
        value = value.filter(|_| rest.is_empty());
        if open {
            value = Some(rest);
        }
        whole.then_some(Said {
            status: status.filter(|_| self.tells),
            value: value.filter(|_| self.name.is_some()),
        })
    }

    /// Whether the last text is at the end of `line`: the first place of it may not have been the last.
    fn ends_with(&self, line: &str) -> bool {
        let is_open = matches!(self.parts.iter().rev().nth(1), Some(Part::Any));
        let last = self.parts.last().filter(|_| is_open);
        matches!(last, Some(Part::Text(text)) if line.trim_end().ends_with(text.as_str()))
    }

    /// Whether the line may begin with `byte`.
    #[must_use]
    pub fn may_begin(&self, byte: u8) -> bool {
        if byte == b' ' || byte == b'\t' {
            return self.is_indented;
        }
        match self.parts.first() {
            Some(Part::Text(text)) => text.as_bytes().first() == Some(&byte),
            Some(Part::Status) => byte.is_ascii_digit(),
            Some(Part::Any) | None => true,
        }
    }

    /// Whether the shell puts nothing in.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Text(_)])
    }

    /// Whether it is a word by itself, as programs print them too.
    #[must_use]
    pub fn is_word(&self) -> bool {
        let is_letters = |part: &Part| match part {
            Part::Text(text) => text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            Part::Status => false,
            Part::Any => true,
        };
        self.parts.iter().all(is_letters)
    }

    /// Whether it is of signs alone, as inputs have them between their parts: `---`.
    #[must_use]
    pub fn is_ruler(&self) -> bool {
        let is_punctuation = |part: &Part| match part {
            Part::Text(text) => !text.chars().any(char::is_alphanumeric),
            Part::Status | Part::Any => false,
        };
        self.parts.iter().all(is_punctuation)
    }

    /// Whether the shell may make something else of its words: `*.py`.
    #[must_use]
    pub fn may_change(&self) -> bool {
        let characters = ['*', '?', '[', '{', '~'];
        let changes =
            |part: &Part| matches!(part, Part::Text(text) if text.contains(characters.as_slice()));
        self.parts.iter().any(changes)
    }

    /// Whether it may go on in further lines: `echo "Changes: $(git diff)"`.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// The name whose value it shows.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether both print the same.
    #[must_use]
    pub fn is_as(&self, other: &Self) -> bool {
        self.parts == other.parts
    }

    /// Whether its last word is put in, and what precedes it may begin a line of any program: `Building $name`.
    #[must_use]
    pub fn is_vague(&self) -> bool {
        let begins_plainly = |text: &String| text.starts_with(char::is_alphanumeric);
        matches!(self.parts.as_slice(), [Part::Text(text), .., Part::Any] if begins_plainly(text))
    }

    /// The same where the status in it is not that of the command before it, or no one knows.
    pub(super) fn of_another(self) -> Self {
        Self {
            tells: false,
            ..self
        }
    }

    fn tells_status(&self) -> bool {
        self.parts.contains(&Part::Status)
    }

    fn is_recognisable(&self) -> bool {
        let characters = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.chars().filter(|sign| !sign.is_whitespace()).count(),
            Part::Status | Part::Any => 0,
        });
        // What only ends like a remark may be any line; few signs before a name of the shell's are enough: `# $f`.
        match self.parts.as_slice() {
            [Part::Any, rest @ ..] => rest.contains(&Part::Status) && characters.sum::<usize>() > 0,
            [Part::Text(text), Part::Any] => !text.trim().is_empty(),
            _ => self.tells_status() || characters.sum::<usize>() >= MIN_CHARACTERS,
        }
    }
}

fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        !letters.is_empty()
            && letters
                .bytes()
                .all(|letter| matches!(letter, b'e' | b'E' | b'n'))
    })
}

/// What `printf` prints of `words`, when that ends a line.
fn formatted(words: &[String]) -> Option<String> {
    let (format, arguments) = words.split_first()?;
    let format = format
        .strip_suffix("\\n")
        .or_else(|| format.strip_suffix('\n'))?;
    let mut arguments = arguments.iter();
    let mut said = String::new();
    let mut pieces = format.split('%');
    said.push_str(pieces.next()?);
    while let Some(piece) = pieces.next() {
        match piece.chars().next() {
            Some('s' | 'd' | 'i' | 'b' | 'q') => {
                said.push_str(arguments.next().map_or("$_", String::as_str));
                said.push_str(piece.get(1..)?);
            }
            // `%%` is the sign itself.
            None => {
                said.push('%');
                said.push_str(pieces.next()?);
            }
            Some(_) => return None,
        }
    }
    arguments.next().is_none().then_some(said)
}

fn parts(said: &str, names: &Names) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = said;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, put_in) = rest.split_at(at);
        text.push_str(before);
        let (value, length) = names.put_in(put_in);
        rest = put_in.get(length..).unwrap_or_default();
        let part = match value {
            Value::Status => Part::Status,
            Value::Any => Part::Any,
            Value::Colour => continue,
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        // Two of them in a row are one.
        if part != Part::Any || parts.last() != Some(&Part::Any) {
            parts.push(part);
        }
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

#[cfg(test)]
mod tests;
