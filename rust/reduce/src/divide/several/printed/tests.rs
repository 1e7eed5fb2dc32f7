use super::Lines;
use ethos_registry_core::command::CommandLine;

/// The lines at the start and at the end of `text` that belong to the only command of `line`.
fn own<'a>(line: &str, text: &'a str) -> Option<(&'a str, &'a str)> {
    let words = CommandLine::read(line)?.producer()?;
    let lines = Lines::of(&words)?;
    let first = text.get(..lines.first_of(text))?;
    Some((first, text.get(lines.last_of(text)..)?))
}

/// Asserts that all lines of `text` belong to `line`, and none of the lines of `other` above or below them.
#[track_caller]
fn only(line: &str, text: &str, other: &str) {
    let below = format!("{text}{other}");
    assert_eq!(
        own(line, &below).map(|(first, _)| first),
        Some(text),
        "{line}"
    );
    let above = format!("{other}{text}");
    assert_eq!(
        own(line, &above).map(|(_, last)| last),
        Some(text),
        "{line}"
    );
}

#[test]
fn a_place_in_a_file_is_no_path_that_find_gives() {
    let findings = "src/oak.rs:3: error: no leaf\n";
    only(
        "find src -name '*.rs'",
        "src/oak.rs\nsrc/elm.rs\n",
        findings,
    );
    only("find . -type f", "./oak.rs\n", "./elm.rs:3:1 no leaf\n");
    assert_eq!(own("find src -exec cat {} +", "src/oak.rs\n"), None);
}

#[test]
fn lines_of_a_log_are_none_around_a_hit() {
    let log = "2026-01-02T10:00:00 INFO leaf fell\n2026-01-02T10:11:12 ERROR no leaf\n";
    only(
        "grep -n ERROR *.log",
        "oak.log:12:10:01 ERROR no leaf\n",
        log,
    );
    only("grep -rn ERROR logs", "logs/oak.log:12:ERROR\n", log);
    only(
        "grep -n -C1 ERROR oak.log",
        "11-leaf fell\n12:ERROR no leaf\n13-leaf fell\n",
        log,
    );
}

#[test]
fn hits_of_other_files_are_none_of_a_search() {
    only(
        "grep -rn leaf src",
        "src/oak.rs:3:leaf\n",
        "tests/oak.rs:3:leaf\n",
    );
    only("grep -vn leaf oak.rs", "3:stem\n4:root\n", "leaf: 3\n");
}

#[test]
fn counts_before_other_words_than_names_are_not_of_wc() {
    for other in [
        "12 oaks stand here\n",
        "1\n2\n",
        "3 failed, 31 passed in 0.41s\n",
    ] {
        only("wc -l oak.rs", "12 oak.rs\n", other);
        only(
            "wc -l src/*.rs",
            " 12 src/oak.rs\n  3 src/elm.rs\n 15 total\n",
            other,
        );
    }
    only(
        "find . | xargs wc -l",
        "12 ./oak.rs\n3 ./elm.rs\n",
        "12 oaks stand here\n",
    );
    only("wc oak.rs", " 12  30 99 oak.rs\n", "12 oak.rs\n");
}

#[test]
fn names_without_an_ending_are_paths_and_marks_of_tests_are_not() {
    let paths = "LICENSE\nMakefile\nsrc/oak\n";
    only("git ls-files", paths, "building\n");
    only("git diff --name-only", paths, "..F..s\n");
}

#[test]
fn what_pip_lists_has_versions_not_steps() {
    let list = "Package Version\n------- -------\noak     1.2.3\nelm     2!4.0rc1 /srv/elm\n";
    only("pip list", list, "step 1: leaf.c\n  elm 1.0\n");
}

#[test]
fn processes_have_a_time() {
    let rows = "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\nme 12 0.0 0.1 3 4 ? Ss 10:01 0:00 ./oak\n";
    let other = "12 oaks in 3 woods\n";
    assert_eq!(
        own("ps aux", &format!("{rows}{other}")).map(|(first, _)| first),
        Some(rows)
    );
}

#[test]
fn a_verdict_is_no_answer_of_a_command_that_did_not_run() {
    let verdict = "FAIL\n1 failed, 3 passed in 0.41s\n";
    for line in [
        "date",
        "node --version",
        "git rev-parse HEAD",
        "nproc",
        "uname -a",
    ] {
        assert_eq!(own(line, verdict).map(|(_, last)| last), Some(""), "{line}");
    }
    only("date", "Mon Jan  5 10:01:02 UTC 2026\n", verdict);
    only("node --version", "v20.1.0\n", verdict);
    only("python3 --version", "Python 3.12.1\n", verdict);
}

