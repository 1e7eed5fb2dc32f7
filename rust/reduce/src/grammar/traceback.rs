//! Runs of frames are units. The frame nearest to the error that is not in a library counts most.

use crate::lexicon::lexicon;
use crate::source::{Kind, Part, Source, real};

/// Lines between two frames of one trace.
const MOST_BETWEEN: usize = 2;
const NEAREST: f64 = 6.5;
const STEP: f64 = 1.5;

pub(super) fn read(source: &mut Source<'_>, part: Part) {
    let mut at = part.start;
    while at < part.end {
        if source.lines[at].kind != Kind::Frame {
            at += 1;
            continue;
        }
        let first = at;
        let mut last = at;
        while at < part.end && at - last <= MOST_BETWEEN {
            match source.lines[at].kind {
                Kind::Frame => last = at,
                Kind::Blank | Kind::Failure | Kind::Verdict | Kind::Title => break,
                _ => {}
            }
            at += 1;
        }
        at = last + 1;
        trace(source, part, first, last);
    }
}

fn trace(source: &mut Source<'_>, part: Part, first: usize, last: usize) {
    let is_frame = |source: &Source<'_>, number: usize| source.lines[number].kind == Kind::Frame;
    let is_own = |number: &usize| {
        let below = number + 1;
        let is_plain =
            below > last || is_frame(source, below) || !lexicon().is_library(source.at(below));
        is_frame(source, *number) && !lexicon().is_library(source.at(*number)) && is_plain
    };
    let mut order: Vec<usize> = (first..=last).filter(is_own).collect();
    let text = source.at(first);
    let is_innermost_last = text.contains("File \"") || text.contains("from ");
    if is_innermost_last {
        order.reverse();
    }
    for number in first..=last {
        let nearness = order.iter().take(8).position(|own| *own == number);
        let line = &mut source.lines[number];
        line.unit = Some(first);
        if line.kind == Kind::Frame {
            line.weight = match nearness {
                Some(nth) => (NEAREST - STEP * real(nth)).max(1.0),
                None => 0.5,
            };
        } else {
            // The code of a frame.
            let is_of_nearest = number > 0 && order.first() == Some(&(number - 1));
            line.weight = if is_of_nearest { 0.9 } else { 0.3 };
            if line.kind == Kind::Plain {
                line.kind = Kind::Code;
            }
        }
    }
    for own in order.iter().skip(8) {
        source.lines[*own].weight = 1.0;
    }
    let above = source
        .filled(first.saturating_sub(2).max(part.start), first)
        .last()
        .copied();
    let below = source
        .filled(last + 1, part.end.min(last + 4))
        .first()
        .copied();
    if is_innermost_last {
        let Some(below) =
            below.filter(|below| matches!(source.lines[*below].kind, Kind::Plain | Kind::Failure))
        else {
            return;
        };
        source.lines[below].kind = Kind::Failure;
        if let Some(above) = above.filter(|above| source.lines[*above].kind == Kind::Failure) {
            // `Traceback (most recent call last):`
            source.lines[above].kind = Kind::Heading;
            source.lines[above].weight = 0.8;
        }
    } else if let Some(above) = above
        && source.lines[above].kind == Kind::Plain
        && !order.is_empty()
    {
        source.lines[above].weight = 4.0;
    }
}
