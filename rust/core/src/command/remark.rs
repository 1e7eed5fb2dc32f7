//! What a command line itself says between the outputs of its commands: `echo "== tests"`, `echo "exit: $?"`.

use std::collections::BTreeSet;

/// A line that `echo` or `printf` prints, as far as the command line tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Remark {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// How the last command ended: `$?`.
    Status,
    /// What the shell puts in: `$name`, `$(date)`.
    Any,
}

/// What a remark says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// The exit code of the command before it.
    pub(crate) status: Option<i64>,
}

/// So many signs that are no blanks tell a remark from what programs print.
const LEAST_SIGNS: usize = 3;
/// A status has at most so many digits.
const STATUS_DIGITS: usize = 3;

impl Remark {
    /// What `words` print, if it is one line that can be told from others; the variables of `statuses` hold how
    /// a command ended.
    pub(crate) fn of(words: &[String], statuses: &BTreeSet<String>) -> Option<Self> {
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
        let said = said.replace("\\n", "\n").replace("\\t", "\t");
        let mut lines = said.lines().filter(|line| !line.trim().is_empty());
        let line = lines.next().filter(|_| lines.next().is_none())?;
        let remark = Self {
            parts: parts(line.trim(), statuses),
        };
        remark.is_told_from_others().then_some(remark)
    }

    /// What `line` says, if it may be what is printed.
    pub(crate) fn read(&self, line: &str) -> Option<Said> {
        let mut rest = line.trim().trim_start_matches("\\n").trim_start();
        let mut status = None;
        // Behind what the shell puts in, the next text is looked for.
        let mut open = false;
        for part in &self.parts {
            match part {
                Part::Text(text) if open => {
                    let at = memchr::memmem::find(rest.as_bytes(), text.as_bytes())?;
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
        whole.then_some(Said { status })
    }

    /// Whether the last text stands at the end of `line`: the first place of it may not have been the last.
    fn ends_with(&self, line: &str) -> bool {
        let is_open = matches!(self.parts.iter().rev().nth(1), Some(Part::Any));
        let last = self.parts.last().filter(|_| is_open);
        matches!(last, Some(Part::Text(text)) if line.trim_end().ends_with(text.as_str()))
    }

    /// Whether the line may begin with `byte`.
    pub(crate) fn may_begin(&self, byte: u8) -> bool {
        match self.parts.first() {
            Some(Part::Text(text)) => text.as_bytes().first() == Some(&byte),
            Some(Part::Status) => byte.is_ascii_digit(),
            Some(Part::Any) | None => true,
        }
    }

    /// Whether the shell puts nothing in.
    pub(crate) fn is_literal(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Text(_)])
    }

    /// Whether it is a word by itself, as programs print them too.
    pub(crate) fn is_word(&self) -> bool {
        let is_letters = |part: &Part| match part {
            Part::Text(text) => text.bytes().all(|byte| byte.is_ascii_alphanumeric()),
            Part::Status => false,
            Part::Any => true,
        };
        self.parts.iter().all(is_letters)
    }

    /// Whether it tells how a command ended.
    pub(crate) fn tells_status(&self) -> bool {
        self.parts.contains(&Part::Status)
    }

    fn is_told_from_others(&self) -> bool {
        let signs = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.chars().filter(|sign| !sign.is_whitespace()).count(),
            Part::Status | Part::Any => 0,
        });
        // What only ends like a remark may be any line; few signs before a name of the shell's are enough: `# $f`.
        match self.parts.as_slice() {
            [Part::Any, rest @ ..] => rest.contains(&Part::Status) && signs.sum::<usize>() > 0,
            [Part::Text(text), Part::Any] => !text.trim().is_empty(),
            _ => self.tells_status() || signs.sum::<usize>() >= LEAST_SIGNS,
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

fn parts(said: &str, statuses: &BTreeSet<String>) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut rest = said;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, put_in) = rest.split_at(at);
        text.push_str(before);
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        let (part, length) = put_in_by_shell(put_in, statuses);
        // Two of them in a row are one.
        if part != Part::Any || parts.last() != Some(&Part::Any) {
            parts.push(part);
        }
        rest = put_in.get(length..).unwrap_or_default();
    }
    text.push_str(rest);
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    parts
}

