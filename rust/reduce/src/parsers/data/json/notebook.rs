//! Notebooks (nbformat 4): what each cell holds, what it printed, and what went wrong.

use memchr::memmem;

use super::lexer::{Language, Lexer, Token};
use crate::line::shorten;
use crate::output::Output;
use crate::parsers::logs::traceback::kept_lines;
use crate::rows::unknown::Unknown;
use ethos_registry_core::clean::without_escapes;

/// Deeper inputs are not notebooks.
const MAX_DEPTH: usize = 32;
const LINE_CHARS: usize = 300;
/// Cells stay whole up to this size of all; of those after it the first line is shown.
const WHOLE_BYTES: usize = 12_000;
const FIRST_LINES: usize = 1;
/// Outputs with this number of lines are not reduced.
const FEW_LINES: usize = 12;
/// Lines of a traceback with locations.
const PLACES: usize = 12;

/// Writes the cells of `text`; whether it is a notebook.
pub(super) fn write(text: &str, output: &mut Output) -> bool {
    let has = |key: &str| memmem::find(text.as_bytes(), key.as_bytes()).is_some();
    if !has("\"nbformat\"") || !has("\"cells\"") {
        return false;
    }
    let mut notebook = Notebook::default();
    let before = output.mark();
    let is_read = notebook.read(text, output).is_some() && notebook.cells > 0;
    if !is_read {
        output.back_to(before);
    }
    is_read
}

#[derive(Default)]
struct Notebook<'a> {
    cells: usize,
    cell: Cell<'a>,
    /// How much of the cells was shown completely.
    bytes: usize,
}

/// A cell that is still read: strings as they are in the source.
#[derive(Default)]
struct Cell<'a> {
    kind: &'a str,
    count: &'a str,
    source: Vec<&'a str>,
    outputs: Vec<Printed<'a>>,
}

/// One output of a cell.
#[derive(Default)]
struct Printed<'a> {
    text: Vec<&'a str>,
    plain: Vec<&'a str>,
    name: &'a str,
    value: &'a str,
    traceback: Vec<&'a str>,
}

impl<'a> Notebook<'a> {
    /// Writes each cell when it is read; `None` when `text` is not JSON.
    fn read(&mut self, text: &'a str, output: &mut Output) -> Option<()> {
        let mut lexer = Lexer::new(text, Language::Json);
        // Of each open object the key whose value comes next, and nothing of a list.
        let mut open: Vec<Option<&'a str>> = Vec::new();
        let mut awaits_key = false;
        while let Some(token) = lexer.next().ok()? {
            match token {
                Token::Text(key) if awaits_key => {
                    *open.last_mut()? = Some(key);
                    awaits_key = false;
                }
                Token::Text(value) | Token::Plain(value) => self.value(&open, value),
                Token::Open { object } => {
                    if object && is_at(&open, &["\"cells\"", "\"outputs\""]) {
                        self.cell.outputs.push(Printed::default());
                    }
                    open.push(object.then_some(""));
                    awaits_key = object;
                    if open.len() > MAX_DEPTH {
                        return None;
                    }
                }
                Token::Close { object } => {
                    open.pop()?;
                    awaits_key = false;
                    if object && is_at(&open, &["\"cells\""]) {
                        self.cells += 1;
                        let cell = std::mem::take(&mut self.cell);
                        self.bytes += cell.write(self.bytes, output);
                    }
                }
                Token::Comma => awaits_key = open.last()?.is_some(),
                Token::Colon => {}
            }
        }
        open.is_empty().then_some(())
    }

    fn value(&mut self, open: &[Option<&'a str>], value: &'a str) {
        let mut keys = open.iter().flatten();
        if keys.next() != Some(&"\"cells\"") {
            return;
        }
        let printed = self.cell.outputs.last_mut();
        match (keys.next(), keys.next(), keys.next(), printed) {
            (Some(&"\"cell_type\""), None, ..) => self.cell.kind = value,
            (Some(&"\"execution_count\""), None, ..) => self.cell.count = value,
            (Some(&"\"source\""), None, ..) => self.cell.source.push(value),
            (Some(&"\"outputs\""), Some(key), below, Some(printed)) => match (*key, below) {
                ("\"text\"", None) => printed.text.push(value),
                ("\"ename\"", None) => printed.name = value,
                ("\"evalue\"", None) => printed.value = value,
                ("\"traceback\"", None) => printed.traceback.push(value),
                ("\"data\"", Some(&"\"text/plain\"")) => printed.plain.push(value),
                _ => {}
            },
            _ => {}
        }
    }
}

impl Cell<'_> {
    /// Writes the cell after others that took this many `bytes`; how many it took.
    fn write(&self, bytes: usize, output: &mut Output) -> usize {
        let kind = self.kind.trim_matches('"');
        let count = Some(self.count).filter(|count| !matches!(*count, "" | "null"));
        output.summary(
            &count.map_or(format!("{kind}:"), |count| format!("{kind} [{count}]:")),
            0,
        );
        let source = decoded(&self.source);
        let lines = source.lines().filter(|line| !line.trim().is_empty());
        let most = if bytes + source.len() <= WHOLE_BYTES {
            usize::MAX
        } else {
            FIRST_LINES
        };
        for line in lines.clone().take(most) {
            output.summary(&shorten(line, LINE_CHARS), 1);
        }
        output.gap(lines.count().saturating_sub(most));
        for printed in &self.outputs {
            printed.write(output);
        }
        source.len()
    }
}

