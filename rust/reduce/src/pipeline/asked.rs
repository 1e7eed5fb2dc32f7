//! Lines that were requested by number: `tail -n 80 app.log`, `sed -n 20,60p notes.txt`, `docker logs --tail 50 db`.
//! Someone who requests so few lines wants to read them.

use crate::family::{Family, SEVERAL};
use crate::generic;
use crate::input::{Exit, FILE_SHOWERS, Input};
use crate::output::MOST_ASKED_LINES;
use crate::parsers::data::file;
use crate::parsers::logs::log;
use ethos_registry_core::command::{Asked, CommandLine, lines_of_stage, program};

/// Longer inputs are not read line by line, however few lines they have.
pub(crate) const MOST_BYTES: usize = 16 * 1024;

/// Whether all of `input`, which `family` recognises and the commands of `line` printed, is shown: its lines are
/// content and not a report, and there are no more than were requested.
pub(crate) fn shows_all(family: &Family, input: &Input<'_>, line: &CommandLine) -> bool {
    shows_lines(family.name, input, line.asked_lines())
        || is_text(family.name) && are_all(input, line)
        || family.name != SEVERAL && is_beside_files(input, line)
}

/// The same for the output of one command, recognised by the family with that name. `piped` is the number of lines that
/// later stages of the pipeline request.
pub(crate) fn shows_lines(family: &str, input: &Input<'_>, piped: Option<usize>) -> bool {
    is_text(family) && is_all(input, piped, family == log::FAMILY.name)
}

/// Whether lines recognised by the family with that name are content.
fn is_text(family: &str) -> bool {
    [log::FAMILY.name, file::FAMILY.name, generic::FAMILY.name].contains(&family)
}

/// Whether files are shown together with the output of other commands of `line`, with no line that separates them. What
/// a family takes for noise may belong to the files.
fn is_beside_files(input: &Input<'_>, line: &CommandLine) -> bool {
    let shows_files =
        |words: &Vec<String>| program(words).is_some_and(|name| FILE_SHOWERS.contains(&name));
    let are_shown = || line.printers().any(|words| shows_files(&words));
    let are_others = || !line.printers().all(|words| shows_files(&words));
    input.text.len() <= MOST_BYTES && line.runs_several() && are_shown() && are_others()
}

/// Whether `input` has no more lines than each command of `line` requested from its file.
fn are_all(input: &Input<'_>, line: &CommandLine) -> bool {
    if input.text.len() > MOST_BYTES {
        return false;
    }
    let sum = line
        .asked()
        .and_then(|all| all.iter().map(lines_of_file).sum::<Option<usize>>());
    sum.is_some_and(|lines| input.lines().count() <= lines)
}

/// How many lines of a file `command` requests, if they are few enough to be read.
pub(crate) fn lines_of_file(command: &Asked) -> Option<usize> {
    let one = Input {
        text: "",
        words: &command.words,
        exit: Exit::Success,
    };
    let lines = lines(&one).into_iter().chain(command.lines).min();
    lines.filter(|lines| *lines <= MOST_ASKED_LINES && one.shows_files())
}

/// Whether `input` has no more lines than were requested, `piped` of them by a final `head` or `tail`. `is_log` is
/// whether it is a log.
fn is_all(input: &Input<'_>, piped: Option<usize>, is_log: bool) -> bool {
    let short = input.text.len() <= MOST_BYTES;
    let piped = piped.filter(|_| is_log || input.shows_files());
    let asked = || lines(input).into_iter().chain(piped).min();
    let lines = short.then(asked).flatten();
    lines.is_some_and(|lines| lines <= MOST_ASKED_LINES && input.lines().count() <= lines)
}

/// How many lines the command of `input` requests.
fn lines(input: &Input<'_>) -> Option<usize> {
    match input.program() {
        "head" | "tail" => lines_of_stage(input.words),
        "sed" => input.words.iter().find_map(|word| range(word)),
        "journalctl" => input.number(&["-n", "--lines"]),
        "docker" | "podman" | "kubectl" | "oc" if input.subcommand() == "logs" => {
            input.number(&["--tail", "-n"])
        }
        _ => None,
    }
}

