//! The words and operators of one command line, in one pass.

use std::iter::Peekable;
use std::str::Chars;

use super::CommandLine;
use super::pipeline::{Pipeline, Role};
use super::wrapper::unwrapped;

/// Words that only say how the commands behind them are run.
const LEADING: [&str; 9] = [
    "do", "then", "else", "elif", "if", "while", "until", "{", "!",
];
/// Of these, those that begin a loop, beside `for`.
const LOOPS: [&str; 2] = ["while", "until"];
/// Commands that print nothing: what stands before them decides.
const SILENT: [&str; 10] = [
    "true", ":", "}", "exit", "done", "fi", "esac", "for", "select", "case",
];
/// Commands that prepare what others do and mostly print nothing.
const PREPARING: [&str; 24] = [
    "cd", "pushd", "popd", "export", "unset", "set", "source", ".", "alias", "mkdir", "rm", "cp",
    "mv", "ln", "touch", "chmod", "sleep", "wait", "read", "trap", "[", "[[", "test", "local",
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
    pipelines: Vec<Pipeline>,
    /// Whether the next pipeline runs however the one before it ended.
    always: bool,
    /// How many loops are open, and how many outermost ones there were.
    open_loops: usize,
    loops: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(line: &'a str) -> Self {
        Self {
            characters: line.chars().peekable(),
            word: None,
            words: Vec::new(),
            redirected: false,
            in_pipeline: false,
            pipelines: Vec::new(),
            always: true,
            open_loops: 0,
            loops: 0,
        }
    }

    pub(super) fn read(mut self) -> Option<CommandLine> {
        while let Some(character) = self.characters.next() {
            match character {
                ' ' | '\t' | '\r' => self.end_word(),
                '\n' | ';' => self.end_list(true),
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
            pipelines: self.pipelines,
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
        let mut words = std::mem::take(&mut self.words);
        let leading = words
            .iter()
            .take_while(|word| LEADING.contains(&word.as_str()));
        let leading: Vec<String> = words.drain(..leading.count()).collect();
        let begins_loop = leading.iter().any(|word| LOOPS.contains(&word.as_str()));
        let Some(first) = words.first().map(String::as_str) else {
            return;
        };
        if begins_loop || matches!(first, "for" | "select") {
            self.loops += usize::from(self.open_loops == 0);
            self.open_loops += 1;
        } else if first == "done" {
            self.open_loops = self.open_loops.saturating_sub(1);
        }
        if SILENT.contains(&first) {
            return;
        }
        if self.in_pipeline
            && let Some(pipeline) = self.pipelines.last_mut()
        {
            pipeline.stages.push(words);
            return;
        }
        let remarks =
            is_remark(&words) && self.pipelines.iter().any(|one| one.role != Role::Prepares);
        let role = if remarks {
            Role::Remarks
        } else if PREPARING.contains(&first) || unwrapped(&words).is_empty() {
            Role::Prepares
        } else {
            Role::Prints
        };
        self.pipelines.push(Pipeline {
            role,
            stages: vec![words],
            is_piped: self.in_pipeline,
            always: std::mem::replace(&mut self.always, true),
            in_loop: (self.open_loops > 0).then_some(self.loops),
        });
    }

    /// The next pipeline runs `always`, or only if the last one ended so.
    fn end_list(&mut self, always: bool) {
        self.end_command();
        self.in_pipeline = false;
        self.always = always;
    }

    fn ampersand(&mut self) -> Option<()> {
        if self.characters.peek() == Some(&'>') {
            self.characters.next();
            return self.redirection('>');
        }
        let conditional = self.characters.next_if_eq(&'&').is_some();
        self.end_list(!conditional);
        Some(())
    }

    fn bar(&mut self) {
        if self.characters.next_if_eq(&'|').is_some() {
            return self.end_list(false);
        }
        self.characters.next_if_eq(&'&');
        self.end_command();
        self.in_pipeline = true;
        if let Some(pipeline) = self.pipelines.last_mut() {
            pipeline.is_piped = true;
            if pipeline.role == Role::Remarks {
                // What it says goes to another command.
                pipeline.role = Role::Prints;
            }
        }
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
