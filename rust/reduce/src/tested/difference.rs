//! The lines in which two outputs differ, for messages of tests.

/// Of larger outputs, the first lines that differ are shown.
const MOST_CELLS: usize = 1_000_000;

/// The lines of `expected` that `found` lacks, after `-`, and the lines of `found` that `expected` lacks, after `+`.
pub(super) fn difference(expected: &str, found: &str) -> String {
    let old: Vec<&str> = expected.split('\n').collect();
    let new: Vec<&str> = found.split('\n').collect();
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let before = old.iter().zip(&new).take_while(same).count();
    let (old, new) = (old.split_at(before).1, new.split_at(before).1);
    let mut rows = vec![format!("  [{before} lines alike]")];
    if old.len() * new.len() > MOST_CELLS {
        rows.extend(old.iter().take(20).map(|line| format!("- {line}")));
        rows.extend(new.iter().take(20).map(|line| format!("+ {line}")));
        return rows.join("\n");
    }
    // The length of the longest common subsequence of lines, from each pair of lines to the ends.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    let at = |common: &[Vec<usize>], row: usize, column: usize| -> usize {
        let cells = common.get(row).map(Vec::as_slice);
        cells
            .and_then(|cells| cells.get(column))
            .copied()
            .unwrap_or(0)
    };
    for (row, line) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let value = if line == other {
                at(&common, row + 1, column + 1) + 1
            } else {
                at(&common, row + 1, column).max(at(&common, row, column + 1))
            };
            if let Some(cell) = common.get_mut(row).and_then(|cells| cells.get_mut(column)) {
                *cell = value;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    while row < old.len() || column < new.len() {
        match (old.get(row), new.get(column)) {
            (Some(line), Some(other)) if line == other => {
                rows.push(format!("  {line}"));
                row += 1;
                column += 1;
            }
            (Some(line), other)
                if other.is_none()
                    || at(&common, row + 1, column) >= at(&common, row, column + 1) =>
            {
                rows.push(format!("- {line}"));
                row += 1;
            }
            (_, other) => {
                rows.push(format!("+ {}", other.copied().unwrap_or_default()));
                column += 1;
            }
        }
    }
    rows.join("\n")
}

#[test]
fn lines_that_differ_have_signs() {
    assert_eq!(
        difference("oak\nelm\nash", "oak\nfir\nash\nyew"),
        "  [1 lines alike]\n- elm\n+ fir\n  ash\n+ yew"
    );
}
