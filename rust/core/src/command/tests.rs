use super::*;

fn last(line: &str) -> String {
    let read = CommandLine::read(line);
    let words = read.as_ref().and_then(CommandLine::last_command);
    words.map_or_else(|| "-".to_owned(), |words| words.join("|"))
}

#[test]
fn the_last_command_is_found() {
    for (line, words) in [
        ("git status", "git|status"),
        (
            "cd x && A=b C='d e' /usr/bin/git  -C \"my dir\" status",
            "/usr/bin/git|-C|my dir|status",
        ),
        (
            "sudo -u bob timeout -k 3 5 env -i A=1 nice -n 5 git status",
            "git|status",
        ),
        ("git log | head; git status 2>&1 # now", "git|status"),
        ("git status || true", "git|status"),
        ("{ git status; }", "git|status"),
        ("(cd x\ngit status)", "git|status"),
        (
            "cd \"$(git rev-parse --show-toplevel)\" && git status &>log.txt",
            "git|status",
        ),
        ("git st\\\natus > 'a b' -s", "git|status|-s"),
        (
            "echo \"git status; git status\"",
            "echo|git status; git status",
        ),
        ("cat git status", "cat|git|status"),
    ] {
        assert_eq!(last(line), words, "{line}");
    }
}

#[test]
fn lines_that_a_last_stage_asks_for_are_counted() {
    for (line, lines) in [
        ("cd x && du -ah . | sort -h | tail -n 80", Some(80)),
        ("find . -name '*.c' | head -60 2>/dev/null", Some(60)),
        ("ls -R | tail --lines=30 | tee list", Some(30)),
        ("ls | head -n50 | sudo tail -20", Some(20)),
        ("ls | head -n -5", None),
        ("ls | tail -n +5", None),
        ("ls | head -c 500", None),
        ("ls | head -40 | sort", Some(40)),
        ("ls | head -40 | sort -n", None),
        ("tail -n 40 notes.txt", None),
        ("ls", None),
    ] {
        let read = CommandLine::read(line);
        assert_eq!(read.and_then(|read| read.asked_lines()), lines, "{line}");
    }
}

#[test]
fn what_is_not_read_gives_nothing() {
    for line in [
        "",
        "  # git status",
        "git status | head",
        "git status |& tee log",
        "(a; git status) | head",
        "git status | true",
        "cat <<EOF\ngit status\n",
        "echo 'git status",
        "echo $(git status",
        "sudo",
        "timeout 5",
    ] {
        assert_eq!(last(line), "-", "{line}");
    }
}

#[test]
fn what_names_a_file_is_a_word_whatever_prints_it() {
    for (line, words) in [
        ("diff -u <(git status; ls) b", "diff|-u|<|b"),
        ("sort < a <(cut -d')' -f1 b) > c", "sort|<"),
        ("./run > >(tee log)", "./run"),
    ] {
        assert_eq!(last(line), words, "{line}");
    }
    assert_eq!(last("diff <(git status"), "-");
}

#[test]
fn a_version_is_no_part_of_the_name_of_a_program() {
    for (word, name) in [
        ("/usr/bin/clang++-14", "clang++"),
        ("g++-12.2", "g++"),
        ("clang-tidy-14", "clang-tidy"),
        ("x-14y", "x-14y"),
        ("-14", "-14"),
        ("sha1sum", "sha1sum"),
    ] {
        assert_eq!(program(&[word.to_owned()]), Some(name), "{word}");
    }
}

#[test]
fn git_options_are_stepped_over() {
    let subcommand = |line: &str| {
        let read = CommandLine::read(line)?;
        git_subcommand(read.last_command()?).map(str::to_owned)
    };
    assert_eq!(
        subcommand("git -C d -c a.b=c --git-dir=x --no-pager status -s"),
        Some("status".to_owned())
    );
    assert_eq!(subcommand("git --help status"), None);
    assert_eq!(subcommand("git"), None);
    assert_eq!(subcommand("digit status"), None);
}

#[test]
fn the_exit_code_of_the_last_of_several_commands_says_nothing_of_the_others() {
    for (line, more) in [
        ("ss -tlnp; ip addr; ping -c1 db", true),
        ("make && ./run", true),
        ("cd app && export CI=1 && make test | tail -20", false),
        ("rm -rf out; mkdir out; ./run > log", false),
        ("./run || true", false),
    ] {
        let read = CommandLine::read(line);
        assert_eq!(read.is_some_and(|read| read.prints_more()), more, "{line}");
    }
}

#[test]
fn commands_of_one_tool_differ_from_those_of_several() {
    for (line, several) in [
        ("flake8 src; flake8 --count tests", false),
        ("git stash list && git stash show -p", false),
        (
            "cd app && uv run pytest a; python -m pytest b | tail -5",
            false,
        ),
        ("git diff; git status", true),
        ("cargo fmt --check; cargo test", true),
        ("ruff check .; pytest", true),
    ] {
        let read = CommandLine::read(line);
        assert_eq!(
            read.is_some_and(|read| read.runs_several()),
            several,
            "{line}"
        );
    }
}

