//! Reads the keys of a format file; keys that were not read are unknown.

use toml::Value;

use super::FormatError;

/// A table of a file.
pub(super) struct Table {
    /// The prefix of its keys in error messages.
    path: String,
    values: toml::Table,
    known: Vec<&'static str>,
}

impl Table {
    /// The top-level table of a file.
    pub(super) fn read(text: &str) -> Result<Self, FormatError> {
        let table = text.parse().map_err(|error| syntax_error(text, &error))?;
        Ok(Self {
            path: String::new(),
            values: table,
            known: Vec::new(),
        })
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.values.remove(key)
    }

    fn wrong(&self, key: &str, expected: &str, value: &Value) -> FormatError {
        let kind = value.type_str();
        FormatError(format!(
            "{}{key}: expected {expected}, got {kind}",
            self.path
        ))
    }

    /// An error about a key.
    pub(super) fn error(&self, key: &str, reason: &str) -> FormatError {
        FormatError(format!("{}{key}: {reason}", self.path))
    }

    /// The prefix of the keys of this table in error messages.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// A string, if the key is present.
    pub(super) fn text(&mut self, key: &'static str) -> Result<Option<String>, FormatError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(value) => Err(self.wrong(key, "a string", &value)),
        }
    }

    /// A required name on one line.
    pub(super) fn name(
        &mut self,
        key: &'static str,
        most_bytes: usize,
    ) -> Result<String, FormatError> {
        let Some(name) = self.text(key)? else {
            return Err(self.error(key, "missing"));
        };
        let is_name = !name.trim().is_empty()
            && name.len() <= most_bytes
            && !name.chars().any(char::is_control);
        if is_name {
            Ok(name)
        } else {
            let reason = format!("a name has 1 to {most_bytes} bytes in one line");
            Err(self.error(key, &reason))
        }
    }

    /// A number from 0 to `most`, if the key is present.
    pub(super) fn number(
        &mut self,
        key: &'static str,
        most: usize,
    ) -> Result<Option<usize>, FormatError> {
        let Some(value) = self.take(key) else {
            return Ok(None);
        };
        let whole = value.as_integer();
        let number = whole
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| *number <= most);
        match (number, whole) {
            (Some(number), _) => Ok(Some(number)),
            (None, Some(whole)) => {
                let reason = format!("expected 0 to {most}, got {whole}");
                Err(self.error(key, &reason))
            }
            (None, None) => Err(self.wrong(key, "a whole number", &value)),
        }
    }

    /// A list of strings; a single string is a list of one.
    pub(super) fn texts(
        &mut self,
        key: &'static str,
        most: usize,
    ) -> Result<Vec<String>, FormatError> {
        let groups = self.groups(key, most)?;
        self.flat(key, groups)
    }

    fn flat(&self, key: &str, groups: Vec<Vec<String>>) -> Result<Vec<String>, FormatError> {
        let is_list = groups.iter().any(|group| group.len() != 1);
        if is_list {
            return Err(self.error(key, "expected a list of strings, got a list of lists"));
        }
        Ok(groups.into_iter().flatten().collect())
    }

    /// A list of strings or lists of strings.
    pub(super) fn groups(
        &mut self,
        key: &'static str,
        most: usize,
    ) -> Result<Vec<Vec<String>>, FormatError> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(value) => self.grouped(key, value, most),
        }
    }

    fn grouped(
        &self,
        key: &str,
        value: Value,
        most: usize,
    ) -> Result<Vec<Vec<String>>, FormatError> {
        let values = match value {
            Value::Array(values) => values,
            value @ Value::String(_) => vec![value],
            value => return Err(self.wrong(key, "a list of strings", &value)),
        };
        if values.len() > most {
            let reason = format!("{} entries, at most {most}", values.len());
            return Err(self.error(key, &reason));
        }
        let group = |value| match value {
            Value::String(text) => Ok(vec![text]),
            Value::Array(texts) if !texts.is_empty() && texts.len() <= most => {
                let text = |value| match value {
                    Value::String(text) => Ok(text),
                    value => Err(self.wrong(key, "strings", &value)),
                };
                texts.into_iter().map(text).collect()
            }
            value => Err(self.wrong(key, "strings", &value)),
        };
        values.into_iter().map(group).collect()
    }

    /// The tables `[[key]]`.
    pub(super) fn tables(
        &mut self,
        key: &'static str,
        most: usize,
    ) -> Result<Vec<Self>, FormatError> {
        let values = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(values)) if values.len() <= most => values,
            Some(Value::Array(values)) => {
                let reason = format!("{} entries, at most {most}", values.len());
                return Err(self.error(key, &reason));
            }
            Some(value) => return Err(self.wrong(key, "tables", &value)),
        };
        let table = |(number, value)| match value {
            Value::Table(table) => Ok(self.below(&format!("{key}[{number}]."), table)),
            value => Err(self.wrong(key, "tables", &value)),
        };
        values.into_iter().enumerate().map(table).collect()
    }

    fn below(&self, path: &str, table: toml::Table) -> Self {
        Self {
            path: self.path.clone() + path,
            values: table,
            known: Vec::new(),
        }
    }

    /// The keys that were not read yet, in the order of the file.
    pub(super) fn rest(&self) -> Vec<String> {
        self.values.keys().cloned().collect()
    }

    /// A list of strings under a key that is not known beforehand.
    pub(super) fn listed(&mut self, key: &str, most: usize) -> Result<Vec<String>, FormatError> {
        let groups = match self.values.remove(key) {
            None => Vec::new(),
            Some(value) => self.grouped(key, value, most)?,
        };
        self.flat(key, groups)
    }

    /// Checks that all keys were read; `others` are known beside them.
    pub(super) fn end_with<'k>(
        mut self,
        others: impl Iterator<Item = &'k &'static str>,
    ) -> Result<(), FormatError> {
        self.known.extend(others);
        self.end()
    }

    /// Checks that all keys were read.
    pub(super) fn end(self) -> Result<(), FormatError> {
        match self.values.keys().next() {
            None => Ok(()),
            Some(key) => Err(FormatError(format!(
                "{}{}: unknown key; known are {}",
                self.path,
                key.escape_debug(),
                self.known.join(", ")
            ))),
        }
    }
}

fn syntax_error(text: &str, error: &toml::de::Error) -> FormatError {
    let before = error
        .span()
        .and_then(|span| text.as_bytes().get(..span.start))
        .unwrap_or_default();
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let message: Vec<&str> = error.message().lines().collect();
    FormatError(format!("line {line}: {}", message.join("; ")))
}
