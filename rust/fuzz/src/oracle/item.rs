//! What the rows of a reduced text may be.

/// What a row of a reduced text may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item<'t> {
    Row(&'t str),
    /// Lines that are left out.
    Lines(usize),
    /// Characters that are left out of lines that are shown in pieces.
    Chars(usize),
    /// Names of lines whose message is that of the row above, or that are like it.
    Listed {
        is_same: bool,
        names: &'t str,
    },
}

pub(super) fn listed(item: &Item<'_>) -> usize {
    match item {
        Item::Listed { names, .. } => names.split(' ').count(),
        _ => 0,
    }
}

/// Whether the lines of a list have the same message, and their names.
pub(super) fn list<'t>(items: &[Item<'t>]) -> Option<(bool, &'t str)> {
    items.iter().find_map(|item| match item {
        Item::Listed { is_same, names } => Some((*is_same, *names)),
        _ => None,
    })
}

/// All that a row may be: a line of the output may look like a mark.
pub(super) fn readings(row: &str) -> Vec<Item<'_>> {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<usize>()
            .ok()
            .filter(|number| is_number && *number > 0)
    };
    let lines = row.strip_prefix('[').and_then(|rest| {
        rest.strip_suffix(" lines left out]")
            .or_else(|| rest.strip_suffix(" line left out]"))
    });
    let chars = row
        .strip_prefix("...[")
        .and_then(|rest| rest.strip_suffix(" chars]..."));
    let same = row.strip_prefix("  [same] ");
    let similar = row.strip_prefix("  [similar] ");
    let mut found = vec![Item::Row(row)];
    found.extend(lines.and_then(number).map(Item::Lines));
    found.extend(chars.and_then(number).map(Item::Chars));
    found.extend(same.or(similar).map(|names| Item::Listed {
        is_same: same.is_some(),
        names,
    }));
    found
}
