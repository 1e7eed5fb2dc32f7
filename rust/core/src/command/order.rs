//! What the order of the commands of a line describes what they print.

use super::Asked;
use super::names::Names;
use super::pipeline::{Link, Pipeline, Role};
use super::{CommandLine, Remark};

impl CommandLine {
    /// What it states itself that can be distinguished from what programs print, each with its place among its commands.
    pub fn remarks(&self) -> impl Iterator<Item = (usize, Remark)> {
        let names = Names::of(&self.pipelines);
        let pipelines = self.pipelines.iter().enumerate();
        pipelines.filter_map(move |(index, pipeline)| {
            let words = pipeline.only()?;
            let remark = Remark::of(words, &names).filter(|_| pipeline.role != Role::Prepares)?;
            // A mere word is one where it is above the output of a command, not where it states how one ended.
            let is_title = || {
                let mut behind = self.pipelines.iter().skip(index + 1);
                let next = behind.find(|next| next.role != Role::Prepares);
                pipeline.link == Link::Always && next.is_some_and(|next| next.role == Role::Prints)
            };
            let stays = !remark.is_word() || is_title();
            let remark = if self.tells_end(index, words, &names) {
                remark
            } else {
                remark.of_another()
            };
            stays.then_some((index, remark))
        })
    }

    /// Whether a status in `words`, the command at that place, is that of the one before it which prints:
    /// `make; rc=$?; echo "exit: $rc"`.
    fn tells_end(&self, index: usize, words: &[String], names: &Names<'_>) -> bool {
        let before = self.pipelines.get(..index).unwrap_or_default();
        let prepares = |one: &&Pipeline| one.role == Role::Prepares;
        let between = before.iter().rev().take_while(prepares).count();
        let (before, between) = before.split_at(index - between);
        // What is done between may have changed it, but where it was kept first.
        let status_name = between.first().map(Pipeline::keeps_status);
        let is_reported =
            status_name != Some(None) && names.tell_last(words, status_name.flatten());
        let last = before.last();
        is_reported && last.is_some_and(|last| last.role == Role::Prints && !last.hides_end)
    }

    /// Whether the remark at that place is only made when the command before it, which prints, failed.
    #[must_use]
    pub fn tells_failure(&self, index: usize) -> bool {
        let last = index
            .checked_sub(1)
            .and_then(|last| self.pipelines.get(last));
        let links = self.pipelines.get(index).map(|one| one.link) == Some(Link::IfFailed);
        links && last.is_some_and(|last| last.role == Role::Prints && !last.hides_end)
    }

    /// Whether what was said at one place may not have been while it was at a later one.
    #[must_use]
    pub fn may_skip(&self, index: usize, later: usize) -> bool {
        let one = self.pipelines.get(index);
        let is_sure = |one: &Pipeline| one.link == Link::Always && !one.perhaps;
        let mut between = self.pipelines.iter().take(later + 1).skip(index + 1);
        !one.is_some_and(is_sure) && between.any(|one| one.link != Link::IfWell)
    }

    /// Whether what is at a later place may have run where that at `index` did not.
    #[must_use]
    pub fn may_skip_to(&self, index: usize, later: usize) -> bool {
        let mut between = self.pipelines.iter().take(later + 1).skip(index + 1);
        between.any(|one| one.link != Link::IfWell || one.perhaps)
    }

    /// Whether a command that prepares others may have said why it failed beside what others print, as they run all the
    /// same or ran before: `cd oak; make`, `make; cp oak elm`.
    #[must_use]
    pub fn may_say_why_unprepared(&self) -> bool {
        const SILENT: [&str; 14] = [
            "[", "[[", "alias", "echo", "export", "local", "printf", "read", "set", "sleep",
            "test", "trap", "unset", "wait",
        ];
        let may_fail = |one: &Pipeline| {
            let first = one.stages.first().and_then(|words| words.first());
            let is_silent = |word: &String| SILENT.contains(&word.as_str()) || word.contains('=');
            one.role == Role::Prepares && !first.is_none_or(is_silent)
        };
        let mut pairs = self.pipelines.iter().zip(self.pipelines.iter().skip(1));
        pairs.any(|(one, next)| may_fail(one) && next.link != Link::IfWell)
            || self.pipelines.last().is_some_and(may_fail)
    }

