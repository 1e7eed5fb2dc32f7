//! A line in which shells run lines of their own.

use super::pipeline::Role;
use super::{CommandLine, MOST_SHELLS};

impl CommandLine {
    /// The same with what its shells run in their places: `echo start; bash -c 'make; echo done'`.
    #[must_use]
    pub fn opened(self) -> Self {
        let mut line = self;
        for _ in 0..MOST_SHELLS {
            if !line.pipelines.iter().any(|one| one.inner_line().is_some()) {
                break;
            }
            line = line.opened_once();
        }
        line
    }

    fn opened_once(self) -> Self {
        let mut line = Self {
            pipelines: Vec::with_capacity(self.pipelines.len()),
            ..self
        };
        for outer in self.pipelines {
            let inner = outer.inner_line().and_then(|inner| Self::read(&inner));
            let Some(inner) = inner.filter(|inner| !inner.pipelines.is_empty()) else {
                line.pipelines.push(outer);
                continue;
            };
            line.defines |= inner.defines;
            line.is_mixed |= inner.is_mixed;
            let loops = line.rounds.len();
            // Within a loop a loop is run through again.
            match outer.in_loop {
                Some(number) if !inner.rounds.is_empty() => {
                    if let Some(rounds) = line.rounds.get_mut(number - 1) {
                        *rounds = None;
                    }
                }
                _ => line.rounds.extend(&inner.rounds),
            }
            let mut first = Some(outer.link);
            for mut one in inner.pipelines {
                one.link = first.take().unwrap_or(one.link);
                one.perhaps |= outer.perhaps;
                one.in_loop = outer.in_loop.or(one.in_loop.map(|number| number + loops));
                line.pipelines.push(one);
            }
            // What comes out last goes on through the stages behind the shell.
            let stages = outer.stages.get(1..).unwrap_or_default();
            let mut pipelines = line.pipelines.iter_mut().rev();
            if let Some(last) = pipelines.find(|one| one.role != Role::Remarks) {
                last.hides_end |= outer.hides_end;
                last.is_piped |= outer.is_piped;
                last.stages.extend_from_slice(stages);
            }
        }
        line
    }
}