/// The number of lines in `20,60p`.
fn range(script: &str) -> Option<usize> {
    let (from, to) = script.strip_suffix('p')?.split_once(',')?;
    let (from, to): (usize, usize) = (from.parse().ok()?, to.parse().ok()?);
    Some(to.checked_sub(from)? + 1)
}

#[cfg(test)]
mod tests {
    use crate::input::Exit;
    use crate::pipeline::terminal;

    fn stays(command: &str, line: fn(usize) -> String) -> bool {
        let text: String = (0..80).map(line).collect();
        terminal::reduce(&text, Some(command), Exit::Success, usize::MAX).is_none()
    }

    fn record(number: usize) -> String {
        format!("2026-01-02 10:01:{number:02} INFO leaf {number} fell\n")
    }

    fn plain(number: usize) -> String {
        format!("leaf {number} fell from its tree\n")
    }

    #[test]
    fn lines_of_a_file_that_were_asked_for_stay() {
        for command in [
            "tail -n 80 oak.log",
            "tail -80 oak.log",
            "head --lines=80 oak.log",
            "sed -n 1,80p oak.log",
            "sed -n '10,89p' oak.log",
            "cat oak.log | tail -n 80",
            "sed -n 1,40p oak.log; sed -n '90,129p' oak.log",
            "head -n 40 oak.log && cat elm.log | tail -40",
        ] {
            assert!(stays(command, record) && stays(command, plain), "{command}");
        }
    }

    #[test]
    fn lines_of_a_log_that_were_asked_for_stay() {
        for command in [
            "journalctl -n 80",
            "journalctl -u oak --lines=80",
            "docker logs --tail 80 oak",
            "kubectl logs --tail=80 oak",
            "oak --verbose | tail -n 80",
            "tail -n 500 oak.log | head -80",
        ] {
            assert!(stays(command, record), "{command}");
        }
    }

    #[test]
    fn files_stay_beside_what_others_print_where_nothing_tells_them_apart() {
        for command in [
            "cat oak.txt; ./grow",
            "./grow; head -n 40 oak.txt; ls elm",
            "tail -n 40 oak.txt; for tree in oak elm; do ./grow $tree; done",
        ] {
            assert!(stays(command, plain), "{command}");
        }
        assert!(!stays("cat oak.log | sort -r; ./grow", record));
    }

    #[test]
    fn lines_that_were_asked_for_stay_beside_rows_of_others() {
        let log: String = (0..80).map(record).collect();
        let text = format!("3 oak.rs\n{log}");
        for command in [
            "wc -l oak.rs; tail -n 60 oak.log; tail -n 20 elm.log",
            "wc -l oak.rs; sed -n 1,60p oak.log; cat elm.log | head -20",
            "wc -l oak.rs; tail -n 80 oak.log",
            "wc -l oak.rs; cat oak.log | tail -80",
        ] {
            let reduced = terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
            assert_eq!(reduced, None, "{command}");
        }
    }

    #[test]
    fn files_stay_beside_what_others_print_above_rows_that_tell_their_command() {
        let log: String = (0..80).map(record).collect();
        let text = format!("3 oaks\n{log}4.0K\t.\n");
        let command = "./count; tail -n 80 oak.log; du -sh .";
        let reduced = terminal::reduce(&text, Some(command), Exit::Success, usize::MAX);
        assert_eq!(reduced, None);
    }

    #[test]
    fn more_lines_than_were_asked_for_or_than_anyone_reads_are_reduced() {
        for command in [
            "tail -n 60 oak.log",
            "sed -n 1,40p oak.log; cat elm.log",
            "sed -n 1,20p oak.log; sed -n 1,40p elm.log",
            "tail -n 200 oak.log",
            "tail -n +80 oak.log",
            "cat oak.log",
            "docker logs oak",
        ] {
            assert!(!stays(command, record), "{command}");
        }
    }
}