    /// Whether who printed what is not shown by the order of the commands: functions, branches, what runs beside.
    #[must_use]
    pub fn is_unsure(&self) -> bool {
        let prints = |one: &&Pipeline| one.role == Role::Prints;
        self.defines
            || self.is_mixed
            || self.last().is_some_and(|last| last.perhaps)
                && self.pipelines.iter().filter(prints).count() > 1
    }

    /// Whether commands of it run when they are called.
    #[must_use]
    pub fn defines(&self) -> bool {
        self.defines
    }

    /// How often the command at that place runs at most, where that is shown.
    #[must_use]
    pub fn times(&self, index: usize) -> Option<usize> {
        match self.loop_of(index) {
            _ if self.defines => None,
            Some(number) => *self.rounds.get(number - 1)?,
            None => Some(1),
        }
    }

    /// The commands from one place to another; up to a place before the first one, those of the loop around both.
    /// Those at the places of `unsaid`, in order, did not run, nor did those that run only after them.
    #[must_use]
    pub fn part(&self, from: usize, to: usize, unsaid: &[usize]) -> Self {
        let in_loop = self.loop_of(from);
        let is_in = |index: usize| {
            if from <= to {
                (from..to).contains(&index)
            } else {
                self.loop_of(index) == in_loop && (index >= from || index < to)
            }
        };
        let mut runs = true;
        let pipelines = self.pipelines.iter().enumerate();
        let pipelines = pipelines.filter(|(index, pipeline)| {
            runs = (runs || pipeline.link == Link::Always) && unsaid.binary_search(index).is_err();
            runs && is_in(*index)
        });
        Self {
            pipelines: pipelines.map(|(_, pipeline)| pipeline.clone()).collect(),
            rounds: self.rounds.clone(),
            ..*self
        }
    }

    /// The loop around the command at that place.
    #[must_use]
    pub fn loop_of(&self, index: usize) -> Option<usize> {
        self.pipelines.get(index)?.in_loop
    }

    /// The same with the value of `name` for it in all words.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        let (braced, plain) = (format!("${{{name}}}"), format!("${name}"));
        let stages = self.pipelines.iter_mut().flat_map(|one| &mut one.stages);
        for word in stages.flatten() {
            *word = with_value(&word.replace(&braced, value), &plain, value);
        }
        self
    }

    /// The words of each command that prints, as [`Self::producers`] gives them, and how many lines the last stages of
    /// its pipeline ask for.
    pub fn asked(&self) -> Option<Vec<Asked>> {
        let all = self.pipelines.iter().filter(|one| one.role == Role::Prints);
        let counts: Vec<_> = all.map(Pipeline::asked_lines).collect();
        let asked = self.producers()?.into_iter().zip(counts);
        Some(asked.map(|(words, lines)| Asked { words, lines }).collect())
    }
}

/// `word` with `value` for `plain`, where that is not the beginning of a longer name.
fn with_value(word: &str, plain: &str, value: &str) -> String {
    let goes_on = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let mut pieces = word.split(plain);
    let mut put_in = pieces.next().unwrap_or_default().to_owned();
    for behind in pieces {
        put_in.push_str(if behind.starts_with(goes_on) {
            plain
        } else {
            value
        });
        put_in.push_str(behind);
    }
    put_in
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_its_value_wherever_it_is_and_no_longer_one_does() {
        let line = CommandLine::read("cp $f-$f \"${f}.old\" $foo-$f").unwrap_or_default();
        let words = line.with("f", "oak").producer().unwrap_or_default();
        assert_eq!(words.join("|"), "cp|oak-oak|oak.old|$foo-oak");
    }
}
