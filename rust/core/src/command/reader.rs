//! The words and operators of one command line, in one pass.

use std::iter::Peekable;
use std::str::Chars;

use super::CommandLine;
use super::clauses::Clauses;
use super::pipeline::Link;

/// Reads a line once, from left to right, and remembers the last command that may print.
pub(super) struct Reader<'a> {
    characters: Peekable<Chars<'a>>,
    /// The word that is being read; `None` between words.
    word: Option<String>,
    words: Vec<String>,
    /// The next word belongs to a redirection.
    redirected: bool,
    /// What the command prints goes to a file.
    is_away: bool,
    /// How many groups of commands are open.
    open_groups: usize,
    clauses: Clauses,
    /// The last lines of the here-documents that begin behind this line.
    documents: Vec<String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self {
            characters: line.chars().peekable(),
            word: None,
            words: Vec::new(),
            redirected: false,
            is_away: false,
            open_groups: 0,
            clauses: Clauses::default(),
            documents: Vec::new(),
        }
    }

    pub(super) fn read(mut self) -> Option<CommandLine> {
        while let Some(character) = self.characters.next() {
            match character {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' => {
                    self.end_list(Link::Always);
                    self.step_over_documents()?;
                }
                ';' => self.end_list(Link::Always),
                '&' => self.ampersand()?,
                '|' => self.bar(),
                '(' => self.open_group(),
                ')' => self.close_group(),
                '<' | '>' => self.redirection(character)?,
                '#' if self.word.is_none() => self.comment(),
                _ => self.part_of_word(character)?,
            }
        }
        self.end_command();
        // A document that does not end was cut.
        self.documents.is_empty().then(|| self.clauses.end())
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
        self.clauses.push(words, std::mem::take(&mut self.is_away));
    }

    /// Of commands between brackets, or of a function: `log() {`.
    fn open_group(&mut self) {
        if self.characters.peek() == Some(&')') {
            self.word = None;
            self.words.clear();
            self.clauses.defines();
        }
        self.end_command();
        self.open_groups += 1;
    }

    fn close_group(&mut self) {
        if self.open_groups == 0 && self.clauses.may_choose() {
            // A pattern of `case`; the first follows it.
            self.end_word();
            if self.words.first().is_none_or(|word| word != "case") {
                self.words.clear();
            }
        }
        self.end_command();
        self.open_groups = self.open_groups.saturating_sub(1);
    }

    fn end_list(&mut self, link: Link) {
        self.end_command();
        self.clauses.end_list(link);
    }

    fn ampersand(&mut self) -> Option<()> {
        if self.characters.peek() == Some(&'>') {
            self.characters.next();
            return self.redirection('>');
        }
        if self.characters.next_if_eq(&'&').is_some() {
            self.end_list(Link::IfWell);
        } else {
            self.end_command();
            self.clauses.go_on_beside();
        }
        Some(())
    }

    fn bar(&mut self) {
        if self.characters.next_if_eq(&'|').is_some() {
            return self.end_list(Link::IfFailed);
        }
        self.characters.next_if_eq(&'&');
        self.end_command();
        self.clauses.pipe();
    }

    fn redirection(&mut self, first: char) -> Option<()> {
        let descriptor = |word: &mut String| word.bytes().all(|byte| byte.is_ascii_digit());
        let of_errors = self.word.as_deref() == Some("2");
        if self.word.as_mut().is_some_and(descriptor) {
            self.word = None;
        }
        self.end_word();
        let mut repeated = 1;
        let mut to_another = false;
        while let Some(next) = self.characters.next_if(|next| "<>&|".contains(*next)) {
            repeated += usize::from(next == first);
            to_another |= next == '&';
        }
        self.is_away |= first == '>' && !of_errors && !to_another;
        if first == '<' && repeated == 2 {
            self.here_document();
            return Some(());
        }
        if repeated == 1 && self.characters.peek() == Some(&'(') {
            // The name of a file represents what the commands in there print or read.
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
                    if !"$`\"\\\n".contains(escaped) {
                        self.push('\\');
                    }
                    if escaped != '\n' {
                        self.push(escaped);
                    }
                }
                character => self.plain(character)?,
            }
        }
    }

    /// `<<` was read: remembers how the last line of what follows the line is written.
    fn here_document(&mut self) {
        self.characters.next_if_eq(&'-');
        while self
            .characters
            .next_if(|next| " \t".contains(*next))
            .is_some()
        {}
        let mut end = String::new();
        while let Some(next) = self
            .characters
            .next_if(|next| !" \t\r\n;&|<>()".contains(*next))
        {
            if !"'\"\\".contains(next) {
                end.push(next);
            }
        }
        self.documents.push(end);
    }

    /// Steps over the lines of the documents that were named, up to the last one of each.
    fn step_over_documents(&mut self) -> Option<()> {
        for end in std::mem::take(&mut self.documents) {
            let mut line = String::new();
            loop {
                let next = self.characters.next();
                if next.is_some_and(|next| next != '\n') {
                    line.extend(next);
                    continue;
                }
                if line.trim_start_matches('\t').trim_end_matches('\r') == end {
                    break;
                }
                next?;
                line.clear();
            }
        }
        Some(())
    }

    fn step_over_substitution(&mut self) -> Option<()> {
        let outer = std::mem::take(&mut self.documents);
        let mut depth = 0_usize;
        loop {
            match self.characters.next()? {
                '<' if self.characters.next_if_eq(&'<').is_some()
                    && self.characters.next_if_eq(&'<').is_none() =>
                {
                    self.here_document();
                }
                '\n' => self.step_over_documents()?,
                ')' if depth <= 1 => {
                    self.documents = outer;
                    return Some(());
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                '\\' => drop(self.characters.next()?),
                '\'' => drop(self.characters.by_ref().find(|next| *next == '\'')?),
                _ => (),
            }
        }
    }
}
