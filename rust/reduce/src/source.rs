//! An output as spans of its text: what all stages read and write.

use crate::cells::Cells;

/// Bytes of text, on character boundaries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    pub(crate) fn is_empty(self) -> bool {
        self.end <= self.start
    }
}

/// What a line is. A kind is a weight, never a statement: none hides a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Kind {
    Title,
    Failure,
    Failed,
    Verdict,
    Location,
    Warning,
    Change,
    Heading,
    Hunk,
    Detail,
    Row,
    #[default]
    Plain,
    Hint,
    Frame,
    Context,
    Code,
    Passed,
    Preamble,
    Progress,
    Noise,
    Ruler,
    Blank,
}

impl Kind {
    /// The kinds that a format may name.
    pub(crate) const NAMES: [(&'static str, Self); 20] = [
        ("title", Self::Title),
        ("failure", Self::Failure),
        ("failed", Self::Failed),
        ("verdict", Self::Verdict),
        ("location", Self::Location),
        ("warning", Self::Warning),
        ("change", Self::Change),
        ("heading", Self::Heading),
        ("hunk", Self::Hunk),
        ("detail", Self::Detail),
        ("row", Self::Row),
        ("plain", Self::Plain),
        ("hint", Self::Hint),
        ("frame", Self::Frame),
        ("context", Self::Context),
        ("code", Self::Code),
        ("passed", Self::Passed),
        ("preamble", Self::Preamble),
        ("progress", Self::Progress),
        ("noise", Self::Noise),
    ];

    /// What a line of this kind is worth.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Title => 12.0,
            Self::Failure => 11.0,
            Self::Verdict => 10.0,
            Self::Location => 7.0,
            Self::Failed | Self::Warning => 6.0,
            Self::Change => 4.5,
            Self::Heading | Self::Detail => 3.0,
            Self::Row | Self::Plain => 2.0,
            Self::Hunk => 1.6,
            Self::Hint => 1.2,
            Self::Frame => 0.8,
            Self::Code => 0.6,
            Self::Context | Self::Passed => 0.5,
            Self::Preamble => 0.4,
            Self::Progress => 0.15,
            Self::Noise => 0.1,
            Self::Ruler | Self::Blank => 0.0,
        }
    }

    /// How much a repeat of the same template loses: weight / (1 + decay · repeats before it).
    pub(crate) fn decay(self) -> f64 {
        match self {
            Self::Title => 0.02,
            Self::Change => 0.08,
            Self::Location => 0.05,
            Self::Failure => 0.12,
            Self::Verdict => 0.15,
            Self::Warning => 0.25,
            _ => 0.35,
        }
    }

    /// Whether white space in a line of this kind may matter.
    pub(crate) fn is_verbatim(self) -> bool {
        matches!(self, Self::Change | Self::Context | Self::Code | Self::Hunk)
    }

    /// Whether lines of this kind say nothing by themselves.
    pub(crate) fn is_empty(self) -> bool {
        matches!(self, Self::Blank | Self::Ruler)
    }
}

/// A line, or a piece of a very long line, and what the stages found out about it.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is found by another stage"
)]
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    pub(crate) span: Span,
    /// The number of the line in the output, from 0; pieces of one line have the same.
    pub(crate) number: usize,
    /// The columns before its first sign that is neither white space nor a line of a drawn tree.
    pub(crate) indent: usize,
    /// The bytes of white space before its first sign.
    pub(crate) blanks: usize,
    /// Whether it is a piece of a longer line.
    pub(crate) is_piece: bool,
    pub(crate) kind: Kind,
    /// The line above that is needed to understand this one.
    pub(crate) heading: Option<usize>,
    /// The first line of the trace, finding or record it is part of.
    pub(crate) unit: Option<usize>,
    /// The distance below the line that it explains.
    pub(crate) detail: usize,
    /// Equal for lines that differ only in values.
    pub(crate) template: u64,
    /// Whether it is a row of a table: the padding between its cells may go.
    pub(crate) has_cells: bool,
    /// Whether it begins with a path.
    pub(crate) is_path: bool,
    /// Whether it is nothing but a path.
    pub(crate) is_name: bool,
    /// Whether it is one of few rows with a name that contains a word for a failure.
    pub(crate) is_alarming: bool,
    /// The file that it names; 0 without one.
    pub(crate) file: u64,
    /// The rule or error code that it names; 0 without one.
    pub(crate) code: u64,
    /// The location that it names, or the words by which a row differs from others of its template.
    pub(crate) place: Span,
    /// What a finding states without its place.
    pub(crate) message: Span,
    /// The lines that are shown together with it, as a number in [`Source::bundles`].
    pub(crate) bundle: Option<usize>,
    /// The weight that a grammar gave it; 0 means that of its kind.
    pub(crate) weight: f64,
    pub(crate) value: f64,
    /// How early it is placed, whatever its value; 0 means by value.
    pub(crate) reserved: u8,
}

impl Line {
    /// The weight that a grammar gave it, or that of its kind.
    pub(crate) fn weighs(&self) -> f64 {
        if self.weight > 0.0 {
            self.weight
        } else {
            self.kind.weight()
        }
    }
}

/// A run of lines that one command printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Whether its first line names the command.
    pub(crate) is_headed: bool,
}

/// The text and its lines, read once.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    pub(crate) text: &'a str,
    pub(crate) lines: Cells<Line>,
    /// Lines that are shown together.
    pub(crate) bundles: Cells<Vec<usize>>,
    /// How many lines the output has, including those that are not in `lines`.
    pub(crate) total: usize,
}

impl<'a> Source<'a> {
    /// The text between two offsets.
    pub(crate) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or_default()
    }

    /// A line with all of its white space.
    pub(crate) fn raw(&self, line: &Line) -> &'a str {
        let rest = self.text.get(line.span.start..).unwrap_or_default();
        if line.is_piece {
            self.slice(line.span)
        } else {
            rest.split('\n').next().unwrap_or_default()
        }
    }

    /// The text of a line.
    pub(crate) fn at(&self, number: usize) -> &'a str {
        self.slice(self.lines[number].span)
    }

    /// The bytes of a line.
    pub(crate) fn bytes(&self, number: usize) -> &'a [u8] {
        self.at(number).as_bytes()
    }

    /// The lines between two numbers that are neither blank nor rulers.
    pub(crate) fn filled(&self, start: usize, end: usize) -> Vec<usize> {
        (start..end.min(self.lines.len()))
            .filter(|number| !self.lines[*number].kind.is_empty())
            .collect()
    }

    /// Makes lines appear together.
    pub(crate) fn bundle(&mut self, numbers: Vec<usize>) {
        let bundle = self.bundles.len();
        for number in &numbers {
            self.lines[*number].bundle = Some(bundle);
        }
        self.bundles.push(numbers);
    }
}

/// `number` as a real number.
pub(crate) fn real(number: usize) -> f64 {
    u32::try_from(number).map_or(f64::MAX, f64::from)
}
