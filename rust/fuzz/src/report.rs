//! What a run saw.

use std::fmt::{self, Write};

use crate::case::Case;
use crate::oracle::{Broken, Checked};

/// A broken guard with what is needed to see it again.
pub(crate) struct Finding<'a> {
    pub(crate) seed: u64,
    pub(crate) index: u64,
    /// The family whose output the case begins with.
    pub(crate) begun_with: &'static str,
    /// The family that reduced it.
    pub(crate) family: Option<&'static str>,
    pub(crate) broken: Broken,
    /// The message and the place of the panic, when it was one.
    pub(crate) panic: String,
    /// The minimised case.
    pub(crate) case: Case<'a>,
    pub(crate) reduced: Option<String>,
}

impl fmt::Display for Finding<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let case = &self.case;
        let family = self.family.unwrap_or("no family");
        writeln!(formatter, "## {family}: {}", self.broken)?;
        writeln!(
            formatter,
            "again: --seed {} --only {} --family {:?}",
            self.seed, self.index, self.begun_with
        )?;
        if !self.panic.is_empty() {
            writeln!(formatter, "panic: {}", self.panic)?;
        }
        writeln!(formatter, "made of: {}", case.history.join(", "))?;
        writeln!(
            formatter,
            "command {:?}, exit code {:?}, budget {}, {:?}",
            case.command, case.exit_code, case.budget_chars, case.policy
        )?;
        writeln!(formatter, "text {:?}", case.text)?;
        writeln!(formatter, "reduced {:?}", self.reduced)
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    executions: u64,
    sampled: u64,
    timed: u64,
    bytes: u64,
    broken: u64,
}

/// Counts by family, and findings.
pub(crate) struct Report<'a> {
    families: Vec<(&'static str, Counts)>,
    /// Behind the size guard, and no family reduced it.
    unreduced: u64,
    below_guard: u64,
    unnamed_broken: u64,
    pub(crate) findings: Vec<Finding<'a>>,
}

impl Report<'_> {
    pub(crate) fn of(families: impl Iterator<Item = &'static str>) -> Self {
        Self {
            families: families.map(|name| (name, Counts::default())).collect(),
            unreduced: 0,
            below_guard: 0,
            unnamed_broken: 0,
            findings: Vec::new(),
        }
    }

    /// Whether no finding of that guard in that family is known.
    pub(crate) fn is_new(&self, broken: Broken, family: Option<&str>) -> bool {
        !self
            .findings
            .iter()
            .any(|finding| finding.broken == broken && finding.family == family)
    }

    /// Adds an execution.
    pub(crate) fn count(&mut self, checked: &Checked, case: &Case<'_>) {
        let counts = self
            .families
            .iter_mut()
            .find(|(name, _)| Some(*name) == checked.family);
        let Some((_, counts)) = counts.filter(|_| checked.behind_guard) else {
            self.below_guard += u64::from(!checked.behind_guard);
            self.unreduced += u64::from(checked.behind_guard);
            self.unnamed_broken += u64::from(checked.broken.is_some());
            return;
        };
        counts.executions += 1;
        counts.sampled += u64::from(case.is_sampled);
        counts.timed += u64::from(case.is_timed);
        counts.bytes += u64::try_from(case.text.len()).unwrap_or(0);
        counts.broken += u64::from(checked.broken.is_some());
    }

    /// The counts as a Markdown table.
    pub(crate) fn table(&self, title: &str) -> String {
        let mut table = format!("{title}\n\n");
        table += "| family | executions | repeated | timed | mean bytes | broken guards |\n";
        table += "|---|--:|--:|--:|--:|--:|\n";
        let mut total = Counts::default();
        for (family, counts) in &self.families {
            row(&mut table, family, counts);
            total.executions += counts.executions;
            total.sampled += counts.sampled;
            total.timed += counts.timed;
            total.bytes += counts.bytes;
            total.broken += counts.broken;
        }
        row(&mut table, "**all**", &total);
        let _ = writeln!(
            table,
            "\nNot counted: {} executions on texts that no family reduced, {} on texts that are too short \
             to be reduced; {} broken guards among these.",
            self.unreduced, self.below_guard, self.unnamed_broken
        );
        table
    }
}

fn row(table: &mut String, name: &str, counts: &Counts) {
    let mean = counts.bytes.checked_div(counts.executions).unwrap_or(0);
    let _ = writeln!(
        table,
        "| {name} | {} | {} | {} | {mean} | {} |",
        counts.executions, counts.sampled, counts.timed, counts.broken
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_family_reduced_is_counted() {
        let mut report = Report::of(["git log", "json"].into_iter());
        let checked = |behind_guard, family, broken| Checked {
            behind_guard,
            family,
            broken,
        };
        let mut case = Case::empty();
        case.text = "abcd".to_owned();
        report.count(&checked(true, Some("json"), None), &case);
        case.is_sampled = true;
        report.count(&checked(true, Some("json"), Some(Broken::Longer)), &case);
        report.count(&checked(true, None, None), &case);
        report.count(&checked(false, None, None), &case);
        let table = report.table("seed 1");
        assert!(table.contains("| git log | 0 | 0 | 0 | 0 | 0 |"), "{table}");
        assert!(table.contains("| json | 2 | 1 | 0 | 4 | 1 |"), "{table}");
        assert!(table.contains("| **all** | 2 | 1 | 0 | 4 | 1 |"), "{table}");
        assert!(
            table.contains("1 executions on texts that no family reduced, 1 on"),
            "{table}"
        );
    }
}