#[test]
fn counts_of_changes_stand_with_their_commits() {
    let head = "commit 4ce410cf00d\nAuthor: Ann\nDate:   Mon\n\n    Prune\n\n";
    only(
        "git log --numstat -1",
        &format!("{head}3\t1\toak.rs\n-\t-\telm.png\n"),
        "3 oaks\n",
    );
    assert_eq!(own("git log --format='%h %s%n%b'", "4ce410c Prune\n"), None);
    assert_eq!(own("git log --oneline --raw", "4ce410c Prune\n"), None);
}

#[test]
fn steps_of_cargo_are_no_message_of_a_commit() {
    let log = "commit 4ce410cf00d\nAuthor: Ann\nDate:   Mon\n\n    Prune\n";
    let step = "    Finished `dev` profile in 0.1s\n";
    let text = format!("{log}{step}");
    assert_eq!(own("git log -1", &text).map(|(first, _)| first), Some(log));
}

#[test]
fn a_log_has_no_more_commits_than_were_asked_for() {
    only(
        "git log --oneline -1",
        "4ce410c Prune\n",
        "1234567 leaves fell\n",
    );
}

#[test]
fn rows_of_ls_may_begin_with_numbers_and_folders_have_blanks() {
    let rows = "'my oak':\ntotal 8\n 12 4 -rw-r--r-- 1 me me 3 Jan  2 10:01 leaf\n";
    only("ls -lisR", rows, "12 oaks\n");
}

#[test]
fn roots_of_trees_of_packages_have_versions() {
    let tree = "oak v1.2.3\n└── elm v0.1.0\n[dev-dependencies]\n└── fir v0.1.0\n";
    only("cargo tree -d", tree, "oak vanished\n");
}

#[test]
fn what_a_command_refuses_is_its_own() {
    for (line, text, other) in [
        (
            "git log --oneline",
            "fatal: not a git repository\n",
            "fatal error: leaf\n",
        ),
        (
            "ls -l oak elm",
            "ls: cannot access 'oak': No such file\n-rw-r--r-- 1 me me 3 elm\n",
            "leaf: gone\n",
        ),
        (
            "tree src",
            "bash: line 1: tree: command not found\n",
            "oak: command not found\n",
        ),
    ] {
        only(line, text, other);
    }
}

#[test]
fn numbers_alone_are_no_counts_of_hits_in_several_files() {
    only(
        "grep -c leaf src/*.rs",
        "src/oak.rs:3\nsrc/elm.rs:0\n",
        "1\n2\n",
    );
    only(
        "rg -c leaf src",
        "src/oak.rs:3\nsrc/elm.rs:1\n",
        "oak: 12\n",
    );
    only("grep -rc leaf src", "src/oak.rs:3\n", "oak:12\n");
}

#[test]
fn sizes_of_du_stand_before_what_it_was_asked_about() {
    only("du -sh .", "4.0K\t.\n", "12\toaks\n");
    only("du -d 1", "4.0K\t./oak\n8.0K\t.\n", "oaks\t12\n");
    only(
        "du -h --max-depth=1 src",
        "4.0K\tsrc/oak\n8.0K\tsrc\n",
        "12\toaks\n",
    );
}

#[test]
fn names_of_files_with_hits_are_of_those_that_were_searched() {
    only(
        "grep -rl leaf src",
        "src/oak.rs\nsrc/elm.rs\n",
        "tests/oak.rs\n",
    );
    only(
        "grep -l leaf src/*.rs",
        "src/oak.rs\n",
        "src/oak.rs: leaf\n",
    );
}

#[test]
fn no_more_commits_are_of_a_log_than_it_was_asked_for() {
    let commit = |id: &str| {
        format!(
            "commit {id}\nAuthor: Ann <ann@oak.example>\nDate:   Fri Jan 2 10:01:02 2026 +0100\n\n    Leaves fall\n\n oak.rs | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n\n"
        )
    };
    let (first, second, third) = (commit("4ce410c"), commit("862e7e7"), commit("4ce410c"));
    let text = format!("{first}{second}{third}");
    for (command, own) in [
        ("git log --stat -n 2", first.len() + second.len()),
        ("git log --stat -1", first.len()),
        ("git show --stat", first.len()),
        (
            "git show --stat 4ce410c 862e7e7 -- oak.rs",
            first.len() + second.len(),
        ),
        ("git show --stat 4ce410c..HEAD", text.len()),
        ("git log --stat", text.len()),
    ] {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let lines = Lines::of(&words).map(|lines| (lines.first_of(&text), lines.last_of(&text)));
        assert_eq!(lines, Some((own, text.len() - own)), "{command}");
    }
}
