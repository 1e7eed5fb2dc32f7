use super::super::CommandLine;
use super::Said;

fn read<'a>(command: &str, line: &'a str) -> Option<Said<'a>> {
    let commands = CommandLine::read(&format!("make; {command}"))?;
    let remark = commands.remarks().next()?.1;
    remark.read(line)
}

#[test]
fn the_line_that_is_printed_is_known() {
    for (command, line) in [
        ("echo '== tests'", "== tests"),
        ("echo == tests", "== tests"),
        ("echo -e '\\n=== oak ===\\n'", "=== oak ==="),
        ("echo \"\\\\n=== oak ===\"", "\\n=== oak ==="),
        ("echo \"--- $f\"", "--- src/oak.py"),
        ("echo \"== $1 of ${n} ==\"", "== 2 of 3 =="),
        ("echo \"== $(date -u) ==\"", "== == =="),
        ("echo \"# $f\"", "# oak.py"),
        ("echo '  -- oak'", "  -- oak"),
        ("echo \"for $# of $$ go\"", "for 2 of 41 go"),
        ("printf '== %s\\n' oak", "== oak"),
        ("printf \"%s: %d%% of $n\\n\" oak 5", "oak: 5% of 7"),
    ] {
        assert_eq!(
            read(command, line).map(|said| said.status),
            Some(None),
            "{command}"
        );
    }
}

#[test]
fn other_lines_are_not() {
    for (command, line) in [
        ("echo '== tests'", "== tests of oak"),
        ("echo \"--- $f\"", "-- src/oak.py"),
        ("echo \"exit: $?\"", "exit: none"),
        ("echo \"exit: $?\"", "exit: 2048"),
        ("echo \"exit: $?\"", "exit: 1 of 2"),
        ("echo \"== $n ==\"", "== 2"),
        ("echo \"$f failed\"", "oak failed"),
        ("echo -n '== tests'", "== tests"),
        ("echo $f", "oak"),
        ("echo ok", "ok"),
        ("echo", ""),
        ("echo '== one\n== two'", "== two"),
        ("printf '== tests'", "== tests"),
        ("printf '%5s\\n' oak", "  oak"),
        ("ls '== tests'", "== tests"),
    ] {
        assert_eq!(read(command, line), None, "{command}");
    }
}

#[test]
fn the_exit_code_is_read() {
    for (command, line, status) in [
        ("echo \"exit: $?\"", "exit: 2", 2),
        ("echo $?", "137", 137),
        ("echo \"[${PIPESTATUS[0]}]\"", "[1]", 1),
        ("rc=$?; echo \"tests: $rc\"", "tests: 0", 0),
        (
            "code=${PIPESTATUS[0]}; cd ..; echo \"tests: $code\"",
            "tests: 2",
            2,
        ),
        ("rc=$?; echo \"$f ended with ${rc}\"", "oak ended with 3", 3),
    ] {
        assert_eq!(
            read(command, line).map(|said| said.status),
            Some(Some(status)),
            "{command}"
        );
    }
}

#[test]
fn a_status_of_something_else_tells_nothing() {
    for (command, line) in [
        ("a=$?; ./oak; b=$?; echo \"$a: exit $b\"", "1: exit 0"),
        ("a=$?; ./oak; echo \"exit: $a\"", "exit: 1"),
        ("rc=$?; echo \"exit: $?\"", "exit: 0"),
        ("cd ..; echo \"exit: $?\"", "exit: 0"),
        ("./oak || true; echo \"exit: $?\"", "exit: 0"),
        ("if ./oak; then exit 1; fi; echo \"exit: $?\"", "exit: 0"),
        (
            "while ./oak; do sleep 1; done; echo \"exit: $?\"",
            "exit: 0",
        ),
        ("! ./oak; echo \"exit: $?\"", "exit: 1"),
        ("./oak && echo OK || echo NO; echo \"exit: $?\"", "exit: 0"),
    ] {
        assert_eq!(
            read(command, line).map(|said| said.status),
            Some(None),
            "{command}"
        );
    }
}

#[test]
fn colours_are_no_part_of_what_is_said() {
    for command in [
        "echo -e \"\\033[1;34m== oak ==\\033[0m\"",
        "echo -e '\\e[1m== oak ==\\x1b[m'",
        "B='\\033[1m'; N='\\033[0m'; echo -e \"${B}== oak ==${N}\"",
        "B=$'\\e[1m'; echo \"$B== oak ==\"",
    ] {
        assert!(read(command, "== oak ==").is_some(), "{command}");
    }
}

#[test]
fn what_goes_to_a_file_is_not_said() {
    for command in [
        "echo '== oak' > log",
        "echo '== oak' >>log",
        "echo '== oak' &> log",
    ] {
        assert_eq!(read(command, "== oak"), None, "{command}");
    }
    for command in ["echo '== oak' >&2", "echo '== oak' 2> log"] {
        assert!(read(command, "== oak").is_some(), "{command}");
    }
}

#[test]
fn a_mere_word_is_a_title_where_another_command_follows() {
    for (command, line) in [
        ("git status; echo DIFF; git diff", "DIFF"),
        ("for f in a b; do echo LINT; ruff check $f; done", "LINT"),
    ] {
        assert_eq!(
            read(command, line).map(|said| said.status),
            Some(None),
            "{command}"
        );
    }
    for (command, line) in [
        ("make && echo DONE; ls", "DONE"),
        ("make; echo DONE", "DONE"),
        ("make || echo FAILED; echo \"== $f\"", "FAILED"),
    ] {
        assert_eq!(read(command, line), None, "{command}");
    }
}

#[test]
fn the_value_of_its_only_name_is_read() {
    for (command, line, value) in [
        ("echo \"== $f\"", "== src/oak.py", Some("src/oak.py")),
        (
            "echo \"== ${f} ==\"",
            "== src/oak.py ==",
            Some("src/oak.py"),
        ),
        ("echo \"== $f: $?\"", "== oak: 0", Some("oak")),
        ("echo \"== $f of $n\"", "== 1 of 2", None),
        ("echo \"== $(date)\"", "== now", None),
        ("echo \"== ${f##*/}\"", "== oak.py", None),
        ("echo \"== ${f} ==\"", "== a ==b ==", None),
    ] {
        assert_eq!(
            read(command, line).map(|said| said.value),
            Some(value),
            "{command}"
        );
    }
}
