//! Output of `ansible HOSTS -m MODULE`: `oak | SUCCESS => {…}`, `oak | CHANGED | rc=0 >>`.

use super::FAMILY;
use crate::input::{Exit, Input};
use crate::line::shorten;
use crate::nested;
use crate::output::Output;

/// Results of at most this many bytes are shown in one row.
const ROW_BYTES: usize = 700;
const STATUSES: [&str; 5] = ["SUCCESS", "CHANGED", "FAILED!", "FAILED", "UNREACHABLE!"];

/// The host and the status in the header of its output.
fn head(line: &str) -> Option<(&str, &str)> {
    let (host, rest) = line.split_once(" | ")?;
    let status = rest.split(' ').next()?;
    let ends = line.ends_with("=> {") || line.ends_with(" >>") || rest.contains(" => {");
    (STATUSES.contains(&status) && ends && !host.contains(' ')).then_some((host, status))
}

pub(super) fn is_in(input: &Input<'_>) -> bool {
    input.beginning().any(|line| head(line).is_some())
}

pub(super) fn reduce(input: &Input<'_>, output: &mut Output) {
    let text = input.text;
    let (mut at, mut start) = (0, 0);
    for line in text.split_inclusive('\n') {
        if at > start && head(line.trim_end()).is_some() {
            section(text.get(start..at).unwrap_or_default(), output);
            start = at;
        }
        at += line.len();
    }
    section(text.get(start..).unwrap_or_default(), output);
}

/// The output of one host, below its header; or the text above the first.
fn section(text: &str, output: &mut Output) {
    // Text below the closing bracket of a result belongs to no host.
    let end = text.find("\n}\n").map(|at| at + "\n}\n".len());
    let end = end.filter(|_| {
        text.lines()
            .next()
            .is_some_and(|first| first.ends_with("=> {"))
    });
    let (text, behind) = text
        .split_at_checked(end.unwrap_or(text.len()))
        .unwrap_or((text, ""));
    of_host(text, output);
    other(behind, output);
}

fn of_host(text: &str, output: &mut Output) {
    let first = text.lines().next().unwrap_or_default().trim_end();
    let Some((_, status)) = head(first) else {
        return other(text, output);
    };
    if status.starts_with(['F', 'U']) {
        output.failed();
    }
    if text.len() <= ROW_BYTES && !first.ends_with(">>") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        return output.summary(lines.join(" ").trim_end(), lines.len());
    }
    let bracket = first.find(" => {").map(|at| at + " => ".len());
    let body = bracket.unwrap_or_else(|| text.find('\n').map_or(text.len(), |at| at + 1));
    output.fact(&shorten(
        first.get(..body).unwrap_or(first).trim_end(),
        ROW_BYTES,
    ));
    other(text.get(body..).unwrap_or_default(), output);
}

/// The result of a module, or the output of a command on a host.
fn other(text: &str, output: &mut Output) {
    if text.trim().is_empty() {
        return;
    }
    let input = Input {
        text,
        words: &[],
        exit: Exit::Unknown,
    };
    if nested::reduce(&input, &FAMILY, output).is_none() {
        nested::whole(text, output);
    }
}

#[cfg(test)]
mod tests {
    use super::super::FAMILY;
    use crate::input::Exit;
    use crate::tested;

    #[test]
    fn each_host_tells_its_own_result() {
        let fact = |number: usize| format!("        \"oak_{number}\": \"leaf {number}\",\n");
        let facts: String = (0..60).map(fact).collect();
        let text = format!(
            "elm1 | SUCCESS => {{\n    \"changed\": false,\n    \"ping\": \"pong\"\n}}\n\
             elm2 | UNREACHABLE! => {{\n    \"msg\": \"no route\"\n}}\n\
             [WARNING]: bark is old\n\
             elm3 | CHANGED | rc=0 >>\nup 3 days\n\
             elm4 | SUCCESS => {{\n    \"facts\": {{\n{facts}        \"bark\": 1\n    }}\n}}\n"
        );
        let told = tested::reduced(&FAMILY, &text, "ansible all -m ping", Exit::LastFailure);
        for fact in [
            "elm1 | SUCCESS => { \"changed\": false, \"ping\": \"pong\" }\n",
            "elm2 | UNREACHABLE! => { \"msg\": \"no route\" }\n",
            "\"no route\" }\n[WARNING]: bark is old\n",
            "elm3 | CHANGED | rc=0 >>\nup 3 days\n",
            "elm4 | SUCCESS =>\n",
            "\"bark\": 1",
        ] {
            assert!(told.contains(fact), "{fact}: {told}");
        }
    }
}