impl Printed<'_> {
    fn write(&self, output: &mut Output) {
        for text in [&self.text, &self.plain] {
            let text = without_escapes(&decoded(text)).into_owned();
            if text.lines().nth(FEW_LINES).is_none() {
                for line in text.lines().filter(|line| !line.trim().is_empty()) {
                    output.context_of(&format!("> {}", shorten(line, LINE_CHARS)), 1);
                }
                continue;
            }
            let mut unknown = Unknown::default();
            text.lines().for_each(|line| unknown.push(line));
            unknown.write(output);
        }
        if self.name.is_empty() {
            return;
        }
        // Each of them has lines of its own.
        let traceback: Vec<String> = self
            .traceback
            .iter()
            .map(|part| decoded(&[*part]))
            .collect();
        let traceback = traceback.join("\n");
        let traceback = without_escapes(&traceback);
        let (name, value) = (decoded(&[self.name]), decoded(&[self.value]));
        let raised = format!("{name}: {}", value.replace('\n', " "));
        let places = kept_lines(&traceback).into_iter().take(PLACES);
        for line in places.filter(|line| *line != raised) {
            output.summary(&shorten(line, LINE_CHARS), 0);
        }
        output.summary(&shorten(&raised, LINE_CHARS), 1);
    }
}

/// Whether the value that comes next is in a list at `path`.
fn is_at(open: &[Option<&str>], path: &[&str]) -> bool {
    open.last() == Some(&None) && open.iter().flatten().eq(path)
}

/// The decoded JSON strings, joined.
fn decoded(strings: &[&str]) -> String {
    let text = |string: &&str| serde_json::from_str::<String>(string).unwrap_or_default();
    strings.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cells: &str) -> Option<Vec<String>> {
        let text = format!(
            "{{\"cells\": [{cells}], \"metadata\": {{\"kernelspec\": {{\"name\": \"python3\"}}}}, \"nbformat\": 4}}"
        );
        let mut output = Output::default();
        let is_notebook = write(&text, &mut output);
        let text = output.finish(1, usize::MAX);
        let rows = text
            .lines()
            .filter(|line| !(line.contains(" of ") && line.ends_with(" lines left out]")));
        is_notebook.then(|| rows.map(str::to_owned).collect())
    }

    #[test]
    fn cells_are_told_with_their_source_and_what_they_printed() {
        let cells = r##"{"cell_type": "markdown", "metadata": {"tags": ["a"]}, "source": ["# Oaks\n", "\n", "By height."]},
            {"cell_type": "code", "execution_count": 3, "metadata": {}, "outputs": [
                {"name": "stdout", "output_type": "stream", "text": ["12 \u001b[1moaks\u001b[0m\n"]},
                {"data": {"image/png": "iVBOR", "text/plain": ["<Figure>"]}, "output_type": "display_data"}],
             "source": "oaks = 12\nprint(oaks)"}"##;
        let expected = [
            "markdown:",
            "# Oaks",
            "By height.",
            "code [3]:",
            "oaks = 12",
            "print(oaks)",
            "> 12 oaks",
            "> <Figure>",
        ];
        assert_eq!(told(cells), Some(expected.map(str::to_owned).to_vec()));
    }

    #[test]
    fn what_went_wrong_is_told_with_its_places_in_own_code() {
        let cells = r#"{"cell_type": "code", "execution_count": 7, "outputs": [{"ename": "KeyError", "evalue": "'oak'",
            "output_type": "error", "traceback": ["\u001b[31m-----\u001b[39m", "Cell In[7], line 1\n\u001b[32m----> 1\u001b[39m trees['oak']",
            "File \u001b[32m/srv/tree.py:4\u001b[39m, in get\n      3 def get():\n----> 4     raise", "File \u001b[32m/v/site-packages/tree/base.py:9\u001b[39m, in look\n----> 9     raise", "KeyError: 'oak'"]}],
            "source": ["trees['oak']"]}"#;
        let told = told(cells).unwrap_or_default();
        let expected = [
            "code [7]:",
            "trees['oak']",
            "Cell In[7], line 1",
            "----> 1 trees['oak']",
            "File /srv/tree.py:4, in get",
            "----> 4     raise",
            "KeyError: 'oak'",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn of_many_cells_the_last_ones_are_told_by_their_first_line() {
        let cell = |number: usize| {
            let lines = format!("oak_{number} = 1\\n").repeat(40);
            format!(
                "{{\"cell_type\": \"code\", \"execution_count\": null, \"outputs\": [], \"source\": \"{lines}\"}}"
            )
        };
        let cells: Vec<String> = (0..60).map(cell).collect();
        let told = told(&cells.join(",")).unwrap_or_default();
        let end = ["code:", "oak_59 = 1", "[39 lines left out]"];
        assert!(told.ends_with(&end.map(str::to_owned)), "{told:?}");
        assert!(told.iter().map(String::len).sum::<usize>() < 16_000);
    }

    #[test]
    fn other_json_is_no_notebook() {
        assert_eq!(told(""), None);
        assert_eq!(told("{\"cell_type\": \"code\"} {"), None);
        assert!(!write("{\"cells\": [1, 2]}", &mut Output::default()));
    }
}
