//! The words and operators of one command line, in one pass.

use std::iter::Peekable;
use std::str::Chars;

use super::CommandLine;

/// Commands that print nothing: what stands before them decides.
const SILENT: [&str; 4] = ["true", ":", "}", "exit"];
/// Commands that prepare what others do and mostly print nothing.
const PREPARING: [&str; 18] = [
    "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "mkdir", "rm", "cp",
    "mv", "ln", "touch", "chmod", "sleep", "wait",
];

/// Commands that say a few words beside what the command before them printed: `make; echo "exit: $?"`.
const REMARKING: [&str; 2] = ["echo", "printf"];

/// Reads a line once, from left to right, and remembers the last command that may print.
pub(super) struct Reader<'a> {
    characters: Peekable<Chars<'a>>,
    /// The word that is being read; `None` between words.
    word: Option<String>,
    words: Vec<String>,
    /// The next word belongs to a redirection.
    redirected: bool,
    in_pipeline: bool,
    /// The commands of the last pipeline that may print, in their order.
    stages: Vec<Vec<String>>,
    is_piped: bool,
    /// The first command of each pipeline that may print something of its own.
    printing: Vec<Vec<String>>,
    /// The last command, if it only remarks on those before it.
    remark: Option<Vec<String>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self {
            characters: line.chars().peekable(),
            word: None,
            words: Vec::new(),
            redirected: false,
            in_pipeline: false,
            stages: Vec::new(),
            is_piped: false,
            printing: Vec::new(),
            remark: None,
        }
    }

    pub(super) fn read(mut self) -> Option<CommandLine> {
        while let Some(character) = self.characters.next() {
            match character {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' | ';' => self.end_list(),
                '&' => self.ampersand()?,
                '|' => self.bar(),
                '(' | ')' => self.end_command(),
                '<' | '>' => self.redirection(character)?,
                '#' if self.word.is_none() => self.comment(),
                _ => self.part_of_word(character)?,
            }
        }
        self.end_command();
        Some(CommandLine {
            stages: self.stages,
            is_piped: self.is_piped,
            printing: self.printing,
        })
    }

    fn push(&mut self, character: char) {
        self.word.get_or_insert_default().push(character);
    }

    fn end_word(&mut self) {
        if let Some(word) = self.word.take()
            && !std::mem::take(&mut self.redirected)
        {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirected = false;
        let words = std::mem::take(&mut self.words);
        self.remark = None;
        if !self.in_pipeline && !self.printing.is_empty() && is_remark(&words) {
            self.printing.push(words.clone());
            self.remark = Some(words);
            return;
        }
        let prints = words
            .first()
            .is_some_and(|word| !SILENT.contains(&word.as_str()));
        if prints {
            if !self.in_pipeline {
                self.stages.clear();
                let prepares = |word: &String| PREPARING.contains(&word.as_str());
                if !words.first().is_some_and(prepares) {
                    self.printing.push(words.clone());
                }
            }
            self.stages.push(words);
            self.is_piped = self.in_pipeline;
        }
    }

    fn end_list(&mut self) {
        self.end_command();
        self.in_pipeline = false;
    }

    fn ampersand(&mut self) -> Option<()> {
        if self.characters.peek() == Some(&'>') {
            self.characters.next();
            return self.redirection('>');
        }
        self.characters.next_if_eq(&'&');
        self.end_list();
        Some(())
    }

    fn bar(&mut self) {
        if self.characters.next_if_eq(&'|').is_some() {
            return self.end_list();
        }
        self.characters.next_if_eq(&'&');
        self.end_command();
        if let Some(words) = self.remark.take() {
            // What it says goes to another command.
            self.stages = vec![words];
        }
        self.in_pipeline = true;
        self.is_piped = true;
    }

    fn redirection(&mut self, first: char) -> Option<()> {
        let descriptor = |word: &mut String| word.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_mut().is_some_and(descriptor) {
            self.word = None;
        }
        self.end_word();
        let mut repeated = 1;
        while let Some(next) = self.characters.next_if(|next| "<>&|".contains(*next)) {
            repeated += usize::from(next == first);
        }
        if first == '<' && repeated == 2 {
            // A here-document.
            return None;
        }
        if repeated == 1 && self.characters.peek() == Some(&'(') {
            // The name of a file stands for what the commands in there print or read.
            self.push(first);
            return self.step_over_substitution();
        }
        self.redirected = true;
        Some(())
    }

    fn comment(&mut self) {
        while self
            .characters
            .next_if(|character| *character != '\n')
            .is_some()
        {}
    }

    fn part_of_word(&mut self, character: char) -> Option<()> {
        match character {
            '\'' => self.single_quoted(),
            '"' => self.double_quoted(),
            '\\' => {
                if let Some(escaped) = self.characters.next().filter(|escaped| *escaped != '\n') {
                    self.push(escaped);
                }
                Some(())
            }
            _ => self.plain(character),
        }
    }

    /// A character that means itself, unless it opens a substitution, which is stepped over.
    fn plain(&mut self, character: char) -> Option<()> {
        self.push(character);
        match character {
            '$' if self.characters.peek() == Some(&'(') => self.step_over_substitution(),
            '`' => self
                .characters
                .by_ref()
                .find(|next| *next == '`')
                .map(|_| ()),
            _ => Some(()),
        }
    }

    fn single_quoted(&mut self) -> Option<()> {
        self.word.get_or_insert_default();
        loop {
            match self.characters.next()? {
                '\'' => return Some(()),
                character => self.push(character),
            }
        }
    }

    fn double_quoted(&mut self) -> Option<()> {
        self.word.get_or_insert_default();
        loop {
            match self.characters.next()? {
                '"' => return Some(()),
                '\\' => {
                    let escaped = self.characters.next()?;
                    self.push(escaped);
                }
                character => self.plain(character)?,
            }
        }
    }

    fn step_over_substitution(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.characters.next()? {
                '(' => depth += 1,
                ')' if depth <= 1 => return Some(()),
                ')' => depth -= 1,
                '\\' => drop(self.characters.next()?),
                '\'' => drop(self.characters.by_ref().find(|next| *next == '\'')?),
                _ => (),
            }
        }
    }
}

/// Whether `words` print no more than they are: what a substitution gives may be long.
fn is_remark(words: &[String]) -> bool {
    let substitutes = |word: &String| {
        let mut signs = word.split('$').skip(1);
        signs.any(|rest| {
            !rest.starts_with(['?', '{', '_', '#', '!'])
                && !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric())
        }) || word.contains('`')
    };
    words
        .first()
        .is_some_and(|word| REMARKING.contains(&word.as_str()))
        && !words.iter().any(substitutes)
}
