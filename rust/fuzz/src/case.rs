//! A recorded output with its command and exit code, changed by chance.

use std::borrow::Cow;

use ethos_registry_reduce::{Kind, Level, Policy};

use crate::corpus::{Corpus, Recorded};
use crate::mutation::mutate;
use crate::random::Random;
use crate::window;

const MOST_MUTATIONS: usize = 4;
/// One case in this many is that of two commands.
const JOINED_ONCE_IN: usize = 24;
/// One case in this many is of a tool that is not a terminal.
const OTHER_KIND_ONCE_IN: usize = 64;
/// The default target of the package.
const TARGET_CHARS: usize = 16_000;
/// A target at which the format of any recorded output shows.
const SHORT_TARGET_CHARS: usize = 1_000;
/// One case in this many has no target, and one in this many keeps verdicts alone.
const NO_POLICY_ONCE_IN: usize = 8;
const VERDICT_ONCE_IN: usize = 16;
const EXIT_CODES: [Option<i64>; 4] = [None, Some(0), Some(1), Some(2)];

/// An input as a tool might answer it.
#[derive(Clone)]
pub(crate) struct Case<'a> {
    /// Where the text came from, and what was done to it.
    pub(crate) history: Vec<&'a str>,
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) command: Option<Cow<'a, str>>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) budget_chars: usize,
    pub(crate) policy: Option<Policy>,
    /// Whether what costs more than the reduction itself is looked at too.
    pub(crate) is_sampled: bool,
    /// Whether the time of the reduction is looked at too.
    pub(crate) is_timed: bool,
}

impl Recorded {
    /// The output as it was recorded: its lines up to `bytes`, or all of one that is JSON.
    pub(crate) fn as_case(&self, bytes: usize) -> Case<'_> {
        let mut case = Case::empty();
        let is_json = self.bytes.starts_with(b"{") || self.bytes.starts_with(b"[");
        let end = if is_json || self.bytes.len() <= bytes {
            self.bytes.len()
        } else {
            window::line_end(&self.bytes, bytes)
        };
        case.set_text(self.bytes.get(..end).unwrap_or_default());
        case.command = Some(Cow::Borrowed(&self.command));
        case.exit_code = self.exit_code;
        case.policy = Some(facts(SHORT_TARGET_CHARS));
        case
    }
}

impl<'a> Case<'a> {
    pub(crate) fn empty() -> Self {
        Self {
            history: Vec::new(),
            kind: Kind::Terminal,
            text: String::new(),
            command: None,
            exit_code: None,
            budget_chars: usize::MAX,
            policy: Some(facts(TARGET_CHARS)),
            is_sampled: false,
            is_timed: false,
        }
    }

    /// Makes this the case that `random` makes of an output of the family at `position`.
    ///
    /// `bytes` holds the text while it changes; both are used again and again, so that most
    /// executions ask for no memory of their own.
    pub(crate) fn mutate(
        &mut self,
        corpus: &'a Corpus,
        position: usize,
        random: &mut Random,
        bytes: &mut Vec<u8>,
    ) {
        bytes.clear();
        self.history.clear();
        self.command = None;
        self.exit_code = None;
        self.budget_chars = usize::MAX;
        self.kind = Kind::Terminal;
        self.is_sampled = random.once_in(crate::SAMPLED_ONCE_IN);
        self.is_timed = random.once_in(crate::TIMED_ONCE_IN);
        let group = corpus.groups().get(position);
        if let Some(recorded) = group.and_then(|group| group.any(random)) {
            window::take(recorded, bytes, random);
            self.history.push(&recorded.file);
            self.command = Some(Cow::Borrowed(&recorded.command));
            self.exit_code = recorded.exit_code;
        }
        for _ in 0..random.below(MOST_MUTATIONS + 1) {
            self.history.push(mutate(bytes, corpus, random));
        }
        if random.once_in(8) {
            self.command = match corpus.any(random) {
                Some(other) if !random.once_in(3) => Some(Cow::Borrowed(&other.command)),
                _ => None,
            };
            self.history.push("command");
        }
        if random.once_in(JOINED_ONCE_IN) {
            self.join(corpus, random, bytes);
        }
        if random.once_in(4) {
            self.exit_code = random.one(&EXIT_CODES).copied().flatten();
            self.history.push("exit code");
        }
        if random.once_in(8) {
            self.budget_chars = 100 + random.below(4_000);
            self.history.push("budget");
        }
        self.policy = Some(facts(200 + random.below(bytes.len().max(1))));
        if random.once_in(NO_POLICY_ONCE_IN) {
            self.policy = None;
            self.history.push("no target");
        } else if random.once_in(VERDICT_ONCE_IN) {
            self.policy = self.policy.map(|policy| Policy {
                level: Level::Verdict,
                ..policy
            });
            self.history.push("verdicts");
        }
        if random.once_in(OTHER_KIND_ONCE_IN) {
            self.kind = random.one(&Kind::ALL).copied().unwrap_or(Kind::Terminal);
            self.history.push(self.kind.name());
        }
        self.set_text(bytes);
    }

