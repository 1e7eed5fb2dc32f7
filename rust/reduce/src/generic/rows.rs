//! The rows of an input that no family recognises: repeats are folded, noise is removed.

use super::block::{Block, WHOLE_BAD_LINES};
use super::heads::with_heads;
use super::kind::{Kind, passed_mark};
use super::row::Row;
use super::shape::Shape;
use super::table::{Blocks, Table, exact, is_told_apart};
use crate::line;
use crate::line::fingerprint::fingerprint;
use crate::line::frame::is_python_frame;
use crate::line::latest::Latest;
use crate::line::mask::mask;
use crate::rows::fold::{Numbered, Templates};
use ethos_registry_core::clean;
use ethos_registry_core::lines::lines;

/// The rows of the folded text, in order.
pub(super) fn rows(text: &str) -> Vec<Row<'_>> {
    let mut templates = Templates::watching();
    // The kind of the first line of each template.
    let mut kinds: Vec<Kind> = Vec::new();
    let mut shapes = Latest::of(text.len());
    let mut details = Vec::new();
    let mut bad = Block::default();
    let mut progress: Option<(usize, &str)> = None;
    // The indentation of a Python frame in a library: more indented lines below it are its source.
    let mut frame: Option<usize> = None;
    let mut table = Table::default();
    let mut blocks = Blocks::of(text);
    for (number, line) in lines(text).enumerate() {
        let begins_block = blocks.begin(line);
        if line.is_empty() || frame.is_some_and(|depth| line::indent(line) > depth) {
            continue;
        }
        frame = None;
        let shape = shapes.like(line).get_or_insert_with(|| Shape::of(line));
        let found = shape.kind(line);
        if table.holds(line, found) {
            templates.add_alike(fingerprint(line), number, line);
            kinds.resize(templates.len(), Kind::Plain);
            continue;
        }
        if found == Kind::Noise {
            frame = Some(line::indent(line)).filter(|_| is_python_frame(line.trim_start()));
            continue;
        }
        if let Some((at, state)) = progress.take() {
            let same_bar = found == Kind::Progress && clean::same_bar(state, line);
            if !same_bar {
                templates.add(at, state);
                kinds.resize(templates.len(), Kind::Progress);
            }
        }
        match found {
            Kind::Progress => progress = Some((number, line)),
            Kind::Passed => {
                if !templates.again(shape.template(line), number, line) {
                    let mark = passed_mark(line.trim()).unwrap_or_default();
                    let template = templates.add_alike(mask(mark), number, line);
                    shape.remember(line, template);
                }
            }
            Kind::Finding if bad.holds(line) => details.push(bad.row(number, line, found)),
            Kind::Place | Kind::Finding | Kind::Header => {
                bad.open(line);
                templates.add_alike(fingerprint(line), number, line);
            }
            Kind::Bad if bad.count < WHOLE_BAD_LINES => {
                bad.open(line);
                templates.add_alike(fingerprint(line), number, line);
            }
            _ if bad.holds(line) => details.push(bad.row(number, line, found)),
            // A row of numbers, such as `776 200` of `uniq -c`, or a number of rows.
            _ if begins_block || is_told_apart(line, text.len()) => {
                templates.add_alike(exact(line, number), number, line);
            }
            _ => {
                if !templates.again(shape.template(line), number, line) {
                    let template = templates.add_masked(shape.key(line), number, line);
                    shape.remember(line, template);
                }
            }
        }
        kinds.resize(templates.len(), found);
    }
    if let Some((at, state)) = progress {
        templates.add(at, state);
        kinds.resize(templates.len(), Kind::Progress);
    }
    let rows = told(&mut templates, &kinds, details, shapes);
    with_heads(text, rows, &templates)
}

/// The rows of the templates, which have these kinds, and of the lines that belong to bad ones.
fn told<'a>(
    templates: &mut Templates<'a>,
    kinds: &[Kind],
    details: Vec<Row<'a>>,
    mut shapes: Latest<Shape>,
) -> Vec<Row<'a>> {
    let mut odd = templates.odd();
    odd.sort_unstable_by_key(|odd| odd.first.number);
    let has_odd = !odd.is_empty();
    let mut others: Vec<Numbered<'_>> = Vec::new();
    for template in templates.iter() {
        others.extend(template.shown().skip(1).map(|(here, _)| here));
    }
    others.sort_unstable_by_key(|here| here.number);
    let mut rows = Vec::with_capacity(details.len() + templates.len() + others.len());
    let others = others.into_iter().map(|here| {
        let shape = *shapes.like(here.line);
        let kind = shape
            .unwrap_or_else(|| Shape::of(here.line))
            .kind(here.line);
        Row::new(here.number, here.line, kind, 1)
    });
    let odd = odd.into_iter().map(|odd| {
        let kind = kinds.get(odd.template).copied().unwrap_or(Kind::Plain);
        Row {
            stands_out: true,
            ..Row::new(odd.first.number, odd.first.line, kind, odd.count)
        }
    });
    let details = in_order(details.into_iter(), odd);
    let firsts = templates.iter().zip(kinds);
    let firsts = firsts.filter_map(|(template, kind)| {
        let (here, times) = template.shown().next()?;
        Some(Row::new(here.number, here.line, *kind, times))
    });
    rows.extend(in_order(in_order(firsts, details), others));
    if has_odd {
        // The first usual line of a template can be after the first line of another template.
        rows.sort_by_key(|row| row.number);
    }
    rows
}

/// Merges two ordered lists of rows.
fn in_order<'a>(
    some: impl Iterator<Item = Row<'a>>,
    others: impl Iterator<Item = Row<'a>>,
) -> impl Iterator<Item = Row<'a>> {
    let mut some = some.peekable();
    let mut others = others.peekable();
    std::iter::from_fn(move || match (some.peek(), others.peek()) {
        (Some(one), Some(other)) if other.number < one.number => others.next(),
        (Some(_), _) => some.next(),
        (None, _) => others.next(),
    })
}