/// What stands at the beginning of `text` for something else, and how long it is.
fn put_in_by_shell(text: &str, statuses: &BTreeSet<String>) -> (Part, usize) {
    if text.starts_with("$?") {
        return (Part::Status, 2);
    }
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let (name, length) = if let Some(braced) = text.strip_prefix("${") {
        let end = braced.find('}').unwrap_or(braced.len());
        (braced.get(..end).unwrap_or_default(), end + 3)
    } else {
        let rest = text.get(1..).unwrap_or_default();
        let end = rest.find(|sign| !is_name(sign)).unwrap_or(rest.len());
        (rest.get(..end).unwrap_or_default(), end + 1)
    };
    let is_status = name == "?" || name.starts_with("PIPESTATUS[") || statuses.contains(name);
    let part = if is_status { Part::Status } else { Part::Any };
    (part, length.min(text.len()))
}

#[cfg(test)]
mod tests {
    use super::super::CommandLine;
    use super::Said;

    fn read(command: &str, line: &str) -> Option<Said> {
        let command = format!("rc=$?; {command}");
        let remarks = CommandLine::read(&command)?.remarks();
        remarks.first()?.1.read(line)
    }

    #[test]
    fn the_line_that_is_printed_is_known() {
        for (command, line) in [
            ("echo '== tests'", "== tests"),
            ("echo == tests", "== tests"),
            ("echo -e '\\n=== oak ===\\n'", "=== oak ==="),
            ("echo \"\\\\n=== oak ===\"", "\\n=== oak ==="),
            ("echo \"--- $f\"", "--- src/oak.py"),
            ("echo \"== $1 of ${n} ==\"", "== 2 of 3 =="),
            ("echo \"== $(date -u) ==\"", "== == =="),
            ("echo \"# $f\"", "# oak.py"),
            ("printf '== %s\\n' oak", "== oak"),
            ("printf \"%s: %d%% of $n\\n\" oak 5", "oak: 5% of 7"),
        ] {
            assert_eq!(
                read(command, line),
                Some(Said { status: None }),
                "{command}"
            );
        }
    }

    #[test]
    fn other_lines_are_not() {
        for (command, line) in [
            ("echo '== tests'", "== tests of oak"),
            ("echo \"--- $f\"", "-- src/oak.py"),
            ("echo \"exit: $?\"", "exit: none"),
            ("echo \"exit: $?\"", "exit: 2048"),
            ("echo \"exit: $?\"", "exit: 1 of 2"),
            ("echo \"== $n ==\"", "== 2"),
            ("echo \"$f failed\"", "oak failed"),
            ("echo -n '== tests'", "== tests"),
            ("echo $f", "oak"),
            ("echo ok", "ok"),
            ("echo", ""),
            ("echo '== one\n== two'", "== two"),
            ("printf '== tests'", "== tests"),
            ("printf '%5s\\n' oak", "  oak"),
            ("ls '== tests'", "== tests"),
        ] {
            assert_eq!(read(command, line), None, "{command}");
        }
    }

    #[test]
    fn the_exit_code_is_read() {
        for (command, line, status) in [
            ("echo \"exit: $?\"", "exit: 2", 2),
            ("echo $?", "137", 137),
            ("echo \"[${PIPESTATUS[0]}]\"", "[1]", 1),
            ("echo \"tests: $rc\"", "tests: 0", 0),
            ("echo \"$f ended with ${rc}\"", "oak ended with 3", 3),
        ] {
            assert_eq!(
                read(command, line),
                Some(Said {
                    status: Some(status)
                }),
                "{command}"
            );
        }
    }

    #[test]
    fn a_mere_word_is_a_title_where_another_command_follows() {
        for (command, line) in [
            ("git status; echo DIFF; git diff", "DIFF"),
            ("for f in a b; do echo LINT; ruff check $f; done", "LINT"),
        ] {
            assert_eq!(
                read(command, line),
                Some(Said { status: None }),
                "{command}"
            );
        }
        for (command, line) in [
            ("make && echo DONE; ls", "DONE"),
            ("make; echo DONE", "DONE"),
            ("make || echo FAILED; echo \"== $f\"", "FAILED"),
        ] {
            assert_eq!(read(command, line), None, "{command}");
        }
    }
}
