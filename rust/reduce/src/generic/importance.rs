//! The importance of a line of any output, for when there is space for some lines only.

use super::kind::{Kind, kind};
use crate::line::source::is_head;
use crate::output::{Importance, LEAST_RANK};

/// Importance by the kind of a line.
pub(crate) const IMPORTANCE: Importance = Importance { rank, is_verdict };

fn rank(line: &str) -> u8 {
    match kind(line) {
        Kind::Bad | Kind::Verdict | Kind::Place => 0,
        Kind::Plain | Kind::Finding if is_head(line) => 0,
        Kind::Finding | Kind::Change | Kind::Warning | Kind::Header | Kind::Plain => 2,
        Kind::Hint | Kind::Passed => 3,
        Kind::Progress | Kind::Noise => LEAST_RANK,
    }
}

fn is_verdict(line: &str) -> bool {
    matches!(kind(line), Kind::Verdict | Kind::Bad)
}