#[test]
fn a_remark_behind_a_command_is_not_what_was_run() {
    for (line, words) in [
        ("pip install oak; echo \"exit: $?\"", "pip|install|oak"),
        (
            "make 2>&1 | tail -50; echo \"exit: ${PIPESTATUS[0]}\"",
            "make",
        ),
        ("npm ci && echo ok || echo failed", "npm|ci"),
        ("echo == oak; git log; echo; echo == elm", "git|log"),
        ("cd app && echo ready", "echo|ready"),
        ("ls src; echo \"$(git diff)\"", "echo|$"),
        ("ls src; echo oak | sort -r", "sort|-r"),
        ("ls src; echo oak | cat", "echo|oak"),
        (
            "grep -n oak a.py; echo ---; sed -n 1,40p a.py",
            "sed|-n|1,40p|a.py",
        ),
    ] {
        let found = producer(line).map(|words| words.join("|"));
        assert_eq!(found.as_deref(), Some(words), "{line}");
    }
    let read = CommandLine::read("git log | head -30; echo done");
    assert!(read.is_some_and(|read| read.asked_lines() == Some(30) && read.prints_more()));
}

#[test]
fn a_line_for_a_shell_is_opened_in_its_place() {
    let line = "cd app; bash -c 'ls; echo == a' && ssh oak 'make && ./run' | tail -5";
    let opened = CommandLine::read(line).map(CommandLine::opened);
    let opened = opened.unwrap_or_default();
    let commands: Vec<String> = opened
        .pipelines
        .iter()
        .map(|one| one.stages.concat().join(" "))
        .collect();
    assert_eq!(
        commands,
        ["cd app", "ls", "echo == a", "make", "./run tail -5"]
    );
    assert!(opened.prints_more() && opened.runs_several());
    assert_eq!(opened.asked_lines(), Some(5));
}

#[test]
fn who_printed_what_is_unsure_where_the_order_does_not_tell() {
    for (line, unsure) in [
        ("make; ./run", false),
        ("if make; then echo ok; fi", false),
        ("if [ -f oak ]; then cat oak; fi", false),
        ("if make; then ./run; else cat log; fi", true),
        ("case $1 in a) ./run;; *) cat log;; esac", true),
        ("run() { make; }; run", true),
        ("function run { make; }; run", true),
        ("./serve & curl oak", true),
        ("./serve > log 2>&1 & curl oak", false),
    ] {
        let read = CommandLine::read(line);
        assert_eq!(read.map(|read| read.is_unsure()), Some(unsure), "{line}");
    }
}

#[test]
fn a_loop_over_words_runs_as_often_as_there_are_words() {
    for (line, times) in [
        ("for f in oak elm ash; do ls; done", Some(3)),
        ("ls", Some(1)),
        ("for f in *.py; do ls; done", None),
        ("while read f; do ls; done", None),
        ("for f in oak elm; do for g in a b; do ls; done; done", None),
    ] {
        let read = CommandLine::read(line).unwrap_or_default();
        assert_eq!(read.times(read.len() - 1), times, "{line}");
    }
}

#[test]
fn a_name_is_replaced_by_its_value() {
    let line = CommandLine::read("cat \"$f\" \"src/${f}.py\" $files").unwrap_or_default();
    let words = line.with("f", "oak").producer().unwrap_or_default();
    assert_eq!(words, ["cat", "oak", "src/oak.py", "$files"]);
}

#[test]
fn a_command_may_be_skipped_that_waits_for_another() {
    for (line, may) in [
        ("./oak && echo ---; ls; echo ---", true),
        ("./oak && echo --- || ls && echo ---", true),
        ("if ./oak; then echo ---; fi; echo ---", true),
        ("ls && echo --- && git diff && echo ---", false),
        ("ls; echo ---; git diff && echo ---", false),
    ] {
        let read = CommandLine::read(line).unwrap_or_default();
        assert_eq!(read.may_skip(1, read.len() - 1), may, "{line}");
    }
}

#[test]
fn a_document_in_the_line_is_no_command() {
    for (line, words) in [
        (
            "python3 - <<'EOF'\nprint('an oak')\nls; git log\nEOF",
            "python3|-",
        ),
        ("cat <<-\"END\" | sort\n\tan oak\n\tEND", "cat"),
        (
            "cat > oak.py << EOF\nit's\nEOF\nruff check oak.py",
            "ruff|check|oak.py",
        ),
        (
            "diff <<A - <<B\nan oak\nA\nan elm's\nB\ngit status",
            "git|status",
        ),
        (
            "git commit -m \"$(cat <<'EOF'\nAn oak's leaves (all\n\nEOF\n)\" && git status",
            "git|status",
        ),
        ("cat <<<\"$oak\"; git status", "git|status"),
    ] {
        let found = producer(line).map(|words| words.join("|"));
        assert_eq!(found.as_deref(), Some(words), "{line}");
    }
}
