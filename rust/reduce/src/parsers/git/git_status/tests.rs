use super::*;
use crate::input::Exit;

fn long(text: &str) -> String {
    let mut output = Output::default();
    Long::new(text, &mut output).read();
    output.is_all(text.ends_with('\n'));
    output.finish(0, usize::MAX)
}

#[test]
fn labels_come_once_and_hints_go() {
    let text = "On branch main\nYour branch is ahead of 'o/main' by 2 commits.\n  (use \"git push\" \
                to publish your local commits)\n\nChanges to be committed:\n  (use \"git restore \
                --staged <file>...\" to unstage)\n\tmodified:   a\n\trenamed:    b -> c\n\
                \tmodified:    d\n\nUntracked files:\n\tmodified:   e\n\nno changes added to commit \
                (use \"git add\" and/or \"git commit -a\")\n";
    let reduced = "On branch main\nYour branch is ahead of 'o/main' by 2 commits.\nChanges to be \
                   committed:\nmodified:\n\ta\n\t d\nrenamed:\n\tb -> c\nUntracked files:\n\
                   \tmodified:   e\nno changes added to commit\n";
    assert_eq!(long(text), reduced);
    assert_eq!(long(reduced), reduced);
}

#[test]
fn a_path_that_looks_like_an_entry_stays_that_path() {
    let text = "On branch x\nUnmerged paths:\n\tboth added:      modified:   a\n\tnew state:  b\n";
    let reduced = "On branch x\nUnmerged paths:\n\tnew state:  b\nboth added:\n\tmodified:   a\n";
    assert_eq!(long(text), reduced);
    assert_eq!(long(reduced), reduced);
}

#[test]
fn an_entry_without_a_label_stands_first_wherever_it_came() {
    let text = "On branch x\nUnmerged paths:\n\tboth added:      a\n\tnew state:  b\n\
                \tboth added:      c\n\tboth deleted:    d\n";
    let reduced = "On branch x\nUnmerged paths:\n\tnew state:  b\nboth added:\n\ta\n\tc\n\
                   both deleted:\n\td\n";
    assert_eq!(long(text), reduced);
    assert_eq!(long(reduced), reduced);
}

#[test]
fn paths_that_count_up_are_told_by_their_ends() {
    let names = [
        "a_1.csv", "a_10.csv", "a_11.csv", "a_12.csv", "a_13.csv", "a_2.csv", "b/x08", "b/x09",
        "b/x10", "b/x11", "c7", "c8", "c9",
    ];
    let mut text = "On branch x\nUntracked files:\n".to_owned();
    for name in names {
        text = text + "\t" + name + "\n";
    }
    let reduced = "On branch x\nUntracked files:\n\ta_1.csv\n\ta_10.csv … a_13.csv (4)\n\ta_2.csv\n\
                   \tb/x08 … b/x11 (4)\n\tc7\n\tc8\n\tc9\n";
    assert_eq!(long(&text), reduced);
    assert_eq!(long(reduced), reduced);
}

#[test]
fn an_operation_keeps_its_ways_out_and_a_diff_its_bytes() {
    let text = "rebase in progress; onto 1234\n  (use \"git rebase --abort\" to check out the \
                original branch)\nChanges to be committed:\n\tdeleted:    a\n\ndiff --git a/a b/a\n \n\
                \tmodified:   x\n";
    assert_eq!(
        long(text),
        text.replace("\tdeleted:    a\n\n", "deleted:\n\ta\n")
    );
}

#[test]
fn short_lines_are_found_at_the_end() {
    assert_eq!(short_start("M a.ts\n?? b\n"), Some(0));
    assert_eq!(short_start("prose\n## main\nUU a\n"), Some(6));
    assert_eq!(short_start("fatal: not a git repository\n"), None);
}

#[test]
fn a_file_that_could_not_be_merged_is_named_by_its_conflict() {
    let text = "Auto-merging src/oak.c\nAuto-merging src/elm.c\nCONFLICT (content): Merge conflict in src/elm.c\n\
                Automatic merge failed; fix conflicts and then commit the result.\nOn branch main\nYou have unmerged paths.\n  \
                (fix conflicts and run \"git commit\")\n\nUnmerged paths:\n  (use \"git add <file>...\" to mark resolution)\n\t\
                both modified:   src/elm.c\n\nno changes added to commit (use \"git add\" and/or \"git commit -a\")\n";
    let input = Input {
        text,
        words: &[],
        exit: Exit::Failure,
    };
    let mut output = Output::default();
    reduce(&input, &mut output);
    let reduced = output.finish(text.lines().count(), usize::MAX);
    assert!(
        reduced.starts_with(
            "Auto-merging src/oak.c\nCONFLICT (content): Merge conflict in src/elm.c\nAutomatic merge"
        ),
        "{reduced}"
    );
    assert!(reduced.contains("both modified"), "{reduced}");
}
