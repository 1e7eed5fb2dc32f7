//! Writes the rows of an output whose format is known.

use hashbrown::HashMap;

use super::lines::{Fate, Fates};
use super::rules::{Rest, Rules};
use crate::input::Input;
use crate::line::is_bad;
use crate::output::Output;
use crate::rows::fold::{Template, Templates};
use crate::rows::unknown::Unknown;
use crate::rows::unknown::in_place::UnknownInPlace;

/// Writes the reduction of `input` by `rules`; nothing when no rule matches a line.
pub(super) fn reduce(rules: &Rules, input: &Input<'_>, output: &mut Output) {
    let lines: Vec<&str> = input.lines().collect();
    let fates = Fates::of(&lines, rules, input);
    if !fates.known {
        return;
    }
    if fates.failed {
        output.failed();
    }
    let mut templates = Templates::default();
    for (number, (fate, line)) in fates.all.iter().zip(&lines).enumerate() {
        if let Fate::Counted(shape) = *fate {
            templates.add_alike(shape, number, line);
        }
    }
    let counted: HashMap<usize, usize> = templates
        .iter()
        .flat_map(Template::shown)
        .map(|(line, times)| (line.number, times))
        .collect();
    let mut unknown = Unknown::default();
    let mut bad = UnknownInPlace::default();
    for (number, (fate, line)) in fates.all.iter().zip(&lines).enumerate() {
        let text = if rules.trim {
            line.trim_ascii()
        } else {
            line.trim_ascii_end()
        };
        match fate {
            Fate::Goes => {}
            Fate::Unknown => match rules.rest {
                Rest::Keep => output.context(text),
                Rest::Fold => unknown.push(text),
                Rest::Drop if is_bad(line) => bad.show(text, output),
                Rest::Drop => {}
            },
            Fate::Fact => {
                unknown.write(output);
                output.fact(text);
            }
            Fate::Stays => {
                unknown.write(output);
                output.context(text);
            }
            Fate::Counted(_) => {
                if let Some(times) = counted.get(&number) {
                    unknown.write(output);
                    output.repeated(text, *times);
                }
            }
        }
    }
    unknown.write(output);
    output.stays_unless_shorter(input.text);
}