    /// Puts another output behind this one, in half of the cases with what the command line remarks on both.
    fn join(&mut self, corpus: &'a Corpus, random: &mut Random, bytes: &mut Vec<u8>) {
        let Some(other) = corpus.any(random) else {
            return;
        };
        let command = self.command.take().unwrap_or_default();
        let joined = if random.once_in(2) {
            self.history.push("another output behind");
            bytes.push(b'\n');
            format!("{command}; {}", other.command)
        } else {
            self.history.push("remarks between two outputs");
            let code = self.exit_code.unwrap_or_default();
            bytes.splice(..0, *b"== one\n");
            bytes.extend_from_slice(format!("\nexit: {code}\n== two\n").as_bytes());
            format!(
                "echo '== one'; {command}\necho \"exit: $?\"; echo '== two'; {}",
                other.command
            )
        };
        window::take(other, bytes, random);
        self.command = Some(Cow::Owned(joined));
        self.exit_code = other.exit_code;
    }

    /// The target of a case that has one.
    pub(crate) fn target_chars(&self) -> Option<usize> {
        let policy = self.policy?;
        (policy.level != Level::Lossless).then_some(policy.target_chars.min(self.budget_chars))
    }

    /// Takes `bytes` as the text; what is not UTF-8 is replaced, as by the tools that read outputs.
    fn set_text(&mut self, bytes: &[u8]) {
        self.text.clear();
        for chunk in bytes.utf8_chunks() {
            self.text.push_str(chunk.valid());
            if !chunk.invalid().is_empty() {
                self.text.push(char::REPLACEMENT_CHARACTER);
            }
        }
    }
}

fn facts(target_chars: usize) -> Policy {
    Policy {
        target_chars,
        level: Level::Facts,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus() -> Corpus {
        let recorded = |file: &str, line: &str| Recorded {
            file: file.to_owned(),
            command: "make".to_owned(),
            exit_code: Some(2),
            bytes: line.repeat(200).into_bytes(),
            part_bytes: 0,
        };
        let outputs = vec![
            recorded("a", "cc -c a.c 12\n"),
            recorded("b", "\u{e9} done\n"),
        ];
        Corpus::of(outputs, &|_| {
            Some(crate::oracle::Reduced {
                bytes: Vec::new(),
                family: Some("generic"),
            })
        })
    }

    #[test]
    fn the_same_numbers_give_the_same_case() {
        let corpus = corpus();
        let position = corpus.groups().len() - 1;
        let (mut one, mut other) = (Case::empty(), Case::empty());
        let mut bytes = Vec::new();
        let mut texts = std::collections::BTreeSet::new();
        for index in 0..500 {
            one.mutate(&corpus, position, &mut Random::of(7, index), &mut bytes);
            other.mutate(&corpus, position, &mut Random::of(7, index), &mut bytes);
            assert_eq!((&one.text, &one.history), (&other.text, &other.history));
            texts.insert(one.text.clone());
        }
        assert!(texts.len() > 400, "{}", texts.len());
    }
}
