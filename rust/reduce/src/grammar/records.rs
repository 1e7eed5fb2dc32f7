//! Template mining: equal templates are records of one kind. Where nearly every line has a template of its own, a coarser
//! shape is the template.

use hashbrown::HashMap;

use crate::source::{Kind, Part, Source};
use crate::template::{Template, mixed, template};

/// More templates of one shape than this are one.
const MOST_TEMPLATES: usize = 8;
const MOST_BAD_TEMPLATES: usize = 20;
/// And at least one line in this many begins a template.
const TEMPLATE_SHARE: usize = 5;
/// A first word that that many lines share is part of their shape.
const COMMON_WORD: usize = 2;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let filled = source.filled(part.start, part.end);
    let mut first_words: HashMap<u64, usize> = HashMap::new();
    let mut found: Vec<Template> = Vec::with_capacity(filled.len());
    for number in &filled {
        let template = template(source.at(*number));
        *first_words.entry(template.first_word).or_default() += 1;
        let line = &mut source.lines[*number];
        line.template = template.key;
        line.is_path = template.is_path;
        found.push(template);
    }
    let is_bad = |kind: Kind| matches!(kind, Kind::Failure | Kind::Warning);
    let shapes: Vec<u64> = filled
        .iter()
        .zip(&found)
        .map(|(number, template)| {
            if is_bad(source.lines[*number].kind) {
                mixed(template.three_words, 1)
            } else {
                let is_common = first_words
                    .get(&template.first_word)
                    .is_some_and(|count| *count > COMMON_WORD);
                let word = if is_common { template.first_word } else { 0 };
                mixed(mixed(2, word), template.words as u64)
            }
        })
        .collect();
    let mut groups: HashMap<u64, (HashMap<u64, usize>, usize)> = HashMap::new();
    for (shape, template) in shapes.iter().zip(&found) {
        let (templates, lines) = groups.entry(*shape).or_default();
        *templates.entry(template.key).or_default() += 1;
        *lines += 1;
    }
    for (number, shape) in filled.iter().zip(&shapes) {
        let Some((templates, lines)) = groups.get(shape) else {
            continue;
        };
        let line = &mut source.lines[*number];
        let is_bad = is_bad(line.kind);
        let most = if is_bad {
            MOST_BAD_TEMPLATES
        } else {
            MOST_TEMPLATES
        };
        let may_join = is_bad
            || matches!(
                line.kind,
                Kind::Plain | Kind::Passed | Kind::Progress | Kind::Frame
            );
        if may_join && templates.len() > most && templates.len() * TEMPLATE_SHARE > *lines {
            line.template = *shape;
        }
    }
}
