//! Output of `git bisect`: the commits that were tested.

use hashbrown::HashMap;

use super::LINE_CHARS;
use crate::input::Input;
use crate::line;
use crate::output::Output;
use crate::parsers::git::git_log::without_bar;

/// The commit in `[2463db40…] Subject` and `# good: [2463db40…] Subject`, with the verdict if there is
/// one.
pub(super) fn bisected(line: &str) -> Option<(&str, &str)> {
    let (verdict, rest) = line.split_once('[')?;
    let (name, _) = rest.split_once(']')?;
    let verdict = match verdict.trim() {
        "" => "",
        "# good:" => "good",
        "# bad:" => "bad",
        "# skip:" => "skip",
        _ => return None,
    };
    let is_name = name.len() >= 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then_some((name.get(..8)?, verdict))
}

/// Writes the tested commits with their verdicts, and the first bad one.
pub(super) fn bisect(input: &Input<'_>, output: &mut Output) {
    let mut tried: Vec<(&str, &str)> = Vec::new();
    let mut names: HashMap<&str, usize> = HashMap::new();
    let mut others = Vec::new();
    let mut first_bad = false;
    let mut left = None;
    for line in input.lines() {
        let noise = [
            "Bisecting: ",
            "running ",
            "git bisect ",
            "commit ",
            "Date:",
            "bisect found first bad commit",
        ];
        first_bad |= line.ends_with(" is the first bad commit");
        if line.starts_with("Bisecting: ") {
            left = Some(line);
        }
        if first_bad && line.starts_with("# first bad commit: ") {
            continue;
        }
        if let Some((name, verdict)) = bisected(line) {
            let at = *names.entry(name).or_insert(tried.len());
            match tried.get_mut(at) {
                Some((_, known)) if !verdict.is_empty() => *known = verdict,
                Some(_) => {}
                None => tried.push((name, verdict)),
            }
        } else if !(line.is_empty() || noise.iter().any(|beginning| line.starts_with(beginning))) {
            others.push(line);
        }
    }
    let row: Vec<String> = tried
        .iter()
        .map(|(name, verdict)| format!("{name} {verdict}").trim_end().to_owned())
        .collect();
    output.summary(&row.join(", "), row.len());
    if let Some(left) = left.filter(|_| !first_bad) {
        // How many steps are left.
        output.fact(left);
    }
    for line in others {
        output.fact(&line::shorten(&without_bar(line.trim()), LINE_CHARS));
    }
}
