//! What a run saw.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::mutation::Case;
use crate::oracle::{Broken, Judged};

/// A broken guard with what is needed to see it again.
pub(crate) struct Finding {
    pub(crate) seed: u64,
    pub(crate) index: u64,
    pub(crate) family: &'static str,
    pub(crate) broken: Broken,
    /// The minimised case.
    pub(crate) case: Case,
    pub(crate) reduced: Option<String>,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = &self.case;
        writeln!(formatter, "## {}: {}", self.family, self.broken)?;
        writeln!(
            formatter,
            "again: --seed {} --only {}",
            self.seed, self.index
        )?;
        writeln!(formatter, "made of: {}", case.history.join(", "))?;
        writeln!(
            formatter,
            "command {:?}, exit code {:?}, budget {}",
            case.command, case.exit_code, case.budget_chars
        )?;
        writeln!(formatter, "text {:?}", case.text)?;
        writeln!(formatter, "reduced {:?}", self.reduced)
    }
}

#[derive(Default)]
struct Counts {
    executions: u64,
    reduced: u64,
    bytes: u64,
    broken: u64,
}

/// Counts by family, and findings.
#[derive(Default)]
pub(crate) struct Report {
    families: BTreeMap<&'static str, Counts>,
    below_guard: u64,
    pub(crate) findings: Vec<Finding>,
}

impl Report {
    /// Whether no finding of that guard in that family is known.
    pub(crate) fn is_new(&self, broken: Broken, family: &str) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| finding.broken == broken && finding.family == family)
    }

    /// Adds an execution on a text of so many bytes.
    pub(crate) fn count(&mut self, judged: &Judged, bytes: usize) {
        if !judged.behind_guard {
            self.below_guard += 1;
            return;
        }
        let counts = self.families.entry(judged.family).or_default();
        counts.executions += 1;
        counts.reduced += u64::from(judged.is_reduced);
        counts.bytes += u64::try_from(bytes).unwrap_or(0);
        counts.broken += u64::from(judged.broken.is_some());
    }

    /// The counts as a Markdown table.
    pub(crate) fn table(&self, title: &str) -> String {
        let mut table = format!("{title}\n\n");
        table += "| family | executions | reduced | mean bytes | broken guards |\n";
        table += "|---|--:|--:|--:|--:|\n";
        let mut total = Counts::default();
        for (family, counts) in &self.families {
            row(&mut table, family, counts);
            total.executions += counts.executions;
            total.reduced += counts.reduced;
            total.bytes += counts.bytes;
            total.broken += counts.broken;
        }
        row(&mut table, "**all**", &total);
        let _ = writeln!(
            table,
            "\nNot counted: {} executions on texts that are too short to be reduced.",
            self.below_guard
        );
        table
    }
}

fn row(table: &mut String, name: &str, counts: &Counts) {
    let mean = counts.bytes.checked_div(counts.executions).unwrap_or(0);
    let _ = writeln!(
        table,
        "| {name} | {} | {} | {mean} | {} |",
        counts.executions, counts.reduced, counts.broken
    );
}
